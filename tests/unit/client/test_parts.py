"""Addresses, pauses, and notifications as bytes."""

import itertools
import random
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

from siena import Notification
from siena.block import BLOCK_BYTES_MAX, decode, encode
from siena.client.core.backoff import Backoff
from siena.client.core.publisher import publication
from siena.errors import InvalidNotificationError, SienaError
from siena.protocol.address import parse_address
from siena.protocol.frames import HEAD_BYTES
from strategies import notifications


@given(notifications())
def test_a_publication_is_the_block_of_the_engine(notification: Notification) -> None:
    frame = publication(notification, BLOCK_BYTES_MAX)
    assert frame[HEAD_BYTES:] == encode(notification)
    assert decode(frame[HEAD_BYTES:]) == notification
    assert publication(dict(notification), BLOCK_BYTES_MAX) == frame


AWKWARD = st.sampled_from(
    [
        *(0.0, -0.0, 1.5, float("inf"), float("nan"), 2**63, -(2**63), True, None, b""),
        *("", "é", "\ud800", datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1)),  # noqa: DTZ001
    ]
)
NAMES = st.sampled_from(["a", "b", "é", "\udfff", "x" * 1_025, 3])


@given(st.dictionaries(NAMES, AWKWARD, max_size=3))
def test_the_short_way_is_the_full_way(attributes: dict[str, Any]) -> None:
    expected: object
    found: object
    try:
        expected = encode(Notification(attributes))
    except SienaError as error:
        expected = f"{type(error)} {error}"
    try:
        found = publication(attributes, BLOCK_BYTES_MAX)[HEAD_BYTES:]
    except SienaError as error:
        found = f"{type(error)} {error}"
    assert found == expected


@given(st.dictionaries(st.text(max_size=2), AWKWARD, max_size=3))
def test_what_comes_is_read_as_the_constructor_reads_it(form: dict[str, Any]) -> None:
    try:
        block = msgspec.msgpack.encode(form)
    except UnicodeEncodeError:
        return
    try:
        expected = Notification(msgspec.msgpack.decode(block))
    except SienaError:
        with pytest.raises(SienaError):
            decode(block)
    else:
        assert decode(block) == expected
        assert str(decode(block)) == str(expected)


@pytest.mark.parametrize("block", [b"", b"\x81", b"\xc0", b"\x81\x01\x01", b"\xff\xff"])
def test_a_broken_block_is_refused(block: bytes) -> None:
    with pytest.raises(InvalidNotificationError):
        decode(block)


@pytest.mark.parametrize(
    "url",
    [
        *("", "siena://", "http://localhost", "siena://host:port", "siena://h:70000"),
        *("siena://host/path", "siena://user@host", "siena://h?x=1", "siena://[::1"),
    ],
)
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(SienaError, match="is not the address of a broker"):
        parse_address(url)


@given(st.integers(0, 2**32), st.floats(0, 1))
def test_pauses_grow_and_stay_within_their_bounds(seed: int, jitter: float) -> None:
    backoff = Backoff(first_s=1, factor=2, most_s=10, jitter=jitter)
    pauses = list(itertools.islice(backoff.pauses(random.Random(seed)), 8))
    for pause, most in zip(pauses, [1, 2, 4, 8, 10, 10, 10, 10], strict=True):
        assert most * (1 - jitter) <= pause <= most
    assert pauses == list(itertools.islice(backoff.pauses(random.Random(seed)), 8))
