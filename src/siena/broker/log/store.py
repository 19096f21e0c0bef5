"""The store: all segments of a log, in one folder that one process owns.

A record is written with one call, and is there as a whole or not at all: what a crash
leaves of one at the end of the last file is cut off at the next start.
"""

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from siena.broker.log.limits import RECORD_BYTES_MAX, RECORD_COUNT_MAX
from siena.broker.log.records import Record, pack_record
from siena.broker.log.segment import SUFFIX, Segment
from siena.errors import SienaError

log = logging.getLogger("siena.broker")

LOCK = "lock"


class Store:
    """Records by offset.

    Ownership: of the folder, from making it to :meth:`close`.
    """

    def __init__(self, folder: Path, segment_bytes: int) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(folder)
        self._segments = self._recover()
        self.size = sum(segment.size for segment in self._segments)
        """The bytes of all files."""
        self._file = self._open()
        # Descriptors of what the disk may not have, beside the file that is written to;
        # at first the folder, in which a file may be new.
        self._unsynced = [os.open(folder, os.O_RDONLY)]
        # Whether half a record stands behind the last one, and could not be cut off.
        self._is_torn = False

    @property
    def earliest(self) -> int:
        """The first offset that there is."""
        return self._segments[0].first

    @property
    def latest(self) -> int:
        """The offset behind the last."""
        return self._segments[-1].end

    def _recover(self) -> list[Segment]:
        paths = sorted(self._folder.glob(f"*{SUFFIX}"))
        if not paths:
            return [Segment.new(self._folder, 0)]
        # What a file lacks is found out when somebody reads it.
        found = [
            Segment.found(path, int(after.stem)) for path, after in pairwise(paths)
        ]
        last, gaps = Segment.recovered(paths[-1])
        for gap in gaps:
            log.warning("the log has lost offsets %d to %d", gap.first, gap.end - 1)
        self._cut(last)
        return [*found, last]

    def _cut(self, last: Segment) -> None:
        """Cut off what is no record at the end; a copy of it is kept."""
        whole = last.path.stat().st_size
        if last.size == whole:
            return
        copy = last.path.with_suffix(f".{last.size}.cut")
        with last.path.open("rb") as file, copy.open("wb") as rest:
            file.seek(last.size)
            shutil.copyfileobj(file, rest)
        os.truncate(last.path, last.size)
        log.warning(
            "the log ended with half a record: cut off %d bytes, which are in %s, and "
            "goes on at offset %d",
            *(whole - last.size, copy.name, last.end),
        )

    def _open(self) -> IO[bytes]:
        return self._segments[-1].path.open("ab", buffering=0)

    # --- Writing --------------------------------------------------------------------

    def append(
        self,
        blocks: bytes | memoryview,
        offsets: npt.NDArray[np.int64],
        time: int,
        tag: int = 0,
    ) -> None:
        """Write blocks that stand back to back; all, or raise and have none of them.

        Raises:
            OSError: if the disk does not take them.
        """
        count = len(offsets) - 1
        if count <= RECORD_COUNT_MAX and len(blocks) <= RECORD_BYTES_MAX:
            cuts = [0, count]
        else:
            cuts = _cuts(offsets)
        last = self._segments[-1]
        first, size = last.end + last.skip, last.size
        pieces: list[bytes | memoryview] = []
        places: list[tuple[int, int, int]] = []
        view = memoryview(blocks)
        place = size
        for a, b in pairwise(cuts):
            lengths = np.diff(offsets[a : b + 1]).astype(np.uint32)
            part = view[offsets[a] : offsets[b]]
            packed = pack_record(first + a, time, tag, lengths, part)
            places.append((first + a, first + b, place))
            place += sum(map(len, packed))
            pieces += packed
        self._write(pieces, place - size)
        segment = self._segments[-1]
        for record_first, record_end, at in places:
            segment.add(record_first, record_end, at)
        segment.size, segment.skip = place, 0
        self.size += place - size
        if place >= self._segment_bytes:
            self._roll()

    def _write(self, pieces: list[bytes | memoryview], size: int) -> None:
        """Write with one call, as a rule; leave nothing behind if that fails."""
        before = self._segments[-1].size
        descriptor = self._file.fileno()
        if self._is_torn:
            os.ftruncate(descriptor, before)
            self._is_torn = False
        try:
            written = os.writev(descriptor, pieces)
            if written < size:  # the disk is almost full, or a signal came
                rest = memoryview(b"".join(pieces))
                while written < size:
                    written += os.write(descriptor, rest[written:])
        except OSError:
            self._is_torn = True
            with suppress(OSError):  # then before the next record
                os.ftruncate(descriptor, before)
                self._is_torn = False
            raise

    def _roll(self) -> None:
        """Go on in a new file."""
        segment = self._segments[-1]
        new = Segment.new(self._folder, segment.end)
        unsynced: list[int] = []
        try:
            segment.seal()
            unsynced.append(os.dup(self._file.fileno()))
            # The folder, in which the new file has its name.
            unsynced.append(os.open(self._folder, os.O_RDONLY))
            # Last: a file that is there says where the one before it ends.
            file = new.path.open("ab", buffering=0)
        except OSError as error:  # then the old one grows on, and room comes later
            for descriptor in unsynced:
                os.close(descriptor)
            log.warning("the log could not begin a new file: %s", error)
            return
        self._unsynced += unsynced
        self._file.close()
        self._file = file
        self._segments.append(new)

    def sync(self) -> None:
        """Have the disk keep what was written, whatever happens to the machine.

        Raises:
            OSError: if it does not; then it is tried again the next time.
        """
        found = self.descriptors()
        try:
            for descriptor in found:
                os.fsync(descriptor)
        except OSError:
            # The last one is of the file that is written to, and comes again.
            self._unsynced, found = found[:-1], found[-1:]
            raise
        finally:
            for descriptor in found:
                os.close(descriptor)

    def descriptors(self) -> list[int]:
        """Of what the disk may not have yet, for somebody else to sync and close."""
        found = [*self._unsynced, os.dup(self._file.fileno())]
        self._unsynced = []
        return found

    def close(self) -> None:
        """Write everything to the disk, and let others have the folder."""
        self.sync()
        self._file.close()
        self._lock.close()

    # --- Reading --------------------------------------------------------------------

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from the one with an offset on, of about so many bytes together.

        Raises:
            DamagedLogError: if a file is not what was written.
            OSError: if it cannot be read.
        """
        used = 0
        for segment in list(self._segments):
            if segment.end <= start:
                continue
            for record in segment.scan(start, budget - used):
                yield record
                used += len(record.blocks) + 4 * len(record.lengths)
                start = record.end
            if start < segment.end or used >= budget:
                return

    # --- Making room ----------------------------------------------------------------

    def make_room(self, floor: int, bytes_max: int, older_than: float | None) -> int:
        """Delete the oldest files that nobody needs while there is too much of them.

        Args:
            floor: the first offset that somebody still needs.
            bytes_max: so much may stay.
            older_than: files that were written before go in any case.
        """
        deleted = 0
        while len(self._segments) > 1:
            oldest = self._segments[0]
            is_old = older_than is not None and _time_of(oldest) < older_than
            if oldest.end > floor or not (is_old or self.size >= bytes_max):
                break
            oldest.delete()
            self.size -= oldest.size
            del self._segments[0]
            deleted += 1
        return deleted


def _time_of(segment: Segment) -> float:
    try:
        return segment.path.stat().st_mtime
    except OSError:
        return 0.0


def _cuts(offsets: npt.NDArray[np.int64]) -> list[int]:
    """Where to cut what is too much for one record."""
    cuts, count = [0], len(offsets) - 1
    while cuts[-1] < count:
        start = cuts[-1]
        room = offsets[start] + RECORD_BYTES_MAX
        end = int(np.searchsorted(offsets, room, side="right")) - 1
        cuts.append(max(start + 1, min(end, start + RECORD_COUNT_MAX, count)))
    return cuts


def _locked(folder: Path) -> IO[bytes]:
    """A file that nobody else has locked, as long as it is open."""
    file = (folder / LOCK).open("ab")
    try:
        import fcntl  # noqa: PLC0415 -- not on Windows, where nobody is stopped

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:
        pass
    except OSError:
        file.close()
        raise SienaError(
            f"{folder} is the log of another broker that runs",
            hint="each broker has a folder of its own",
        ) from None
    return file
