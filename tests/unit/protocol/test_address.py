"""Addresses: one parser for those who call and those who listen."""

import pytest

from siena.errors import SienaError
from siena.protocol.address import Address, parse_address, read_address

NEITHER = [
    *("", "siena://", "http://localhost", "siena://host:port", "siena://h:70000"),
    *("siena://host/path", "siena://user@host", "siena://h?x=1", "siena://[::1", "h#x"),
]


@pytest.mark.parametrize("text", NEITHER)
def test_what_is_no_address_is_none_for_either(text: str) -> None:
    with pytest.raises(SienaError, match="is not the address of a broker"):
        parse_address(text)
    with pytest.raises(SienaError, match="is no address"):
        read_address(text)


@pytest.mark.parametrize("text", ["hub", "hub:7", "siena://hub:0/", "[::1]", "HUB:7"])
def test_both_read_the_same(text: str) -> None:
    assert parse_address(text) == read_address(text)
    assert parse_address(read_address(text).url) == parse_address(text)


def test_only_a_broker_listens_without_a_host_and_both_talk_tls() -> None:
    assert read_address(":7") == Address("127.0.0.1", 7)
    with pytest.raises(SienaError):
        parse_address(":7")
    assert parse_address("sienas://hub") == Address("hub", is_secure=True)
    assert read_address("sienas://:7") == Address("127.0.0.1", 7, is_secure=True)


def test_another_service_has_another_port_unless_one_is_named() -> None:
    assert read_address("mail.example", 25).pair == ("mail.example", 25)
    assert read_address("mail.example:2525", 25).pair == ("mail.example", 2525)
