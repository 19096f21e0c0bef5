"""Interests across links: how fast they settle, what they cost, who waits meanwhile.

Two measurements for each shape.  *Coming*: a client of the first of two brokers
subscribes to interest after interest, some at a time, and each is answered when it is
in force at both.  *First link*: a broker without neighbours has all of them already,
and then a second one links to it.  During both another client pings the first broker.
"""

import os
from collections.abc import Callable, Iterator
from itertools import islice
from math import log
from time import perf_counter, sleep
from typing import NamedTuple

from siena.bench.broker.contenders.contender import READ_BYTES, Wire
from siena.bench.broker.contenders.siena import Siena, complain
from siena.bench.broker.processes import (
    Cores,
    cpu_seconds,
    family,
    resident_bytes,
    running,
    wait_until_quiet,
)
from siena.bench.network.layout import Layout
from siena.bench.network.makes.siena import LinkedSiena, SienaNetwork, comes_to_links
from siena.bench.network.pinging import Pinger, Waits
from siena.bench.network.running import core_of, running_brokers
from siena.bench.network.shapes import Shape, texts
from siena.errors import SienaError
from siena.protocol.control_frames import Subscribe
from siena.protocol.frames import Op, Splitter
from siena.protocol.limits import SUBSCRIPTIONS_MAX

# Subscriptions that are sent before the answer to the first is read.
AT_ONCE = 500
# How long pings are watched before anything happens.
QUIET_SECONDS = 1.0
# A part of a run that took less CPU has no growth: the clock of the CPU ticks.
GROWTH_SECONDS_MIN = 0.1
# Growth is taken from this part of a run to its end, which is as long.
EARLY = (0.05, 0.15)
LATE = (0.85, 1.0)


class Mark(NamedTuple):
    """So many interests were in force at this time and after so much CPU."""

    settled: int
    seconds: float
    cpu: tuple[float, ...]  # of each broker


class Coming(NamedTuple):
    """What it took to make interests of one shape known to two brokers."""

    shape: str
    asked: int
    marks: list[Mark]
    memory: tuple[int, ...]  # bytes that each broker has more
    quiet: Waits  # before anything happens: what the machine itself makes wait
    waits: Waits

    @property
    def settled(self) -> int:
        """How many came to be in force in the time that was given."""
        return self.marks[-1].settled

    @property
    def rate(self) -> float:
        """Interests in a second of the clock."""
        return self.settled / max(self.marks[-1].seconds, 1e-9)

    @property
    def cpu_each(self) -> tuple[float, ...]:
        """CPU seconds of each broker for an interest."""
        first, last = self.marks[0], self.marks[-1]
        return tuple(
            (after - before) / max(self.settled, 1)
            for before, after in zip(first.cpu, last.cpu, strict=True)
        )

    @property
    def growth(self) -> float | None:
        """The power of n with which the cost of one more grows; if it can be known.

        >>> def marks(power):
        ...     return [Mark(n, 0.0, (n ** (1 + power),)) for n in range(0, 1001, 10)]
        >>> def growth(power):
        ...     waits = Waits.of([])
        ...     return Coming("", 1000, marks(power), (), waits, waits).growth
        >>> round(growth(0.0), 2), round(growth(1.0), 2)
        (0.0, 1.0)
        """
        early, late = (self._part(*each) for each in (EARLY, LATE))
        if early is None or late is None:
            return None
        return log(late[1] / early[1]) / log(late[0] / early[0])

    def _part(self, begin: float, end: float) -> tuple[float, float] | None:
        """The middle of a part of the run, and what an interest cost there."""
        inside = [
            mark
            for mark in self.marks
            if begin * self.settled <= mark.settled <= end * self.settled
        ]
        if len(inside) < 2:
            return None
        first, last = inside[0], inside[-1]
        cpu = sum(last.cpu) - sum(first.cpu)
        if cpu < GROWTH_SECONDS_MIN:
            return None
        middle = (first.settled + last.settled) / 2
        return middle, cpu / (last.settled - first.settled)


class FirstLink(NamedTuple):
    """What it took when a broker with many interests got its first neighbour."""

    shape: str
    interests: int
    is_done: bool  # in the time that was given
    seconds: float  # from the start of the second until both had nothing to do
    cpu: tuple[float, float]  # of the first, and of the second with its start
    quiet: Waits  # before the second is started
    waits: Waits


def coming(
    shape: Shape, count: int, seed: int, patience: float, say: Callable[[str], None]
) -> Coming:
    """Subscribe at the first of two brokers, for so long at most."""
    layout = Layout("chain:2")
    core = max(os.sched_getaffinity(0))
    with running_brokers(SienaNetwork(), layout) as brokers:
        processes = [brokers.processes[each] for each in (1, 2)]
        before = [resident_bytes(each) for each in processes]
        with Pinger(brokers.ports[1], core) as pinger:
            quiet = _quiet(pinger)
            subscriber = _Subscriber(brokers.ports[1])
            marks = [Mark(0, 0.0, tuple(map(cpu_seconds, processes)))]
            begin = perf_counter()
            for done in subscriber.subscribe(texts(shape, count, seed)):
                seconds = perf_counter() - begin
                marks.append(Mark(done, seconds, tuple(map(cpu_seconds, processes))))
                say(f"{shape.value}: {done:,} of {count:,} interests")
                if seconds > patience:
                    break
            waits = pinger.lap()
        for each in processes:
            wait_until_quiet(each)
        after = [resident_bytes(each) for each in processes]
        more = tuple(b - a for a, b in zip(before, after, strict=True))
        return Coming(shape.value, count, marks, more, quiet, waits)


def first_link(
    shape: Shape, count: int, seed: int, patience: float, say: Callable[[str], None]
) -> FirstLink:
    """Subscribe at a broker that is alone, and then let another link to it.

    It is done when both have nothing more to do, for which they have so long.
    """
    core = max(os.sched_getaffinity(0))
    cores = Cores(core_of(0), core)
    with running(LinkedSiena(), cores) as first:
        subscriber = _Subscriber(first.port)
        for done in subscriber.subscribe(texts(shape, count, seed)):
            say(f"{shape.value}: {done:,} of {count:,} interests before a first link")
        own = family(first.process)
        wait_until_quiet(own)
        second = LinkedSiena("--peer", f"siena://127.0.0.1:{first.port}")
        with Pinger(first.port, core) as pinger:
            quiet = _quiet(pinger)
            before, begin = cpu_seconds(own), perf_counter()
            with running(second, Cores(core, core)) as other:
                say(f"{shape.value}: a first link with {count:,} interests")
                theirs = family(other.process)
                is_linked = comes_to_links(other.port, 1, patience)
                # Together: each may wait for what the other says.
                is_done = is_linked and wait_until_quiet([*own, *theirs], patience)
                seconds = perf_counter() - begin
                cpu = cpu_seconds(own) - before, cpu_seconds(theirs)
                waits = pinger.lap()
        return FirstLink(shape.value, count, is_done, seconds, cpu, quiet, waits)


def _quiet(pinger: Pinger) -> Waits:
    """How long pings take while the broker has nothing else to do."""
    sleep(QUIET_SECONDS)
    return pinger.lap()


class _Subscriber:
    """A client that subscribes, and does not look at anything else.

    It has as many connections as its subscriptions need.
    """

    def __init__(self, port: int) -> None:
        self._port = port
        self._wires: list[Wire] = []
        self._connect()

    def subscribe(self, interests: Iterator[str]) -> Iterator[int]:
        """Subscribe to some at a time; how many are in force."""
        settled = 0
        while some := list(islice(interests, AT_ONCE)):
            if self._asked + len(some) > SUBSCRIPTIONS_MAX:
                self._connect()
            self._ask(some)
            settled += len(some)
            yield settled

    def _connect(self) -> None:
        self._wire = Wire(self._port)
        Siena().greet(self._wire)
        self._wires.append(self._wire)  # or it would be closed
        self._splitter = Splitter()
        self._asked = 0

    def _ask(self, interests: list[str]) -> None:
        """Subscribe to these, and wait until all of them are in force."""
        self._wire.send(
            b"".join(
                Subscribe(number, text).pack()
                for number, text in enumerate(interests, start=self._asked + 1)
            )
        )
        self._asked += len(interests)
        missing = len(interests)
        while missing:
            data = self._wire.socket.recv(READ_BYTES)
            if not data:
                raise SienaError("a broker closed the connection that subscribes")
            for frame in self._splitter.feed(data):
                complain(frame)
                missing -= frame.op == Op.SETTLED
