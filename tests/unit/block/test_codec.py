"""Blocks one at a time are read as the engine reads them by the thousand."""

import random
from collections.abc import Callable
from enum import IntEnum

import pytest
from hypothesis import given, strategies as st

import strategies as our
from fuzz.blocks import buffer, whole
from kernels import plain
from matching.slow_blocks import BadBlockError, read_block as read_slowly
from siena.block import BLOCK_ERRORS, Refusal, decode, decode_named, encode
from siena.errors import InvalidNotificationError, SienaError
from siena.model import Notification, Value
from siena.model.limits import (
    ATTRIBUTES_MAX,
    NAME_CHARACTERS_MAX,
    STRING_CHARACTERS_MAX,
)


@given(our.any_notifications)
def test_what_is_written_is_read(notification: Notification) -> None:
    block = encode(notification)
    assert block == encode(dict(notification))
    assert decode(block) == notification
    assert decode_named(block, notification) == dict(notification)


class Level(IntEnum):
    """A number that is not quite an int."""

    HIGH = 3


# What people publish by mistake, too.
ANYTHING = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from([0.0, -0.0, 2**63 - 1, 2**63, -(2**63), Level.HIGH, "\ud800"])
    | st.text(max_size=3)
    | st.binary(max_size=3)
    | st.decimals()
    | st.uuids()
    | st.dates()
    | st.datetimes(timezones=st.none() | st.timezones())
    | st.lists(st.integers(), max_size=2)
)
NAMES = st.text(max_size=2) | st.sampled_from([1, None, b"x", "n" * 1_025, "\ud800"])


@given(st.dictionaries(NAMES, ANYTHING, max_size=5))
def test_the_quick_way_to_a_block_is_the_way_through_a_notification(
    attributes: dict[str, Value],
) -> None:
    assert outcome(lambda: encode(attributes)) == outcome(
        lambda: encode(Notification(attributes))
    )


@pytest.mark.parametrize(
    "attributes",
    [
        {"text": "x" * STRING_CHARACTERS_MAX},
        {"text": "x" * (STRING_CHARACTERS_MAX + 1)},
        {"n" * NAME_CHARACTERS_MAX: 1},
        {"n" * (NAME_CHARACTERS_MAX + 1): 1},
        {str(n): n for n in range(ATTRIBUTES_MAX)},
        {str(n): n for n in range(ATTRIBUTES_MAX + 1)},
    ],
    ids=["string", "string+1", "name", "name+1", "attributes", "attributes+1"],
)
def test_what_is_long_is_taken_up_to_the_same_limits(
    attributes: dict[str, Value],
) -> None:
    assert outcome(lambda: encode(attributes)) == outcome(
        lambda: encode(Notification(attributes))
    )


def outcome(write: Callable[[], bytes]) -> bytes | tuple[type, str]:
    try:
        return write()
    except SienaError as error:
        return type(error), error.message


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
