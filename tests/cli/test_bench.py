"""``siena bench match``: it measures, and says in which form."""

import json
import subprocess
import sys

import pytest

from siena.cli import bench_match
from siena.errors import SienaError


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "bench", "match", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def test_it_reports_every_matcher_at_every_size() -> None:
    code, out, err = run(
        *("--filters", "50,100", "--messages", "60", "--rounds", "1", "--json")
    )
    assert (code, err) == (0, "")
    runs = json.loads(out)["runs"]
    assert [(r["matcher"], r["filters"]) for r in runs] == [
        (matcher, size)
        for size in (50, 100)
        for matcher in ("engine", "counting", "reference")
    ]
    assert all(r["messages_per_second"] > 0 for r in runs)
    assert {r["interfaces"] for r in runs} == {"all"}


def test_people_get_a_table() -> None:
    code, out, _ = run("--filters", "20,40", "--messages", "20", "--rounds", "1")
    assert code == 0
    assert "engine: time per message grows as filters^" in out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--filters", "many"), "is not a list of sizes (write 1000,10000)"),
        (("--filters", "0"), "a size is at least 1"),
        (("--distribution", "normal"), "'normal' is not a distribution"),
    ],
)
def test_bad_options_are_one_line(arguments: tuple[str, ...], said: str) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_kernels_that_are_not_compiled_are_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_match, "COMPILED", False)
    with pytest.raises(SienaError, match="not compiled"):
        bench_match.bench_match(filters="10")
