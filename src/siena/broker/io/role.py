"""Roles: what a connection needs of whoever understands its other end."""

from typing import Protocol

from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.frames import Frame


class Role(Protocol):
    """What the other end is: a stranger, a client, a neighbour."""

    @property
    def neighbour(self) -> int | None:
        """The broker at the other end, if it is one."""
        ...

    def run(self, run: PublishRun) -> None:
        """Publications came, and nothing between them."""
        ...

    def publish(self, frames: memoryview) -> int:
        """Publish what stands at the beginning of many frames; where the rest begins.

        The rest is then heard in runs and frames; it may be all.
        """
        ...

    def frame(self, frame: Frame) -> None:
        """Another frame came."""
        ...

    def gone(self) -> None:
        """The connection has ended."""
        ...
