"""A segment: one file of the log, of records one behind the other.

Only the last segment is written to.  Its name is the offset that it begins with.  Every
64 KiB it is remembered which offset is where; of a segment that is complete, in a file
beside it.
"""

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path

from siena.broker.log.limits import INDEX_BYTES
from siena.broker.log.records import (
    HEAD_BYTES,
    DamagedLogError,
    Record,
    read_record,
    record_size,
)

SUFFIX = ".log"
INDEX_SUFFIX = ".index"
# What is read at a time.
_CHUNK = 1024 * 1024


class Segment:
    """One file, and where in it offsets are."""

    def __init__(self, path: Path, first: int) -> None:
        self.path = path
        self.first = first
        self.end = first
        self.size = 0
        # Offsets, and the places of the records that begin with them.
        self._offsets = array("q")
        self._places = array("q")
        self._is_indexed = False

    @classmethod
    def new(cls, folder: Path, first: int) -> "Segment":
        """A file that is still empty."""
        segment = cls(folder / f"{first:020d}{SUFFIX}", first)
        segment._is_indexed = True
        return segment

    @classmethod
    def found(cls, path: Path, end: int) -> "Segment":
        """A file that is complete, up to an offset."""
        segment = cls(path, int(path.stem))
        segment.end = end
        segment.size = path.stat().st_size
        return segment

    @classmethod
    def recovered(cls, path: Path) -> tuple["Segment", str | None]:
        """The last file; and what is wrong with its end, which is not in it then."""
        segment = cls(path, int(path.stem))
        segment._is_indexed = True
        whole = path.stat().st_size
        wrong = None
        try:
            for place, record in records_of(path, 0, whole):
                segment.schedule_flush(record.first, record.end, place)
                segment.size = place + HEAD_BYTES + record_bytes(record)
        except DamagedLogError as error:
            wrong = error.message
        if wrong is None and segment.size < whole:
            wrong = "a record that is not complete"
        return segment, wrong

    def schedule_flush(self, first: int, end: int, place: int) -> None:
        """A record stands at a place."""
        if first != self.end:
            raise DamagedLogError(f"offset {first} where {self.end} should be")
        if not self._places or place - self._places[-1] >= INDEX_BYTES:
            self._offsets.append(first)
            self._places.append(place)
        self.end = end

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from the one with an offset on, of about so many bytes together.

        Raises:
            DamagedLogError: if the file is not what was written.
        """
        if not self._is_indexed:
            self._load_index()
        at = bisect_right(self._offsets, start) - 1
        place = self._places[at] if at >= 0 else 0
        expected = self._offsets[at] if at >= 0 else self.first
        used = 0
        for _, record in records_of(self.path, place, self.size):
            if record.first != expected:
                raise DamagedLogError(
                    f"offset {record.first} where {expected} should be"
                )
            expected = record.end
            if record.end > start:
                yield record
                used += HEAD_BYTES + record_bytes(record)
                if used >= budget:
                    return
        if expected != self.end:
            raise DamagedLogError(f"{self.path.name} ends at offset {expected}")

    # --- The index ------------------------------------------------------------------

    @property
    def _index_path(self) -> Path:
        return self.path.with_suffix(INDEX_SUFFIX)

    def seal(self) -> None:
        """Nothing more comes: keep the index for later."""
        self._index_path.write_bytes(self._offsets.tobytes() + self._places.tobytes())

    def _load_index(self) -> None:
        """Read the index; without a good one, look through the file."""
        self._is_indexed = True
        try:
            data = self._index_path.read_bytes()
        except OSError:
            data = b""
        half = len(data) // 16
        if data and len(data) == 16 * half:
            self._offsets = array("q", data[: 8 * half])
            self._places = array("q", data[8 * half :])
            if self._is_plausible():
                return
        self._offsets, self._places = array("q"), array("q")
        end, self.end = self.end, self.first
        try:
            for place, record in records_of(self.path, 0, self.size):
                self.schedule_flush(record.first, record.end, place)
        finally:
            self.end = end

    def _is_plausible(self) -> bool:
        """Whether it begins at the beginning and ascends; records are checked later."""
        return (
            (self._offsets[0], self._places[0]) == (self.first, 0)
            and all(a < b for a, b in zip(self._places, self._places[1:], strict=False))
            and self._places[-1] < self.size
        )

    def delete(self) -> None:
        """Give the room back."""
        self.path.unlink(missing_ok=True)
        self._index_path.unlink(missing_ok=True)


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
