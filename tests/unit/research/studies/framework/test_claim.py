"""What becomes of a claim: as few seeds as its cells share, and no word of its test."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Verdict,
    decided,
    weakest,
)
from siena.research.studies.framework.intervals import (
    Interval,
    all_below,
    all_between,
    between,
    cells,
    mean,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.spoils import constant

# The small network has two seeds, the large one a single one.
ROWS: list[Row] = [
    {"size": 1, "seed": 1, "cost": 10.0},
    {"size": 1, "seed": 2, "cost": 12.0},
    {"size": 2, "seed": 1, "cost": 5.0},
]


def _falls(rows: Sequence[Row]) -> Answer:
    known = cells(rows, ("size",), "cost")
    return all_below({"both": ratio(known[2,], known[1,])})


def claim(test: str, seeds_min: int = 1) -> Claim:
    spoils = {"it does not": constant("cost", 1.0)}
    return Claim("A", "it falls", test, _falls, spoils, seeds_min=seeds_min)


@pytest.mark.parametrize("test", ["ratio below 1", "with its 95 % interval: below 1"])
def test_an_interval_of_one_shared_seed_confirms_nothing(test: str) -> None:
    """Whatever words the test is told in, and however many seeds other rows have."""
    finding = claim(test).finding(ROWS)
    assert finding.verdict is Verdict.UNDECIDED
    assert "one seed has no interval" in finding.found
    assert finding.data == "all runs: 3 rows, 2 seeds, 1 in every case"


def test_seeds_that_cells_do_not_share_do_not_count() -> None:
    rows: list[Row] = [*ROWS, {"size": 2, "seed": 3, "cost": 5.5}]
    assert "needs 2 seeds" in claim("below 1", 2).finding(rows).found
    rows += [
        {"size": 2, "seed": 2, "cost": 5.5},
        {"size": 1, "seed": 3, "cost": 11.0},
    ]
    assert claim("below 1", 4).finding(rows).verdict is Verdict.UNDECIDED
    assert claim("below 1", 2).finding(rows).verdict is Verdict.HOLDS


@pytest.mark.parametrize("is_gating", [True, False])
@pytest.mark.parametrize("seeds", [1, 2, 3])
def test_few_seeds_confirm_nothing_and_refute_what_a_run_must_pass(
    seeds: int, *, is_gating: bool
) -> None:
    both = [
        replace(claim("below 1"), is_gating=is_gating).finding(
            [
                {"size": size, "seed": seed, "cost": cost * (1 + seed / 1000)}
                for seed in range(1, seeds + 1)
                for size, cost in ((1, 10.0), (2, large))
            ]
        )
        for large in (5.0, 20.0)
    ]
    few = (Verdict.UNDECIDED, Verdict.DIFFERS if is_gating else Verdict.UNDECIDED)
    enough = (Verdict.HOLDS, Verdict.DIFFERS)
    assert tuple(each.verdict for each in both) == (enough if seeds == 3 else few)


def test_what_leaves_nothing_to_chance_is_decided_by_one_seed() -> None:
    plain = Claim("A", "s", "no interval", lambda _: decided(True, "so"), {})
    assert plain.finding(ROWS[:1]).verdict is Verdict.HOLDS


def test_intervals_say_of_how_many_seeds_they_are() -> None:
    assert mean({1: 2.0, 4: 3.0}).seeds == 2
    assert of_means(lambda a, b: a + b, {1: 2.0, 4: 3.0}, {4: 7.0}).seeds == 1
    assert mean({1: 2.0, 4: 3.0}).over(2).seeds == 2
    few, many = Interval(1, 1, 1, 3), Interval(1, 1, 1, 5)
    assert all_below({"a": few, "b": many}, 2).seeds == 3
    assert weakest(between(few, 0, 2, ""), between(many, 0, 2, "")).seeds == 3


@pytest.mark.parametrize(
    ("interval", "verdict"),
    [
        (Interval(0.9, 1.0, 1.1), Verdict.HOLDS),
        (Interval(0.7, 0.9, 1.1), Verdict.UNDECIDED),
        (Interval(0.1, 0.2, 0.3), Verdict.DIFFERS),
        (Interval(1.3, 1.4, 1.5), Verdict.DIFFERS),
    ],
)
def test_a_range_can_be_left_undecided(interval: Interval, verdict: Verdict) -> None:
    good = Interval(1.0, 1.0, 1.0)
    assert all_between({"a": good, "b": interval}, 0.8, 1.2).verdict is verdict
