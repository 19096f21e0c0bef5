"""Long work in short steps, for a body that must not be silent meanwhile.

When a link comes up, a network changes its shape or a neighbour is gone, a router with
many interests has a lot to do.  A broker lets it work for some milliseconds at a time,
between what others want; a simulation has no clock that could stop, and lets it work
all at once.  Either way the same is done, and the same is told.
"""

from collections import deque
from collections.abc import Callable, Iterator

from siena.messages import Outbox

# So many filters are entered, told or taken back in one step: some milliseconds.
STEP_MAX = 64

# What is done in steps; each says what is to be sent.
Task = Iterator[Outbox]


class Backlog(deque[Task]):
    """Tasks, one after the other.

    >>> backlog = Backlog()
    >>> backlog.add(iter([[(2, "a")], [(2, "b")]]))
    >>> backlog.step(), backlog.step(), backlog.step(), bool(backlog)
    ([(2, 'a')], [(2, 'b')], [], False)
    """

    def __init__(self) -> None:
        super().__init__()
        # Called when there is something to do, and was not before.
        self.wake: Callable[[], None] = _nobody_waits

    def add(self, task: Task) -> None:
        """Do this, too, after all others."""
        self.append(task)
        if len(self) == 1:
            self.wake()

    def step(self) -> Outbox:
        """Do the next step, if there is one."""
        if not self:
            return []
        for out in self[0]:
            return out
        self.popleft()
        return []


def _nobody_waits() -> None:
    pass
