"""Who lets others wait, and who waits: what comes from them is not read meanwhile."""

import asyncio
from typing import Protocol


class Holder(Protocol):
    """What is full: a connection that reads slowly, or the log."""

    @property
    def holds(self) -> "set[Held]":
        """Those who wait."""
        ...


class Held(Protocol):
    """A publisher, which may have to wait."""

    def hold(self, by: Holder) -> None:
        """Publish no more until it has caught up."""
        ...

    def release(self, by: Holder) -> None:
        """A holder has caught up, or gone."""
        ...


class Pause:
    """A while for which a publisher waits that has published more than it may.

    Ownership: a timer of the loop, which ends it.
    """

    def __init__(self, held: Held, seconds: float) -> None:
        self.holds: set[Held] = set()
        held.hold(self)
        asyncio.get_running_loop().call_later(seconds, self._end)

    def _end(self) -> None:
        held, self.holds = self.holds, set()
        for each in held:
            each.release(self)
