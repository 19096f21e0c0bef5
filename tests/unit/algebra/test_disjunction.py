"""Predicates: whether filters are contained in a union of filters."""

import time

import pytest
from hypothesis import event, given, strategies as st

import reference
from siena.algebra.covering import covers_filter
from siena.algebra.disjunction import (
    covers_pattern,
    covers_predicate,
    decide_covers_predicate,
)
from siena.algebra.sat import satisfiable
from siena.lang import parse_filter, parse_pattern, parse_predicate
from siena.model import Constraint, Filter, Kind, Notification, Operator, Predicate
from siena.model.limits import FILTERS_MAX
from strategies import (
    filters,
    filters_cut_in_pieces,
    kinds_of_one_family,
    predicates,
)


def two_predicates(
    kinds: tuple[Kind, ...],
) -> st.SearchStrategy[tuple[Predicate, Predicate]]:
    # A large general predicate and a small specific one: covering is common enough.
    general = predicates(kinds, max_size=4)
    return st.tuples(general, predicates(kinds, max_size=2))


pairs = kinds_of_one_family().flatmap(two_predicates) | filters_cut_in_pieces()


@given(pairs)
def test_covering_of_predicates_is_sound_and_complete(
    pair: tuple[Predicate, Predicate],
) -> None:
    general, specific = pair
    verdict = decide_covers_predicate(general, specific)
    assert verdict.shown, "so few filters never exhaust the budget"
    if verdict.holds:
        pairwise = all(any(covers_filter(g, f) for g in general) for f in specific)
        event(
            "covered, filter by filter" if pairwise else "covered by several together"
        )
        assert verdict.witness is None
        for notification in reference.telling_notifications(general, specific):
            if reference.matches(specific, notification):
                assert reference.matches(general, notification)
    else:
        event("not covered")
        assert verdict.witness is not None
        assert reference.matches(specific, verdict.witness)
        assert not reference.matches(general, verdict.witness)


@given(pairs, st.integers(0, 40))
def test_a_search_that_gives_up_says_so_and_claims_nothing(
    pair: tuple[Predicate, Predicate], steps_max: int
) -> None:
    general, specific = pair
    hasty = decide_covers_predicate(general, specific, steps_max=steps_max)
    patient = decide_covers_predicate(general, specific)
    if hasty.shown:
        event("decided in time")
        assert hasty.holds is patient.holds
    else:
        event("gave up")
        assert not hasty.holds
        assert hasty.witness is None


@given(predicates(), predicates())
def test_more_filters_cover_more(one: Predicate, more: Predicate) -> None:
    assert covers_predicate(Predicate([*one, *more]), one)


@pytest.mark.parametrize(
    ("general", "specific", "covered"),
    [
        ("x < 5 or x >= 5", "number x any", True),
        ("x < 5 or x > 5", "number x any", False),
        ("x = true or x = false", "boolean x any", True),
        ("x < 1 or y < 1 or x >= 1 and y >= 1", "number x any and number y any", True),
        ("x < 1 or y < 1 or x > 1 and y > 1", "number x any and number y any", False),
        ("x any or y any", "[]", False),
        ("[] or x = 1", "y = 3", True),
        ("s < b or s >* b or s >= c", "string s any", True),
        ("s < b or s >* b or s > c", "string s any", False),
        ("x = 1", "x > 5 and x < 3", True),
    ],
)
def test_filters_are_taken_together(
    general: str, specific: str, *, covered: bool
) -> None:
    wide, narrow = parse_predicate(general), parse_predicate(specific)
    assert covers_predicate(wide, narrow) is covered


def test_the_predicate_without_filters_selects_nothing() -> None:
    nothing = Predicate()
    assert covers_predicate(parse_predicate("x = 1"), nothing)
    assert covers_predicate(nothing, parse_predicate("x > 5 and x < 3"))
    assert not covers_predicate(nothing, parse_predicate("x = 1"))


def integers_from_zero(count: int) -> Predicate:
    """``x = 0 or x = 1 or …``."""
    return Predicate(
        Filter([Constraint("x", Operator.EQ, n, Kind.INTEGER)]) for n in range(count)
    )


def test_the_largest_predicate_is_searched_to_its_end() -> None:
    """The search goes as deep as there are filters; the stack must not end first."""
    specific = parse_predicate("integer x >= 0")
    verdict = decide_covers_predicate(integers_from_zero(FILTERS_MAX), specific)
    assert not verdict.holds
    assert verdict.witness == Notification(x=FILTERS_MAX)


def test_the_largest_predicate_covers_what_it_lists() -> None:
    specific = parse_predicate(f"integer x >= 0 and integer x < {FILTERS_MAX}")
    verdict = decide_covers_predicate(integers_from_zero(FILTERS_MAX), specific)
    assert verdict.holds


def pigeons(count: int) -> tuple[Predicate, Predicate]:
    """That two of many pigeons share a hole: true, and hard to see."""
    names = [f"p{n}" for n in range(count)]
    holes = range(count - 1)
    shared = Predicate(
        Filter(Constraint(name, Operator.EQ, hole, Kind.INTEGER) for name in pair)
        for hole in holes
        for pair in [(a, b) for a in names for b in names if a < b]
    )
    placed = Filter(
        constraint
        for name in names
        for constraint in (
            Constraint(name, Operator.GE, 0, Kind.INTEGER),
            Constraint(name, Operator.LT, count - 1, Kind.INTEGER),
        )
    )
    return shared, Predicate([placed])


def test_a_hard_question_is_answered_or_given_up_in_time() -> None:
    small = decide_covers_predicate(*pigeons(4))
    assert small.holds
    started = time.process_time()
    large = decide_covers_predicate(*pigeons(9))
    assert not large.holds
    assert not large.shown
    assert time.process_time() - started < 5


@given(kinds_of_one_family().flatmap(filters))
def test_a_predicate_of_one_filter_is_covered_like_the_filter(f: Filter) -> None:
    other = parse_predicate("x > 0 and y > 0").filters[0]
    for general, specific in ((f, other), (other, f)):
        assert covers_predicate(
            Predicate([general]), Predicate([specific])
        ) is covers_filter(general, specific)
    assert satisfiable(Predicate([f])) is satisfiable(f)


@pytest.mark.parametrize(
    ("general", "specific", "covered"),
    [
        ("x > 0 then y > 0", "x > 1 then y > 1", True),
        ("x > 0 then y > 0", "y > 1 then x > 1", False),
        ("x > 0 then y > 0", "x > 1", False),
        ("x > 0", "x > 1 then y > 1", False),
        ("x > 0 then y < 1 or y >= 1", "x > 1 then number y any", True),
    ],
)
def test_patterns_are_covered_step_by_step(
    general: str, specific: str, *, covered: bool
) -> None:
    assert covers_pattern(parse_pattern(general), parse_pattern(specific)) is covered


def boxes(count: int) -> Predicate:
    """A square, cut into boxes that touch: geofences, say."""
    return Predicate(
        parse_filter(
            f"integer x >= {10 * i}, integer x < {10 * i + 10}, "
            f"integer y >= {10 * j}, integer y < {10 * j + 10}"
        )
        for i in range(count)
        for j in range(count)
    )


def test_a_square_is_covered_by_its_boxes() -> None:
    """Branches that overlapped would search the same square again and again."""
    square = parse_predicate(
        "integer x >= 0, integer x < 120, integer y >= 0, integer y < 120"
    )
    assert decide_covers_predicate(boxes(12), square).holds
    larger = parse_predicate(
        "integer x >= 0, integer x < 121, integer y >= 0, integer y < 120"
    )
    verdict = decide_covers_predicate(boxes(12), larger)
    assert verdict.witness is not None
    assert verdict.witness["x"] == 120


def test_what_is_easy_to_refute_is_refuted_although_the_rest_is_hard() -> None:
    general, hard = pigeons(9)
    easy = parse_filter("z = 1")
    for order in ([*hard, easy], [easy, *hard]):
        verdict = decide_covers_predicate(general, Predicate(order))
        assert verdict.witness == Notification(z=1)


def test_wide_filters_do_not_outlast_the_budget() -> None:
    """A comparison of wide filters costs as many steps as it has pairs."""

    def wide(n: int) -> Filter:
        return Filter(
            Constraint("x", Operator.NE, n * 1000 + k, Kind.INTEGER) for k in range(120)
        )

    general = Predicate(wide(n) for n in range(40))
    specific = Predicate(wide(n) for n in range(40, 80))
    assert not decide_covers_predicate(general, specific, steps_max=20_000).shown
