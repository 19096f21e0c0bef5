"""Sessions: what a client has asked for, as long as it is remembered.

A session has a number, by which the exchange knows it, and usually a connection.  One
with an identity outlives its connection: what is for it is kept meanwhile, up to a
bound.
"""

from collections import deque
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from siena.broker.limits import KEPT_BYTES_MAX
from siena.messages import Interest, Key
from siena.model import Advertisement
from siena.protocol.control_frames import Lost


class Sink(Protocol):
    """Where the frames of a session go: its connection."""

    def reply(self, frame: bytes) -> None:
        """Send an answer."""
        ...

    def expect(self, size: int) -> bool:
        """Make room for what was kept while nobody was here; whether anybody is now."""
        ...

    def deliver(self, frames: bytes, count: int) -> int:
        """Send deliveries; how many of them were dropped."""
        ...


class OfflineQueue:
    """What is kept for a session that is suspended, oldest first.

    >>> kept = OfflineQueue(1)
    >>> kept.put(b"one", None), kept.put(b"two", None)
    (True, False)
    >>> len(kept.queue), kept.lost
    (1, 1)
    """

    def __init__(self, queue_max: int) -> None:
        self.queue_max = queue_max
        self.lost = 0
        self.queue: deque[tuple[bytes, Key | None]] = deque()
        self.size = 0

    def put(self, frame: bytes, stamp: Key | None) -> bool:
        """Keep a frame, unless there are too many."""
        if len(self.queue) < self.queue_max and self.size < KEPT_BYTES_MAX:
            self.queue.append((frame, stamp))
            self.size += len(frame)
            return True
        # Who wants nothing kept has lost nothing.
        self.lost += self.queue_max > 0
        return False

    def put_first(
        self, frames: Sequence[bytes], stamps: Collection[Key], lost: int
    ) -> None:
        """Put what was kept elsewhere before what was kept here, and that only once."""
        rest = [(frame, stamp) for frame, stamp in self.queue if stamp not in stamps]
        self.queue = deque([*((frame, None) for frame in frames), *rest])
        self.size = sum(len(frame) for frame, _ in self.queue)
        self.lost += lost


@dataclass(slots=True, eq=False)
class Session:
    """One client at this broker."""

    number: int
    identity: str | None = None
    name: str | None = None
    sink: Sink | None = None
    interests: dict[int, Interest] = field(default_factory=dict)
    advertisements: dict[int, Advertisement] = field(default_factory=dict)
    quenched: set[int] = field(default_factory=set)
    patterns: int = 0
    # Not None while it is suspended.
    kept: OfflineQueue | None = None
    # Deliveries that it did not get, ever.
    lost: int = 0
    # Whether what it wants is being fetched from elsewhere, where patterns are still
    # looked for: what is found here too is not found twice.
    is_moving: bool = False
    # Who hears, in the place of the client, that a subscription is settled: by the
    # token with which they asked.
    settling: dict[int, Callable[[int], None]] = field(default_factory=dict)

    @property
    def is_suspended(self) -> bool:
        """Whether nothing is delivered."""
        return self.kept is not None

    def reply(self, frame: bytes) -> None:
        """Answer, if anybody is there."""
        if self.sink is not None:
            self.sink.reply(frame)

    def expect(self, size: int) -> bool:
        """What was kept follows, if anybody is there."""
        return self.sink is not None and self.sink.expect(size)

    def deliver(self, frames: bytes, count: int) -> int:
        """Deliver, if anybody is there; how many were lost."""
        lost = count if self.sink is None else self.sink.deliver(frames, count)
        self.lost += lost
        return lost

    def miss(self, count: int) -> None:
        """Say that so many were not kept."""
        self.reply(Lost(count).pack())

    def keep(self, frame: bytes, stamp: Key | None) -> int:
        """Keep one for later; how many were lost."""
        assert self.kept is not None
        if self.kept.put(frame, stamp) or not self.kept.queue_max:
            return 0
        self.lost += 1
        return 1
