"""Every matcher says the same of real flights: the large comparison, made small."""

import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from repository import ROOT

SCRIPT = ROOT / "benchmarks" / "flights.py"


@pytest.fixture(scope="module")
def script() -> Any:  # noqa: ANN401 -- a module made from a path has no type
    spec = spec_from_file_location("flights", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_all_matchers_agree_on_flights(script: Any) -> None:  # noqa: ANN401
    sizes = ["--flights", "400", "--first", "200", "--subscriptions", "300"]
    command = [sys.executable, str(SCRIPT), *sizes]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.stderr == ""
    *runs, verdict = done.stdout.splitlines()
    assert verdict == (
        "agree: 400 flights engine and counting, "
        "the first 200 also tree, poset, reference"
    )
    rows = [run.split() for run in runs]
    assert [row[0] for row in rows] == [*script.FAST, *script.SLOW]
    # Where nothing is wanted nothing is compared.
    lines, wanted = (int(rows[0][at]) for at in (3, 5))
    assert lines == 400
    assert wanted > 50


@pytest.mark.parametrize("other", ["1\n3\n", "1\n2\n3\n4\n", "\n"])
def test_a_difference_is_found(script: Any, tmp_path: Path, other: str) -> None:  # noqa: ANN401
    ours, theirs = tmp_path / "engine", tmp_path / "other"
    ours.write_text("1\n2\n3\n")
    theirs.write_text("1\n2\n")
    assert script.compare(ours, theirs) == 2
    theirs.write_text(other)
    with pytest.raises(script.DisagreementError, match="engine says"):
        script.compare(ours, theirs)
