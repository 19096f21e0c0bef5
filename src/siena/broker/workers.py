"""Workers: several processes that serve one port, as neighbours of each other.

The system hands each new connection to one of them.  This process only starts them,
waits, and ends them; the first of them is the hub (:mod:`siena.broker.worker`).
"""

import asyncio
import multiprocessing
import signal
import socket
import sys
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection as Pipe, wait
from multiprocessing.process import BaseProcess
from types import TracebackType
from typing import NamedTuple, Self

from msgspec.structs import replace

from siena.broker.broker import Broker
from siena.broker.io.listen import check_listening, listen
from siena.broker.limits import DRAIN_SECONDS_MAX
from siena.broker.settings import Link, Settings
from siena.broker.worker import Worker
from siena.errors import SienaError
from siena.protocol.address import Address, read_address

# More than any machine has cores for.
WORKERS_MAX = 256
# How long a worker may take to say that it is ready.
START_SECONDS_MAX = 60.0

RunLoop = Callable[[], asyncio.Runner]


class Ready(NamedTuple):
    """What a worker says first: where its own address is, or why it cannot."""

    private: Address | None
    error: str = ""


class Workers:
    """The workers of one broker, from ``with`` to its end."""

    def __init__(self, settings: Settings, count: int, runner: RunLoop) -> None:
        if not 1 <= count <= WORKERS_MAX:
            raise SienaError(f"there are 1 to {WORKERS_MAX} workers, not {count}")
        self._settings = settings
        self._count = count
        self._runner = runner
        self._context = multiprocessing.get_context("spawn")
        self._processes: list[BaseProcess] = []
        self._reserved: list[socket.socket] = []
        self.addresses: list[Address] = []
        self.name = ""

    def __enter__(self) -> Self:
        """Start the hub, and then the others.

        Raises:
            SienaError: if one of them cannot.
        """
        try:
            self._reserve()
            hub = self._start(0, None)
            for number in range(1, self._count):
                self._start(number, hub)
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join(2 * DRAIN_SECONDS_MAX)
            if process.is_alive():
                process.kill()
                process.join()
        for each in self._reserved:
            each.close()

    def wait(self) -> None:
        """Wait until a worker has ended: it should not have.

        Raises:
            SienaError: when one has.
        """
        wait([process.sentinel for process in self._processes])
        raise SienaError("a worker has ended")

    def _reserve(self) -> None:
        """Find out all ports, and keep others from taking them."""
        wanted = [read_address(text) for text in self._settings.listen]
        check_listening(wanted, insecure=self._settings.insecure_listen)
        self._reserved = [listen(address, is_shared=True) for address in wanted]
        self.addresses = [Address(*s.getsockname()[:2]) for s in self._reserved]
        self.name = self._settings.name or self.addresses[0].place

    def _start(self, number: int, hub: Address | None) -> Address:
        settings = replace(
            self._settings,
            name=self.name,
            listen=tuple(a.place for a in self.addresses),
            accept_peers=True,  # the hub links the workers
        )
        if hub is not None:
            settings = replace(
                settings,
                name=f"{self.name}#{number}",
                accept_peers=False,
                links=(Link(url=hub.url),),
            )
        ours, theirs = self._context.Pipe()
        process = self._context.Process(
            target=_work,
            args=(settings, Worker(hub), self._runner, theirs),
            name=f"siena worker {number}",
        )
        process.start()
        self._processes.append(process)
        theirs.close()
        return _await_ready(ours, process)


def _await_ready(pipe: Pipe, process: BaseProcess) -> Address:
    with pipe:
        try:
            said = pipe.recv() if pipe.poll(START_SECONDS_MAX) else Ready(None)
        except EOFError:
            said = Ready(None)
    assert isinstance(said, Ready)
    if said.private is None:
        raise SienaError(said.error or f"{process.name} did not start")
    return said.private


def _work(settings: Settings, worker: Worker, runner: RunLoop, pipe: Pipe) -> None:
    """Be a worker, in a process of its own."""
    with runner() as loop:
        loop.run(_serve(settings, worker, pipe))


async def _serve(settings: Settings, worker: Worker, pipe: Pipe) -> None:
    broker = Broker(settings, worker=worker)
    ended = asyncio.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(name, ended.set)
    try:
        await broker.start()
        await _linked(broker, worker)
    except SienaError as error:
        pipe.send(Ready(None, str(error)))
        sys.exit(1)
    pipe.send(Ready(broker.addresses[-1]))
    pipe.close()
    await ended.wait()
    await broker.drain()


async def _linked(broker: Broker, worker: Worker) -> None:
    """Wait for the link to the hub."""
    if worker.hub is not None:
        async with asyncio.timeout(START_SECONDS_MAX):
            while not broker.state.links:  # noqa: ASYNC110 -- links have no event
                await asyncio.sleep(0.005)


__all__: Sequence[str] = ["WORKERS_MAX", "Workers"]
