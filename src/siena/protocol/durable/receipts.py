"""Publications with a receipt: their frames.

A *publisher* is a name under which publications are numbered, so that one that is sent
again, because its receipt was lost, is stored once.  A *durable subscription* is a name
under which a broker remembers what has been read of its log.

ACKED_PUB carries notifications, and is no msgpack array::

    u32 publisher | u64 sequence | u32 n | n PUB frames

Their sequence numbers follow each other, from that of the first on.
"""

import struct
from typing import Annotated, ClassVar

from msgspec import Meta

from siena.protocol.frames import HEAD, Body, Count, Name, Op
from siena.protocol.limits import (
    ERROR_CHARACTERS_MAX,
    NAME_CHARACTERS_MAX,
    OFFSET_MAX,
    PUBLISHER_MAX,
    SEQUENCE_NUMBER_MAX,
    UNASSURED_MAX,
)

Offset = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]
Handle = Annotated[int, Meta(ge=0, le=PUBLISHER_MAX)]
SequenceNumber = Annotated[int, Meta(ge=0, le=SEQUENCE_NUMBER_MAX)]

# What stands before the publications of an ACKED_PUB frame.
ACKED_HEAD = struct.Struct("<IQI")


def pack_acked(publisher: int, sequence: int, count: int, frames: bytes) -> bytes:
    """The ACKED_PUB frame of some PUB frames that stand back to back.

    >>> from siena.protocol.frames import pack
    >>> pack_acked(1, 2, 1, pack(Op.PUB, b"X")).hex(" ")
    '17 00 00 00 40 01 00 00 00 02 00 00 00 00 00 00 00 01 00 00 00 02 00 00 00 02 58'
    """
    size = 1 + ACKED_HEAD.size + len(frames)
    return b"".join(
        (
            HEAD.pack(size, Op.ACKED_PUB),
            ACKED_HEAD.pack(publisher, sequence, count),
            frames,
        )
    )


class Publisher(Body, frozen=True, array_like=True):
    """Under this name publications are numbered.  Answered by PUBLISHER_IS."""

    op: ClassVar[Op] = Op.PUBLISHER
    name: Name


class PublisherIs(Body, frozen=True, array_like=True):
    """The number of a publisher at this broker, and its next sequence number.

    What it has published with lower ones is stored.
    """

    op: ClassVar[Op] = Op.PUBLISHER_IS
    name: str
    publisher: Handle
    next: SequenceNumber


class Stored(Body, frozen=True, array_like=True):
    """Publications in a row are on the disk, from an offset on; or are refused.

    Without an offset they were stored before, and it is not known any more where.
    """

    op: ClassVar[Op] = Op.STORED
    publisher: Handle
    sequence: SequenceNumber
    count: Count
    offset: Offset | None = None
    fault: int = 0  # refused, if it is not 0
    text: Annotated[str, Meta(max_length=ERROR_CHARACTERS_MAX)] = ""


class Relayed(Body, frozen=True, array_like=True):
    """A broker has on its disk what came in RELAY frames, up to one."""

    op: ClassVar[Op] = Op.RELAYED
    frame: Count


class Unassured(Body, frozen=True, array_like=True):
    """What is wanted by way of this broker, and goes to one that has no store.

    It is all of it, and replaces what was said before; the broker is one of them.
    """

    op: ClassVar[Op] = Op.UNASSURED
    filters: Annotated[list[str], Meta(max_length=UNASSURED_MAX)]
    broker: Annotated[str, Meta(max_length=NAME_CHARACTERS_MAX)] = ""


DURABLE_BODIES: tuple[type[Body], ...] = (
    *(Publisher, PublisherIs, Stored),
    *(Relayed, Unassured),
)
