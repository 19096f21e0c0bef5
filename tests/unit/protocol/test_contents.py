"""Blocks one at a time are read as the engine reads them by the thousand."""

import random

from hypothesis import given

import strategies as our
from fuzz.blocks import buffer, whole
from matching.slow_blocks import BadBlockError, read_block as read_slowly
from siena.matching.blocks import encode
from siena.model import Notification
from siena.protocol.contents import read_block, write_block
from siena.protocol.error_codes import ProtocolError


@given(our.any_notifications)
def test_what_is_written_is_read(notification: Notification) -> None:
    block = write_block(notification)
    assert block == encode(notification)
    assert read_block(block) == notification


def test_damaged_blocks_are_read_as_the_slow_reader_reads_them() -> None:
    rng = random.Random(5)
    stock = [whole(rng) for _ in range(200)]
    seen = {True: 0, False: 0}
    for _ in range(3_000):
        for block in buffer(rng, stock):
            expected = slowly(block)
            assert quickly(block) == expected, block.hex(" ")
            seen[expected is None] += 1
    assert min(seen.values()) > 1_000


def slowly(block: bytes) -> Notification | None:
    try:
        return read_slowly(block)
    except BadBlockError:
        return None


def quickly(block: bytes) -> Notification | None:
    try:
        return read_block(block)
    except ProtocolError:
        return None
