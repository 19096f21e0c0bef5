"""Every example prints what stands beside it."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


def test_there_are_examples() -> None:
    assert EXAMPLES


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_prints_what_stands_beside_it(example: Path) -> None:
    done = subprocess.run(
        [sys.executable, example], capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    assert done.stdout == example.with_suffix(".txt").read_text(encoding="utf-8")
