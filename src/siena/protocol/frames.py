"""Frames: what travels in the binary mode, cut out of a stream of bytes.

A frame is ``u32 length | u8 operation | body``; the length counts operation and body,
and all numbers are little-endian.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, ClassVar, Generic, NamedTuple, TypeVar

import msgspec
from msgspec import Meta, Struct

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import FRAME_BYTES_MAX, NAME_CHARACTERS_MAX, NUMBER_MAX

# What a frame begins with: its length, and its operation behind it.
HEAD = struct.Struct("<IB")
HEAD_BYTES = HEAD.size
LENGTH = struct.Struct("<I")
LENGTH_BYTES = LENGTH.size

# The kinds of fields in bodies that are msgpack.
Number = Annotated[int, Meta(ge=0, le=NUMBER_MAX)]
Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
Count = Annotated[int, Meta(ge=0)]
# What a stream is cut into.
Piece = TypeVar("Piece")
_ENCODER = msgspec.msgpack.Encoder()


class Op(IntEnum):
    """What a frame is; its body is described where it is packed."""

    # From a client.
    CONNECT = 0x01
    PUB = 0x02
    SUB = 0x03
    UNSUB = 0x04
    ADV = 0x05
    UNADV = 0x06
    PING = 0x07
    PONG = 0x08
    SUSPEND = 0x09
    RESUME = 0x0A
    MOVE = 0x0B
    TRACED_PUB = 0x0C
    LOOK = 0x0D
    UNSUB_COVERED = 0x0E
    UNADV_COVERED = 0x0F
    # From a broker.
    WELCOME = 0x11
    MSG = 0x12
    FOUND = 0x13
    LOST = 0x14
    QUENCH = 0x15
    SETTLED = 0x16
    ERR = 0x17
    TRACE = 0x18
    DONE = 0x19
    SEEN = 0x1A
    ENDED = 0x1B
    GRANT_CHANGED = 0x1C
    # From both: a client asks to be told, a broker tells, and tells its neighbours.
    GAP = 0x1D
    # Between brokers.
    FORWARD = 0x21
    TELL = 0x22
    DIGEST = 0x23
    RUN = 0x24
    RELAY = 0x25
    RELAYED = 0x26
    UNASSURED = 0x27
    # About the log, from a client.
    LOG = 0x31
    READ = 0x32
    COMMIT = 0x33
    STAGE = 0x34
    UNSTAGE = 0x35
    BATCH = 0x36
    # And from a broker.
    EXTENT = 0x39
    ENTRIES = 0x3A
    TAKEN = 0x3B
    # About what must not be lost, from a client.
    ACKED_PUB = 0x40
    PUBLISHER = 0x41
    DSUB = 0x42
    ACK = 0x43
    NAK = 0x44
    SEEK = 0x45
    FORGET = 0x46
    # And from a broker.
    PUBLISHER_IS = 0x48
    STORED = 0x49
    DELIVER = 0x4A


class Frame(NamedTuple):
    """One frame; its operation may be one that is not known."""

    op: int
    body: bytes


def pack(op: int, body: bytes) -> bytes:
    """The bytes of a frame.

    >>> pack(Op.PING, b"hello").hex(" ")
    '06 00 00 00 07 68 65 6c 6c 6f'
    """
    return HEAD.pack(len(body) + 1, op) + body


class Cutter(ABC, Generic[Piece]):
    """Cuts a stream into pieces, however it was chopped on its way.

    Args:
        limit: the longest length that a frame may claim.
    """

    def __init__(self, limit: int = FRAME_BYTES_MAX) -> None:
        self.limit = limit
        self._rest = bytearray()
        # How much of the rest makes it worth looking at again.
        self._wanted = LENGTH_BYTES

    @property
    def pending(self) -> int:
        """How many bytes of a frame that is not complete have come."""
        return len(self._rest)

    def feed(self, data: bytes) -> Iterator[Piece]:
        """What is complete with these bytes, in order.

        Raises:
            ProtocolError: if a frame is empty or too long; the stream ends there.
        """
        if self._rest:
            self._rest += data
            if len(self._rest) < self._wanted:
                return
            data = bytes(self._rest)
        at = 0
        wanted = LENGTH_BYTES
        try:
            while len(data) - at >= LENGTH_BYTES:
                (length,) = LENGTH.unpack_from(data, at)
                # What is wrong can be said before it is all there.
                check_length(length, self.limit)
                end = at + LENGTH_BYTES + length
                if end > len(data):
                    wanted += length
                    break
                piece, at = self._cut(data, at, end)
                yield piece
        finally:
            self._rest = bytearray(data[at:])
            self._wanted = wanted

    @abstractmethod
    def _cut(self, data: bytes, at: int, end: int) -> tuple[Piece, int]:
        """The piece that begins with the frame from ``at`` to ``end``; its own end."""


class Splitter(Cutter[Frame]):
    """Cuts a stream into frames.

    >>> stream = pack(Op.PING, b"a") + pack(Op.PONG, b"b")
    >>> splitter = Splitter()
    >>> list(splitter.feed(stream[:8])), list(splitter.feed(stream[8:]))
    ([Frame(op=7, body=b'a')], [Frame(op=8, body=b'b')])
    """

    def _cut(self, data: bytes, at: int, end: int) -> tuple[Frame, int]:
        return frame_at(data, at, end), end


def frame_at(data: bytes, at: int, end: int) -> Frame:
    """The frame that stands there."""
    return Frame(data[at + LENGTH_BYTES], data[at + HEAD_BYTES : end])


def check_length(length: int, limit: int) -> None:
    """Refuse what no frame can have as its length."""
    if length == 0:
        raise ProtocolError(Fault.BAD_FRAME, "a frame without an operation")
    if length > limit:
        raise ProtocolError(
            Fault.TOO_LONG, f"a frame of {length} bytes; at most {limit} are allowed"
        )


class Body(Struct, frozen=True, array_like=True):
    """The fields of one operation, as a msgpack array."""

    op: ClassVar[Op]

    def pack(self) -> bytes:
        """The frame.

        >>> from siena.protocol.control_frames import Unsubscribe
        >>> Unsubscribe(7).pack().hex(" ")
        '03 00 00 00 04 91 07'
        """
        return pack(self.op, _ENCODER.encode(self))


def pack_fields(op: Op, fields: tuple[object, ...]) -> bytes:
    """The frame of a body that has these fields, and no others."""
    return pack(op, _ENCODER.encode(fields))


def pack_but_last(body: Body, count: int = 1) -> bytes:
    """The frame without its last fields, which say nothing: as it was before them."""
    return pack(body.op, _ENCODER.encode(msgspec.structs.astuple(body)[:-count]))
