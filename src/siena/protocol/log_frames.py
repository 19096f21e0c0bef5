"""The bodies of frames about a broker's log: reading it, and writing whole batches.

An *offset* is the place of a notification in the log, counted from 0.  A *reader* is a
name whose offset the broker remembers.  A *part* is some of the notifications of a
batch, which the broker keeps aside until the batch is complete.
"""

from typing import Annotated, ClassVar

from msgspec import Meta, Struct

from siena.protocol.frames import Body, Count, Name, Op
from siena.protocol.limits import (
    OFFSET_MAX,
    PART_NAME_BYTES,
    PARTS_MAX,
    READ_COUNT_MAX,
)

Offset = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]
PartName = Annotated[
    bytes, Meta(min_length=PART_NAME_BYTES, max_length=PART_NAME_BYTES)
]


class Log(Body, frozen=True, array_like=True):
    """How far the log reaches, and where a reader is.  Answered by EXTENT."""

    op: ClassVar[Op] = Op.LOG
    reader: Name | None = None


class Extent(Body, frozen=True, array_like=True):
    """The log has the offsets from ``earliest`` up to, not including, ``latest``."""

    op: ClassVar[Op] = Op.EXTENT
    earliest: Offset
    latest: Offset
    # Where the reader is; nil if the broker does not know it.
    committed: Offset | None = None


class Read(Body, frozen=True, array_like=True):
    """What a filter selects of the log, from an offset on.  Answered by ENTRIES."""

    op: ClassVar[Op] = Op.READ
    filter: str
    start: Offset
    # Not included; without it, up to what is there.
    end: Offset | None = None
    count: Annotated[int, Meta(ge=1, le=READ_COUNT_MAX)] = READ_COUNT_MAX


class Entry(Struct, frozen=True, array_like=True):
    """One notification of the log."""

    offset: Offset
    # When the broker got it, in microseconds since 1970.
    time: int
    block: bytes


class Entries(Body, frozen=True, array_like=True):
    """Some of what was asked for; the rest begins at ``next``."""

    op: ClassVar[Op] = Op.ENTRIES
    # Whatever is before it was looked at, and is here if it was wanted.
    next: Offset
    latest: Offset
    entries: list[Entry]


class Commit(Body, frozen=True, array_like=True):
    """A reader needs nothing before this offset any more.  Answered by DONE.

    Without an offset, it is no reader any more.
    """

    op: ClassVar[Op] = Op.COMMIT
    reader: Name
    offset: Offset | None = None


class Stage(Body, frozen=True, array_like=True):
    """Notifications of a part, which are not published yet.  Answered by DONE.

    ``at`` is how many of the part were sent before: what is sent again is kept once.
    """

    op: ClassVar[Op] = Op.STAGE
    part: PartName
    at: Count
    blocks: list[bytes]


class Unstage(Body, frozen=True, array_like=True):
    """These parts will not be needed.  Answered by DONE."""

    op: ClassVar[Op] = Op.UNSTAGE
    parts: Annotated[list[PartName], Meta(max_length=PARTS_MAX)]


class Part(Struct, frozen=True, array_like=True):
    """A part, and how many notifications it has."""

    name: PartName
    count: Count


class Batch(Body, frozen=True, array_like=True):
    """Publish these parts, unless the batch was published before.  Answered by TAKEN.

    The batches of a query have ascending numbers.
    """

    op: ClassVar[Op] = Op.BATCH
    query: Name
    number: Offset
    parts: Annotated[list[Part], Meta(max_length=PARTS_MAX)]


class Taken(Body, frozen=True, array_like=True):
    """A batch is published: now, or it was before."""

    op: ClassVar[Op] = Op.TAKEN
    query: str
    number: Offset
    is_new: bool
    count: Count


LOG_BODIES: tuple[type[Body], ...] = (
    *(Log, Extent, Read, Entries, Commit),
    *(Stage, Unstage, Batch, Taken),
)
