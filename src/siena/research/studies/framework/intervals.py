"""Numbers with what chance may have added to them: bootstrap intervals over seeds.

A cell of an experiment has one value for each seed.  Seeds are drawn again, with
replacement, and what is computed from the means of the drawn ones varies as it would
among repetitions of the whole experiment.  Cells that are compared are drawn together,
seed by seed, because they share networks and places.

*Theory of operation.*  The means of drawn seeds vary less than those of fresh ones: of
n seeds by the root of (n - 1) / n, because they vary around their own mean; and a few
seeds do not tell how much there is to vary, for which Student's t allows.  Three seeds
have the truth between the plain ends in three of four repetitions.  So both ends move
away from the value: by the inverse of that root, and by t over the normal distribution.
The draws say how lopsided an interval is, and t how wide.
"""

from collections.abc import Callable, Mapping, Sequence
from math import isclose, isinf, sqrt
from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from siena.research.studies.framework.claim import (
    CHANCE_SEEDS,
    Answer,
    Verdict,
    decided,
    least_seeds,
    undecided,
    weakest,
)
from siena.research.studies.framework.rows import Cell, Row, integer, number

# Of 1,000 draws, 25 lie beyond each end.
DRAWS, LOW, HIGH = 1000, 2.5, 97.5
# Student's t beyond which a fortieth is, by degrees of freedom from 1 on, and without
# bound, which is the normal distribution's.
STUDENT = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)
NORMAL = 1.960
# Ends that are so near to each other, as a share, differ in how machines add up.
ROUNDING = 1e-9

Samples = Mapping[int, float]
"""A value for each seed."""
Cells = dict[tuple[Cell, ...], dict[int, float]]
"""By what the experiment varies, then by seed."""
Means = npt.NDArray[np.float64]
"""Of one cell, for each draw; or one of them."""


class Interval(NamedTuple):
    """A value, and where 95 of 100 repetitions would find it."""

    low: float
    value: float
    high: float
    seeds: int | None = None
    """Of how many seeds it is, where that is known: those that all its cells share."""

    def over(self, unit: float) -> "Interval":
        """The same in parts of something.

        >>> Interval(1, 2, 4).over(2)[:3]
        (0.5, 1.0, 2.0)
        """
        ends = (self.low / unit, self.value / unit, self.high / unit)
        return Interval(*ends, self.seeds)

    def words(self, form: str = ".2f") -> str:
        """As text; without the ends where they are the value.

        >>> Interval(0.5, 0.625, 0.75).words(), Interval(2, 2, 2).words(".0f")
        ('0.62 (0.50 to 0.75)', '2')
        """
        value = f"{self.value:{form}}"
        if isclose(self.low, self.high, rel_tol=ROUNDING, abs_tol=1e-12):
            return value
        return f"{value} ({self.low:{form}} to {self.high:{form}})"


def cells(rows: Sequence[Row], names: Sequence[str], value: str) -> Cells:
    """The values of a column, by the cells that the named columns make.

    >>> cells([{"x": 1, "y": 5, "seed": 3}], ["x"], "y")
    {(1,): {3: 5.0}}
    """
    found: Cells = {}
    for row in rows:
        cell = tuple(row[name] for name in names)
        found.setdefault(cell, {})[integer(row, "seed")] = number(row, value)
    return found


def of_means(
    function: Callable[..., Means], *samples: Samples, is_scale: bool = False
) -> Interval:
    """What a function makes of the means of cells that share seeds.

    On a scale, where 1/2 is as far from 1 as 2 is and nothing is below 0, ends move by
    factors.

    >>> one, other = {1: 10.0, 2: 30.0}, {1: 20.0, 2: 60.0}
    >>> of_means(lambda a, b: a / b, one, other)  # the same in every draw
    Interval(low=0.5, value=0.5, high=0.5, seeds=2)
    >>> of_means(lambda a: a, {1: 10.0, 2: 20.0, 3: 30.0}).words(".0f")
    '20 (-7 to 47)'
    """
    seeds = sorted(set.intersection(*(set(each) for each in samples)))
    assert seeds, "cells that are compared have no seed in common"
    values = np.array([[each[seed] for seed in seeds] for each in samples])
    random = np.random.default_rng(len(seeds))  # the same rows give the same ends
    drawn = random.integers(len(seeds), size=(DRAWS, len(seeds)))
    means = values[:, drawn].mean(axis=2)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.asarray(function(*means), dtype=float)
        value = float(cast("float", function(*values.mean(axis=1))))
    low, high = np.percentile(found, (LOW, HIGH), method="nearest")
    wider = widening(len(seeds))
    ends = (min(float(low), value), max(float(high), value))
    lower, upper = (_away(value, end, wider, is_scale=is_scale) for end in ends)
    return Interval(lower, value, upper, len(seeds))


def _away(value: float, end: float, wider: float, *, is_scale: bool) -> float:
    """The end, so many times as far from the value."""
    if end == value:
        return value  # and be it without bound
    if is_scale:
        return cast("float", value * (end / value) ** wider)
    return value + (end - value) * wider


def widening(seeds: int) -> float:
    """By how much the ends of a bootstrap interval of so few seeds move away.

    Two seeds would need nine times the width, which would tell nothing: they
    have the range of both, and confirm no claim.

    >>> [round(widening(seeds), 2) for seeds in (2, 3, 5, 10, 40)]
    [1.0, 2.69, 1.58, 1.22, 1.05]
    """
    if seeds < CHANCE_SEEDS:
        return 1.0
    freedom = seeds - 1
    return student(freedom) / NORMAL * sqrt(seeds / freedom)


def student(freedom: int) -> float:
    """Student's t, two-sided at 95 %, by its degrees of freedom.

    >>> [round(student(freedom), 2) for freedom in (1, 5, 20, 1000)]
    [12.71, 2.57, 2.09, 1.96]
    """
    if freedom <= len(STUDENT):
        return STUDENT[freedom - 1]
    # The first terms of its expansion around the normal distribution's.
    found = NORMAL + (NORMAL**3 + NORMAL) / (4 * freedom)
    return found + (5 * NORMAL**5 + 16 * NORMAL**3 + 3 * NORMAL) / (96 * freedom**2)


def ratio(top: Samples, bottom: Samples) -> Interval:
    """The ratio of two means."""
    return _at_least_zero(lambda a, b: a / b, top, bottom)


def mean(samples: Samples) -> Interval:
    """The mean of a cell."""
    return _at_least_zero(lambda a: a, samples)


def _at_least_zero(function: Callable[..., Means], *samples: Samples) -> Interval:
    """What comes of numbers of which none is negative is not so either."""
    least = min(min(each.values()) for each in samples)
    found = of_means(function, *samples, is_scale=least > 0)
    return found._replace(low=max(0.0, found.low)) if least >= 0 else found


def curve_of(
    rows: Sequence[Row], x: str, y: str, scale: float = 1.0
) -> dict[float, Interval]:
    """For each x the mean of all y with its interval, by ascending x."""
    found: dict[float, dict[int, list[float]]] = {}
    for row in rows:
        by_seed = found.setdefault(number(row, x), {})
        by_seed.setdefault(integer(row, "seed"), []).append(scale * number(row, y))
    return {
        at: mean({seed: sum(ys) / len(ys) for seed, ys in found[at].items()})
        for at in sorted(found)
    }


# --- Answers --------------------------------------------------------------------


def all_below(
    margins: Mapping[str, Interval],
    limit: float | Mapping[str, float] = 1.0,
    *,
    may_be_none: bool = False,
) -> Answer:
    """Whether a number is below a limit in all cases, beyond what chance explains.

    A case may have a limit of its own.  Exactly 0 is nothing at all: who costs nothing
    has done nothing, and is not the cheaper one, unless it is said that it may be so.

    >>> sure, unsure = Interval(0.4, 0.5, 0.6), Interval(0.8, 0.9, 1.1)
    >>> [all_below({"x = 1": margin}).verdict.name for margin in (sure, unsure)]
    ['HOLDS', 'UNDECIDED']
    >>> all_below({"few": sure, "many": unsure}, {"few": 1, "many": 10}).found
    '2 cases; nearest to its limit: 0.5 (0.4 to 0.6), below 1 (few)'
    >>> all_below({"x = 1": sure, "x = 2": Interval(0, 0, 0)}).found
    '1 of 2 cases is nothing at all: x = 2'
    """
    if not margins:
        return undecided("there are no such runs")
    none = [case for case, margin in margins.items() if margin.value == 0]
    if none and not may_be_none:
        are = "is" if len(none) == 1 else "are"
        words = f"{len(none)} of {_cases(margins)} {are} nothing at all: {none[0]}"
        seeds = least_seeds(margin.seeds for margin in margins.values())
        return Answer(Verdict.DIFFERS, words, seeds)
    limits = dict.fromkeys(margins, limit) if isinstance(limit, int | float) else limit
    parts = {case: margin.over(limits[case]) for case, margin in margins.items()}
    worst = max(parts, key=lambda case: parts[case].high)
    cases = _cases(margins)
    words = f"{cases}; nearest to {limits[worst]:g}: {margins[worst].words('.3g')}"
    if len(set(limits.values())) > 1:
        words = f"{cases}; nearest to its limit: {margins[worst].words('.3g')}"
        words += f", below {limits[worst]:g}"
    words += f" ({worst})"
    seeds = least_seeds(margin.seeds for margin in margins.values())
    if all(part.high < 1 for part in parts.values()):
        return Answer(Verdict.HOLDS, words, seeds)
    wrong = {case: part for case, part in parts.items() if part.low >= 1}
    if wrong:
        case = max(wrong, key=lambda each: wrong[each].low)
        are = "is" if len(wrong) == 1 else "are"
        found = f"{len(wrong)} of {cases} {are} not: {case}: "
        found += margins[case].words(".3g")
        return Answer(Verdict.DIFFERS, found, seeds)
    return Answer(Verdict.UNDECIDED, words, seeds)


def between(value: Interval, low: float, high: float, words: str) -> Answer:
    """Whether a number lies in a range; not decided where its interval crosses an end.

    So many times nothing is in no range, be it without an end.

    >>> between(Interval(0.9, 1.0, 1.3), 0.8, 1.2, "it is 1").verdict.name
    'UNDECIDED'
    >>> between(Interval(*[float("inf")] * 3), 4, float("inf"), "times").verdict.name
    'DIFFERS'
    """
    verdict = Verdict.UNDECIDED
    if isinf(value.value):
        verdict = Verdict.DIFFERS
    elif low <= value.low and value.high <= high:
        verdict = Verdict.HOLDS
    elif value.high < low or high < value.low:
        verdict = Verdict.DIFFERS
    return Answer(verdict, words, value.seeds)


def _cases(values: Mapping[str, Interval]) -> str:
    return "1 case" if len(values) == 1 else f"{len(values)} cases"


def all_between(values: Mapping[str, Interval], low: float, high: float) -> Answer:
    """Whether a number lies in a range in all cases, beyond what chance explains.

    >>> sure, unsure = Interval(0.9, 1.0, 1.1), Interval(0.7, 0.9, 1.1)
    >>> all_between({"x = 1": sure}, 0.8, 1.2).found
    '1 case: 1.00 (0.90 to 1.10) (x = 1)'
    >>> all_between({"x = 1": sure, "x = 2": unsure}, 0.8, 1.2).verdict.name
    'UNDECIDED'
    """
    if not values:
        return undecided("there are no such runs")
    ends = [min(values, key=lambda case: values[case].low)]
    ends.append(max(values, key=lambda case: values[case].high))
    cases = _cases(values)
    said = [f"{values[case].words()} ({case})" for case in dict.fromkeys(ends)]
    words = f"{cases}: {' to '.join(said)}"
    return weakest(*(between(each, low, high, words) for each in values.values()))


def all_right(rows: Sequence[Row], column: str, what: str) -> Answer:
    """Whether a column is true in every row.

    >>> all_right([{"agrees": True}, {"agrees": False}], "agrees", "runs").found
    '1 of 2 runs'
    """
    right = sum(row[column] is True for row in rows)
    return decided(right == len(rows), f"{right:,} of {len(rows):,} {what}")
