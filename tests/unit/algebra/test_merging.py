"""Merging: perfect merges are proved; imperfect ones cover, and say what they add."""

import pytest
from hypothesis import event, given, strategies as st

from siena.algebra.covering import covers_filter, implies
from siena.algebra.disjunction import decide_covers_predicate
from siena.algebra.hull import hull
from siena.algebra.merging import (
    HOLES_MAX,
    excess,
    merge_imperfect,
    merge_pair,
    merge_perfect,
)
from siena.algebra.poset.conditions import Condition
from siena.algebra.sat import is_satisfiable
from siena.lang import parse_filter
from siena.model import (
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Predicate,
)
from strategies import constraints, filters, notifications

some_filters = st.lists(filters(names=("x", "y"), max_size=2), min_size=1, max_size=4)


def merged(*given_texts: str) -> set[str]:
    return {str(m.filter) for m in merge_perfect(map(parse_filter, given_texts))}


@given(some_filters, notifications())
def test_a_perfect_merge_selects_the_same(parts: list[Filter], n: Notification) -> None:
    merges = merge_perfect(parts)
    if len(merges) < len(set(parts)):
        event("something was merged")
    union = Predicate(m.filter for m in merges)
    assert union.matches(n) == Predicate(parts).matches(n)
    assert decide_covers_predicate(union, Predicate(parts)).holds
    assert decide_covers_predicate(Predicate(parts), union).holds


@given(some_filters)
def test_a_merge_covers_the_parts_that_it_keeps(parts: list[Filter]) -> None:
    merges = merge_perfect(parts)
    for merge in merges:
        assert merge.parts <= set(parts)
        assert all(covers_filter(merge.filter, part) for part in merge.parts)
    kept = {part for merge in merges for part in merge.parts}
    assert all(is_lost is False for is_lost in map(kept.isdisjoint, _possible(parts)))


def _possible(parts: list[Filter]) -> list[set[Filter]]:
    return [{p} for p in parts if all(map(is_satisfiable, p.by_name.values()))]


@given(some_filters, st.lists(notifications(), max_size=5))
def test_an_imperfect_merge_covers_all_and_counts_the_rest(
    parts: list[Filter], sample: list[Notification]
) -> None:
    merge = merge_imperfect(parts)
    assert all(covers_filter(merge, part) for part in parts)
    let_in = excess(merge, parts, sample)
    assert 0 <= let_in.unwanted <= let_in.selected <= len(sample)
    if let_in.example is None:
        assert let_in.unwanted == 0
    else:
        assert merge.matches(let_in.example)
        assert not any(part.matches(let_in.example) for part in parts)


@given(
    st.lists(constraints(names=("x",)), min_size=1, max_size=2).map(tuple),
    st.lists(constraints(names=("x",)), min_size=1, max_size=2).map(tuple),
)
def test_a_hull_is_implied_by_both_sides(one: Condition, other: Condition) -> None:
    if is_satisfiable(one) and is_satisfiable(other):
        both = hull(one, other)
        assert implies(one, both)
        assert implies(other, both)
        assert set(hull(other, one)) == set(both) or implies(hull(other, one), both)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("integer a = 1", "integer a > 2", "integer a = 2"), {"integer a > 0"}),
        (("float a = 1", "float a > 2"), {"float a = 1.0", "float a > 2.0"}),
        (("x < 5", "x > 5"), {"x != 5"}),
        (("x < 5", "x >= 5"), {"number x any"}),
        (("x != 5", "x = 5"), {"number x any"}),
        (("integer x < 5", "float x < 5"), {"x < 5"}),
        (("z = true", "z = false"), {"boolean z any"}),
        (("s < b", "s >= b"), {"string s any"}),
        (("s >* a", "s >= b"), {"s >= a"}),
        (("s * a, s < m", "s * a, s >= m"), {"s * a"}),
        (("a = 1, x < 5", "a = 1, x >= 5"), {"a = 1 and number x any"}),
        (("a = 1, x < 5", "a = 2, x >= 5"), {"a = 1 and x < 5", "a = 2 and x >= 5"}),
        (
            ("integer x = 1", "integer x = 4"),
            {"integer x != 2 and integer x != 3 and integer x < 5 and integer x > 0"},
        ),
        (("x > 3", "x > 5"), {"x > 3"}),
        (("x > 3", "x > 5, x < 2"), {"x > 3"}),
        (("x > 5, x < 2",), set()),
    ],
)
def test_perfect_merges(parts: tuple[str, ...], expected: set[str]) -> None:
    assert merged(*parts) == expected


def test_too_many_holes_are_not_worth_a_merge() -> None:
    assert merged("integer x = 1", "integer x = 6") == {
        "integer x = 1",
        "integer x = 6",
    }


def test_untyped_holes_would_exclude_floats_too() -> None:
    """Integers but 5, and all floats: ``x != 5`` would lose 5.0."""
    assert (
        merge_pair(parse_filter("integer x != 5"), parse_filter("float x any")) is None
    )


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        (("x > 200", "x < 100"), "number x any"),
        (("x = 1", "x = 9"), "x <= 9 and x >= 1"),
        (("s = abx", "s = aby"), "s <= aby and s >= abx"),
        (("s *< xab", "s *< yab"), "s *< ab"),
        (("x = 1", "x = a"), "x any"),
        (("x = 1, y = 2", "x = 1, z = 3"), "x = 1"),
        (("x = 1", "y = 1"), "[]"),
        (("x > 5, x < 2", "x = 1"), "x = 1"),
    ],
)
def test_imperfect_merges(parts: tuple[str, ...], expected: str) -> None:
    assert str(merge_imperfect(map(parse_filter, parts))) == expected


def test_many_values_of_one_attribute_become_a_range() -> None:
    values = [f"integer x = {n}" for n in range(100)]
    assert merged(*values) == {"integer x < 100 and integer x > -1"}


def test_nothing_cannot_be_merged() -> None:
    assert merge_perfect([]) == ()
    with pytest.raises(ValueError, match="nothing"):
        merge_imperfect([])


def test_holes_are_counted_all_in_all() -> None:
    """Values three apart: each pair would do with two holes, and all need many."""
    merges = merge_perfect(parse_filter(f"integer x = {3 * n}") for n in range(20))
    assert max(
        sum(c.operator is Operator.NE for c in merge.filter) for merge in merges
    ) <= HOLES_MAX  # fmt: skip


def test_more_excluded_values_than_a_filter_can_hold() -> None:
    """Legal filters never make a merge fail; an imperfect one gets wider."""

    def without(first: int) -> Filter:
        return Filter(
            Constraint("x", Operator.NE, first + n, Kind.INTEGER) for n in range(150)
        )

    one, other = without(0), without(1000)
    both = [
        Filter((*one, Constraint("x", Operator.LT, 5000, Kind.INTEGER))),
        Filter((*other, Constraint("x", Operator.GE, 5000, Kind.INTEGER))),
    ]
    assert merge_perfect(both)
    assert all(covers_filter(merge_imperfect(both), part) for part in both)


def test_many_parts_can_be_measured() -> None:
    parts = [parse_filter(f"x = {n}") for n in range(1100)]
    assert excess(parse_filter("x any"), parts, [{"x": 1}, {"x": -1}]).share == 0.5
