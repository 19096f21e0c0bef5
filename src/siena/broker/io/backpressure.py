"""Who lets others wait, and who waits: what comes from them is not read meanwhile."""

from typing import Protocol


class Holder(Protocol):
    """Somebody who is full: a connection that reads slowly, or the log."""

    @property
    def holds(self) -> "set[Held]":
        """Those who wait."""
        ...


class Held(Protocol):
    """Somebody who publishes, and may have to wait."""

    def hold(self, by: Holder) -> None:
        """Publish no more until it has caught up."""
        ...

    def release(self, by: Holder) -> None:
        """Somebody has caught up, or gone."""
        ...
