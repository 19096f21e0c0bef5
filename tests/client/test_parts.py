"""Addresses, pauses, and notifications as bytes."""

import itertools
import random

import pytest
from hypothesis import given, strategies as st

from siena import Notification
from siena.client.address import parse_address
from siena.client.backoff import Backoff
from siena.client.coding import notification_of, publication
from siena.errors import InvalidNotificationError, SienaError
from siena.matching.blocks import encode
from siena.protocol.frames import HEAD_BYTES
from siena.protocol.limits import BLOCK_BYTES_MAX
from strategies import notifications


@given(notifications())
def test_a_publication_is_the_block_of_the_engine(notification: Notification) -> None:
    frame = publication(notification, BLOCK_BYTES_MAX)
    assert frame[HEAD_BYTES:] == encode(notification)
    assert notification_of(frame[HEAD_BYTES:]) == notification
    assert publication(dict(notification), BLOCK_BYTES_MAX) == frame


@pytest.mark.parametrize("block", [b"", b"\x81", b"\xc0", b"\x81\x01\x01", b"\xff\xff"])
def test_a_broken_block_is_refused(block: bytes) -> None:
    with pytest.raises(InvalidNotificationError):
        notification_of(block)


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
