"""The room's front: every relation, for whatever it is asked about."""

import pytest
from hypothesis import event, example, given

import reference
from siena.algebra.relations import (
    counterexample,
    covers,
    decide_covers,
    decide_covers_advertisement,
    decide_equivalent,
    decide_overlaps,
    decide_satisfiable,
    equivalent,
)
from siena.lang import parse_advertisement, parse_filter, parse_interest
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate
from strategies import advertisements, filters, notifications, predicates


@given(filters(), filters())
def test_a_filter_is_the_predicate_and_the_pattern_of_itself(
    general: Filter, specific: Filter
) -> None:
    expected = covers(general, specific)
    for wide in (general, Predicate([general]), Pattern([general])):
        for narrow in (specific, Predicate([specific]), Pattern([specific])):
            assert covers(wide, narrow) is expected
            verdict = decide_covers(wide, narrow)
            assert verdict.holds is expected
            assert bool(verdict) is expected
            assert (verdict.witness is None) is expected


@given(predicates(), predicates())
def test_a_no_comes_with_a_counterexample(
    general: Predicate, specific: Predicate
) -> None:
    verdict = decide_covers(general, specific)
    assert verdict.holds is covers(general, specific)
    found = counterexample(general, specific)
    if not verdict.holds:
        assert found is not None
        assert reference.matches(specific, found)
        assert not reference.matches(general, found)


@given(predicates(), predicates())
@example(
    Predicate([parse_filter("integer x = 4")]),
    Predicate([parse_filter("integer x > 3, integer x < 5")]),
)
def test_equivalent_means_that_nothing_tells_them_apart(
    left: Predicate, right: Predicate
) -> None:
    verdict = decide_equivalent(left, right)
    assert verdict.holds is equivalent(left, right) is equivalent(right, left)
    if verdict.holds:
        event("equivalent")
        for notification in reference.telling_notifications(left, right):
            assert reference.matches(left, notification) is reference.matches(
                right, notification
            )
    else:
        assert verdict.witness is not None
        assert reference.matches(left, verdict.witness) is not reference.matches(
            right, verdict.witness
        )


@given(filters(), filters(), notifications())
def test_equivalent_filters_select_the_same(
    left: Filter, right: Filter, notification: Notification
) -> None:
    if equivalent(left, right):
        event("the premise held")
        assert left.matches(notification) is right.matches(notification)


@given(advertisements(), advertisements(), predicates())
def test_every_interesting_answer_has_a_witness(
    general: Advertisement, specific: Advertisement, interest: Predicate
) -> None:
    covering = decide_covers_advertisement(general, specific)
    if not covering.holds:
        assert covering.witness is not None
        assert reference.admits(specific, covering.witness)
        assert not reference.admits(general, covering.witness)
    overlap = decide_overlaps(general, interest)
    if overlap.holds:
        assert overlap.witness is not None
        assert reference.admits(general, overlap.witness)
        assert reference.matches(interest, overlap.witness)
    some = decide_satisfiable(interest)
    if some.holds:
        assert some.witness is not None
        assert reference.matches(interest, some.witness)
    assert all(verdict.shown for verdict in (covering, overlap, some))


@pytest.mark.parametrize(
    ("general", "specific", "covered"),
    [
        ("price < 500", "price < 300 and airline = UA", True),
        ("x in (1, 2, 3)", "x in (1, 3)", True),
        ("x in (1, 3)", "x in (1, 2, 3)", False),
        ("x any then y any", "x = 1 then y = 1", True),
        ("x any", "x any then x any", False),
        ("x any then x any", "x any", False),
    ],
)
def test_interests_of_all_shapes_are_compared(
    general: str, specific: str, *, covered: bool
) -> None:
    wide, narrow = parse_interest(general), parse_interest(specific)
    assert covers(wide, narrow) is covered
    assert decide_covers(wide, narrow).holds is covered


def test_the_witness_of_a_pattern_is_one_for_the_step_that_is_not_covered() -> None:
    verdict = decide_covers(
        parse_interest("x > 0 then y > 5"), parse_interest("x > 1 then y > 1")
    )
    assert not verdict.holds
    assert verdict.witness is not None
    assert list(verdict.witness) == ["y"]


def test_patterns_of_other_lengths_are_apart_without_a_witness() -> None:
    verdict = decide_covers(parse_interest("x any then x any"), parse_interest("x any"))
    assert (verdict.holds, verdict.witness, verdict.shown) == (False, None, True)


def test_an_overlap_is_shown_by_the_names_of_the_interest_alone() -> None:
    verdict = decide_overlaps(
        parse_advertisement("what = alarm, level any, where any"),
        parse_filter("what = alarm and integer level > 3"),
    )
    assert str(verdict.witness) == "level = 4 and what = alarm"
