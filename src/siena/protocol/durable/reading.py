"""Durable subscriptions: their frames.

A *durable subscription* is a name under which a broker remembers what of its log, and
of what a filter selects there, has been acknowledged.  DELIVER carries a notification,
and is no msgpack array::

    u32 number | u64 offset | i64 time | u32 attempt | block

The time is when the broker got it, in microseconds since 1970, and the attempt 1 when
it is delivered for the first time.
"""

import struct
from typing import Annotated, ClassVar, Literal, NamedTuple

from msgspec import Meta

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import HEAD, Body, Name, Number, Op
from siena.protocol.limits import (
    ACK_WAIT_SECONDS_MAX,
    ACKS_MAX,
    CREDIT_DEFAULT,
    CREDIT_MAX,
    OFFSET_MAX,
)

Offset = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]
Offsets = Annotated[list[Offset], Meta(max_length=ACKS_MAX)]
Seconds = Annotated[float, Meta(ge=0, le=ACK_WAIT_SECONDS_MAX)]
Start = Literal["new", "all", "offset", "time"]

# How long a notification may stay without an answer, unless that is said.
ACK_WAIT_SECONDS = 30.0
_DELIVER = struct.Struct("<IQqI")


class DurableSubscribe(Body, frozen=True, array_like=True):
    """Under this number, what a durable subscription has not got yet.

    Answered by SETTLED, when its filter is in force in the whole network.  The first to
    use a name makes the subscription, from ``start`` on; later users of it go on
    where it is.  Another filter begins an epoch: it holds for what is logged from then
    on.
    """

    op: ClassVar[Op] = Op.DSUB
    number: Number
    filter: str
    name: Name
    start: Start = "new"
    # The offset, or the microseconds since 1970.
    at: Offset = 0
    # So many may be without an answer on this connection.
    credit: Annotated[int, Meta(ge=1, le=CREDIT_MAX)] = CREDIT_DEFAULT
    # What has no answer for so long is delivered again.
    ack_wait: Annotated[float, Meta(gt=0, le=ACK_WAIT_SECONDS_MAX)] = ACK_WAIT_SECONDS
    # After so many deliveries it becomes a dead letter; 0: never.
    max_deliver: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    # Of those with the same value here one is under way at a time.
    key: Name | None = None


class Ack(Body, frozen=True, array_like=True):
    """These are done, and all up to an offset, not included, if that is said.

    Answered by nothing: what is not done is delivered again.
    """

    op: ClassVar[Op] = Op.ACK
    number: Number
    offsets: Offsets
    up_to: Offset | None = None


class Nak(Body, frozen=True, array_like=True):
    """These are not done, and shall come again, after so many seconds."""

    op: ClassVar[Op] = Op.NAK
    number: Number
    offsets: Offsets
    delay: Seconds = 0.0


class Seek(Body, frozen=True, array_like=True):
    """A durable subscription goes on from somewhere else.  Answered by DONE."""

    op: ClassVar[Op] = Op.SEEK
    name: Name
    start: Start
    at: Offset = 0


class Forget(Body, frozen=True, array_like=True):
    """A durable subscription is not needed any more.  Answered by DONE."""

    op: ClassVar[Op] = Op.FORGET
    name: Name


class DurableDelivery(NamedTuple):
    """A notification for a durable subscription."""

    number: int
    offset: int
    time: int
    attempt: int
    block: bytes


def pack_deliver(delivery: DurableDelivery) -> bytes:
    """The DELIVER frame.

    >>> pack_deliver(DurableDelivery(7, 100, 0, 1, b"X")).hex(" ", 4)
    '1a00 00004a07 00000064 00000000 00000000 00000000 00000001 00000058'
    """
    number, offset, time, attempt, block = delivery
    head = HEAD.pack(1 + _DELIVER.size + len(block), Op.DELIVER)
    return head + _DELIVER.pack(number, offset, time, attempt) + block


def unpack_deliver(body: bytes) -> DurableDelivery:
    """What a DELIVER frame says.

    >>> unpack_deliver(pack_deliver(DurableDelivery(7, 100, 0, 1, b"X"))[5:])
    DurableDelivery(number=7, offset=100, time=0, attempt=1, block=b'X')
    """
    if len(body) < _DELIVER.size:
        raise ProtocolError(Fault.BAD_FRAME, "a DELIVER frame that ends too early")
    number, offset, time, attempt = _DELIVER.unpack_from(body)
    return DurableDelivery(number, offset, time, attempt, body[_DELIVER.size :])


READING_BODIES: tuple[type[Body], ...] = (DurableSubscribe, Ack, Nak, Seek, Forget)
