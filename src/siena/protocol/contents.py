"""Notifications as blocks, one at a time: what a client writes and reads.

A block is a msgpack map; :mod:`siena.matching.blocks` says which.  Brokers read blocks
by the thousand where they match them; this needs nothing but msgspec, so that a client
starts quickly.
"""

import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from siena.errors import InvalidNotificationError, SienaError
from siena.model import Notification, Value
from siena.protocol.error_codes import Fault, ProtocolError

_ENCODER = msgspec.msgpack.Encoder()
_DECODER = msgspec.msgpack.Decoder(dict[str, Any])
_RAW_DECODER = msgspec.msgpack.Decoder(dict[str, msgspec.Raw])
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def write_block(notification: Mapping[str, Value]) -> bytes:
    """The block of a notification.

    >>> write_block(Notification(x=1)).hex(" ")
    '81 a1 78 01'
    """
    return _ENCODER.encode(dict(notification))


def read_block(block: bytes) -> Notification:
    """The notification of a block.

    >>> read_block(bytes.fromhex("81 a1 78 01"))
    <Notification x = 1>
    >>> read_block(bytes.fromhex("81 a1 78"))
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: not a notification: Input data was
    truncated \
(error 100)

    Raises:
        ProtocolError: if it is none.
    """
    try:
        attributes = _attributes(block)
        # A dictionary has the last of several values, and says nothing.
        if len(attributes) != _claimed(block):
            raise InvalidNotificationError("a name occurs twice")
        return Notification(attributes)
    except (msgspec.MsgspecError, ValueError, RecursionError, SienaError) as error:
        # A ValueError is a string that is not UTF-8.
        raise ProtocolError(
            Fault.BAD_NOTIFICATION, f"not a notification: {error}"
        ) from None


def _attributes(block: bytes) -> dict[str, Any]:
    # Every time has this byte, and no text.
    if b"\xff" not in block:
        return _DECODER.decode(block)
    return {
        name: _value(bytes(raw)) for name, raw in _RAW_DECODER.decode(block).items()
    }


def _value(raw: bytes) -> object:
    """A value; the decoder rounds times to microseconds, where the engine cuts."""
    match raw[0], raw[1:2]:
        case 0xD6, b"\xff":
            return _time(0, *struct.unpack(">I", raw[2:]))
        case 0xD7, b"\xff":
            (both,) = struct.unpack(">Q", raw[2:])
            return _time(both >> 34, both & (1 << 34) - 1)
        case 0xC7, b"\x0c" if raw[2] == 0xFF:
            return _time(*struct.unpack(">Iq", raw[3:]))
        case 0xC7, _:
            raise InvalidNotificationError("a time that is not of 4, 8 or 12 bytes")
        case _:
            return msgspec.msgpack.decode(raw)


def _time(nanoseconds: int, seconds: int) -> datetime:
    if nanoseconds > 999_999_999:
        raise InvalidNotificationError("a time of too many nanoseconds")
    try:
        return _EPOCH + timedelta(seconds=seconds, microseconds=nanoseconds // 1_000)
    except OverflowError:
        raise InvalidNotificationError("a time beyond the year 9999") from None


def _claimed(block: bytes) -> int:
    """How many attributes a block that was decoded claims to have."""
    if block[0] == 0xDE:
        return int.from_bytes(block[1:3])
    if block[0] == 0xDF:
        return int.from_bytes(block[1:5])
    return block[0] & 0x0F
