"""An interval of few seeds has the truth as often as it says: repetitions count."""

from collections.abc import Callable
from math import exp, log

import numpy as np
import pytest

from siena.research.studies.architectures.scale_laws import excess
from siena.research.studies.framework.intervals import (
    Interval,
    Samples,
    mean,
    ratio,
    widening,
)

# Of so many repetitions 95 % are 380; by chance 363 or fewer in one of 40 tries.
REPETITIONS = 400
Random = np.random.Generator


def cell(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Samples:
    return dict(enumerate(values.tolist(), 1))


def normal(random: Random, seeds: int) -> tuple[Interval, float]:
    return mean(cell(random.normal(10, 2, seeds))), 10


def lopsided(random: Random, seeds: int) -> tuple[Interval, float]:
    """Costs: some networks are much dearer than most."""
    return mean(cell(random.lognormal(0, 0.4, seeds))), exp(0.08)


def paired(random: Random, seeds: int) -> tuple[Interval, float]:
    """Two costs on the same networks."""
    network = random.lognormal(0, 0.3, seeds)
    top, bottom = (network * random.lognormal(0, 0.1, seeds) for _ in range(2))
    return ratio(cell(2 * top), cell(bottom)), 2


def law(random: Random, seeds: int) -> tuple[Interval, float]:
    """Links that grow as a logarithm, of networks that differ."""
    sizes = (1000, 10_000, 100_000, 1_000_000)
    known = {n: cell(random.normal(2 * log(n), 2, seeds)) for n in sizes}
    return excess(known), 0


@pytest.mark.parametrize("seeds", [3, 5, 10])
@pytest.mark.parametrize(
    ("draw", "least"),
    [(normal, 0.91), (paired, 0.91), (law, 0.91), (lopsided, 0.87)],
)
def test_95_of_100_intervals_have_the_truth(
    draw: Callable[[Random, int], tuple[Interval, float]], least: float, seeds: int
) -> None:
    """Fewer where values are lopsided, as with any interval around a mean."""
    random = np.random.default_rng([seeds, 11])
    hits = 0
    for _ in range(REPETITIONS):
        found, truth = draw(random, seeds)
        hits += found.low <= truth <= found.high
    assert least <= hits / REPETITIONS <= 0.99


def test_ends_move_away_as_students_t_says() -> None:
    """Above ten degrees of freedom by a series, which goes on where the table ends."""
    tables = {3: 2.689, 11: 1.192, 12: 1.173, 31: 1.059}
    assert {n: widening(n) for n in tables} == pytest.approx(tables, abs=0.002)
    assert widening(10_000) == pytest.approx(1, abs=0.001)
    assert widening(1) == widening(2) == 1


def test_what_is_never_negative_has_no_negative_end() -> None:
    wide = {1: 0.0, 2: 1.0, 3: 9.0}
    assert mean(wide).low == 0
    assert mean({**wide, 1: -1.0}).low < 0
    assert ratio(wide, {1: 1.0, 2: 1.0, 3: 1.0}).low == 0


def test_ends_that_differ_by_rounding_are_not_shown() -> None:
    """Machines add up in different orders."""
    third = 1 / 3
    assert Interval(third, third, third * (1 + 1e-15)).words() == "0.33"
    assert Interval(-1e-17, 0.0, 1e-17).words() == "0.00"
    assert Interval(0.33, 0.33, 0.34).words() == "0.33 (0.33 to 0.34)"
