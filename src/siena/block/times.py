"""Times in blocks: msgpack's timestamps, cut to the microseconds that a time has.

A timestamp may be finer than a time.  What is less than a microsecond is cut off,
towards the past, here as everywhere else (docs/decisions/0023).
"""

import struct
from datetime import UTC, datetime, timedelta

from siena.block.refusals import BLOCK_ERRORS, Refusal
from siena.errors import InvalidNotificationError

# The first bytes of extensions of 4, 8 and any number of bytes: a time has 4, 8 or 12.
HEADS = frozenset({0xD6, 0xD7, 0xC7})
# The extension that is a timestamp: -1, as a byte.
TIMESTAMP = 0xFF
NANOSECONDS_MAX = 999_999_999

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS = struct.Struct(">I")
# 30 bits of nanoseconds, and 34 of seconds.
_BOTH = struct.Struct(">Q")
_SECONDS_BITS = 34
_APART = struct.Struct(">Iq")


def read_time(raw: bytes) -> datetime:
    """The time of an extension that is all there, with its head.

    >>> nanoseconds, seconds = 1_999, 5
    >>> read_time(bytes.fromhex("d7ff") + (nanoseconds << 34 | seconds).to_bytes(8))
    datetime.datetime(1970, 1, 1, 0, 0, 5, 1, tzinfo=datetime.timezone.utc)

    Raises:
        InvalidNotificationError: if it is none, or not in the years 1 to 9999.
    """
    head, size = raw[0], raw[1]
    if head == 0xD7 and size == TIMESTAMP:  # the size is in the head
        (both,) = _BOTH.unpack_from(raw, 2)
        nanoseconds, seconds = both >> _SECONDS_BITS, both & (1 << _SECONDS_BITS) - 1
    elif head == 0xD6 and size == TIMESTAMP:
        nanoseconds, seconds = 0, *_SECONDS.unpack_from(raw, 2)
    elif head == 0xC7 and size == _APART.size and raw[2] == TIMESTAMP:
        nanoseconds, seconds = _APART.unpack_from(raw, 3)
    else:
        raise InvalidNotificationError(BLOCK_ERRORS[Refusal.WRONG_TYPE])
    if nanoseconds > NANOSECONDS_MAX:
        raise InvalidNotificationError(BLOCK_ERRORS[Refusal.OUT_OF_RANGE])
    try:
        return _EPOCH + timedelta(0, seconds, nanoseconds // 1_000)
    except OverflowError:
        raise InvalidNotificationError(BLOCK_ERRORS[Refusal.OUT_OF_RANGE]) from None
