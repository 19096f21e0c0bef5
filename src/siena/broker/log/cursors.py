"""Readers: how far each has come, and so what no reader needs any more."""

import logging
from pathlib import Path

from msgspec import Struct

from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.limits import READERS_MAX
from siena.broker.log.state_file import StateFile
from siena.clock import Clock
from siena.protocol.error_codes import Fault, ProtocolError

log = logging.getLogger("siena.broker")


class Position(Struct):
    """Where a reader is, and when it was heard of, by the clock on the wall."""

    offset: int
    heard: float


class Readers:
    """All readers that are remembered.

    Args:
        path: the file that has them.
        seconds: a reader of which nothing is heard for so long is forgotten.
    """

    def __init__(
        self,
        path: Path,
        clock: Clock,
        seconds: float,
        *,
        files: Files = SYSTEM,
    ) -> None:
        self._kept = StateFile(path, dict[str, Position], {}, files=files)
        self._clock = clock
        self._seconds = seconds
        # Whether the disk did not take what is in memory.
        self._is_unsaved = False
        # When each was heard of, by a clock that nobody sets.  While the broker was not
        # there to hear them, they were not silent.
        self._heard = dict.fromkeys(self._kept.value, clock.elapsed())

    def __len__(self) -> int:
        return len(self._kept.value)

    def positions(self) -> dict[str, int]:
        """Where each of them is."""
        return {name: position.offset for name, position in self._kept.value.items()}

    def ask(self, name: str) -> int | None:
        """Where a reader is, which is there, because it asks."""
        position = self._kept.value.get(name)
        if position is None:
            return None
        position.heard = self._clock.now()
        self._heard[name] = self._clock.elapsed()
        return position.offset

    def commit(self, name: str, offset: int) -> None:
        """A reader needs nothing before this offset.

        Raises:
            ProtocolError: if there are too many of them.
        """
        known = self._kept.value
        if name not in known and len(known) >= READERS_MAX:
            raise ProtocolError(Fault.NO_ROOM, f"more than {READERS_MAX} readers")
        known[name] = Position(offset, self._clock.now())
        self._heard[name] = self._clock.elapsed()
        self.save()

    def forget(self, name: str) -> None:
        """It is no reader any more."""
        if self._kept.value.pop(name, None) is not None:
            self.save()

    def floor(self, latest: int) -> int:
        """The first offset that a reader needs."""
        offsets = (position.offset for position in self._kept.value.values())
        return min(offsets, default=latest)

    def forget_silent(self, seconds: float | None = None) -> bool:
        """Forget those of whom nothing was heard for too long; whether any were."""
        seconds = self._seconds if seconds is None else min(seconds, self._seconds)
        limit = self._clock.elapsed() - seconds
        known = self._kept.value
        silent = [name for name in known if self._heard[name] < limit]
        for name in silent:
            log.warning(
                "nothing was heard of the reader %r of the log for %g seconds: what "
                "it has not read, from offset %d on, may go",
                *(name, seconds, known.pop(name).offset),
            )
        if silent or self._is_unsaved:
            self.save()
        return bool(silent)

    def save(self) -> None:
        """Write down where they are, and when they were heard of.

        If the disk is full, a commit is what makes room: it counts all the same, and is
        written down as soon as that can be done.
        """
        try:
            self._kept.save()
            self._is_unsaved = False
        except OSError as error:
            self._is_unsaved = True
            log.warning("where readers are cannot be written down yet: %s", error)
