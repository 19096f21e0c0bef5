"""Channels, subjects, receivers and groups are filters like any other."""

from collections.abc import Callable

import pytest

from siena.algebra.relations import covers, equivalent
from siena.algebra.sat import satisfiable
from siena.errors import SienaError
from siena.lang.addressing import addressed_to, channel, multicast, subject, unicast
from siena.lang.parser import parse_filter
from siena.model import Filter, Notification, Value


@pytest.mark.parametrize(
    ("value", "is_on_channel"),
    [
        pytest.param(314, True, id="T_G2"),
        pytest.param(315, False, id="T_G2_other_channel"),
        pytest.param(314.0, False, id="T_G2_float"),
        pytest.param("314", False, id="T_G2_string"),
    ],
)
def test_a_channel_is_one_integer(value: Value, *, is_on_channel: bool) -> None:
    assert channel(314).matches(Notification(channel=value)) is is_on_channel


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(channel(314), channel(315), id="T_G2_apart"),
        pytest.param(subject("comp.os.*"), subject("comp.lang.*"), id="T_G3_apart"),
        (unicast("alice"), unicast("bob")),
        (multicast("brokers"), multicast("clients")),
    ],
)
def test_two_addresses_never_share_traffic(one: Filter, other: Filter) -> None:
    assert not satisfiable(Filter([*one, *other]))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        pytest.param("comp.os.*", 'subject >* "comp.os."', id="T_G3"),
        pytest.param("comp.os", 'subject = "comp.os"', id="T_G3_plain"),
        pytest.param("comp.os*", 'subject >* "comp.os"', id="T_G3_no_level"),
        pytest.param("*", "string subject any", id="T_G3_all"),
        pytest.param("comp.lang.c++", 'subject = "comp.lang.c++"', id="T_G3_plus"),
    ],
)
def test_a_subject_could_be_written_as_a_filter(name: str, written: str) -> None:
    assert equivalent(subject(name), parse_filter(written))


@pytest.mark.parametrize(
    ("name", "is_about"),
    [
        pytest.param("comp.os.linux", True, id="T_G3_below"),
        pytest.param("comp.os.linux.announce", True, id="T_G3_far_below"),
        pytest.param("comp.lang", False, id="T_G3_beside"),
        pytest.param("comp.os", False, id="T_G3_above"),
    ],
)
def test_a_star_stands_for_any_rest(name: str, *, is_about: bool) -> None:
    notification = Notification(addressed_to(subject(name)), text="It boots.")
    assert subject("comp.os.*").matches(notification) is is_about


def test_a_wider_subject_covers_a_narrower_one() -> None:
    assert covers(subject("comp.*"), subject("comp.os.*"))
    assert covers(subject("comp.os.*"), subject("comp.os.linux"))


@pytest.mark.parametrize(
    "name", ["comp.*.linux", "*.linux", "comp.**", "comp.>", "comp.?.x"]
)
def test_other_wildcards_are_refused(name: str) -> None:
    with pytest.raises(SienaError, match=r"only a \* at the end"):
        subject(name)


@pytest.mark.parametrize(
    ("facade", "address"),
    [(channel, True), (channel, "314"), (unicast, 5), (multicast, 5)],
)
def test_an_address_of_another_kind_is_refused(
    facade: Callable[[object], Filter], address: object
) -> None:
    with pytest.raises(SienaError, match=r"is not an? (integer|string) value"):
        facade(address)


@pytest.mark.parametrize(
    "address", [channel(314), subject("a.b"), unicast("alice"), multicast("brokers")]
)
def test_what_is_addressed_arrives(address: Filter) -> None:
    assert address.matches(Notification(addressed_to(address), text="hello"))


def test_nothing_is_sent_to_a_wildcard() -> None:
    with pytest.raises(SienaError, match="nothing can be sent"):
        addressed_to(subject("comp.os.*"))
