"""Probation: neighbours whose links we had to end are let in again later and later.

A link that ends because of what its neighbour sent (nonsense, more than its quota, a
digest that does not agree) is made again, and everything is told again: which costs
both ends more than to be wrong costs the neighbour.
"""

from siena.clock import Clock

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
