"""The clock: the one file that reads the time.

What needs the time is handed a clock, so that tests and the simulator can have one
of their own.
"""

import time
from typing import Protocol


class Clock(Protocol):
    """Something that knows what time it is."""

    def now(self) -> float:
        """Seconds since 1970, by the clock on the wall; it may be set back."""
        ...

    def nanoseconds(self) -> int:
        """The same in nanoseconds."""
        ...

    def elapsed(self) -> float:
        """Seconds since some moment, to measure how long something takes."""
        ...


class SystemClock:
    """The clock of the machine.

    >>> clock = SystemClock()
    >>> clock.nanoseconds() > 1_700_000_000 * 10**9
    True
    """

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()  # noqa: TID251 -- this is where clocks come from

    def nanoseconds(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()

    # Seconds since the machine started, or some such moment; asked for several times in
    # each tick, and so without a function of Python around it.
    elapsed = staticmethod(time.perf_counter)
