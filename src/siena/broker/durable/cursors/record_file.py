"""A file of small records: checksummed, appended to, and now and then written anew.

What is appended is there after the end of the process, however it ends; and after that
of the machine once it was synced.  What a crash leaves of a record at the end is cut
off, and said.  A thread writes the file anew; what is appended meanwhile goes into the
old one, and into the new one before it takes its name.

*A disk that takes nothing*: half a record is cut off before the next one, and what is
missing is written with the whole file as soon as that can be done, which is tried every
second, and said once.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

from siena.broker.durable.cursors.record_form import (
    check_undamaged,
    mark,
    packed,
    read_file,
    snapshot,
)
from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.group_commit import GroupCommit, Synced, error_of, tell

log = logging.getLogger("siena.broker")

# A file is written anew when it is longer than this, and than so many times its
# contents.
FILE_BYTES_MIN = 1024 * 1024
GROWTH_MAX = 4
# How long after the disk took nothing it is tried again.
RETRY_SECONDS = 1.0


class _Anew(NamedTuple):
    """A file that was written anew, and is synced; it has not its name yet."""

    descriptor: int
    size: int


class RecordFile:
    """Records in a file.

    Ownership: of the file, from :meth:`begin` to :meth:`close`.

    Args:
        contents: the records that say everything, for when the file is written anew.
    """

    latest = 0  # as GroupCommit wants it: offsets are those of the log

    def __init__(
        self,
        path: Path,
        contents: Callable[[], Sequence[bytes]],
        files: Files = SYSTEM,
    ) -> None:
        self._path = path
        self._contents = contents
        self._files = files
        self._descriptor = -1
        self._size = self._size_anew = 0
        # Up to where the disk has this file, and up to where the file says so.
        self._synced = self._marked = 0
        # Which file it is: one more with each that is written anew.
        self._generation = 0
        # Whether half a record stands behind the last one, and could not be cut off.
        self._is_torn = False
        # Whether something is not in the file, or not known to be kept; and whether
        # the disk may not know that the file has its name.
        self._is_behind = False
        self._is_unnamed = False
        self._buffer: list[bytes] = []
        # What came while the file is written anew, and whether the old one has it.
        self._meanwhile: list[tuple[bytes, bool]] = []
        self._rewriting: asyncio.Future[_Anew] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self._is_closed = False
        self._waiting: list[Synced] = []
        self._commit: GroupCommit | None = None

    def read(self) -> list[bytes]:
        """The records that are there, before :meth:`begin`.

        What a crash has torn is said, and a copy is kept.

        Raises:
            SienaError: if something is gone that the disk had.
        """
        found = read_file(self._path)
        if found is None:
            return []
        check_undamaged(self._path, found)
        if found.torn:
            first = found.torn[0].first
            data = self._path.read_bytes()
            cut = self._path.with_suffix(f".{first}.cut")
            cut.write_bytes(data[first:])
            log.warning(
                "%s ended with half a record: what was acknowledged last may be "
                "delivered again; %d bytes are in %s",
                *(self._path.name, len(data) - first, cut.name),
            )
        return found.records

    def begin(self) -> None:
        """Write the file anew, and append to it from now on.

        Raises:
            OSError: if the disk does not take it.
        """
        self._go_on_with(self._write_anew(snapshot(self._contents())), b"")
        self._files.sync_folder(self._path.parent)
        self._is_unnamed = False
        self._commit = GroupCommit(self, self._fell_behind)

    def _go_on_with(self, anew: _Anew, meanwhile: bytes) -> None:
        """Put what was written anew in the place of the file.

        At no moment the name stands for a file that lacks what was appended: however
        the process ends, that is there.

        Raises:
            OSError: if the disk does not take it; then the old one is there.
        """
        try:
            if meanwhile:
                self._files.write(anew.descriptor, [meanwhile])
            self._files.rename(self._path_anew, self._path)
        except OSError:
            self._files.close(anew.descriptor)
            raise
        if self._descriptor >= 0:
            self._files.close(self._descriptor)
        self._descriptor = anew.descriptor
        self._size = anew.size + len(meanwhile)
        self._size_anew = self._synced = self._marked = anew.size
        self._generation += 1
        self._is_torn = False
        self._is_unnamed = True

    @property
    def _path_anew(self) -> Path:
        return self._path.with_name(f"{self._path.name}.new")

    # --- Appending ------------------------------------------------------------------

    def append(self, record: bytes, then: Synced | None = None) -> None:
        """Write a record now, and call this when it is synced."""
        if then is not None:
            self._waiting.append(then)
        if self._rewriting is None:
            self._buffer.append(record)
            self._flush()
        else:  # into the old file as well, which counts until the new one is there
            is_written = self._write(packed([record])) is None
            self._meanwhile.append((record, is_written))

    def sync(self) -> None:
        """Nothing was appended yet that is not synced."""

    def syncing(self) -> Callable[[], None]:
        """What a thread does so that the disk has what is appended now.

        Raises:
            OSError: if too many files are open; it is tried again.
        """
        try:
            descriptor = self._files.duplicate(self._descriptor)
        except OSError as error:
            self._fell_behind(error)
            raise
        return partial(self._sync, descriptor, is_unnamed=self._is_unnamed)

    def _sync(self, descriptor: int, *, is_unnamed: bool) -> None:
        try:
            self._files.sync(descriptor)
        finally:
            self._files.close(descriptor)
        if is_unnamed:
            self._files.sync_folder(self._path.parent)

    def _flush(self) -> None:
        records, self._buffer = self._buffer, []
        waiting, self._waiting = self._waiting, []
        failure = self._write_marked(packed(records)) if records else None
        assert self._commit is not None, "begin first"
        if waiting and failure is None:
            told = partial(self._kept, self._generation, self._size, waiting)
            self._commit.when_synced(told)
        elif waiting:
            tell(waiting, failure)
        if self._size > max(FILE_BYTES_MIN, GROWTH_MAX * self._size_anew):
            self.rewrite()

    def _kept(
        self,
        generation: int,
        size: int,
        waiting: list[Synced],
        failure: OSError | None,
    ) -> None:
        """The disk has all that was in a file when it was so long, or failed."""
        if failure is None and generation == self._generation:
            self._synced = max(self._synced, size)
        tell(waiting, failure)

    def _write_marked(self, data: bytes) -> OSError | None:
        """Write, and say in the file how far it was synced."""
        synced = self._synced
        if self._marked < synced:
            data = mark(synced) + data
        failure = self._write(data)
        if failure is None:
            self._marked = synced
        return failure

    def _write(self, data: bytes) -> OSError | None:
        """Write with one call, as a rule; leave nothing behind if that fails."""
        try:
            if self._is_torn:
                self._files.truncate(self._descriptor, self._size)
                self._is_torn = False
            self._is_torn = True
            self._files.write(self._descriptor, [data])
            self._is_torn = False
        except OSError as error:
            with suppress(OSError):  # or before the next record
                self._files.truncate(self._descriptor, self._size)
                self._is_torn = False
            self._fell_behind(error)
            return error
        self._size += len(data)
        return None

    # --- Anew -----------------------------------------------------------------------

    def _fell_behind(self, error: OSError) -> None:
        """Something is not in the file, or not known to be kept: have it written."""
        if not self._is_behind:  # said once
            log.warning(
                "%s cannot be written, which is tried again every %g s: %s",
                *(self._path.name, RETRY_SECONDS, error),
            )
        self._is_behind = True
        if self._retry is None and not self._is_closed:
            loop = asyncio.get_running_loop()
            self._retry = loop.call_later(RETRY_SECONDS, self._try_again)

    def _try_again(self) -> None:
        self._retry = None
        self.rewrite()

    def rewrite(self) -> None:
        """Write the file anew, in a thread."""
        if self._rewriting is not None:
            return
        data = snapshot(self._contents())
        loop = asyncio.get_running_loop()
        self._rewriting = loop.run_in_executor(None, self._write_anew, data)
        self._rewriting.add_done_callback(self._rewritten)

    def _write_anew(self, data: bytes) -> _Anew:
        """What the thread does: beside the file.

        Raises:
            OSError: if the disk does not take it.
        """
        files, new = self._files, self._path_anew
        files.delete(new)
        descriptor = files.open_for_append(new)
        try:
            files.write(descriptor, [data])
            files.sync(descriptor)
        except BaseException:  # half of it only takes room
            files.close(descriptor)
            files.delete(new)
            raise
        return _Anew(descriptor, len(data))

    def _rewritten(self, ended: "asyncio.Future[_Anew]") -> None:
        self._rewriting = None
        meanwhile, self._meanwhile = self._meanwhile, []
        error = error_of(ended)
        if error is None:
            try:
                records = packed([record for record, _ in meanwhile])
                self._go_on_with(ended.result(), records)
            except OSError as raised:
                error = raised
        if error is None:
            self._catch_up()
        else:
            self._buffer = [
                record for record, is_written in meanwhile if not is_written
            ]
            self._size_anew = self._size  # not before it has grown again
            self._fell_behind(error)
        self._flush()

    def _catch_up(self) -> None:
        """All that there is to say is in the file: have the disk know its name."""
        assert self._commit is not None, "begin first"
        # Not a second sync of what one has failed to keep: another file, all of it.
        self._commit.recover()
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        self._commit.when_synced(partial(self._named, self._generation))

    def _named(self, generation: int, failure: OSError | None) -> None:
        """The disk knows which file has the name, or does not."""
        if failure is not None or generation != self._generation:
            return
        self._is_unnamed = False
        if self._is_behind and self._retry is None:  # nothing was missing since
            log.warning("%s is written again", self._path.name)
            self._is_behind = False

    async def close(self) -> None:
        """Write the file for the last time."""
        self._is_closed = True
        while self._rewriting is not None:
            await asyncio.wait([self._rewriting])
            await asyncio.sleep(0)
        if self._retry is not None:
            self._retry.cancel()
            self._retry = None
        if self._commit is not None:
            await self._commit.close()
        try:
            data = snapshot(self._contents())
            self._files.write_whole(self._path, data, sync=True)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path.name, error)
        if self._descriptor >= 0:
            self._files.close(self._descriptor)
        self._descriptor = -1
