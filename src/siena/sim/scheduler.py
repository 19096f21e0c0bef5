"""Virtual time: things happen one after the other, in the order of their times."""

import heapq
from collections.abc import Callable
from itertools import count

from siena.errors import LimitError

Action = Callable[[], None]

# A world that goes on for so long without coming to rest does not come to rest.
EVENTS_MAX = 50_000_000


class Scheduler:
    """A heap of what is to happen.

    >>> scheduler = Scheduler()
    >>> scheduler.after(2, lambda: print("later", scheduler.now))
    >>> scheduler.after(1, lambda: print("sooner", scheduler.now))
    >>> scheduler.run()
    sooner 1.0
    later 2.0
    2

    At equal times, what was scheduled first happens first: the running number in the
    heap is what makes two runs the same run.
    """

    def __init__(self) -> None:
        self.now = 0.0
        self.events_max = EVENTS_MAX
        self._heap: list[tuple[float, int, Action]] = []
        self._numbers = count()

    def at(self, time: float, action: Action) -> None:
        """Let something happen at a time that has not passed."""
        assert time >= self.now, "the past does not change"
        heapq.heappush(self._heap, (time, next(self._numbers), action))

    def after(self, delay: float, action: Action) -> None:
        """Let something happen later."""
        self.at(self.now + delay, action)

    def run(self, until: float | None = None) -> int:
        """Let everything happen that happens until then; how much it was."""
        done = 0
        while self._heap and (until is None or self._heap[0][0] <= until):
            self.now, _, action = heapq.heappop(self._heap)
            action()
            done += 1
            if done > self.events_max:
                raise LimitError("EVENTS_MAX", self.events_max, "events without rest")
        if until is not None:
            self.now = max(self.now, until)
        return done
