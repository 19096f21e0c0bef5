"""Bounds: what a neighbour may take, however much it lies.

What it announces and brings has quotas, like that of clients; what it tells takes its
share of the processor and no more, while others are there; and publications come over
the link over which they may.

Neighbours whose links we had to end are let in again later and later.  A link that ends
because of what its neighbour sent (nonsense, more than its quota, a digest that does
not agree) is made again, and everything is told again: which costs both ends more than
to be wrong costs the neighbour.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from siena.broker.counters import LinkCounters
from siena.broker.io.backpressure import Pause
from siena.broker.io.connection import Connection
from siena.broker.state import BrokerState
from siena.clock import Clock
from siena.protocol.error_codes import Fault
from siena.protocol.fast.forward_runs import ForwardRun
from siena.routing.stamps.origins import Life

# How long a neighbour waits after the first time, and at most; it doubles each time.
WAIT_SECONDS = 0.05
WAIT_SECONDS_MAX = 60.0
# A link that has stood for so long is forgiven.
FORGIVEN_SECONDS = 120.0
# Neighbours that are remembered.
NEIGHBOURS_MAX = 65_536


class Probation:
    """Neighbours that were wrong, how often, and until when they wait.

    >>> from siena.clock import SystemClock
    >>> class Still(SystemClock):
    ...     def elapsed(self):
    ...         return 7.0
    >>> probation = Probation(Still())
    >>> probation.wait_seconds(2)
    0.0
    >>> for _ in range(3):
    ...     probation.fail(2)
    >>> round(probation.wait_seconds(2), 3), probation.wait_seconds(3)
    (0.2, 0.0)
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failures: dict[int, tuple[int, float]] = {}

    def fail(self, neighbour: int) -> None:
        """The link of a neighbour is ended for what it sent."""
        now = self._clock.elapsed()
        count, until = self._failures.pop(neighbour, (0, now))
        if now - until > FORGIVEN_SECONDS:
            count = 0
        wait = min(WAIT_SECONDS * 2**count, WAIT_SECONDS_MAX)
        self._failures[neighbour] = count + 1, now + wait
        if len(self._failures) > NEIGHBOURS_MAX:
            del self._failures[next(iter(self._failures))]

    def wait_seconds(self, neighbour: int) -> float:
        """How long a neighbour still has to wait."""
        _, until = self._failures.get(neighbour, (0, 0.0))
        return max(0.0, until - self._clock.elapsed())


class Bounds:
    """The bounds of one neighbour."""

    def __init__(
        self,
        state: BrokerState,
        connection: Connection,
        number: int,
        counters: LinkCounters,
    ) -> None:
        self._state = state
        self._connection = connection
        self._number = number
        self._counters = counters
        identity = connection.principal.identity
        self._account = state.accounts.of(identity or f"broker {number}")
        connection.account = self._account

    @contextmanager
    def work(self) -> Iterator[None]:
        """Do what takes long, at the cost of the neighbour."""
        shares, elapsed = self._state.shares, self._state.clock.elapsed
        begun = elapsed()
        try:
            yield
        finally:
            seconds = elapsed() - begun
            shares.work(self._account, self._connection, seconds, is_service=False)

    def check_room(self, count: int) -> None:
        """Let a neighbour announce no more than its quota, and what there is room for.

        Raises:
            ProtocolError: if it does; what it has told is not what we hold then.
        """
        accounts = self._state.accounts
        most = accounts.quotas.announcements
        if most and count >= most:
            raise accounts.refuse("announcements", fault=Fault.OVER_QUOTA)
        accounts.check_memory(fault=Fault.OVER_QUOTA)

    def charge(self, run: ForwardRun) -> None:
        """Let a neighbour that brings more than its quota be read more slowly."""
        now = self._state.clock.elapsed()
        _, start, end, total = run.publications
        wait = self._account.publish(total, end - start, now)
        if wait:
            self._state.accounts.refusals["publications"] += 1
            Pause(self._connection, wait)

    def admits(self, life: Life, root: int, count: int) -> bool:
        """Whether the neighbour may bring what a broker has published; or count it.

        What it may not bring is drawn from its account; and so is the first of each
        broker, of which a liar invents as many as it likes.
        """
        router = self._state.router
        is_known = router.origins.knows(life)
        if router.origins.admits(life, root, self._number):
            if not is_known:
                self._connection.is_drawn = True
            return True
        self._connection.is_drawn = True
        if life == (router.me, router.epoch):  # in a mesh it may come back
            self._state.counters.duplicates += count
        else:
            self._state.counters.misplaced += count
            self._counters.misplaced += count
        return False
