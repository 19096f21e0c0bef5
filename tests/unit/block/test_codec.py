"""Blocks one at a time are read as the engine reads them by the thousand."""

import random

from hypothesis import given

import strategies as our
from fuzz.blocks import buffer, whole
from kernels import plain
from matching.slow_blocks import BadBlockError, read_block as read_slowly
from siena.block import BLOCK_ERRORS, Refusal, decode, decode_named, encode
from siena.errors import InvalidNotificationError
from siena.model import Notification


@given(our.any_notifications)
def test_what_is_written_is_read(notification: Notification) -> None:
    block = encode(notification)
    assert block == encode(dict(notification))
    assert decode(block) == notification
    assert decode_named(block, notification) == dict(notification)


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
        return decode(block)
    except InvalidNotificationError:
        return None


def test_the_kernel_refuses_for_the_same_reasons() -> None:
    kernel = vars(plain("match"))
    numbers = {r.name: kernel[r.name] for r in Refusal if r is not Refusal.NOT_JSON}
    assert numbers == {name: Refusal[name].value for name in numbers}
    assert BLOCK_ERRORS.keys() == set(Refusal)
