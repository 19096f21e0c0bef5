"""A segment: one file of the log, a header and records one behind the other.

Only the last segment is written to.  Its name is the offset that it begins with.  Every
64 KiB it is remembered which offset is where; of a segment that is complete, in a file
beside it, which is there only if another segment has been begun.
"""

import errno
import os
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.limits import INDEX_BYTES
from siena.broker.log.records import FORM, HEAD_BYTES, DamagedLogError, Record
from siena.broker.log.salvage import form_of, good_records_of, offsets_in
from siena.broker.log.segment_file import HEADER_BYTES, Header, end_of, record_bytes

SUFFIX = ".log"
INDEX_SUFFIX = ".index"
# What is copied at a time.
_CHUNK = 1024 * 1024
# An index: offsets, places, and the checksum of both.
_CRC_BYTES = 4


_NO_ROOM = frozenset({errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)})


class NoRoomError(OSError):
    """There is no room for a copy: the disk is full, and has not failed."""


class Gap(NamedTuple):
    """Offsets of which nothing can be read, from the first to before the end."""

    first: int
    end: int


class Segment:
    """One file, and where in it offsets are."""

    def __init__(
        self, path: Path, first: int, form: int = FORM, header: Header | None = None
    ) -> None:
        self.path = path
        self.first = first
        self.end = first
        self.size = 0
        self.form = form
        self.header = header
        """What the file says about itself; none if that is damaged, or was not said."""
        self.start = HEADER_BYTES if form > 1 else 0
        """Where its first record stands."""
        self.left_out = 0
        """How many offsets before the end were given up, and are not missed."""
        self.skip = 0
        """How many offsets are not given again, of what was cut off behind the end."""
        self.is_half = True
        """Whether what was cut off is half a record, of which no client has heard."""
        # What is behind this place, and from which offset on, was written by us.
        self._ours = self.start, first
        # Offsets, and the places of the records that begin with them.
        self._offsets = array("q")
        self._places = array("q")
        self._is_indexed = False

    @classmethod
    def new(cls, folder: Path, first: int, before: "Segment | None") -> "Segment":
        """One that is not written yet, behind another."""
        header = Header(first)
        if before is not None:
            header = Header(first, before.first, before.size, before.records_end)
        segment = cls(folder / f"{first:020d}{SUFFIX}", first, FORM, header)
        segment.size = HEADER_BYTES
        segment._is_indexed = True
        return segment

    @classmethod
    def found(cls, path: Path, end: int) -> "Segment":
        """A file that is complete, up to an offset."""
        segment = cls(path, int(path.stem), *form_of(path))
        segment.end = end
        segment.size = path.stat().st_size
        segment._ours = segment.size, end
        return segment

    @classmethod
    def recovered(cls, path: Path) -> tuple["Segment", list[Gap]]:
        """The last file, and which offsets in it are of records that are damaged.

        If they are at its end, what is there is not in it.
        """
        segment = cls(path, int(path.stem), *form_of(path))
        segment._is_indexed = True
        segment.size = segment.start
        whole = path.stat().st_size
        gaps: list[Gap] = []
        for place, record in segment._good_records(segment.start, whole, segment.first):
            if place > segment.size:
                gaps.append(Gap(segment.end, record.first))
            segment.add(record.first, record.end, place)
            segment.size = end_of(place, record)
        if segment.size < whole:
            segment.skip, segment.is_half = offsets_in(path, segment.size, whole)
            if segment.skip and not segment.is_half:
                gaps.append(Gap(segment.end, segment.end + segment.skip))
        segment._ours = segment.size, segment.end
        return segment, gaps

    @property
    def records_end(self) -> int:
        """The offset behind the last record that was written."""
        return self.end - self.left_out

    def is_followed_by(self, after: "Segment") -> bool:
        """Whether the next file says that it is what it was, if it says anything.

        If so, it is known which offsets were given up between the two.
        """
        header = after.header
        if header is None:
            return True
        if (header.before, header.before_size) != (self.first, self.size):
            return False
        self.left_out = self.end - header.before_end
        return True

    @property
    def has_records(self) -> bool:
        """Whether anything was found in it, or added."""
        return self.size > self.start

    def add(self, first: int, end: int, place: int) -> None:
        """A record stands at a place."""
        assert first >= self.end, "an offset is given once"
        if not self._places or place - self._places[-1] >= INDEX_BYTES:
            self._offsets.append(first)
            self._places.append(place)
        self.end = end

    def _good_records(
        self, place: int, size: int, expected: int
    ) -> Iterator[tuple[int, Record]]:
        return good_records_of(self.path, place, size, expected, form=self.form)

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from the one with an offset on, of about so many bytes together.

        They end where something is damaged.

        Raises:
            DamagedLogError: if that is what is asked for first.
        """
        if not self._is_indexed:
            self._load_index()
        at = bisect_right(self._offsets, start) - 1
        place = self._places[at] if at >= 0 else self.start
        expected = self._offsets[at] if at >= 0 else self.first
        used = 0
        for at, record in self._good_records(place, self.size, expected):
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
        if not used and start < self.records_end:
            end = self.records_end if record is None else record.first
            raise damaged(max(expected, self.first), end)

    def gaps(self) -> Iterator[Gap]:
        """Which of its offsets cannot be read, looking at every record."""
        expected, place = self.first, self.start
        for at, record in self._good_records(self.start, self.size, self.first):
            if at > place:  # if no bytes are missing, offsets were given up
                yield Gap(expected, record.first)
            expected, place = record.end, end_of(at, record)
        if expected < self.records_end:
            yield Gap(expected, self.records_end)
        elif place < self.size:
            yield Gap(expected, expected)

    # --- Written anew ---------------------------------------------------------------

    def write_anew(self, files: Files) -> None:
        """Have the disk keep what is in the file, in a fresh one of the same name.

        The folder is still to be synced.

        Raises:
            NoRoomError: if there is no room for another; then nothing has changed.
            OSError: if it does not, or the system does not remember what we wrote.
        """
        room = files.free_bytes(self.path.parent)
        if room < self.size:
            text = f"there is room for {room} bytes, and not for {self.size}"
            raise NoRoomError(errno.ENOSPC, text)
        new = self.path.with_name(f"{self.path.name}.new")
        files.delete(new)
        descriptor = files.open_for_append(new)
        try:
            with self.path.open("rb", buffering=0) as file:
                for place in range(0, self.size, _CHUNK):
                    size = min(_CHUNK, self.size - place)
                    files.write(descriptor, [os.pread(file.fileno(), size, place)])
            self._check_ours(new)
            files.sync(descriptor)
        except BaseException as error:  # half of it only takes room
            files.close(descriptor)
            files.delete(new)
            if isinstance(error, OSError) and error.errno in _NO_ROOM:
                raise NoRoomError(error.errno, error.strerror) from None
            raise
        files.close(descriptor)
        files.rename(new, self.path)

    def _check_ours(self, path: Path) -> None:
        place, expected = self._ours
        for at, record in good_records_of(path, place, self.size, expected):
            if at != place:
                break
            place = end_of(at, record)
        if place != self.size:
            raise OSError(
                f"the system does not remember what was written to {self.path.name} "
                f"behind offset {expected}; start the broker anew"
            )

    # --- The index ------------------------------------------------------------------

    @property
    def _index_path(self) -> Path:
        return self.path.with_suffix(INDEX_SUFFIX)

    @property
    def is_sealed(self) -> bool:
        """Whether it was complete once, and so another was begun."""
        return self._index_path.exists()

    def seal(self, files: Files = SYSTEM) -> None:
        """Nothing more comes: keep the index for later."""
        if not self._is_indexed:
            self._load_index()
        data = self._offsets.tobytes() + self._places.tobytes()
        crc = zlib.crc32(data).to_bytes(_CRC_BYTES, "little")
        files.write_whole(self._index_path, data + crc, sync=False)

    def _load_index(self) -> None:
        """Read the index; without a good one, look through the file."""
        self._is_indexed = True
        try:
            whole = self._index_path.read_bytes()
        except OSError:
            whole = b""
        data, crc = whole[:-_CRC_BYTES], whole[-_CRC_BYTES:]
        half = len(data) // 16
        is_whole = zlib.crc32(data).to_bytes(_CRC_BYTES, "little") == crc
        if data and len(data) == 16 * half and is_whole:
            self._offsets = array("q", data[: 8 * half])
            self._places = array("q", data[8 * half :])
            if self._is_plausible():
                return
        self._offsets, self._places = array("q"), array("q")
        end, self.end = self.end, self.first
        for place, record in self._good_records(self.start, self.size, self.first):
            self.add(record.first, record.end, place)
        self.end = end

    def _is_plausible(self) -> bool:
        """Whether it begins at the beginning and ascends; records are checked later."""
        return (
            (self._offsets[0], self._places[0]) == (self.first, self.start)
            and all(a < b for a, b in zip(self._places, self._places[1:], strict=False))
            and self._places[-1] < self.size
        )

    def delete(self, files: Files = SYSTEM) -> None:
        """Give the room back."""
        files.delete(self.path)
        files.delete(self._index_path)


def scan_segments(
    segments: Sequence[Segment], start: int, budget: int
) -> Iterator[Record]:
    """Records of some files, from the one with an offset on.

    Raises:
        DamagedLogError: if a file is not what was written.
        OSError: if it cannot be read.
    """
    used = 0
    for segment in segments:
        if segment.end <= start:
            continue
        for record in segment.scan(start, budget - used):
            yield record
            used += len(record.blocks) + 4 * len(record.lengths)
            start = record.end
        if start < segment.records_end or used >= budget:
            return
        start = max(start, segment.end)


def damaged(first: int, end: int) -> DamagedLogError:
    """The error that names offsets which cannot be read."""
    error = DamagedLogError(
        f"offsets {first} to {end - 1} are damaged",
        hint=f"what follows can be read from offset {end} on",
    )
    error.gap = (first, end)
    return error
