"""A file of small records: checksummed, appended to, and now and then written anew.

What is appended is there after the end of the process, however it ends; and after that
of the machine once it was synced.  What a crash leaves of a record at the end is cut
off, and said.  A thread writes the file anew; what is appended meanwhile follows.
"""

import asyncio
import logging
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from siena.broker.durable.checked_file import replace_file
from siena.broker.log import group_commit
from siena.broker.log.group_commit import GroupCommit, Synced

log = logging.getLogger("siena.broker")

_HEAD = struct.Struct("<II")  # of a record: how long it is, and its checksum
# A file is written anew when it is longer than this, and than so many times its
# contents.
FILE_BYTES_MIN = 1024 * 1024
GROWTH_MAX = 4


class RecordFile:
    """Records in a file.

    Ownership: of the file, from :meth:`begin` to :meth:`close`.

    Args:
        contents: the records that say everything, for when the file is written anew.
    """

    latest = 0  # as GroupCommit wants it: offsets are those of the log

    def __init__(self, path: Path, contents: Callable[[], Sequence[bytes]]) -> None:
        self._path = path
        self._contents = contents
        self._descriptor = -1
        self._size = self._size_anew = 0
        self._buffer: list[bytes] = []
        self._rewriting: asyncio.Future[None] | None = None
        self._waiting: list[Synced] = []
        self._commit: GroupCommit | None = None

    def read(self) -> Iterator[bytes]:
        """The records that are there, before :meth:`begin`."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return
        at = 0
        while len(data) - at >= _HEAD.size:
            size, crc = _HEAD.unpack_from(data, at)
            record = data[at + _HEAD.size : at + _HEAD.size + size]
            if len(record) < size or zlib.crc32(record) != crc:
                break
            yield record
            at += _HEAD.size + size
        if at < len(data):
            cut = self._path.with_suffix(f".{at}.cut")
            cut.write_bytes(data[at:])
            log.warning(
                "%s ended with half a record: what was acknowledged last may be "
                "delivered again; %d bytes are in %s",
                *(self._path.name, len(data) - at, cut.name),
            )

    def begin(self) -> None:
        """Write the file anew, and append to it from now on.

        Raises:
            OSError: if the disk does not take it.
        """
        data = _packed(self._contents())
        replace_file(self._path, data)
        self._open(len(data))
        self._commit = GroupCommit(self)

    def _open(self, size: int) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        self._size = self._size_anew = size

    # --- Appending ------------------------------------------------------------------

    def append(self, record: bytes, then: Synced | None = None) -> None:
        """Write a record now, and call this when it is synced."""
        self._buffer.append(record)
        if then is not None:
            self._waiting.append(then)
        if self._rewriting is None:
            self._flush()
        else:  # into the old file as well, which counts until the new one is there
            self._write(_packed([record]))

    def sync(self) -> None:
        """Nothing was appended yet that is not synced."""

    def syncing(self) -> Callable[[], None]:
        """What a thread does so that the disk has what is appended now."""
        return partial(group_commit.sync_and_close, [os.dup(self._descriptor)])

    def _flush(self) -> None:
        if not self._buffer:
            return
        records, self._buffer = self._buffer, []
        waiting, self._waiting = self._waiting, []
        failure = self._write(_packed(records))
        assert self._commit is not None, "begin first"
        for then in waiting:
            if failure is not None:
                then(failure)
            else:
                self._commit.when_synced(then)
        if self._size > max(FILE_BYTES_MIN, GROWTH_MAX * self._size_anew):
            self.rewrite()

    def _write(self, data: bytes) -> OSError | None:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(self._descriptor, view) :]
        except OSError as error:  # what follows would not be found behind half a record
            log.warning("%s cannot be written: %s", self._path.name, error)
            self.rewrite()
            return error
        self._size += len(data)
        return None

    # --- Anew -----------------------------------------------------------------------

    def rewrite(self) -> None:
        """Write the file anew, in a thread."""
        if self._rewriting is not None:
            return
        data = _packed(self._contents())
        loop = asyncio.get_running_loop()
        self._rewriting = loop.run_in_executor(None, replace_file, self._path, data)
        self._rewriting.add_done_callback(lambda ended: self._rewritten(ended, data))

    def _rewritten(self, ended: "asyncio.Future[None]", data: bytes) -> None:
        self._rewriting = None
        error = None if ended.cancelled() else ended.exception()
        if isinstance(error, OSError):
            log.warning("%s cannot be written anew: %s", self._path.name, error)
            self._size_anew = self._size  # not before it has grown again
        else:
            self._open(len(data))
        self._flush()

    async def close(self) -> None:
        """Write the file for the last time."""
        while self._rewriting is not None:
            await asyncio.wait([self._rewriting])
            await asyncio.sleep(0)
        if self._commit is not None:
            await self._commit.close()
        try:
            replace_file(self._path, _packed(self._contents()))
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path.name, error)
        os.close(self._descriptor)
        self._descriptor = -1


def _packed(records: Sequence[bytes]) -> bytes:
    parts: list[bytes] = []
    for record in records:
        parts += (_HEAD.pack(len(record), zlib.crc32(record)), record)
    return b"".join(parts)
