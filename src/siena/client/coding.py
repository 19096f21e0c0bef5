"""Notifications to bytes and back, without the engine: a client needs no NumPy.

The bytes are those of :mod:`siena.matching.blocks`, and a test says so.
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from siena.errors import InvalidNotificationError, LimitError
from siena.model import Notification, Value
from siena.protocol.frames import Op, pack

Attributes = Mapping[str, Value]

_ENCODER = msgspec.msgpack.Encoder()
_DECODER: msgspec.msgpack.Decoder[dict[str, Any]] = msgspec.msgpack.Decoder(
    dict[str, Any]
)


def publication(attributes: Attributes, block_bytes_max: int) -> bytes:
    """The PUB frame of a notification.

    >>> publication({"x": 1}, 100).hex(" ")
    '05 00 00 00 02 81 a1 78 01'
    >>> publication({"x": "long" * 100}, 100)
    Traceback (most recent call last):
    siena.errors.LimitError: more than 100 bytes in a notification (limit block_bytes)
    """
    checked = (
        attributes if isinstance(attributes, Notification) else Notification(attributes)
    )
    block = _ENCODER.encode(dict(checked))
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
        return Notification(_DECODER.decode(block))
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InvalidNotificationError(f"a broken notification came: {error}") from None
