"""Covering: sound and complete, against every value of an exhaustive universe."""

import pytest
from hypothesis import event, example, given, strategies as st

import reference
from siena.algebra.covering import (
    advertisement_counterexample,
    counterexample_filter,
    covers_advertisement,
    covers_filter,
    implies,
    refutation,
)
from siena.lang import parse_advertisement, parse_filter
from siena.model import Advertisement, Filter, Notification
from strategies import (
    FAMILIES,
    advertisements,
    filters,
    kinds_of_one_family,
    notifications,
)

# Two names are enough for one side to lack one; more only dilute.
TWO = ("x", "y")


@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data())
def test_covering_is_sound_and_complete(family: str, data: st.DataObject) -> None:
    """A yes is not refuted by anything in the universe; a no has a witness."""
    kinds = FAMILIES[family]
    # On one name constraints meet more often; with two, a filter may lack one.
    names = data.draw(st.sampled_from([("x",), ("x", "y")]), "names")
    general = data.draw(filters(kinds, names, max_size=2), "general")
    specific = data.draw(filters(kinds, names, max_size=4), "specific")
    check_covering(general, specific)


def check_covering(general: Filter, specific: Filter) -> None:
    found = counterexample_filter(general, specific)
    assert covers_filter(general, specific) is (found is None)
    if found is None:
        event("covered")
        assert reference.covers(general, specific)
    else:
        event("not covered")
        assert reference.matches([specific], found)
        assert not reference.matches([general], found)


@given(
    kinds_of_one_family().flatmap(
        lambda kinds: st.tuples(
            advertisements(kinds, TWO, max_size=5),
            advertisements(kinds, TWO, max_size=2),
        )
    )
)
def test_covering_of_advertisements_is_sound_and_complete(
    pair: tuple[Advertisement, Advertisement],
) -> None:
    general, specific = pair
    found = advertisement_counterexample(general, specific)
    assert covers_advertisement(general, specific) is (found is None)
    if found is None:
        event("covered")
        assert reference.covers_advertisement(general, specific)
    else:
        event("not covered")
        assert reference.admits(specific, found)
        assert not reference.admits(general, found)


# --- Laws -------------------------------------------------------------------------


@given(filters(), filters(), notifications())
@example(parse_filter("x = false"), parse_filter("x = 0"), Notification(x=0))
@example(parse_filter("x = 1"), parse_filter("x = 1.0"), Notification(x=1))
def test_nobody_who_is_covered_loses_a_notification(
    general: Filter, specific: Filter, notification: Notification
) -> None:
    if covers_filter(general, specific) and specific.matches(notification):
        event("the premise held")
        assert general.matches(notification)


@given(filters(), advertisements())
def test_everything_covers_itself(f: Filter, advertisement: Advertisement) -> None:
    assert covers_filter(f, f)
    assert covers_advertisement(advertisement, advertisement)


@given(filters())
def test_the_empty_filter_covers_everything_and_is_covered_by_no_other(
    f: Filter,
) -> None:
    assert covers_filter(Filter(), f)
    assert covers_filter(f, Filter()) is (f == Filter())


@given(
    kinds_of_one_family().flatmap(
        lambda kinds: st.tuples(
            *[filters(kinds, ("x",), max_size=size) for size in (1, 2, 3)]
        )
    )
)
def test_covering_is_transitive(chain: tuple[Filter, Filter, Filter]) -> None:
    first, second, third = chain
    if covers_filter(first, second) and covers_filter(second, third):
        event("the premise held")
        assert covers_filter(first, third)


@given(
    kinds_of_one_family().flatmap(
        lambda kinds: st.tuples(
            *[advertisements(kinds, ("x",), max_size=size) for size in (3, 2, 1)]
        )
    )
)
def test_covering_of_advertisements_is_transitive(
    chain: tuple[Advertisement, Advertisement, Advertisement],
) -> None:
    first, second, third = chain
    if covers_advertisement(first, second) and covers_advertisement(second, third):
        event("the premise held")
        assert covers_advertisement(first, third)


@given(filters(), filters())
def test_a_filter_with_more_constraints_is_covered(f: Filter, more: Filter) -> None:
    assert covers_filter(f, Filter([*f, *more]))


@given(advertisements(), advertisements())
def test_an_advertisement_with_more_constraints_covers(
    advertisement: Advertisement, more: Advertisement
) -> None:
    assert covers_advertisement(Advertisement([*advertisement, *more]), advertisement)


@given(
    kinds_of_one_family().flatmap(
        lambda kinds: st.tuples(
            *[filters(kinds, ("x",), max_size=size) for size in (4, 2)]
        )
    )
)
def test_what_is_not_implied_is_refuted(pair: tuple[Filter, Filter]) -> None:
    given_, wanted = (f.constraints for f in pair)
    value = refutation(given_, wanted)
    assert implies(given_, wanted) is (value is None)
    if value is not None:
        assert all(reference.satisfies(value, c) for c in given_)
        assert not all(reference.satisfies(value, c) for c in wanted)


# --- Cases worth reading ----------------------------------------------------------


@pytest.mark.parametrize(
    ("general", "specific", "covered"),
    [
        ("x > 3", "integer x > 3", True),
        ("integer x > 3", "x > 3", False),
        ("x = 4", "x > 3, x < 5", False),  # 4.5 is a number
        ("integer x = 4", "integer x > 3, integer x < 5", True),
        ("x any", "x = true", True),
        ("number x any", "x any", False),
        ("x > 9007199254740992", "integer x >= 9007199254740993", True),
        ("x > 9007199254740992", "float x > 9007199254740992", True),
        ("x >= 9007199254740993", "float x > 9007199254740992", True),
        ("x = false", "boolean x != true", True),
        ('s >= ""', "string s any", True),
        ("x = 1", "x > 5, x < 3", True),  # nothing matches the second
        ("x any", "[]", False),
        ("x != 1.5", "integer x any", True),
        ("x <= 2.5", "integer x < 3", True),
        ("float x <= 2.5", "integer x < 3", False),
    ],
)
def test_covering_takes_constraints_and_kinds_together(
    general: str,
    specific: str,
    *,
    covered: bool,
) -> None:
    assert covers_filter(parse_filter(general), parse_filter(specific)) is covered


@pytest.mark.parametrize(
    ("general", "specific", "covered"),
    [
        ("x < 5, x >= 5", "number x any", True),
        ("integer x < 5, integer x >= 5", "number x any", False),
        ("x = true, x = false", "boolean x any", True),
        ("what = alarm", "what = alarm, level any", False),
        ("x any", "[]", True),
        ("[]", "x > 5", False),
        ("[]", 's < ""', True),  # nothing can be published under it
    ],
)
def test_advertisements_cover_attribute_by_attribute(
    general: str,
    specific: str,
    *,
    covered: bool,
) -> None:
    wide, narrow = parse_advertisement(general), parse_advertisement(specific)
    assert covers_advertisement(wide, narrow) is covered
