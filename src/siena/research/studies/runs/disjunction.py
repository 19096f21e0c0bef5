"""The disjunction advantage: how much smaller predicates are together than apart.

``alpha`` is the size of a disjunction divided by the sizes of its parts: 1 where
nothing is gained.  Two models, as in TR 2006/05, section 4; our specification, E.8.
"""

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Literal, cast

import numpy as np

from siena.algebra.pairwise import covers_pairwise
from siena.model import Filter
from siena.research.studies.framework.rows import Row, integer, number, text
from siena.sim.workload import TR0605, Distribution

# A predicate has one message in so many.  The paper's example has a hundred; where
# there would be less than one predicate, predicates are smaller.
MESSAGES_PER_PREDICATE = 100
# Messages that are drawn for a row, at least: of 200 from a universe of 10 000, alpha
# differs by 0.1 from draw to draw, which would say little about its mean.
DRAWS_MIN = 20_000

Drawing = Literal["uniform", "zipf", "zipf exact"]
"""How messages get into predicates.

========  =========================================================================
uniform   each predicate is a set of k messages, all equally likely
zipf      all n·k messages are drawn with replacement, message i as often as 1/i:
          the only variant that gives the number which the paper states
zipf      each predicate is a set of exactly k messages, drawn as often as 1/i and
exact     without replacement
========  =========================================================================
"""


def sets_of_messages(row: Row) -> Row:
    """The general model: predicates are sets of messages.

    >>> row = {"universe": 1000, "load": 0.5, "drawing": "uniform", "seed": 1}
    >>> result = sets_of_messages(row)
    >>> round(result["alpha"], 2), round(result["expected"], 2)
    (0.79, 0.79)
    """
    universe = integer(row, "universe")
    drawing = cast("Drawing", text(row, "drawing"))
    size, predicates = shape_of(universe, number(row, "load"))
    random = np.random.default_rng([integer(row, "seed"), universe, size, predicates])
    found: float
    if drawing == "uniform":
        found = _uniform(random, universe, size, predicates)
    elif drawing == "zipf":
        found = _zipf(random, universe, size * predicates)
    else:
        found = _exact_size(random, universe, size, predicates)
    return {
        "alpha": found / (size * predicates),
        "expected": expected_alpha(drawing, universe, size, predicates),
    }


def _zipf(random: np.random.Generator, universe: int, messages: int) -> float:
    """How many are distinct of so many messages; drawn often where they are few."""
    weights = np.cumsum(zipf(universe))
    times = max(1, DRAWS_MIN // messages)
    draws = random.random((times, messages)) * weights[-1]
    drawn = np.searchsorted(weights, draws)
    return sum(len(np.unique(each)) for each in drawn) / times


def shape_of(universe: int, load: float) -> tuple[int, int]:
    """Messages in a predicate, and predicates, so that they are a load together.

    >>> shape_of(10_000, 0.05), shape_of(10_000, 0.005)
    ((100, 5), (50, 1))
    """
    size = universe // MESSAGES_PER_PREDICATE
    predicates = max(1, round(load * MESSAGES_PER_PREDICATE))
    return min(size, round(load * universe)), predicates


def zipf(universe: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """How likely each message is: the one of rank i as 1/i."""
    weights = 1 / np.arange(1, universe + 1)
    return cast("np.ndarray[tuple[int], np.dtype[np.float64]]", weights / weights.sum())


def expected_alpha(
    drawing: Drawing, universe: int, size: int, predicates: int
) -> float | None:
    """The closed form, where there is one.

    >>> round(expected_alpha("uniform", 10_000, 100, 100), 3)
    0.634
    >>> round(expected_alpha("zipf", 10_000, 100, 5), 3)
    0.582
    """
    draws = size * predicates
    if drawing == "uniform":
        return universe / draws * (1 - (1 - size / universe) ** predicates)
    if drawing == "zipf":
        missed = np.exp(draws * np.log1p(-zipf(universe)))
        return float((1 - missed).sum()) / draws
    return None


def _uniform(
    random: np.random.Generator, universe: int, size: int, predicates: int
) -> int:
    is_in = np.zeros(universe, bool)
    for _ in range(predicates):
        is_in[random.choice(universe, size, replace=False, shuffle=False)] = True
    return int(is_in.sum())


def _exact_size(
    random: np.random.Generator, universe: int, size: int, predicates: int
) -> int:
    """Without replacement: the first to arrive, each message at a rate of its own."""
    is_in = np.zeros(universe, bool)
    rates = zipf(universe)
    for _ in range(predicates):
        arrivals = random.exponential(size=universe) / rates
        is_in[np.argpartition(arrivals, size - 1)[:size]] = True
    return int(is_in.sum())


def conjunctions(row: Row) -> Row:
    """The specific model: predicates are filters, and covered ones are dropped.

    The names of a filter are distinct, so within a filter there is nothing to drop.

    >>> row = {"names": 50, "names_are": "uniform", "predicates": 200, "seed": 1}
    >>> 0.5 < conjunctions(row)["alpha"] < 1
    True
    """
    workload = TR0605(
        names=integer(row, "names"),
        distribution=cast("Distribution", text(row, "names_are")),
        # A set of its own for each number of predicates, not the first of a longer one.
        seed=integer(row, "seed") * 1_000_003 + integer(row, "predicates"),
    )
    filters = list(workload.filters(integer(row, "predicates")))
    generated = sum(map(len, filters))
    left = sum(map(len, undominated(filters)))
    return {"alpha": left / generated, "generated": generated, "left": left}


def undominated(filters: Iterable[Filter]) -> list[Filter]:
    """The filters that no other covers pairwise; of equivalent ones, the first.

    These are the roots of a poset, which would find out much more.  Here it is enough
    to look, for each filter, at those with some of its names, and short ones first:
    a filter is covered only by one whose names it has.  Names within a filter must be
    distinct.

    >>> from siena.lang.parser import parse_filter as parse
    >>> texts = ["x > 10 and y = 100", "y > 0", "z = 1", "y > 0 and z = 1"]
    >>> [str(f) for f in undominated(map(parse, texts))]
    ['y > 0', 'z = 1']
    """
    kept: dict[tuple[str, ...], list[Filter]] = {}
    for f in sorted(filters, key=len):
        names = tuple(f.by_name)
        assert len(names) == len(f)
        if any(
            covers_pairwise(g, f) for some in _parts(names) for g in kept.get(some, ())
        ):
            continue
        same = [g for g in kept.get(names, ()) if not covers_pairwise(f, g)]
        kept[names] = [*same, f]
    return [f for same in kept.values() for f in same]


def _parts(names: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """All choices of some of the names, in their order."""
    for count in range(1, len(names) + 1):
        yield from combinations(names, count)
