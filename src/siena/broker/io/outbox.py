"""The outbox of a connection: what it is sent in this tick, and what is too much.

Nothing here waits.  What a slow reader cannot take is dropped and counted, ends its
connection, or keeps those who publish for it waiting: it chose so when it connected.
"""

from enum import Enum, auto
from typing import Literal

from siena.broker.limits import REPLY_BYTES_MAX
from siena.protocol.control_frames import Policy
from siena.protocol.frames import LENGTH, LENGTH_BYTES


class Fit(Enum):
    """How an outbox took something."""

    TAKEN = auto()
    DROPPED = auto()  # some of it, or all
    TOO_SLOW = auto()  # the connection is to be closed
    BLOCKING = auto()  # taken as far as it fits; whoever published it is to wait


class Outbox:
    """Frames for one connection, bounded together with what the system still has.

    >>> outbox = Outbox("drop", limit=30)
    >>> outbox.in_lines = False
    >>> frame = bytes([6, 0, 0, 0]) + b"123456"
    >>> outbox.deliver(frame * 4, 4, waiting=0)
    <Fit.DROPPED: 2>
    >>> sum(map(len, outbox.take())), outbox.lost
    (30, 1)
    >>> outbox.recover()  # once the reader has caught up
    1
    """

    def __init__(self, policy: Policy | Literal["link"], limit: int) -> None:
        self.policy: Policy | Literal["link"] = policy
        self.limit = limit
        self.lost = 0
        """How many were dropped of which the reader has not heard."""
        self.in_lines = True
        """Whether what is sent are lines, for a person; until more is known, they are.
        """
        self.line_end = b"\n"
        """What such a line ends with, and does not have inside."""
        self._frames: list[bytes] = []
        self._size = 0
        # How many bytes were taken ever; of what was kept elsewhere, how many they are,
        # and where they end among all.
        self._taken = 0
        self._kept = 0
        self._kept_end = 0

    def expect(self, size: int, waiting: int) -> None:
        """Make room for what was kept elsewhere, within a bound of its own.

        It moves from there to here, and does not count beside what comes later; but
        no client gets such room twice before it has read.

        >>> outbox = Outbox("drop", limit=3)
        >>> outbox.expect(8, waiting=0)
        >>> outbox.deliver(bytes(8), 2, waiting=0)
        <Fit.TAKEN: 1>
        """
        if not self._beside(waiting):
            self._kept, self._kept_end = size, self._taken + size

    def _beside(self, waiting: int) -> int:
        """How much of what was kept elsewhere has not been read yet."""
        return max(0, min(self._kept, self._kept_end - self.passed(waiting)))

    def passed(self, waiting: int) -> int:
        """How many bytes the system has taken ever, of which so many still wait."""
        return self._taken - waiting - self._size

    def _used(self, waiting: int) -> int:
        return waiting + self._size - self._beside(waiting)

    def reply(self, frame: bytes, waiting: int) -> Fit:
        """Take an answer, for which there is always some room."""
        self._add(frame)
        if self._used(waiting) > 2 * self.limit + REPLY_BYTES_MAX:
            return Fit.TOO_SLOW
        return Fit.TAKEN

    def last(self, frame: bytes) -> None:
        """Take what is said before the connection is closed, however full it is."""
        self._taken -= self._size
        self.take()
        self._add(frame)

    def deliver(self, frames: bytes, count: int, waiting: int) -> Fit:
        """Take deliveries, as many as fit beside what is ``waiting`` already."""
        size = len(frames)
        if not self.lost and waiting + self._size + size <= self.limit:
            self._frames.append(frames)
            self._size += size
            self._taken += size
            return Fit.TAKEN
        used = self._used(waiting)
        if not self.lost and used + len(frames) <= self.limit:
            self._add(frames)
            return Fit.TAKEN
        if self.policy == "disconnect":
            return Fit.TOO_SLOW
        if self.policy == "drop":
            self._cut(frames, count, self.limit - used)
            return Fit.DROPPED
        # What was published before the publishers were stopped still fits, unless all
        # of it came in one tick.
        if not self.lost and used + len(frames) <= 2 * self.limit:
            self._add(frames)
        elif self.policy == "link":  # which loses nothing while it is up
            return Fit.TOO_SLOW
        else:
            self._cut(frames, count, 2 * self.limit - used)
        return Fit.BLOCKING

    def recover(self) -> int:
        """The reader has caught up: how many it missed, of which it must hear."""
        lost, self.lost = self.lost, 0
        return lost

    def take(self) -> list[bytes]:
        """What is to be written now, in pieces: a transport need not join them."""
        frames, self._frames, self._size = self._frames, [], 0
        return frames

    def _add(self, frame: bytes) -> None:
        self._frames.append(frame)
        self._size += len(frame)
        self._taken += len(frame)

    def _cut(self, frames: bytes, count: int, room: int) -> None:
        """Keep the first that fit, unless some have been dropped before."""
        at = 0
        while not self.lost and (end := self._end_of(frames, at)) <= room:
            at = end
            count -= 1
            assert count, "they did not fit"
        if at:
            self._add(frames[:at])
        self.lost += count

    def _end_of(self, frames: bytes, at: int) -> int:
        """Where the frame, or the line, ends that begins at a place."""
        if self.in_lines:
            return frames.index(self.line_end, at) + len(self.line_end)
        return at + LENGTH_BYTES + int(LENGTH.unpack_from(frames, at)[0])
