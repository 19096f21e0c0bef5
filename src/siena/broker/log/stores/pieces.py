"""Pieces: what stands in a stream, record by record or file by file, with checksums.

A piece says who wrote it, what it is about (the log, or a small file beside it), which
offsets are in it, and which part of them it is: what is longer than a message goes in
parts, and counts when all of them are there.
"""

import zlib
from collections.abc import Iterable, Iterator

import msgspec
from msgspec import Struct

from siena.broker.log.records import (
    DamagedLogError,
    Record,
    pack_record,
    read_record,
    record_size,
)

FORM = 1
_CRC_BYTES = 4
# What pieces are about if not about a file; and their subjects, in the stream.
LOG = "log"
# What a piece needs beside its data, generously.
HEAD_BYTES_MAX = 1_024


class Piece(Struct, array_like=True, frozen=True):
    """One message of a stream."""

    form: int
    writer: str
    about: str
    first: int
    end: int
    part: int
    parts: int
    data: bytes

    @property
    def is_whole(self) -> bool:
        """Whether nothing of what it belongs to follows."""
        return self.part + 1 == self.parts


def pieces_of(
    writer: str, about: str, first: int, end: int, data: bytes, size: int
) -> list[Piece]:
    """Data in as many pieces as it needs, none of them longer than a size.

    >>> [piece.data for piece in pieces_of("w", "log", 0, 3, b"abcde", 2)]
    [b'ab', b'cd', b'e']
    """
    parts = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    return [
        Piece(FORM, writer, about, first, end, number, len(parts), part)
        for number, part in enumerate(parts)
    ]


def key_of(piece: Piece) -> str:
    """What a piece replaces: the same part of the same file, and of the log nothing.

    >>> key_of(pieces_of("w", "log", 3, 5, b"abc", 9)[0])
    'log/3/5/0'
    >>> key_of(pieces_of("w", "cursors.state", 3, 3, b"abc", 2)[1])
    'cursors.state/1'
    """
    if piece.about == LOG:
        return f"{LOG}/{piece.first}/{piece.end}/{piece.part}"
    return f"{piece.about}/{piece.part}"


def pack_piece(piece: Piece) -> bytes:
    """The bytes of a message: a checksum, and what it is of."""
    data = msgspec.msgpack.encode(piece)
    return zlib.crc32(data).to_bytes(_CRC_BYTES, "little") + data


def read_piece(data: bytes) -> Piece:
    """The piece that a message is.

    >>> piece = pieces_of("w", "log", 0, 3, b"abc", 9)[0]
    >>> read_piece(pack_piece(piece)) == piece
    True

    Raises:
        DamagedLogError: if it is none of ours, or not what was written.
    """
    crc, body = data[:_CRC_BYTES], memoryview(data)[_CRC_BYTES:]
    if zlib.crc32(body).to_bytes(_CRC_BYTES, "little") != crc:
        raise DamagedLogError("a message whose checksum is wrong, or of others")
    try:
        piece = msgspec.msgpack.decode(body, type=Piece)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise DamagedLogError(f"a message that no broker wrote: {error}") from None
    if piece.form != FORM:
        raise DamagedLogError(f"a message of form {piece.form}, which is not known")
    return piece


class Whole(Struct, frozen=True):
    """What some pieces are together."""

    number: int
    about: str
    first: int
    end: int
    data: bytes


class Joining:
    """Puts parts together; of what is not complete nothing is said."""

    def __init__(self) -> None:
        self._parts: list[Piece] = []

    def add(self, number: int, piece: Piece) -> Whole | None:
        """One more piece; what is complete with it, if anything is."""
        before = self._parts[-1] if self._parts else None
        if before is None or not _follows(before, piece):
            self._parts = []
        if piece.part == len(self._parts):
            self._parts.append(piece)
        if not piece.is_whole or len(self._parts) != piece.parts:
            return None
        parts, self._parts = self._parts, []
        data = parts[0].data if len(parts) == 1 else b"".join(p.data for p in parts)
        return Whole(number, piece.about, piece.first, piece.end, data)


def _follows(before: Piece, piece: Piece) -> bool:
    """Whether a piece is the next part of what the one before it belongs to."""
    of_before = (before.writer, before.about, before.first, before.end, before.parts)
    of_piece = (piece.writer, piece.about, piece.first, piece.end, piece.parts)
    return of_before == of_piece and piece.part == before.part + 1


def joined_records(
    records: Iterable[Record], size: int
) -> Iterator[tuple[int, int, bytes]]:
    """Records as bytes, about so many together: the offsets, and the bytes."""
    found: list[bytes | memoryview] = []
    first = end = length = 0
    for record in records:
        packed = pack_record(*record)
        more = sum(map(len, packed))
        if found and length + more > size:
            yield first, end, b"".join(found)
            found, length = [], 0
        if not found:
            first = record.first
        found += packed
        length += more
        end = record.end
    if found:
        yield first, end, b"".join(found)


def split_records(data: bytes) -> Iterator[Record]:
    """The records that stand one behind the other.

    Raises:
        DamagedLogError: if something else does.
    """
    view, at = memoryview(data), 0
    while at < len(view):
        size = record_size(view, at)
        if size is None or at + size > len(view):
            raise DamagedLogError("half a record in a stream")
        yield read_record(view, at)
        at += size
