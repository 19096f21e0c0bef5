"""The codec: notifications to blocks and back, one at a time.

What is a name or a value is decided by :class:`~siena.model.Notification`.  Nearly all
attributes are *plain*: as its constructor would leave them, which takes a fraction of
the constructor's time to see.  Only the others get the full treatment.
"""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec

from siena.block.refusals import BLOCK_ERRORS, Refusal
from siena.block.times import HEADS, read_time
from siena.errors import InvalidNotificationError, SienaError
from siena.model import Notification, Value
from siena.model.limits import (
    ATTRIBUTES_MAX,
    NAME_CHARACTERS_MAX,
    STRING_CHARACTERS_MAX,
)
from siena.model.values import INTEGER_MAX, INTEGER_MIN

Attributes = Mapping[str, Value]
"""A notification, or a mapping of which one can be made."""

_ENCODER = msgspec.msgpack.Encoder()
_SORTING_ENCODER = msgspec.msgpack.Encoder(order="sorted")
_ATTRIBUTES: msgspec.msgpack.Decoder[dict[str, Any]] = msgspec.msgpack.Decoder(
    dict[str, Any]
)
_PIECES = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_VALUE = msgspec.msgpack.Decoder()
# What a decoder says of bytes that are no block; a ValueError is no UTF-8.
_UNREADABLE = (msgspec.MsgspecError, ValueError, RecursionError)
_INFINITE = float("inf")
# In a block of so many bytes nothing is longer than a name may be, nor too many.
SHORT_BYTES = min(NAME_CHARACTERS_MAX, STRING_CHARACTERS_MAX, 2 * ATTRIBUTES_MAX)

# One notification, as it travels and is kept: far above honest use, and small enough
# that a thousand of them fit into a broker's memory.
BLOCK_BYTES_MAX = 1_048_576


def encode(attributes: Attributes) -> bytes:
    """The block of a notification; names are in order.

    >>> encode({"x": 1, "a": True}).hex(" ")
    '82 a1 61 c3 a1 78 01'

    Raises:
        InvalidNotificationError: if a name or a value is none.
        LimitError: if one is too long, or there are too many.
    """
    # By type: to ask whether it is an instance takes long where there are ABCs.
    if type(attributes) is dict:
        if _times_among(attributes) == ():
            try:
                block = _SORTING_ENCODER.encode(attributes)
            except (TypeError, UnicodeEncodeError):
                pass  # a name is none: the full way says what is wrong
            else:
                if len(block) <= SHORT_BYTES or _are_short(attributes):
                    return block
    elif type(attributes) is Notification:
        return _encode(attributes)
    return _encode(Notification(attributes))


def encode_in_order(values: dict[str, Value]) -> bytes:
    """The block of values that have been checked already, in their own order.

    >>> encode_in_order({"x": 1, "a": True}).hex(" ")
    '82 a1 78 01 a1 61 c3'
    """
    return _ENCODER.encode(values)


def decode(block: bytes) -> Notification:
    """The notification of a block.

    >>> decode(bytes.fromhex("81 a1 78 01"))
    <Notification x = 1>
    >>> decode(bytes.fromhex("82 a1 78 01 a1 78 02"))
    Traceback (most recent call last):
    siena.errors.InvalidNotificationError: not a notification: a name occurs twice

    Raises:
        InvalidNotificationError: if it is none.
    """
    try:
        found = _ATTRIBUTES.decode(block)
        times = _times_among(found)
        if (
            times is not None
            and len(found) == _claimed(block)
            and (len(block) <= SHORT_BYTES or _are_short(found))
        ):
            if times:
                pieces = _PIECES.decode(block)
                for name in times:
                    found[name] = read_time(bytes(pieces[name]))
            return Notification.of_checked(found)
    except (*_UNREADABLE, InvalidNotificationError):
        pass  # or it has the last time of all, which the decoder rounds to a later one
    return _decode_closely(block)


def decode_named(block: bytes | memoryview, names: Collection[str]) -> dict[str, Value]:
    """The values of some names, of a block that is known to be good.

    >>> decode_named(bytes.fromhex("82 a1 61 c3 a1 78 01"), {"x", "y"})
    {'x': 1}
    """
    pieces = _PIECES.decode(block)
    return {name: _value(bytes(pieces[name])) for name in pieces if name in names}


def _encode(notification: Notification) -> bytes:
    # Not `dict(…)`, which would ask for each attribute by its name.
    return _ENCODER.encode(notification._attributes)  # noqa: SLF001


def _times_among(attributes: dict[str, Any]) -> tuple[str, ...] | None:
    """The names of the times, if all other values are plain; otherwise none.

    To be none is no verdict: zero may be -0.0, which is stored as 0.0.
    """
    times: tuple[str, ...] = ()
    for name, value in attributes.items():
        kind = type(value)
        if kind is str:  # how long it is, is another question
            pass
        elif kind is float:
            if not (0.0 < value < _INFINITE or -_INFINITE < value < 0.0):
                return None
        elif kind is int:
            if not INTEGER_MIN <= value <= INTEGER_MAX:
                return None
        elif kind is datetime:
            times += (name,)
        elif kind is not bool:
            return None
    return times


def _are_short(attributes: dict[str, Any]) -> bool:
    """Whether no name and no string is too long, nor are they too many."""
    return (
        len(attributes) <= ATTRIBUTES_MAX
        and all(len(name) <= NAME_CHARACTERS_MAX for name in attributes)
        and all(
            len(value) <= STRING_CHARACTERS_MAX
            for value in attributes.values()
            if type(value) is str
        )
    )


def _claimed(block: bytes) -> int:
    """How many attributes a block that was decoded says it has."""
    head = block[0]
    if head < 0x90:
        return head - 0x80
    return int.from_bytes(block[1:3] if head == 0xDE else block[1:5])


def _decode_closely(block: bytes) -> Notification:
    """The same, value by value; all that is wrong with a block is said here."""
    try:
        pieces = _PIECES.decode(block)
        # A dictionary has the last of several values, and says nothing.
        if len(pieces) != _claimed(block):
            raise InvalidNotificationError(BLOCK_ERRORS[Refusal.DUPLICATE])
        return Notification(
            {name: _value(bytes(piece)) for name, piece in pieces.items()}
        )
    except SienaError as error:
        raise _not_a_notification(error.message) from None
    except _UNREADABLE as error:
        raise _not_a_notification(str(error)) from None


def _value(piece: bytes) -> Value:
    """One value; the decoder would round times, which are cut."""
    if piece[0] in HEADS:
        return read_time(piece)
    value: Value = _VALUE.decode(piece)
    return value


def _not_a_notification(why: str) -> InvalidNotificationError:
    return InvalidNotificationError(f"not a notification: {why}")
