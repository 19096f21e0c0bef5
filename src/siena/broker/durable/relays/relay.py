"""A relay: how far a neighbour is with what is acknowledged, and what is under way.

It is a cursor on the log: everything below its *position* has been sent to the
neighbour, or is not for it.  What was sent is answered frame by frame, in order, when
the neighbour has it on its disk; so what is not answered is a stretch of the log, and
is sent again when the link is made anew.

Nothing here reads a clock, a file or a socket.
"""

from collections import Counter, deque
from collections.abc import Callable
from typing import NamedTuple, Protocol

from siena.broker.durable.limits import RELAY_BYTES_MAX
from siena.messages import Side
from siena.model import Filter, Predicate


class RelayLink(Protocol):
    """A link to a neighbour that stores what is acknowledged."""

    number: int
    name: str
    side: Side
    exports: Predicate | None
    is_relaying: bool

    def relay(self, frame: bytes, count: int) -> None:
        """Send publications, as many as a frame has."""
        ...


class _Flight(NamedTuple):
    """A frame without an answer, and the offset from which on it has something."""

    frame: int
    size: int
    first: int


class Relay:
    """What one neighbour gets.

    >>> relay = Relay(7, "b7", Side.PEER, position=10)
    >>> relay.sent(100, first=10)
    1
    >>> relay.position = 20
    >>> relay.low, relay.answered(1), relay.low
    (10, True, 20)
    """

    def __init__(self, number: int, name: str, side: Side, position: int) -> None:
        self.number = number
        self.name = name
        self.side = side
        self.position = position
        self.link: RelayLink | None = None
        self.wanted: Counter[Filter] = Counter()
        """The filters because of which it gets something, and for how many hops."""
        self.missed_since: float | None = None
        """Since when there is no link, by the clock on the wall, which may be set."""
        self.missed_from = 0.0
        """The same by a clock that is never set, of this life of the broker."""
        self.is_given_up = False
        """Whether it was waited for too long: nothing is kept for it any more."""
        self.drop_below = 0
        """What is below is not kept any more, and is counted rather than sent."""
        self.dropping = 0
        """How many of that are counted up to now."""
        self.dropped = 0
        """How many it will not get, since it was last told of that."""
        self.relayed = 0
        """How many were sent."""
        self._flights: deque[_Flight] = deque()
        self._bytes = 0
        self._last = 0

    def __repr__(self) -> str:
        return f"<Relay to {self.name!r} at {self.position}>"

    @property
    def low(self) -> int:
        """The first offset that it needs."""
        return self._flights[0].first if self._flights else self.position

    @property
    def has_room(self) -> bool:
        """Whether more may be sent before there is an answer."""
        return self._bytes < RELAY_BYTES_MAX

    @property
    def in_flight(self) -> int:
        """How many frames have no answer yet."""
        return len(self._flights)

    @property
    def is_dropping(self) -> bool:
        """Whether something is to be counted that it will not get."""
        return self.position < self.drop_below

    @property
    def is_served(self) -> bool:
        """Whether the log is to be looked at for it."""
        return self.is_dropping or (self.link is not None and self.has_room)

    def begin(self, link: RelayLink) -> None:
        """There is a link: what has no answer is sent again."""
        self.link = link
        self.missed_since = None
        self.is_given_up = False
        self._rewind()

    def end(self, now: float, elapsed: float) -> None:
        """The link has gone."""
        self.link = None
        self.missed_since, self.missed_from = now, elapsed
        self._rewind()

    def _rewind(self) -> None:
        self.position = self.low
        self._flights.clear()
        self._bytes = self._last = 0

    def sent(self, size: int, first: int) -> int:
        """A frame is sent, which has something from an offset on; its number."""
        self._last += 1
        self._bytes += size
        self._flights.append(_Flight(self._last, size, first))
        return self._last

    def answered(self, frame: int) -> bool:
        """The neighbour has all frames up to one; whether any of them was waited for.

        Raises:
            ValueError: if that one was never sent.
        """
        if frame > self._last:
            raise ValueError(f"frame {frame} was not sent")
        before = len(self._flights)
        while self._flights and self._flights[0].frame <= frame:
            self._bytes -= self._flights.popleft().size
        return len(self._flights) < before

    def changed(
        self, item: Filter, *, gained: bool, tell: Callable[[Filter, bool], None]
    ) -> None:
        """It wants a filter under one more hop, or one less; tells what that changes.

        One hop is its link; the other stands for it while that is broken.
        """
        if gained:
            self.wanted[item] += 1
            if self.wanted[item] == 1:
                tell(item, True)
            return
        self.wanted[item] -= 1
        if self.wanted[item] <= 0:
            del self.wanted[item]
            tell(item, False)
