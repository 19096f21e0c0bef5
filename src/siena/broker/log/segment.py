"""A segment: one file of the log, of records one behind the other.

Only the last segment is written to.  Its name is the offset that it begins with.  Every
64 KiB it is remembered which offset is where; of a segment that is complete, in a file
beside it.
"""

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siena.broker.log.limits import INDEX_BYTES
from siena.broker.log.records import HEAD_BYTES, DamagedLogError, Record
from siena.broker.log.salvage import good_records_of, offsets_in
from siena.broker.log.segment_file import end_of, record_bytes

SUFFIX = ".log"
INDEX_SUFFIX = ".index"


class Gap(NamedTuple):
    """Offsets of which nothing can be read, from the first to before the end."""

    first: int
    end: int


class Segment:
    """One file, and where in it offsets are."""

    def __init__(self, path: Path, first: int) -> None:
        self.path = path
        self.first = first
        self.end = first
        self.size = 0
        self.skip = 0
        """How many offsets are not given again, of what was cut off behind the end."""
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
    def recovered(cls, path: Path) -> tuple["Segment", list[Gap]]:
        """The last file, and which offsets in it are of records that are damaged.

        If they are at its end, what is there is not in it.
        """
        segment = cls(path, int(path.stem))
        segment._is_indexed = True
        whole = path.stat().st_size
        gaps: list[Gap] = []
        for place, record in good_records_of(path, 0, whole, segment.first):
            if place > segment.size:
                gaps.append(Gap(segment.end, record.first))
            segment.add(record.first, record.end, place)
            segment.size = end_of(place, record)
        if segment.size < whole:
            segment.skip = offsets_in(path, segment.size)
            if segment.skip:
                gaps.append(Gap(segment.end, segment.end + segment.skip))
        return segment, gaps

    def add(self, first: int, end: int, place: int) -> None:
        """A record stands at a place."""
        assert first >= self.end, "an offset is given once"
        if not self._places or place - self._places[-1] >= INDEX_BYTES:
            self._offsets.append(first)
            self._places.append(place)
        self.end = end

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from the one with an offset on, of about so many bytes together.

        They end where something is damaged.

        Raises:
            DamagedLogError: if that is what is asked for first.
        """
        if not self._is_indexed:
            self._load_index()
        at = bisect_right(self._offsets, start) - 1
        place = self._places[at] if at >= 0 else 0
        expected = self._offsets[at] if at >= 0 else self.first
        used = 0
        for at, record in good_records_of(self.path, place, self.size, expected):
            # Offsets may be left out; but if bytes are, a record is damaged.
            if at > place and record.first > start:
                break
            expected, place = record.end, end_of(at, record)
            if record.end > start:
                yield record
                used += HEAD_BYTES + record_bytes(record)
                if used >= budget:
                    return
        else:
            record = None
        if not used and start < self.end:
            end = self.end if record is None else record.first
            raise DamagedLogError(
                f"offsets {max(expected, self.first)} to {end - 1} are damaged",
                hint=f"what follows can be read from offset {end} on",
            )

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
        for place, record in good_records_of(self.path, 0, self.size, self.first):
            self.add(record.first, record.end, place)
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
