"""The store: all segments of a log, in one folder that one process owns.

A record is written with one call, and is there as a whole or not at all: what a crash
leaves of one at the end of the last file is cut off at the next start.

*What is on the disk when.*  A record is there once :meth:`Store.sync` has returned; it
syncs the file before the one that is written to first, then that one, then the folder,
which has its name.  A file that is begun says how the one before it ended, and the file
with the earliest offset is written before a segment is deleted: so files that others
have deleted, or cut off, are noticed at the next start.

*What is in doubt* is written anew, into fresh files, before it counts: after a sync
that failed, because the system may have dropped what it could not write and a second
sync would not tell; and after a life that did not end with a sync, because it may have
been such a one.

Why one module: what is on the disk, and what was found there, are one state.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from siena.broker.log import group_commit
from siena.broker.log.files import SYSTEM, Files, locked
from siena.broker.log.given import Given
from siena.broker.log.limits import RECORD_BYTES_MAX, RECORD_COUNT_MAX
from siena.broker.log.records import FORM, Record, cuts_of, pack_record
from siena.broker.log.segment import SUFFIX, Gap, Segment, damaged, scan_segments
from siena.broker.log.state_file import StateFile
from siena.errors import SienaError

log = logging.getLogger("siena.broker")

EARLIEST = "earliest.json"


class Earliest(Struct):
    """What must be there: the first offset of the oldest file."""

    offset: int = -1  # not written down yet


class Store:
    """Records by offset: the log of a broker that keeps it itself.

    Ownership: of the folder, from making it to :meth:`close`.
    """

    where = "the disk"
    is_elsewhere = False

    def __init__(self, folder: Path, segment_bytes: int, files: Files = SYSTEM) -> None:
        self._folder = folder
        self._segment_bytes = segment_bytes
        self.files = files
        """What the log does to its disk."""
        is_new = not folder.exists()
        # What is published is not for everybody on this machine.
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            hint = "a log is a folder of files"
            raise SienaError(f"{folder} is not a folder", hint=hint) from None
        if is_new:
            files.sync_folder(folder.parent)
        self._lock = locked(folder)
        # Who syncs has this.  A failure is told once, to one of those who sync a file;
        # so nobody else says meanwhile that it is kept.
        self._syncing = threading.Lock()
        # Descriptors of what the disk may not have, beside the file that is written to;
        # and of that what threads are to sync, and have not begun with.
        self._unsynced: list[int] = []
        self._handed_out: list[list[int]] = []
        # How many of the first need not be synced, unless a receipt asks for it soon.
        self._left = 0
        # Segments that are complete, and whose index is written once the disk has them.
        self._unsealed: list[Segment] = []
        # Whether a sync has failed, here or perhaps in the life before.
        self._in_doubt = False
        # Whether half a record stands behind the last one, and could not be cut off.
        self._is_torn = False
        # Whether something was cut off at the end that was no half record.
        self._is_damaged_at_end = False
        # Offsets that may have been given; and whether they were on the disk.
        self._not_before = 0
        self._are_missing = False
        self._missing: list[Gap] = []
        try:
            self._earliest = StateFile(
                folder / EARLIEST, Earliest, Earliest(), files=files
            )
            self._given = Given(folder, files)
            self._segments: list[Segment] = []
            self._file = self._recover()
            self._begin_life()
            if not self.is_elsewhere:  # otherwise the stream may have them
                self._leave_out()
            first, should_be = self._segments[0].first, self._earliest.value.offset
            self._missing = [Gap(should_be, first)] if first > should_be else []
        except BaseException:
            self._lock.close()
            raise
        self.size = sum(segment.size for segment in self._segments)
        """The bytes of all files."""

    @property
    def earliest(self) -> int:
        """The first offset that there is, or should be."""
        return self._missing[0].first if self._missing else self._segments[0].first

    @property
    def latest(self) -> int:
        """The offset behind the last."""
        return self._segments[-1].end

    # --- Opening --------------------------------------------------------------------

    def _recover(self) -> int:
        """Find what is there, and begin where it ends; the descriptor of that file."""
        for path in self._folder.glob(f"*{SUFFIX}.new"):  # half of what is written anew
            self.files.delete(path)
        paths = sorted(self._folder.glob(f"*{SUFFIX}"))
        should_be = self._earliest.value.offset
        if should_be >= 0:
            # Deleted before, in a way: the machine ended in between.
            for path in [p for p in paths if int(p.stem) < should_be]:
                Segment.found(path, should_be).delete(self.files)
                paths.remove(path)
        if not paths:
            first = 0
            if should_be >= 0:
                log.warning("the log has lost all its files, from offset %d", should_be)
                first = should_be + RECORD_COUNT_MAX if should_be else 0
            return self._begin(first)
        if should_be < 0:
            self._write_earliest(int(paths[0].stem))
        elif int(paths[0].stem) > should_be:
            self._missing = [Gap(should_be, int(paths[0].stem))]
        # What a record lacks is found out when somebody reads it.
        found = [
            Segment.found(path, int(after.stem)) for path, after in pairwise(paths)
        ]
        last, gaps = Segment.recovered(paths[-1])
        self._segments = [*found, last]
        self._check_files()
        for gap in [*self._missing, *gaps]:
            log.warning("the log has lost offsets %d to %d", gap.first, gap.end - 1)
        return self._go_on_behind(last, paths[-1].stat().st_size)

    def _check_files(self) -> None:
        """Say which files are not what they were when the next one was begun."""
        for segment, after in pairwise(self._segments):
            if not segment.is_followed_by(after):
                log.warning(
                    "%s of the log is not what it was when %s was begun: its end is "
                    "missing, or a file between them; `siena log check` says more",
                    *(segment.path.name, after.path.name),
                )
        for segment in self._segments:
            if segment.form > 1 and segment.header is None and segment.has_records:
                log.warning(
                    "the header of %s is damaged; its records are read all the same",
                    segment.path.name,
                )
        last = self._segments[-1]
        if last.is_sealed:
            log.warning(
                "the log has lost what was behind offset %d: the file that followed %s "
                "is missing",
                *(last.end - 1, last.path.name),
            )

    def _go_on_behind(self, last: Segment, whole: int) -> int:
        """Cut off what is no record, and open the file that is written to."""
        if not last.has_records and last.header is None:
            # It was being begun; the name is all that is known of it.
            self._is_damaged_at_end = not self._keep_cut(last, 0, whole)
            self.files.delete(last.path)
            del self._segments[-1]
            return self._begin(last.first + last.skip)
        is_half = self._keep_cut(last, last.size, whole)
        self._is_damaged_at_end = not is_half
        if last.skip or last.form != FORM or last.is_sealed:
            # A name remembers the offsets that are not given again.
            skip, last.skip = last.skip, 0
            before_end = last.end if is_half else last.end + skip
            last.end += skip + (RECORD_COUNT_MAX if last.is_sealed else 0)
            last.left_out = last.end - before_end
            return self._begin(last.end)
        return self.files.open_for_append(last.path)

    def _keep_cut(self, last: Segment, place: int, whole: int) -> bool:
        """Cut off what is no record at the end; a copy of it is kept.

        Whether it was half a record, which was never acknowledged.
        """
        if whole <= place:
            return True
        copy = last.path.with_suffix(f".{place}.cut")
        with last.path.open("rb") as file:
            file.seek(place)
            # Before it is cut off, and on the disk: it may be all that there is of it.
            self.files.write_whole(copy, file.read(), sync=True)
        descriptor = self.files.open_for_append(last.path)
        try:
            self.files.truncate(descriptor, place)
        finally:
            self.files.close(descriptor)
        log.warning(
            "the log ended with half a record: cut off %d bytes, which are in %s, and "
            "goes on at offset %d",
            *(whole - place, copy.name, last.end + last.skip),
        )
        return last.is_half

    def _begin(self, first: int) -> int:
        """Begin a file; its descriptor.

        Raises:
            OSError: if that cannot be done; then there is none.
        """
        before = self._segments[-1] if self._segments else None
        new = Segment.new(self._folder, first, before)
        assert new.header is not None
        descriptor = self.files.open_for_append(new.path)
        try:
            self.files.write(descriptor, [new.header.pack()])
            folder = self.files.open_folder(self._folder)
        except OSError:
            self.files.close(descriptor)
            self.files.delete(new.path)
            raise
        self._unsynced.append(folder)
        if self._earliest.value.offset < 0:
            self._write_earliest(first)
        self._segments.append(new)
        return descriptor

    def _begin_life(self) -> None:
        """Trust no sync that is not known, and see which offsets were given before."""
        given, latest = self._given, self.latest
        if not given.is_whole(latest):
            self._in_doubt = True
            complete = self._segments[:-1]
            self._unsealed = [each for each in complete if not each.is_sealed]
        self._are_missing = given.are_missing(latest)
        is_known = given.is_of_this_life() and not self._is_damaged_at_end
        self._not_before = 0 if is_known and not self._are_missing else given.below
        given.begin(latest)

    def _leave_out(self) -> None:
        """Give no offset that may have been given to what the disk has not."""
        latest, first = self.latest, self._not_before
        if first <= latest:
            return
        if self._are_missing:  # others have taken them away
            self.skip_to(first)
            return
        log.warning(
            "the log goes on at offset %d: it was not closed, and what was not on the "
            "disk when the machine ended may have had offsets from %d on",
            *(first, latest),
        )
        last = self._segments[-1]
        last.left_out += first - latest
        last.end = first
        self._change_file(self._begin(first))

    def _write_earliest(self, offset: int) -> None:
        self._earliest.value.offset = offset
        self._earliest.save()

    def skip_to(self, offset: int) -> None:
        """Give no offset before this one: a reader has committed it.

        What stood there was lost with the machine.

        Raises:
            OSError: if the disk does not take it.
        """
        if offset > self.latest:
            log.warning("the log has lost offsets %d to %d", self.latest, offset - 1)
            self._segments[-1].end = offset
            self._change_file(self._begin(offset))

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
        self._given.allow(self.latest + count)
        if count <= RECORD_COUNT_MAX and len(blocks) <= RECORD_BYTES_MAX:
            cuts = [0, count]
        else:
            cuts = cuts_of(offsets)
        last = self._segments[-1]
        first, size = last.end, last.size
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
        self._write(pieces)
        segment = self._segments[-1]
        for record_first, record_end, at in places:
            segment.add(record_first, record_end, at)
        segment.size = place
        self.size += place - size
        if place >= self._segment_bytes:
            try:
                self.roll()
            except OSError as error:  # room comes later
                log.warning("the log could not begin a new file: %s", error)

    def _write(self, pieces: list[bytes | memoryview]) -> None:
        """Write with one call, as a rule; leave nothing behind if that fails."""
        before = self._segments[-1].size
        if self._is_torn:
            self.files.truncate(self._file, before)
            self._is_torn = False
        try:
            self.files.write(self._file, pieces)
        except OSError:
            self._is_torn = True
            with suppress(OSError):  # then before the next record
                self.files.truncate(self._file, before)
                self._is_torn = False
            raise

    def roll(self) -> None:
        """Go on in a new file.

        Raises:
            OSError: if none can be begun; then the old one grows on.
        """
        self._change_file(self._begin(self._segments[-1].end))

    def _change_file(self, descriptor: int) -> None:
        """Write to the file that was begun, and no more to the one before it."""
        self._unsealed.append(self._segments[-2])
        # Before the folder, which stands there since the file was begun.
        self._unsynced.insert(len(self._unsynced) - 1, self._file)
        self._file = descriptor

    def sync(self) -> None:
        """Have the disk keep what was written, whatever happens to the machine.

        Raises:
            OSError: if it does not.  What the disk has of it is in doubt then.
        """
        with self._syncing:
            if self._in_doubt:  # perhaps since a thread has met a failure just now
                self._write_anew()
                return
            newest = self.files.duplicate(self._file)  # or nothing is taken back
            found = [*self._take_back(), newest]
            try:
                for descriptor in found:
                    self.files.sync(descriptor)
            except OSError:
                self._in_doubt = True
                raise
            finally:
                for descriptor in found:
                    self.files.close(descriptor)
            self._seal()

    def _take_back(self) -> list[int]:
        """What the disk may not have, also if a thread is to sync it."""
        handed_out, self._handed_out = self._handed_out, []
        found = [*(each for some in handed_out for each in some), *self._unsynced]
        for some in handed_out:
            some.clear()
        self._unsynced = []
        self._left = 0
        return found

    def write_anew(self) -> None:
        """Have the disk keep what it may not have, in fresh files.

        Raises:
            OSError: if it does not, or the system has forgotten what was written.
        """
        with self._syncing:
            self._write_anew()

    def _write_anew(self) -> None:
        self._in_doubt = True
        for segment in [*self._unsealed, self._segments[-1]]:
            segment.write_anew(self.files)
        self.files.sync_folder(self._folder)
        old, self._file = (
            self._file,
            self.files.open_for_append(self._segments[-1].path),
        )
        for descriptor in [old, *self._take_back()]:
            self.files.close(descriptor)
        self._is_torn = self._in_doubt = False
        self._seal()

    def syncing(self) -> Callable[[], None]:
        """What another thread does so that the disk keeps what is written now.

        What was returned before has been done by now.

        Raises:
            OSError: if too many files are open.
        """
        newest = self.files.duplicate(self._file)
        with self._syncing:
            if not (self._unsynced or self._handed_out or self._in_doubt):
                self._seal()
            mine = [*self._unsynced, newest]
            self._handed_out.append(mine)
            self._unsynced = []
            self._left = 0

        def sync() -> None:
            with self._syncing:
                self._handed_out = [
                    each for each in self._handed_out if each is not mine
                ]
                if not mine and self._in_doubt:
                    raise OSError("another sync has failed meanwhile")
                try:
                    group_commit.sync_and_close(mine)
                except BaseException:
                    self._in_doubt = True
                    raise

        return sync

    def leave_unsynced(self) -> None:
        """What is written need not be kept, unless a receipt asks for it soon.

        So that of which this was said the last time is not synced any more.
        """
        with self._syncing:
            if not (self._unsynced or self._in_doubt):
                self._seal()
            left, self._unsynced = (
                self._unsynced[: self._left],
                self._unsynced[self._left :],
            )
            self._left = len(self._unsynced)
            for descriptor in left:
                self.files.close(descriptor)

    def want_states(self) -> None:
        """The disk has them: they are synced one by one."""

    @property
    def has_more(self) -> bool:
        """Nothing but records is waited for."""
        return False

    def hurry(self) -> None:
        """The disk is waited for in any case."""

    def _seal(self) -> None:
        """Write the index of files that are complete: it says that others follow.

        They are synced, and no thread is about to sync them.
        """
        unsealed, self._unsealed = self._unsealed, []
        for segment in unsealed:
            with suppress(OSError):  # it is a help, and no more
                segment.seal(self.files)

    def close(self) -> None:
        """Write everything to the disk, and let others have the folder."""
        try:
            self.sync()
            self._given.close(self.latest)
        finally:
            self._let_go()

    def _let_go(self) -> None:
        self.files.close(self._file)
        self._lock.close()

    # --- Reading --------------------------------------------------------------------

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from the one with an offset on, of about so many bytes together.

        Raises:
            DamagedLogError: if a file is not what was written.
            OSError: if it cannot be read.
        """
        for gap in self._missing:
            if start < gap.end:
                raise damaged(start, gap.end)
        yield from scan_segments(list(self._segments), start, budget)

    # --- Making room ----------------------------------------------------------------

    def make_room(self, floor: int, bytes_max: int, older_than: float | None) -> int:
        """Delete the oldest files that no reader needs while there is too much of them.

        Args:
            floor: the first offset that a reader still needs.
            bytes_max: so much may stay.
            older_than: files that were written before go in any case.
        """
        going: list[Segment] = []
        left = self.size
        for oldest in self._segments[:-1]:
            is_old = older_than is not None and _time_of(oldest) < older_than
            if oldest.end > floor or not (is_old or left >= bytes_max):
                break
            going.append(oldest)
            left -= oldest.size
        if going:
            # First, and on the disk: what is deleted is not missed at the next start.
            self._write_earliest(self._segments[len(going)].first)
            self._missing = []
        for segment in going:
            segment.delete(self.files)
            self._segments.remove(segment)
            self._unsealed = [each for each in self._unsealed if each is not segment]
            self.size -= segment.size
        return len(going)

    def gaps(self) -> Iterator[Gap]:
        """Which offsets cannot be read, looking at every record."""
        yield from self._missing
        for segment in self._segments:
            yield from segment.gaps()

    @property
    def segments(self) -> list[Segment]:
        """The files, from the oldest on."""
        return list(self._segments)

    def last_bytes_from(self, size: int) -> int:
        """The first offset of the newest files that have no more than so many bytes."""
        offset = self.latest
        for segment in reversed(self._segments):
            size -= segment.size
            if size < 0:
                return offset
            offset = segment.first
        return 0

    def snapshot(self) -> dict[str, object]:
        """What there is to know of where it is kept, if that is elsewhere."""
        return {}


def _time_of(segment: Segment) -> float:
    try:
        return segment.path.stat().st_mtime
    except OSError:
        return 0.0
