"""The frames that carry notifications, field by field.

========== ========================================================================
PUB        block
TRACED_PUB u32 token | block
MSG        u16 n | n times u32 subscription | block
FOUND      u32 subscription | u16 n | n times (u32 length | block)
FORWARD    u64 broker | u64 epoch | u64 number | u64 root | f64 time | u16 ttl |
           u8 flags | block
========== ========================================================================

A block is a notification as msgpack (:mod:`siena.block`), and travels
unchanged from its publisher to its subscribers.  These functions are the obvious form;
what a broker does for many at once must write the same bytes.
"""

import math
import struct
from collections.abc import Sequence
from typing import NamedTuple

from siena.messages import Stamp
from siena.messages.interface import TTL_MAX
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import HEAD_BYTES, Op, check_length, pack
from siena.protocol.limits import FRAME_BYTES_MAX, SEQUENCE_MAX, SUBSCRIPTIONS_MAX

_COUNT = struct.Struct("<H")
_WORD = struct.Struct("<I")
_FOUND = struct.Struct("<IH")
_FORWARD = struct.Struct("<QQQQdHB")
FORWARD_BYTES = _FORWARD.size
# What stands before the subscriptions of a MSG frame: its head, and their count.
MSG_HEAD_BYTES = HEAD_BYTES + _COUNT.size

# Flags of FORWARD.
TRACED = 1


class TracedPublication(NamedTuple):
    """A notification, of which its publisher wants to know where it goes."""

    token: int  # chosen by the publisher, and said in every TRACE
    block: bytes


class Delivery(NamedTuple):
    """A notification, and the subscriptions of one connection that want it."""

    subscriptions: tuple[int, ...]
    block: bytes


class FoundSequence(NamedTuple):
    """Notifications that match a pattern together, in the order of its steps."""

    subscription: int
    blocks: tuple[bytes, ...]


class Forwarded(NamedTuple):
    """A notification between two brokers."""

    stamp: Stamp
    root: int
    time: float
    ttl: int
    flags: int
    block: bytes


def pack_msg(subscriptions: Sequence[int], block: bytes) -> bytes:
    """The MSG frame.

    >>> pack_msg([7], b"X").hex(" ")
    '08 00 00 00 12 01 00 07 00 00 00 58'
    """
    count = len(subscriptions)
    assert count <= SUBSCRIPTIONS_MAX
    return pack(Op.MSG, struct.pack(f"<H{count}I", count, *subscriptions) + block)


def unpack_msg(body: bytes) -> Delivery:
    """What a MSG frame says.

    >>> unpack_msg(pack_msg([7, 9], b"X")[5:])
    Delivery(subscriptions=(7, 9), block=b'X')
    """
    _require(len(body) >= _COUNT.size, "MSG")
    (count,) = _COUNT.unpack_from(body)
    end = _COUNT.size + 4 * count
    _require(len(body) >= end, "MSG")
    return Delivery(struct.unpack_from(f"<{count}I", body, _COUNT.size), body[end:])


def pack_traced(token: int, block: bytes) -> bytes:
    """The TRACED_PUB frame."""
    return pack(Op.TRACED_PUB, _WORD.pack(token) + block)


def unpack_traced(body: bytes) -> TracedPublication:
    """What a TRACED_PUB frame says.

    >>> unpack_traced(pack_traced(7, b"X")[5:])
    TracedPublication(token=7, block=b'X')
    """
    _require(len(body) >= 4, "TRACED_PUB")
    return TracedPublication(_WORD.unpack_from(body)[0], body[4:])


def pack_found(subscription: int, blocks: Sequence[bytes]) -> bytes:
    """The FOUND frame.

    Raises:
        ProtocolError: if it would be too long; it is lost for the subscriber then.
    """
    assert len(blocks) <= SEQUENCE_MAX
    parts = [_FOUND.pack(subscription, len(blocks))]
    for block in blocks:
        parts += [_WORD.pack(len(block)), block]
    body = b"".join(parts)
    check_length(len(body) + 1, FRAME_BYTES_MAX)
    return pack(Op.FOUND, body)


def unpack_found(body: bytes) -> FoundSequence:
    """What a FOUND frame says.

    >>> unpack_found(pack_found(3, [b"X", b"YZ"])[5:])
    FoundSequence(subscription=3, blocks=(b'X', b'YZ'))
    """
    _require(len(body) >= _FOUND.size, "FOUND")
    subscription, count = _FOUND.unpack_from(body)
    at = _FOUND.size
    blocks = []
    for _ in range(count):
        _require(len(body) >= at + 4, "FOUND")
        (length,) = _WORD.unpack_from(body, at)
        at += 4 + length
        _require(len(body) >= at, "FOUND")
        blocks.append(body[at - length : at])
    _require(len(body) == at, "FOUND")
    return FoundSequence(subscription, tuple(blocks))


def pack_forward(forwarded: Forwarded) -> bytes:
    """The FORWARD frame."""
    (broker, epoch, number), root, time, ttl, flags, block = forwarded
    head = _FORWARD.pack(broker, epoch, number, root, time, ttl, flags)
    return pack(Op.FORWARD, head + block)


def unpack_forward(body: bytes) -> Forwarded:
    """What a FORWARD frame says.

    >>> it = Forwarded(Stamp(1, 2, 3), 4, 5.0, 6, 0, b"X")
    >>> unpack_forward(pack_forward(it)[5:]) == it
    True
    """
    _require(len(body) >= FORWARD_BYTES, "FORWARD")
    broker, epoch, number, root, time, ttl, flags = _FORWARD.unpack_from(body)
    if not math.isfinite(time):
        raise ProtocolError(Fault.BAD_FRAME, "a FORWARD frame of no time")
    if ttl > TTL_MAX:
        raise ProtocolError(Fault.BAD_FRAME, f"a FORWARD frame with {ttl} hops to go")
    return Forwarded(
        Stamp(broker, epoch, number), root, time, ttl, flags, body[FORWARD_BYTES:]
    )


def too_long(block: bytes, limit: int, op: int) -> ProtocolError:
    """What is said of a notification that is longer than a limit."""
    return ProtocolError(
        Fault.BAD_NOTIFICATION,
        f"a notification of {len(block)} bytes; at most {limit} are allowed",
        request=op,
    )


def _require(holds: bool, what: str) -> None:  # noqa: FBT001 -- a condition
    if not holds:
        raise ProtocolError(Fault.BAD_FRAME, f"a {what} frame that ends too early")
