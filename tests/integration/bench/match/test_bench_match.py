"""``siena bench match``: it measures, and says in which form."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from command import siena
from siena.bench.match import plot as bench_plot, rounds as bench_rounds
from siena.bench.match.contenders import EngineContender, Messages
from siena.bench.match.report import slope
from siena.bench.match.rounds import Run
from siena.cli.lab import bench_match
from siena.errors import SienaError
from siena.extras import how_to_get
from siena.matching.table import MASK_BITS

QUICK = ("--messages", "20", "--rounds", "1", "--seconds", "0")


def run(*arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "bench", "match", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def measure(
    capsys: pytest.CaptureFixture[str], **options: object
) -> list[dict[str, object]]:
    """The runs of a quick benchmark, in this process."""
    quick = {
        "filters": "60",
        "messages": 20,
        "rounds": 1,
        "seconds": 0,
        "as_json": True,
    }
    bench_match.bench_match(**(quick | options))  # type: ignore[arg-type]
    runs: list[dict[str, object]] = json.loads(capsys.readouterr().out)["runs"]
    return runs


def test_it_reports_every_matcher_at_every_size() -> None:
    code, out, err = run("--filters", "50,100", *QUICK, "--json")
    assert (code, err) == (0, "")
    assert list(json.loads(out)) == ["runs"]
    runs = json.loads(out)["runs"]
    matchers = ["engine", "engine-bytes", "engine-one", "counting", "tree", "reference"]
    assert [(r["matcher"], r["filters"]) for r in runs] == [
        (matcher, size) for size in (50, 100) for matcher in matchers
    ]
    first = runs[0]
    assert (first["names"], first["distribution"], first["interfaces"]) == (
        *(500, "zipf", "all"),
    )
    for r in runs:
        assert 0 < r["slowest"] <= r["messages_per_second"] <= r["fastest"]
        assert r["build_seconds"] > 0
        assert (r["bytes_per_filter"] is None) == (
            r["matcher"] in {"tree", "reference"}
        )


def test_people_get_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    bench_match.bench_match(filters="20,40", messages=20, rounds=1, seconds=0)
    out = capsys.readouterr().out
    assert "engine: time per message grows as filters^" in out
    assert "20 filters: one by one at " in out
    assert "40 filters: counting, time per message (matches), least first: " in out


@pytest.mark.parametrize("interfaces", ["3", "70"])
@pytest.mark.parametrize("workload", ["tr0605", "ssbg"])
def test_interfaces_are_wanted(
    capsys: pytest.CaptureFixture[str], workload: str, interfaces: str
) -> None:
    """Few are bits of one word; many are not."""
    runs = measure(
        capsys,
        filters="200",
        workload=workload,
        interfaces=interfaces,
        constraints_min=2,
    )
    others = ["counting", "tree", "reference"]
    as_bits = int(interfaces) <= MASK_BITS
    assert [r["matcher"] for r in runs] == [
        "engine",
        *(["engine-bytes"] if as_bits else []),
        *others,
    ]
    assert {r["interfaces"] for r in runs} == {int(interfaces)}
    assert {r["workload"] for r in runs} == {workload}


def test_the_tree_is_left_out_where_it_takes_too_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench_rounds, "TREE_FILTERS_MAX", 10)
    bench_match.bench_match(filters="20", messages=5, rounds=1, seconds=0)
    out, err = capsys.readouterr()
    assert "tree" not in out
    assert err.startswith("20 filters without the tree: only up to 10 filters")


def test_threads_match_on_one_table(capsys: pytest.CaptureFixture[str]) -> None:
    bench_match.bench_match(
        filters="60", messages=20, rounds=1, seconds=0, threads="1,2"
    )
    out = capsys.readouterr().out
    assert "times engine-1-thread" in out
    runs = measure(capsys, threads="1,2", interfaces="5")
    assert [(r["matcher"], r["threads"]) for r in runs][2:4] == [
        ("engine-1-thread", 1),
        ("engine-2-threads", 2),
    ]


def test_the_same_seed_asks_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    """And batches of any size find as much."""
    keys = ("matcher", "matches_per_message")
    some, others = (
        [[r[key] for key in keys] for r in measure(capsys, seed=3, batch=batch)]
        for batch in (7, 256)
    )
    assert some == others


def test_nothing_is_reported_if_two_disagree(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(_self: EngineContender, messages: Messages) -> list[list[int]]:
        return [[-1] for _ in messages]

    monkeypatch.setattr(EngineContender, "find", wrong)
    with pytest.raises(AssertionError, match="engine and engine-bytes disagree about"):
        measure(capsys)
    assert capsys.readouterr().out == ""


def test_a_plot_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "growth.png"
    measure(capsys, filters="20,40", plot=path)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_plot_that_cannot_be_drawn_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SienaError, match="is not a picture"):
        bench_plot.check(tmp_path / "growth.txt")
    with pytest.raises(SienaError, match="there is no folder"):
        bench_plot.check(tmp_path / "nowhere" / "growth.png")
    monkeypatch.setattr(bench_plot, "find_spec", lambda _: None)
    with pytest.raises(SienaError, match="needs matplotlib") as caught:
        bench_plot.check(tmp_path / "growth.png")
    assert caught.value.hint == how_to_get("plot")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"filters": "many"}, "--filters 'many' is not a list of numbers"),
        ({"filters": "0"}, "--filters is at least 1"),
        ({"threads": "two"}, "--threads 'two' is not a list of numbers"),
        ({"interfaces": "some"}, "--interfaces 'some' is not a number"),
        ({"interfaces": "0"}, "--interfaces is at least 1"),
        ({"batch": 0}, "--batch is at least 1"),
        ({"messages": 0}, "--messages is at least 1"),
        ({"rounds": 0}, "--rounds is at least 1"),
        ({"workload": "w"}, "'w' is not a workload"),
        ({"distribution": "normal"}, "'normal' is not a distribution"),
        ({"workload": "ssbg", "names": 50}, "the names of W-SSBG are its 200 words"),
        ({"constraints_min": 7}, "no filter of this workload has 7 constraints"),
        ({"names": 3}, "W-TR0605 needs 10 names or more"),
    ],
)
def test_bad_options_say_what_is_wrong(options: dict[str, object], said: str) -> None:
    with pytest.raises(SienaError) as caught:
        bench_match.bench_match(**options)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_a_bad_option_is_one_line() -> None:
    done = siena("bench", "match", "--filters", "many")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.endswith("(write 1000,10000)\n")
    assert done.stderr.count("\n") == 1


def test_help_teaches_with_examples() -> None:
    taught = bench_match.bench_match.__doc__
    assert taught
    assert "siena bench match --interfaces 20 --constraints-min 3" in taught


def test_one_size_does_not_grow() -> None:
    none: list[Run] = []
    assert slope(none) is None


def test_kernels_that_are_not_compiled_are_not_measured(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bench_match, "COMPILED", False)
    with pytest.raises(SienaError, match="not compiled"):
        bench_match.bench_match(filters="10")
