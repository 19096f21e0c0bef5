"""One direction of a connection: in order, with delays, in pieces of any size."""

import random
from asyncio import AbstractEventLoop
from collections import deque
from collections.abc import Callable
from contextvars import Context

# What the system takes from a sender before the receiver has taken it from there.
WINDOW_BYTES = 65_536
# So often what is written together arrives in pieces, and in how many at most.
CUT_SHARE = 0.3
PIECES_MAX = 4

# The least and the most seconds that a piece is on its way.
Delays = tuple[float, float]
INSTANT: Delays = (0.0, 0.0)


class Pipe:
    """Carries bytes to one end of a connection, and at last that no more will come.

    A piece takes a delay of its own, and none overtakes another.  While the receiver
    does not read, what has arrived waits before its door.

    Args:
        take: gets what arrives, piece by piece; ``None`` is the end.
        context: the receiver's, in which it hears of everything.
    """

    def __init__(
        self,
        loop: AbstractEventLoop,
        rng: random.Random,
        delays: Callable[[], Delays],
        take: Callable[[bytes | None], None],
        context: Context,
    ) -> None:
        self._loop = loop
        self._rng = rng
        self._delays = delays
        self._take = take
        self._context = context
        self._coming: deque[bytes | None] = deque()
        self._arrived: deque[bytes | None] = deque()
        self._last = 0.0
        self._is_paused = False
        self._is_broken = False
        self.size = 0
        """How many bytes have been sent and not been taken."""
        self.on_taken: Callable[[], None] = lambda: None
        """Called whenever the receiver has taken something."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing is on its way, or waits before the door."""
        return not self._coming and not self._arrived

    @property
    def beyond(self) -> int:
        """How many bytes the sender still has to hold itself."""
        return max(self.size - WINDOW_BYTES, 0)

    def send(self, data: bytes) -> None:
        """Send something, whole or in pieces."""
        cuts: list[int] = []
        if len(data) > 1 and self._rng.random() < CUT_SHARE:
            count = self._rng.randint(1, PIECES_MAX - 1)
            cuts = sorted(self._rng.randrange(1, len(data)) for _ in range(count))
        for start, stop in zip([0, *cuts], [*cuts, len(data)], strict=True):
            if start < stop:
                self._carry(data[start:stop])

    def end(self) -> None:
        """Say that no more will come, behind all that was sent."""
        self._carry(None)

    def shatter(self) -> None:
        """Lose what is on its way, and carry nothing any more."""
        self._is_broken = True
        self._coming.clear()
        self._arrived.clear()
        self.size = 0

    def pause(self) -> None:
        """Let what arrives wait."""
        self._is_paused = True

    def resume(self) -> None:
        """Let the receiver have what has arrived."""
        self._is_paused = False
        self._loop.call_soon(self._open, context=self._context)

    def _carry(self, piece: bytes | None) -> None:
        if self._is_broken:
            return
        self._coming.append(piece)
        self.size += 0 if piece is None else len(piece)
        low, high = self._delays()
        now = self._loop.time()
        at = max(now + (self._rng.uniform(low, high) if high else 0.0), self._last)
        self._last = at
        if at > now:
            self._loop.call_at(at, self._arrive, context=self._context)
        else:
            self._loop.call_soon(self._arrive, context=self._context)

    def _arrive(self) -> None:
        """The piece that was sent first of those on their way."""
        if self._coming:  # else it was shattered
            self._arrived.append(self._coming.popleft())
            self._open()

    def _open(self) -> None:
        while self._arrived and not self._is_paused:
            piece = self._arrived.popleft()
            self.size -= 0 if piece is None else len(piece)
            self._take(piece)
            self.on_taken()
