"""A file of records, one behind the other, as it is read from the disk."""

import os
from collections.abc import Iterator
from pathlib import Path

from siena.broker.log.records import HEAD_BYTES, Record, read_record, record_size

# What is read at a time.
_CHUNK = 1024 * 1024


def end_of(place: int, record: Record) -> int:
    """Where a record ends that stands at a place."""
    return place + HEAD_BYTES + record_bytes(record)


def record_bytes(record: Record) -> int:
    """How many bytes follow the head of a record."""
    return 4 * len(record.lengths) + len(record.blocks)


def records_of(path: Path, place: int, size: int) -> Iterator[tuple[int, Record]]:
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
                yield place + at, read_record(chunk, at)
                at += length
            is_short = len(chunk) < asked or length is None or length > size - place
            if not at and is_short:
                return  # what begins here is not all there
            wanted = max(_CHUNK, length or 0)
            place += at
