"""Nothing was lost on the move: tests, golden files and covered functions.

While the rooms of the package are being rebuilt, three tables beside this file say how
things were before: every test with the number of its cases, the hashes of golden files,
and how many branches of each function the tests took.  Tests may be added and files may
move; none may become fewer.  The third table is compared by
``python tests/house/coverage_by_function.py``, after ``make coverage``.
"""

import hashlib
from pathlib import Path

import pytest

from census import CENSUS, IS_WHOLE
from repository import ROOT

HERE = Path(__file__).parent


def table(name: str) -> dict[str, str]:
    """One of the tables: what stands in its first column, and in its second."""
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return dict(line.split("\t", 1) for line in lines)


def test_no_test_and_no_case_of_one_is_missing(request: pytest.FixtureRequest) -> None:
    """Asked of the whole suite only, with the slow tests in it.

    What was deleted together with what it documented is renamed to ``-``.
    """
    if not request.config.stash[IS_WHOLE]:
        return
    now = request.config.stash[CENSUS]
    renamed = table("renamed.tsv")
    missing = {}
    for name, count in table("tests.tsv").items():
        name_now = renamed.get(name, name)
        there = now[name_now]
        if name_now != "-" and there < int(count):
            missing[name] = f"{there} of {count}"
    assert not missing


def test_golden_files_are_what_they_were() -> None:
    """Cases may be added beside them; those that were there say the same."""
    digests = {
        hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in ("conformance", "tests", "examples")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in {".json", ".txt"}
    }
    wanted = table("goldens.tsv")
    assert [name for digest, name in wanted.items() if digest not in digests] == []
