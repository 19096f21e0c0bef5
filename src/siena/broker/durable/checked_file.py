"""One value in a file: checksummed, replaced as a whole, and synced.

A thread writes it, and one writing serves all who asked for it while the last one was
under way.
"""

import asyncio
import logging
import zlib
from collections.abc import Callable
from pathlib import Path

from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.group_commit import error_of, tell
from siena.errors import SienaError

log = logging.getLogger("siena.broker")

_MAGIC = b"siena 1 "

Saved = Callable[[OSError | None], None]


class CheckedFile:
    """A file that holds what a function says, whenever it is saved.

    Ownership: its maker awaits :meth:`close`; the thread is the loop's.
    """

    def __init__(
        self, path: Path, contents: Callable[[], bytes], files: Files = SYSTEM
    ) -> None:
        self._path = path
        self._contents = contents
        self._files = files
        self._is_failing = False
        self._waiting: list[Saved] = []
        self._running: asyncio.Future[None] | None = None

    def save(self, then: Saved | None = None) -> None:
        """Write it down, and call this when the disk has it, or has not."""
        self._waiting.append(then or _nobody_waits)
        if self._running is None:
            self._run()

    def _run(self) -> None:
        waiting, self._waiting = self._waiting, []
        data = self._contents()
        loop = asyncio.get_running_loop()
        self._running = loop.run_in_executor(
            None, write_checked, self._path, data, self._files
        )
        self._running.add_done_callback(lambda ended: self._ended(ended, waiting))

    def _ended(self, ended: "asyncio.Future[None]", waiting: list[Saved]) -> None:
        self._running = None
        failure = error_of(ended)
        if failure is not None and not self._is_failing:  # said once
            log.warning("%s cannot be written: %s", self._path.name, failure)
        elif failure is None and self._is_failing:
            log.warning("%s is written again", self._path.name)
        self._is_failing = failure is not None
        tell(waiting, failure)
        # Those who were told may have asked for the next already: one writes at a time.
        if self._waiting and self._running is None:
            self._run()

    async def close(self) -> None:
        """Write it down for the last time."""
        while self._running is not None:
            await asyncio.wait([self._running])
            await asyncio.sleep(0)
        try:
            write_checked(self._path, self._contents(), self._files)
        except OSError as error:
            log.warning("%s cannot be written: %s", self._path.name, error)


def _nobody_waits(failure: OSError | None) -> None:
    pass


def write_checked(path: Path, data: bytes, files: Files = SYSTEM) -> None:
    """Replace a file: whatever happens, it has this or what it had before.

    Raises:
        OSError: if the disk does not take it.
    """
    whole = _MAGIC + b"%08x\n" % zlib.crc32(data) + data
    files.write_whole(path, whole, sync=True)


def read_checked(path: Path) -> bytes | None:
    """What a file has; none if there is no such file.

    Raises:
        SienaError: if it is not what was written.
    """
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return None
    head, _, data = found.partition(b"\n")
    if head != _MAGIC + b"%08x" % zlib.crc32(data):
        raise SienaError(
            f"{path} is damaged: its checksum is wrong",
            hint="move it away to go on without what it remembers",
        )
    return data
