"""Notifications to bytes and back, without the engine: a client needs no NumPy.

The bytes are those of :mod:`siena.matching.blocks`, and a test says so.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from siena.errors import InvalidNotificationError, LimitError
from siena.model import Notification, Value
from siena.model.limits import (
    ATTRIBUTES_MAX,
    NAME_CHARACTERS_MAX,
    STRING_CHARACTERS_MAX,
)
from siena.model.values import INTEGER_MAX, INTEGER_MIN
from siena.protocol.frames import Op, pack

Attributes = Mapping[str, Value]

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[dict[str, Any]] = msgspec.msgpack.Decoder(
    dict[str, Any]
)
_INFINITE = float("inf")


def publication(attributes: Attributes, block_bytes_max: int) -> bytes:
    """The PUB frame of a notification.

    >>> publication({"x": 1}, 100).hex(" ")
    '05 00 00 00 02 81 a1 78 01'
    >>> publication({"x": "long" * 100}, 100)
    Traceback (most recent call last):
    siena.errors.LimitError: more than 100 bytes in a notification (limit block_bytes)
    """
    block = _plain_block(attributes)
    if block is None:
        block = _ENCODER.encode(dict(Notification(attributes)))
    if len(block) > block_bytes_max:
        raise LimitError("block_bytes", block_bytes_max, "bytes in a notification")
    return pack(Op.PUB, block)


def notification_of(block: bytes) -> Notification:
    """The notification that a block holds.

    >>> notification_of(bytes.fromhex("81 a1 78 01"))
    <Notification x = 1>

    Raises:
        InvalidNotificationError: if it holds none, which no broker of ours lets pass.
    """
    try:
        attributes = _DECODER.decode(block)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError) as error:
        raise InvalidNotificationError(f"a broken notification came: {error}") from None
    if _is_plain(attributes):
        return Notification.of_checked(attributes)
    return Notification(attributes)


def _plain_block(attributes: Attributes) -> bytes | None:
    """The block, if nothing needs a closer look: a fraction of the full way's time."""
    if isinstance(attributes, Notification):
        # Not `dict(…)`, which would ask for each attribute by its name.
        return _ENCODER.encode(attributes._attributes)  # noqa: SLF001
    if type(attributes) is not dict or not _is_plain(attributes):
        return None
    try:
        return _ENCODER.encode(dict(sorted(attributes.items())))
    except UnicodeEncodeError:  # the full way says what is wrong
        return None


def _is_plain(attributes: dict[str, Value]) -> bool:
    """Whether all names and values are as :class:`Notification` would leave them.

    A ``False`` is no verdict: zero may be -0.0, and times have zones.
    """
    for name, value in attributes.items():
        kind = type(value)
        if kind is float:
            if not -_INFINITE < value < _INFINITE or not value:  # type: ignore[operator]
                return False
        elif kind is int:
            if not INTEGER_MIN <= value <= INTEGER_MAX:  # type: ignore[operator]
                return False
        elif kind is str:
            if len(value) > STRING_CHARACTERS_MAX:  # type: ignore[arg-type]
                return False
        elif kind is not bool:
            return False
        if type(name) is not str or len(name) > NAME_CHARACTERS_MAX:
            return False
    return len(attributes) <= ATTRIBUTES_MAX
