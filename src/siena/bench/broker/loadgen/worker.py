"""The process of a load generator: does what it is asked, and tells what it found."""

import gc
import os
from collections.abc import Callable
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any, NamedTuple

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.loadgen.generator import Flood, Generator, Load, Pace
from siena.bench.broker.loadgen.probe import Probe
from siena.bench.broker.processes import Companion, resident_bytes, wait_until_quiet
from siena.errors import SienaError


class Subscribed(NamedTuple):
    """What it took to make all subscriptions; memory in bytes."""

    seconds: float
    memory_before: int
    memory_after: int


class Settling(NamedTuple):
    """How long each new subscription took, in seconds."""

    seconds: list[float]
    deliveries: int  # to new subscriptions, checked


class Worker(Companion):
    """A generator in a process of its own, on a core of its own."""

    def __init__(self, contender: Contender, load: Load, core: int) -> None:
        super().__init__(_work, contender, load, core)
        self._name = contender.name

    def subscribe(self) -> Subscribed:
        """Make all connections and subscriptions."""
        found: Subscribed = self._ask("subscribe")
        return found

    def flood(self, seconds: float, load: float) -> Flood:
        """Publish as fast as it goes, but not faster than a load."""
        found: Flood = self._ask("flood", seconds, load)
        return found

    def pace(self, rate: float, seconds: float) -> Pace:
        """Publish at a rate."""
        found: Pace = self._ask("pace", rate, seconds)
        return found

    def settle(self, rate: float, count: int) -> Settling:
        """Make so many new subscriptions while publications go on at a rate."""
        found: Settling = self._ask("settle", rate, count)
        return found

    def _ask(self, task: str, *arguments: float) -> Any:  # noqa: ANN401 -- see above
        try:
            self._here.send((task, arguments))
            answer = self._here.recv()
        except (EOFError, OSError):
            raise SienaError(f"the generator for {self._name} has died") from None
        if isinstance(answer, Exception):
            raise answer
        return answer


def _work(pipe: Connection, contender: Contender, load: Load, core: int) -> None:
    os.sched_setaffinity(0, {core})
    tasks = _Tasks(contender, load)
    while True:
        try:
            task, arguments = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        act: Callable[..., object] = getattr(tasks, task)
        try:
            answer = act(*arguments)
        except KeyboardInterrupt:
            return
        except Exception as error:  # noqa: BLE001 -- raised again where it was asked
            answer = error
        pipe.send(answer)


class _Tasks:
    """What can be asked for."""

    def __init__(self, contender: Contender, load: Load) -> None:
        self._contender = contender
        self._load = load
        self._generator: Generator | None = None

    def subscribe(self) -> Subscribed:
        processes = self._load.processes
        self._generator = generator = Generator(self._contender, self._load)
        wait_until_quiet(processes)
        before, begin = resident_bytes(processes), perf_counter()
        generator.subscribe()
        seconds = perf_counter() - begin
        wait_until_quiet(processes)
        gc.collect()
        gc.freeze()  # a pause of ours would be counted as the server's
        gc.disable()
        return Subscribed(seconds, before, resident_bytes(processes))

    def flood(self, seconds: float, load: float) -> Flood:
        assert self._generator is not None
        return self._generator.flood(seconds, load)

    def pace(self, rate: float, seconds: float) -> Pace:
        assert self._generator is not None
        return self._generator.pace(rate, seconds)

    def settle(self, rate: float, count: int) -> Settling:
        assert self._generator is not None
        probe = Probe(self._generator, count)
        self._generator.pace(rate, 0, probe)
        probe.close()
        return Settling(probe.seconds, probe.checked)
