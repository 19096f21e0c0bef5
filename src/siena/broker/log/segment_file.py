"""A file of records, one behind the other, as it is read from the disk.

A segment of the log begins with a header, which says what the file is, and what stood
before it when it was begun::

    8 bytes "SIENALG2" | u64 first offset | of the file before it: u64 first offset,
    u64 size, u64 the offset behind its last record | u32 crc of all that

So a file that is missing between two others, or that was cut short after it was
complete, is noticed when the log is opened.  Files of the first form have no header.
"""

import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siena.broker.log.records import (
    FORM,
    HEAD_BYTES,
    Record,
    read_record,
    record_size,
)

# What is read at a time.
_CHUNK = 1024 * 1024


MAGIC = b"SIENALG2"
_HEADER = struct.Struct("<8sQQQQI")
HEADER_BYTES = _HEADER.size
_CHECKED = HEADER_BYTES - 4
# Before the first file of a log there is none.
_NONE = 2**64 - 1


class Header(NamedTuple):
    """What a file says about itself, and about the one before it."""

    first: int
    before: int | None = None
    before_size: int = 0
    before_end: int = 0

    def pack(self) -> bytes:
        """Its bytes.

        >>> read_header(Header(7, 3, 99, 6).pack())
        Header(first=7, before=3, before_size=99, before_end=6)
        """
        before = _NONE if self.before is None else self.before
        numbers = (self.first, before, self.before_size, self.before_end)
        data = _HEADER.pack(MAGIC, *numbers, 0)[:_CHECKED]
        return data + zlib.crc32(data).to_bytes(4, "little")


def read_header(data: bytes) -> Header | None:
    """The header with which a file begins; none if it is not one, or damaged."""
    if len(data) < HEADER_BYTES:
        return None
    magic, first, before, size, end, crc = _HEADER.unpack_from(data)
    if magic != MAGIC or zlib.crc32(data[:_CHECKED]) != crc:
        return None
    return Header(first, None if before == _NONE else before, size, end)


def end_of(place: int, record: Record) -> int:
    """Where a record ends that stands at a place."""
    return place + HEAD_BYTES + record_bytes(record)


def record_bytes(record: Record) -> int:
    """How many bytes follow the head of a record."""
    return 4 * len(record.lengths) + len(record.blocks)


def records_of(
    path: Path, place: int, size: int, *, form: int = FORM
) -> Iterator[tuple[int, Record]]:
    """The records of a file from a place on, each with its place.

    Those up to a size, and while they are complete.

    Raises:
        DamagedLogError: if something else comes.
    """
    with path.open("rb", buffering=0) as file:
        wanted = _CHUNK
        while place < size:
            asked = min(wanted, size - place)
            chunk = memoryview(os.pread(file.fileno(), asked, place))
            at = 0
            while (length := record_size(chunk, at)) is not None:
                if at + length > len(chunk):
                    break
                yield place + at, read_record(chunk, at, form=form)
                at += length
            is_short = len(chunk) < asked or length is None or length > size - place
            if not at and is_short:
                return  # what begins here is not all there
            wanted = max(_CHUNK, length or 0)
            place += at
