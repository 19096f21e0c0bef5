"""Demanded: with ``SIENA_DEMAND=1`` no test is skipped for want of a package.

Many tests are skipped where an extra is not installed, so that the others can run
everywhere.  Where all are to run (``make test-all``), such a skip is a failure that
says what is missing.  What the machine itself has not, such as servers of others, is
not demanded.
"""

import os
import re
from collections.abc import Generator

import pytest

IS_DEMANDED = os.environ.get("SIENA_DEMAND", "") not in {"", "0"}
WANTING = re.compile(
    r"pip install \.\[|make docs installs|could not import"
    r"|there is no (chromium|node|tsc)\b"
)


def refuse(report: pytest.CollectReport | pytest.TestReport) -> None:
    """Make a failure of a skip, if what it lacks is demanded."""
    if not (report.skipped and isinstance(report.longrepr, tuple)):
        return
    path, line, reason = report.longrepr
    if WANTING.search(reason):
        report.outcome = "failed"
        report.longrepr = f"{path}:{line}: demanded by SIENA_DEMAND: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[
    None, pytest.CollectReport, pytest.CollectReport
]:
    """Modules that are skipped as a whole."""
    report = yield
    refuse(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[
    None, pytest.TestReport, pytest.TestReport
]:
    """Tests that are skipped while they run."""
    report = yield
    refuse(report)
    return report
