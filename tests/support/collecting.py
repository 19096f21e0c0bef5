"""What is collected: doctests only where there are some.

pytest asks every module of the repository for doctests, and Python's ``doctest`` looks
at everything in it, in each process that runs tests.  A module whose text has no
prompt has none.
"""

from collections.abc import Generator
from pathlib import Path

import pytest
from _pytest.doctest import DoctestModule

PROMPT = b">>>"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path,
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Leave a module without a prompt to the other collectors of pytest."""
    found = yield
    if file_path.suffix == ".py" and PROMPT not in file_path.read_bytes():
        return [each for each in found if not isinstance(each, DoctestModule)]
    return found
