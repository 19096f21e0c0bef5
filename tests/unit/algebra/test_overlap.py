"""Overlap: whether something that may be published would match."""

import pytest
from hypothesis import event, given, strategies as st

import reference
from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.overlap import common_notification, overlaps
from siena.lang import parse_advertisement, parse_filter, parse_predicate
from siena.model import Advertisement, Filter, Kind, Notification, Predicate
from strategies import (
    advertisements,
    filters,
    kinds_of_one_family,
    notifications,
    predicates,
)

ONE = ("x",)
TWO = ("x", "y")


@given(
    kinds_of_one_family().flatmap(
        lambda kinds: st.tuples(advertisements(kinds, TWO), filters(kinds, TWO))
    )
)
def test_overlap_is_sound_and_complete(pair: tuple[Advertisement, Filter]) -> None:
    advertisement, f = pair
    found = common_notification(advertisement, f)
    assert overlaps(advertisement, f) is (found is not None)
    if found is None:
        event("apart")
        assert not reference.overlaps(advertisement, f)
    else:
        event("overlapping")
        assert reference.matches([f], found)
        assert reference.admits(advertisement, found)
        assert set(found) == {c.name for c in f}, "the names of the filter, no others"


@given(advertisements(), filters(), notifications())
def test_what_is_admitted_and_matches_shows_an_overlap(
    advertisement: Advertisement, f: Filter, notification: Notification
) -> None:
    if advertisement.admits(notification) and f.matches(notification):
        event("the premise held")
        assert overlaps(advertisement, f)


@given(advertisements(), predicates())
def test_a_predicate_overlaps_if_one_of_its_filters_does(
    advertisement: Advertisement, predicate: Predicate
) -> None:
    expected = any(overlaps(advertisement, f) for f in predicate)
    assert overlaps(advertisement, predicate) is expected


def one_of_each(
    kinds: tuple[Kind, ...],
) -> st.SearchStrategy[tuple[Advertisement, Advertisement, Filter, Filter]]:
    return st.tuples(
        advertisements(kinds, ONE, max_size=3),
        advertisements(kinds, ONE, max_size=2),
        filters(kinds, ONE, max_size=1),
        filters(kinds, ONE, max_size=3),
    )


@given(kinds_of_one_family().flatmap(one_of_each))
def test_overlap_grows_with_either_side(
    drawn: tuple[Advertisement, Advertisement, Filter, Filter],
) -> None:
    """Who covers what overlaps, overlaps (A.5.6)."""
    wide_offer, narrow_offer, wide, narrow = drawn
    if covers_advertisement(wide_offer, narrow_offer) and overlaps(
        narrow_offer, narrow
    ):
        event("the advertisement grew")
        assert overlaps(wide_offer, narrow)
    if covers_filter(wide, narrow) and overlaps(narrow_offer, narrow):
        event("the filter grew")
        assert overlaps(narrow_offer, wide)


@pytest.mark.parametrize(
    ("advertisement", "interest", "overlapping"),
    [
        ("integer x = 3, integer x = 7", "x > 3, x < 5", False),
        ("x = 3.5, x = 7", "x > 3, x < 5", True),
        ("what = alarm, level any", "what = alarm, level > 3", True),
        ("what = alarm", "what = alarm, level > 3", False),
        ("[]", "[]", True),
        ("[]", "x any", False),
        ("x = 1", "x = true", False),
        ("x any", "x = 1 and y = 1 or x = 2", True),
    ],
)
def test_overlap_by_example(
    advertisement: str,
    interest: str,
    *,
    overlapping: bool,
) -> None:
    offered, wanted = parse_advertisement(advertisement), parse_predicate(interest)
    assert overlaps(offered, wanted) is overlapping


def test_overlap_is_not_transitive() -> None:
    """The law that does not hold: not through a filter both have something with."""
    left, right = parse_advertisement("x = 1"), parse_advertisement("x = 2")
    middle = parse_filter("x any")
    assert overlaps(left, middle)
    assert overlaps(right, middle)
    assert not overlaps(left, parse_filter("x = 2"))
