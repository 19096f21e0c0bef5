"""A cursor: how far a durable subscription is, and what of it is under way.

Everything below its *position* has been matched.  What was found there and is not
acknowledged is held by offset, a bounded number of them; the rest of the log is looked
at when there is room.  A cursor at the tail of the log has no position of its own.

Nothing here reads a clock, a file or a socket.
"""

import heapq
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from siena.broker.durable.limits import FOUND_MAX
from siena.model import Value

# Waiting grows with every delivery, up to so many times the first.
BACKOFF_MAX = 32
# Offsets that are acknowledged, and still stand among those that are not; and moments
# for which nothing is waited any more.
STALE_MAX = 1_024


class Epoch(NamedTuple):
    """A filter, and the offset from which on it holds."""

    filter: str
    begins: int


class Spec(NamedTuple):
    """How a durable subscription behaves; its last subscriber says it."""

    ack_wait: float
    max_deliver: int
    key: str | None


class Flight(NamedTuple):
    """A notification that was delivered, and has no answer yet."""

    member: int
    due: float
    size: int


class Cursor:
    """One durable subscription."""

    def __init__(
        self, number: int, owner: str, name: str, epochs: list[Epoch], spec: Spec
    ) -> None:
        self.number = number
        self.owner = owner
        self.name = name
        self.epochs = epochs
        self.spec = spec
        self.position: int | None = None
        """What is below has been matched; none at the tail of the log."""
        self.acked_ahead: set[int] = set()
        """What was acknowledged beyond the position, in another life of the broker."""
        # What was found and is not acknowledged, with how often it was delivered; of it
        # what may be delivered now, the lowest first, and may be stale.
        self._unacked: dict[int, int] = {}
        self._ready: list[int] = []
        # The same in ascending order, with some that are acknowledged.
        self._lows: deque[int] = deque()
        self._flights: dict[int, Flight] = {}
        # When something is due: of first deliveries in order; and of all others.
        self._firsts: deque[tuple[float, int]] = deque()
        self._later: list[tuple[float, int]] = []
        self._delayed: dict[int, float] = {}
        # Who has a key under way, and who waits for it.
        self._holders: dict[Value, int] = {}
        self._keys: dict[int, Value] = {}
        self._parked: dict[Value, list[int]] = {}
        # Of each key that nobody has under way the one that is next, and is ready.
        self._next: dict[int, Value] = {}
        self._room = FOUND_MAX
        self.delivered = 0
        self.redelivered = 0
        self.acknowledged = 0
        self.dead = 0

    def __repr__(self) -> str:
        return f"<Cursor {self.name!r} at {self.position}>"

    # --- What it has ----------------------------------------------------------------

    @property
    def unacked(self) -> list[int]:
        """What was found and is not acknowledged."""
        return sorted(self._unacked)

    @property
    def outstanding(self) -> int:
        """How many are without an acknowledgement, of those that were found."""
        return len(self._unacked)

    @property
    def in_flight(self) -> int:
        """How many were delivered, and have no answer yet."""
        return len(self._flights)

    @property
    def has_room(self) -> bool:
        """Whether more may be looked for."""
        return len(self._unacked) < self._room

    @property
    def is_hungry(self) -> bool:
        """Whether it is worth while to look for more."""
        return self.position is not None and 2 * len(self._unacked) <= self._room

    def make_room(self, credit: int) -> None:
        """Those who read may have so many without an answer, all together."""
        self._room = max(FOUND_MAX, 2 * credit)

    def low(self, tail: int) -> int:
        """The first offset that it needs."""
        while self._lows and self._lows[0] not in self._unacked:
            self._lows.popleft()
        position = tail if self.position is None else self.position
        return min(self._lows[0], position) if self._lows else position

    # --- Matching -------------------------------------------------------------------

    def found(self, offset: int) -> bool:
        """Its filter selects this, the highest so far; whether there was room."""
        unacked = self._unacked
        if self.acked_ahead and offset in self.acked_ahead:
            self.acked_ahead.discard(offset)
            return True
        if offset in unacked:
            return True
        if len(unacked) >= self._room:
            return False
        unacked[offset] = 0
        heapq.heappush(self._ready, offset)
        self._lows.append(offset)
        return True

    def reset(self, position: int, unacked: Iterable[int] = ()) -> None:
        """Go on from a position, with these from before it."""
        self._unacked = dict.fromkeys(unacked, 0)
        self._ready = sorted(self._unacked)
        self._lows = deque(self._ready)
        self._flights.clear()
        self._firsts.clear()
        self._later.clear()
        self._delayed.clear()
        self._holders.clear()
        self._keys.clear()
        self._parked.clear()
        self._next.clear()
        self.acked_ahead.clear()
        self.position = position

    # --- Delivering -----------------------------------------------------------------

    def next_ready(self) -> int | None:
        """What is to be delivered next; it is to be sent, parked or dropped then."""
        while self._ready:
            offset = heapq.heappop(self._ready)
            is_stale = (
                offset not in self._unacked
                or offset in self._flights
                or offset in self._delayed
            )
            if not is_stale:
                return offset
        return None

    def put_back(self, offset: int) -> None:
        """It cannot be delivered now."""
        heapq.heappush(self._ready, offset)

    def is_parked(self, offset: int, key: Value) -> bool:
        """Whether another one with the same key is under way; if not, it has it."""
        self._next.pop(offset, None)
        holder = self._holders.setdefault(key, offset)
        if holder == offset:
            self._keys[offset] = key
            return False
        heapq.heappush(self._parked.setdefault(key, []), offset)
        return True

    def sent(self, offset: int, member: int, size: int, now: float) -> int:
        """It is delivered to a reader; for which time."""
        attempt = self._unacked[offset] + 1
        self._unacked[offset] = attempt
        wait = self.spec.ack_wait * min(2 ** (attempt - 1), BACKOFF_MAX)
        due = now + wait
        self._flights[offset] = Flight(member, due, size)
        if attempt == 1 and (not self._firsts or self._firsts[-1][0] <= due):
            if len(self._firsts) > 2 * len(self._flights) + STALE_MAX:
                # One without an answer must not keep all that came after it.
                self._firsts = deque(e for e in self._firsts if self._is_awaited(*e))
            self._firsts.append((due, offset))
        else:
            self._come_back(due, offset)
        self.delivered += 1
        self.redelivered += attempt > 1
        return attempt

    # --- Answers --------------------------------------------------------------------

    def ack(self, offset: int) -> Flight | bool:
        """It is done: the flight that ended; or whether it was waited for at all."""
        if self._unacked.pop(offset, None) is None:
            return False
        self.acknowledged += 1
        return self._done(offset)

    def drop(self, offset: int) -> Flight | bool:
        """It is not waited for any more, though it is not done."""
        self._unacked.pop(offset, None)
        return self._done(offset)

    def _done(self, offset: int) -> Flight | bool:
        self._delayed.pop(offset, None)
        flight = self._flights.pop(offset, None)
        self._release(offset)
        while self._firsts and self._firsts[0][1] not in self._flights:
            self._firsts.popleft()
        if len(self._lows) > 2 * len(self._unacked) + STALE_MAX:
            # One that is never acknowledged must not keep all that come after it.
            self._lows = deque(sorted(self._unacked))
        return flight or True

    def _release(self, offset: int) -> None:
        """Let the next one with the same key go, if this one had it, or was next."""
        if offset in self._keys:
            key = self._keys.pop(offset)
            del self._holders[key]
        elif offset in self._next:
            key = self._next.pop(offset)
            if key in self._holders:
                return
        else:
            return
        waiting = self._parked.get(key, [])
        while waiting:
            after = heapq.heappop(waiting)
            if after in self._unacked:  # and was not acknowledged while it waited
                heapq.heappush(self._ready, after)
                self._next[after] = key
                break
        if not waiting:
            self._parked.pop(key, None)

    def below(self, offset: int) -> list[int]:
        """What was found below an offset, and is not acknowledged."""
        return [each for each in self._unacked if each < offset]

    def nak(self, offset: int, due: float | None) -> Flight | None:
        """It shall come again, at once or when it is due; the flight that ended."""
        flight = self._flights.pop(offset, None)
        if flight is None:
            return None
        if due is None:
            heapq.heappush(self._ready, offset)
        else:
            self._delayed[offset] = due
            self._come_back(due, offset)
        return flight

    def lose(self, member: int) -> None:
        """The reader of these has gone: they come again at once."""
        for offset in [o for o, f in self._flights.items() if f.member == member]:
            self.nak(offset, None)

    def attempts(self, offset: int) -> int:
        """How often it was delivered."""
        return self._unacked.get(offset, 0)

    # --- Time -----------------------------------------------------------------------

    def _come_back(self, due: float, offset: int) -> None:
        """Look at this again when it is due."""
        if len(self._later) > 2 * len(self._unacked) + STALE_MAX:
            # What is refused again and again, or answered long before it is due, must
            # not leave an entry behind for each time.
            self._later = sorted({e for e in self._later if self._is_awaited(*e)})
        heapq.heappush(self._later, (due, offset))

    def _is_awaited(self, due: float, offset: int) -> bool:
        flight = self._flights.get(offset)
        is_flying = flight is not None and flight.due == due
        return is_flying or self._delayed.get(offset) == due

    @property
    def next_due(self) -> float | None:
        """When something is to be done without being asked."""
        dues = []
        if self._firsts:
            dues.append(self._firsts[0][0])
        if self._later:
            dues.append(self._later[0][0])
        return min(dues, default=None)

    def expired(self, now: float) -> Iterator[tuple[int, Flight | None]]:
        """What is due by now: delivered, with its flight, or delayed; each is ready."""
        while self._firsts and self._firsts[0][0] <= now:
            yield from self._expire(*self._firsts.popleft())
        while self._later and self._later[0][0] <= now:
            yield from self._expire(*heapq.heappop(self._later))

    def _expire(self, due: float, offset: int) -> Iterator[tuple[int, Flight | None]]:
        if self._delayed.get(offset) == due:
            del self._delayed[offset]
            heapq.heappush(self._ready, offset)
            yield offset, None
        flight = self._flights.get(offset)
        if flight is not None and flight.due == due:
            self.nak(offset, None)
            yield offset, flight
