"""Every example prints what stands beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

from repository import ROOT

FOLDER = ROOT / "examples"
# With the session that the tests of Spark share: spark/test_front_door.py.
ON_SPARK = {"spark_stream"}
ALL = sorted(FOLDER.glob("*.py"))
EXAMPLES = [path for path in ALL if path.stem not in ON_SPARK]


def test_there_are_examples() -> None:
    assert len(ALL) >= 8
    assert {path.stem for path in ALL} >= ON_SPARK


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_stands_beside_it(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, example], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == example.with_suffix(".txt").read_text(encoding="utf-8")
