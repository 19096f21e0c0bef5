"""Points and bounds: the quick ways find what comparing everything finds."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from siena.algebra.poset.axis import Axis
from siena.algebra.poset.bits import bits_of, ones
from siena.algebra.poset.conditions import (
    Condition,
    Covering,
    Reading,
    advertisement_reading,
    subscription_reading,
)
from siena.algebra.poset.poset import Poset
from siena.algebra.poset.shelf import Node, Shelf
from siena.lang import parse_filter
from siena.model import Advertisement, Constraint, Filter, Kind, Operator, Value

READINGS: tuple[Callable[[Covering], Reading], ...] = (
    subscription_reading,
    advertisement_reading,
)
# Whether it comes or goes, and what.
Step = tuple[bool, list[Constraint]]
COVERINGS: tuple[Covering, ...] = ("exact", "pairwise")

# Operands next to each other and next to what is between two integers; strings with
# their successors; and beyond 2^53, where a number is not an integer and a float.
OPERANDS: dict[Kind, tuple[Value, ...]] = {
    Kind.INTEGER: (3, 4, 5, 2**53 + 1, -(2**63)),
    Kind.FLOAT: (3.0, 3.5, 4.0, 1e301),
    Kind.NUMBER: (3, 3.5, 4, 5, 2**53 + 1, 2.0**63),
    Kind.STRING: ("", "\0", "a", "a\0", "b", "\U0010ffff"),
    Kind.BOOLEAN: (False, True),
    Kind.TIME: (datetime(2026, 11, 15, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)),
}
BOUNDS = (Operator.LT, Operator.LE, Operator.GT, Operator.GE)
FAMILIES = (
    (Kind.INTEGER, Kind.FLOAT, Kind.NUMBER),
    (Kind.STRING,),
    tuple(OPERANDS),
)


def constraints(
    kinds: Sequence[Kind], operators: Sequence[Operator]
) -> list[Constraint]:
    return [
        Constraint(name, operator, value, kind)
        for kind in kinds
        for value in OPERANDS[kind]
        for operator in operators
        for name in ("x", "x", "y")
    ]


@st.composite
def items(draw: st.DrawFn, kinds: Sequence[Kind]) -> list[Constraint]:
    """Mostly one simple constraint, on its name or in all."""
    simple = constraints(kinds, (Operator.EQ, *BOUNDS, *BOUNDS))
    other = [
        *constraints(kinds, [Operator.NE]),
        *(Constraint("x", Operator.ANY, None, kind) for kind in (*kinds, Kind.ANY)),
    ]
    one = st.one_of(st.sampled_from(simple), st.sampled_from(simple + other))
    return draw(st.lists(one, min_size=1, max_size=3))


# Lines of bounds on x, read either way, with conditions that lie in their gaps.
ON_X = (
    *("integer x > 1", "integer x > 2", "integer x > 4", "integer x > 6"),
    *("integer x > 1, integer x != 3", "integer x > 4, integer x = 3"),
    *("integer x = 7", "x > 2", "x any", ""),
)
ON_Y = ("", "y any", "y = 1", "y < 3", "y < 5", "y < 9, y != 4")


@st.composite
def on_lines(draw: st.DrawFn) -> list[Constraint]:
    """A condition on each of two names, so that lines cross."""
    texts = draw(st.sampled_from(ON_X)), draw(st.sampled_from(ON_Y))
    return [c for text in texts if text for c in parse_filter(text).constraints]


# All pairs are compared after every step.  So many short histories at night, when
# there are twenty thousand, and fewer long ones by day.
COMING_MAX = 4 if settings().max_examples > 1000 else 10


@st.composite
def churn(draw: st.DrawFn) -> list[Step]:
    """What comes, and what goes; much of it is gone before the end."""
    kinds = draw(st.sampled_from(FAMILIES))
    one = draw(st.sampled_from([items(kinds), on_lines()]))
    coming = draw(st.lists(one, min_size=1, max_size=COMING_MAX))
    steps = [(True, item) for item in coming]
    for item in coming:
        if draw(st.booleans()):
            steps.insert(draw(st.integers(0, len(steps))), (False, item))
    return steps


@given(churn(), st.sampled_from(COVERINGS))
def test_filters_come_and_go(steps: list[Step], covering: Covering) -> None:
    run(Poset.of_filters(covering), Filter, steps)


@given(churn(), st.sampled_from(COVERINGS))
def test_advertisements_come_and_go(steps: list[Step], covering: Covering) -> None:
    run(Poset.of_advertisements(covering), Advertisement, steps)


def run(
    poset: Poset[Any],
    of: Callable[[list[Constraint]], Any],
    steps: list[Step],
) -> None:
    for is_coming, item in steps:
        if is_coming:
            poset.add(of(item))
        else:
            poset.remove(of(item))
        poset.check()


@pytest.mark.parametrize("of_reading", READINGS)
@pytest.mark.parametrize("covering", COVERINGS)
def test_every_pair_of_simple_conditions(
    of_reading: Callable[[Covering], Reading], covering: Covering
) -> None:
    """All of a family at once, so that the chains are long; then without half."""
    for kinds in FAMILIES:
        axis = Axis(of_reading(covering))
        simple = [
            (c,)
            for c in dict.fromkeys(constraints(kinds, (Operator.EQ, *BOUNDS)))
            if c.name == "x"
        ]
        for condition in simple:
            axis.enter(condition, axis.locate(condition))
        axis.check()
        for condition in simple[::2]:
            axis.leave(condition)
        axis.check()


Visit = Callable[[Shelf[Filter], int], Iterator[Node[Filter]]]


class Work:
    """A poset that counts what it compares and the nodes that it looks at."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.comparisons = 0
        self.visits = 0
        self._covers = subscription_reading("exact").covers
        reading = replace(subscription_reading("exact"), covers=self._count)
        self.poset: Poset[Filter] = Poset(reading)
        for method in (Shelf.members, Shelf.accessed):
            monkeypatch.setattr(Shelf, method.__name__, self._visiting(method))

    def _count(self, general: Condition, specific: Condition) -> bool:
        self.comparisons += 1
        return self._covers(general, specific)

    def _visiting(self, method: Visit) -> Visit:
        def counted(shelf: Shelf[Filter], mask: int) -> Iterator[Node[Filter]]:
            for node in method(shelf, mask):
                self.visits += 1
                yield node

        return counted


def test_distinct_points_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    work = Work(monkeypatch)
    work.poset.add(Filter([Constraint("id", Operator.PREFIX, "user-")]))
    for i in range(5_000):
        work.poset.add(Filter([Constraint("id", Operator.EQ, f"user-{i}")]))
    assert len(work.poset) == 5_001
    assert len(work.poset.roots) == 1
    # Each with the prefix, and nothing else.
    assert work.comparisons <= 5_000
    assert work.visits <= 5_000


@pytest.mark.parametrize("rest", ["", "symbol = MSFT and "])
def test_a_long_chain_is_searched_by_halving(
    monkeypatch: pytest.MonkeyPatch, rest: str
) -> None:
    work = Work(monkeypatch)
    # In an order that is neither ascending nor descending; 7 and 2000 are coprime.
    thresholds = [7 * i % 2_000 for i in range(2_000)]
    for threshold in thresholds:
        work.poset.add(parse_filter(f"{rest}price > {threshold}"))
    assert len(work.poset) == 2_000
    assert len(work.poset.roots) == 1
    middle = parse_filter(f"{rest}price > 1000")
    assert work.poset.successors(middle) == {parse_filter(f"{rest}price > 1001")}
    # The neighbours may be equal: two proofs at most.
    assert work.comparisons <= 2 * 2_000
    assert work.visits <= 2 * 2_000


def test_a_spelling_is_forgotten_with_its_last_use() -> None:
    axis = Axis(subscription_reading("exact"))
    kept = parse_filter("integer x = 4").by_name["x"]
    number = axis.enter(kept, axis.locate(kept))
    for low in range(4):
        spelling = parse_filter(f"integer x > {low}, integer x >= 4, x <= 4")
        condition = spelling.by_name["x"]
        assert axis.enter(condition, axis.locate(condition)) == number
        assert axis.spellings == 2
        axis.leave(condition)
        assert axis.spellings == 1
    axis.check()
    axis.leave(kept)
    assert (len(axis), axis.spellings) == (0, 0)


@given(st.sets(st.integers(0, 300)))
def test_bits_and_numbers(numbers: set[int]) -> None:
    assert bits_of(numbers) == sum(1 << n for n in numbers)
    assert list(ones(bits_of(numbers))) == sorted(numbers)
