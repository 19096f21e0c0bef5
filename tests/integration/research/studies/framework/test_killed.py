"""A run that is killed goes on where it was; counts do not depend on hashes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from siena.research.studies.framework.registry import find
from siena.research.studies.framework.runner import missing, run_here, tasks_of
from siena.research.studies.framework.store import Store

# Begins a run of all rows, each of which it makes slow enough to be killed between two.
RUN = """
import sys, time
from pathlib import Path
from siena.research.studies.framework import runner
from siena.research.studies.framework.registry import find
from siena.research.studies.framework.store import Store

store = Store(Path(sys.argv[1]))
tasks = runner.missing(runner.tasks_of([find("fig33")], "test", 1), store)
runner.run_here(tasks, store, lambda *_: time.sleep(0.2))
"""
SEARCH = """
from siena.research.studies.runs.posets import search
row = {"part": "filters", "shape": "nested", "filters": 150, "constraints": None}
print(search({**row, "seed": 1})["compared"])
"""
# A minute, before something is wrong.
LOOKS_MAX = 3000


def files_of(folder: Path) -> dict[Path, tuple[int, int]]:
    """The rows that are kept: which file, and when it was written."""
    found = (folder / "rows").rglob("*.json")
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in found}


def test_a_run_that_is_killed_goes_on_and_writes_no_row_again(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", RUN, str(tmp_path)])
    try:
        for _ in range(LOOKS_MAX):
            if len(files_of(tmp_path)) >= 3:
                break
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL
    before = files_of(tmp_path)
    assert len(before) >= 3
    study, store = find("fig33"), Store(tmp_path)
    tasks = tasks_of([study], "test", 1)
    todo = missing(tasks, store)
    assert len(todo) == len(tasks) - len(before) > 0
    run_here(todo, store, lambda *_: None)
    after = files_of(tmp_path)
    assert len(after) == len(tasks)
    assert {path: after[path] for path in before} == before


@pytest.mark.slow
def test_comparisons_do_not_depend_on_hashes() -> None:
    """Pairs of filters are asked until one is found, in the same order always."""
    counts = {
        subprocess.run(
            [sys.executable, "-c", SEARCH],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(counts) == 1
