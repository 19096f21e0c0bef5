"""Channels, subjects, unicast and multicast, as filters."""

import pytest

from conformance.kit import (
    ADDRESSING,
    Case,
    Filter,
    SienaError,
    covers,
    each,
    equivalent,
    parse_filter,
    parse_notification,
    satisfiable,
)


@each("addressing", "addresses")
def test_an_address_selects_its_notifications(case: Case) -> None:
    address = ADDRESSING[case["facade"]](case["address"])
    for field, expected in (("matches", True), ("differs", False)):
        for text in case[field]:
            assert address.matches(parse_notification(text)) is expected, text


@each("addressing", "addresses", where=lambda case: "same_as" in case)
def test_an_address_is_a_filter_that_could_be_written(case: Case) -> None:
    address = ADDRESSING[case["facade"]](case["address"])
    assert equivalent(address, parse_filter(case["same_as"]))


@each("addressing", "disjoint")
def test_two_addresses_share_no_notification(case: Case) -> None:
    first, second = (ADDRESSING[case["facade"]](a) for a in case["addresses"])
    assert satisfiable(first)
    assert satisfiable(second)
    assert not satisfiable(Filter([*first.constraints, *second.constraints]))
    assert not covers(first, second)
    assert not covers(second, first)


@each("addressing", "refused")
def test_an_address_with_other_wildcards_is_refused(case: Case) -> None:
    with pytest.raises(SienaError):
        ADDRESSING[case["facade"]](case["address"])
