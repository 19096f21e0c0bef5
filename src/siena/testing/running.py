"""A broker that was started for a test."""

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

# A broker is there well within this; a machine that builds something is slower.
START_SECONDS = 30.0
STOP_SECONDS = 15.0


class RunningBroker(ABC):
    """A broker between :meth:`start` and :meth:`stop`; a context manager.

    Its port is chosen by the system when it is started first, and stays the same when
    it is stopped and started again: clients that come back find it.
    """

    def __init__(self) -> None:
        self._port = 0
        self._name = ""

    @property
    def url(self) -> str:
        """Where it listens, once it has been started."""
        assert self._port, "start it first"
        return f"siena://127.0.0.1:{self._port}"

    @property
    def name(self) -> str:
        """What it calls itself."""
        return self._name

    @abstractmethod
    def start(self) -> None:
        """Start it; returns when it listens."""

    @abstractmethod
    def stop(self) -> None:
        """End it in good order, if it runs."""

    def restart(self) -> None:
        """Stop it, and start it at the same address."""
        self.stop()
        self.start()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
