"""An event loop whose time passes only when there is nothing left to do."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from virtual.network import Factory, Listener, Network
from virtual.transport import Transport

T = TypeVar("T")

# When virtual time begins, in seconds since 1970: early in the year 2001.
BEGINNING = 10**9


class StuckError(RuntimeError):
    """All tasks wait, and nothing will ever happen."""


class _Ticker:
    """Stands where a loop has a selector: to wait is to let time pass."""

    def __init__(self) -> None:
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[object]:
        """Let so much time pass; nothing ever comes from outside."""
        if timeout is None:
            raise StuckError("everybody waits, and nothing will ever happen")
        self.now += max(timeout, 0.0)
        return []


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs tasks and callbacks in virtual time, over a network in memory.

    What would run in a thread runs at once.  Timers go off in the order of their times,
    and nothing else can happen in between; so two runs with one seed are the same run.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._selector = _Ticker()
        self.network = Network(self, seed)

    def time(self) -> float:
        return self._selector.now

    @property
    def is_idle(self) -> bool:
        """Whether nothing else can happen before time passes; asked by a task."""
        return not self._ready  # type: ignore[attr-defined]  # asyncio's own

    def _process_events(self, event_list: Sequence[object]) -> None:
        """There are none."""

    def _write_to_self(self) -> None:
        """The loop need not be woken: nothing happens outside of this thread."""

    def run_in_executor(  # type: ignore[override]
        self,
        executor: object,  # noqa: ARG002 -- there is none
        func: Callable[..., T],
        *args: Any,  # noqa: ANN401 -- whatever the function takes
    ) -> "asyncio.Future[T]":
        done: asyncio.Future[T] = self.create_future()
        try:
            done.set_result(func(*args))
        except Exception as error:  # noqa: BLE001 -- it is whoever waits who decides
            done.set_exception(error)
        return done

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Factory,
        *,
        sock: socket.socket,
        backlog: int = 100,  # noqa: ARG002 -- who connects is accepted at once
        ssl: None = None,
    ) -> Listener:
        """Accept connections at the port that a socket is bound to."""
        assert ssl is None, "nothing is encrypted here"
        return self.network.listen(protocol_factory, sock)

    async def create_connection(  # type: ignore[override]
        self, protocol_factory: Factory, host: str, port: int, *, ssl: None = None
    ) -> tuple[Transport, asyncio.BaseProtocol]:
        """Connect to a port; all of them are on this machine."""
        assert host == "127.0.0.1", host
        assert ssl is None, "nothing is encrypted here"
        return await self.network.connect(protocol_factory, port)


class VirtualClock:
    """The wall clock of a virtual loop; it is the same time everywhere."""

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop

    def now(self) -> float:
        """Seconds since 1970."""
        return BEGINNING + self._loop.time()

    def nanoseconds(self) -> int:
        """Nanoseconds since 1970."""
        return BEGINNING * 10**9 + round(self._loop.time() * 10**9)

    def elapsed(self) -> float:
        """Seconds since the loop began; while it works, no time passes."""
        return self._loop.time()
