"""Working copies: whether a folder is one of a stream, and making it one.

A file in the folder says of which stream it is the copy, and what its last lives as the
writer were called.  If one of them wrote the last message, the folder is at least as
far as the stream; if another did, what the folder has beyond the stream was never
acknowledged, and it is made anew.
"""

import logging
import shutil
from enum import Enum, auto
from pathlib import Path

from msgspec import Struct

from siena.broker.log.files import Files
from siena.broker.log.given import FILE as GIVEN
from siena.broker.log.segment import INDEX_SUFFIX, SUFFIX, Segment
from siena.broker.log.state_file import StateFile
from siena.broker.log.stores.pieces import LOG, read_piece
from siena.broker.log.stores.states import EARLIEST, STORE, state_files
from siena.broker.log.stores.stream import MessageStream
from siena.errors import SienaError

log = logging.getLogger("siena.broker")

# Where it is put what a folder had that is no copy any more.
REPLACED = "replaced"


class CopyOf(Struct):
    """What a folder is the copy of, and who was its writer: the last one or two."""

    stream: str = ""
    writers: list[str] = []


class CopyStatus(Enum):
    """How a folder stands to its stream."""

    AHEAD = auto()
    """It has all that the stream has, or will get what it lacks."""
    BEHIND = auto()
    """Another has written: it begins with what the stream has."""


def working_copy_of(folder: Path) -> str:
    """The stream of which a folder is the working copy; nothing if of none."""
    return StateFile(folder / STORE, CopyOf, CopyOf()).value.stream


class WorkingCopy:
    """The folder, before its log is opened."""

    def __init__(
        self, folder: Path, stream: MessageStream, identity: str, files: Files
    ) -> None:
        self._folder = folder
        self._stream = stream
        self._identity = identity
        self._files = files
        self._kept = StateFile(folder / STORE, CopyOf, CopyOf(), files=files)

    def prepare(self) -> CopyStatus:
        """Let the folder be one that can be opened, and go on.

        Raises:
            SienaError: if it has something else.
        """
        copy, has_log = self._kept.value, any(self._folder.glob(f"*{SUFFIX}"))
        if copy.stream and copy.stream != self._identity:
            raise SienaError(
                f"{self._folder} is the working copy of {copy.stream}, and not of "
                f"{self._identity}",
                hint="each store has a folder of its own",
            )
        last = self._stream.last()
        writer = None if last is None else read_piece(last.data).writer
        if writer is None or writer in copy.writers:
            if writer is None and has_log:
                log.warning("%s gets all that is in the log", self._stream.name)
            # First the one that the stream knows: it does not hear of every life.
            self._write(sorted(copy.writers, key=lambda each: each != writer))
            return CopyStatus.AHEAD
        if has_log and not copy.stream:
            raise SienaError(
                f"{self._folder} has a log of its own, and {self._stream.name} has "
                "another",
                hint="name a folder that is empty: it is made from the store",
            )
        self._write([])
        if has_log:
            self._set_aside()
        self._begin()
        return CopyStatus.BEHIND

    def _write(self, writers: list[str]) -> None:
        self._kept.value = CopyOf(self._identity, writers)
        self._kept.save()

    def begin_life(self, writer: str) -> None:
        """Write down what the writer is called, before the stream hears of it."""
        self._write([writer, *self._kept.value.writers[:1]])

    def _set_aside(self) -> None:
        """Keep what is not acknowledged out of the way; one such heap is kept."""
        target = self._folder / REPLACED
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(mode=0o700)
        log.warning(
            "another broker has written to %s: the working copy is made anew, and what "
            "was there is in %s",
            *(self._stream.name, target),
        )
        old = [*self._folder.glob(f"*{SUFFIX}"), *self._folder.glob(f"*{INDEX_SUFFIX}")]
        ours = [self._folder / name for name in (EARLIEST, GIVEN)]
        for path in [*old, *state_files(self._folder), *ours]:
            if path.exists():
                path.replace(target / path.name)
        self._files.sync_folder(self._folder)

    def _begin(self) -> None:
        """Begin the first file with the first offset that the stream has."""
        found = self._stream.next(LOG, 1) or self._stream.last()
        first = 0 if found is None else read_piece(found.data).first
        new = Segment.new(self._folder, first, None)
        assert new.header is not None
        self._files.write_whole(new.path, new.header.pack(), sync=True)
