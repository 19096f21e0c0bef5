"""What is in force is what was asked for and is granted: no more, and no less."""

from collections.abc import Iterable

import pytest
from hypothesis import event, given

from siena.broker.access.grants.decisions import (
    NARROWED_FILTERS_MAX,
    covers_interest,
    covers_offer,
    narrow,
)
from siena.lang.parser import (
    parse_advertisement,
    parse_interest,
    parse_predicate as parse,
)
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate
from strategies import advertisements, filters, notifications, predicates


@given(predicates(), predicates(), notifications())
def test_in_force_is_exactly_both(
    asked: Predicate, grant: Predicate, n: Notification
) -> None:
    found = narrow(asked, grant)
    assert found.asked is asked
    wanted = asked.matches(n) and grant.matches(n)
    if found.is_guarded:
        event("guarded")
        assert (_matches(found.interest, n) and grant.matches(n)) == wanted
    else:
        event("whole" if found.is_whole else "narrowed")
        assert _matches(found.interest, n) == wanted


@given(predicates(), filters(), notifications())
def test_a_witness_is_asked_for_and_not_granted(
    grant: Predicate, asked: Filter, n: Notification
) -> None:
    verdict = covers_interest(grant, asked)
    if verdict.holds:
        assert not asked.matches(n) or grant.matches(n)
    elif verdict.witness is not None:
        event("witness")
        assert asked.matches(verdict.witness)
        assert not grant.matches(verdict.witness)


@given(predicates(), advertisements())
def test_an_offer_outside_the_grant_is_shown_by_what_it_admits(
    grant: Predicate, offer: Advertisement
) -> None:
    verdict = covers_offer(grant, offer)
    if verdict.witness is not None:
        event("witness")
        assert offer.admits(verdict.witness)
        assert not grant.matches(verdict.witness)


def test_a_pattern_is_narrowed_step_by_step() -> None:
    found = narrow(parse_interest("x > 1 then y > 1"), parse("x < 9 or y < 9"))
    assert isinstance(found.interest, Pattern)
    assert not found.is_whole
    first, second = found.interest
    assert first.matches({"x": 5})
    assert not first.matches({"x": 10})
    assert second.matches({"y": 5})


def test_where_a_conjunction_is_too_large_the_grant_is_a_guard() -> None:
    grant = parse(f"x in ({', '.join(map(str, range(NARROWED_FILTERS_MAX)))})")
    found = narrow(parse("y > 1 or z > 1"), grant)
    assert found.is_guarded
    assert found.interest is found.asked
    assert str(found).endswith("within what is granted")


def test_nothing_is_left_of_what_is_not_granted() -> None:
    assert narrow(parse("x = 1"), Predicate()).interest == Predicate()
    assert narrow(parse("x = 1"), parse("x = 2")).interest == Predicate()


@pytest.mark.parametrize(
    ("grant", "offer", "witness"),
    [
        ("tenant = a", "tenant = a, string symbol any", None),
        ("tenant = a and debug absent", "tenant = a", None),
        ("tenant = a", "tenant in (a, b)", "tenant = b"),
        ("tenant = a and price < 9", "tenant = a, number price any", "price = 9"),
        ("tenant = a", "price < 9", "price = 0"),
    ],
)
def test_an_advertisement_counts_with_all_its_attributes(
    grant: str, offer: str, witness: str | None
) -> None:
    verdict = covers_offer(parse(grant), parse_advertisement(offer))
    assert verdict.holds == (witness is None)
    assert witness is None or witness in str(verdict.witness)


def _matches(interest: object, n: Notification) -> bool:
    found: Iterable[Filter] = (
        (interest,) if isinstance(interest, Filter) else interest  # type: ignore[assignment]
    )
    return any(f.matches(n) for f in found)
