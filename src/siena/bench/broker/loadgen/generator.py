"""The load of ``siena bench broker``: publishers and subscribers in one loop.

Two ways to publish.  A *flood* sends as fast as the server takes it, with a bound on
deliveries that are under way, so that no server has a reason to drop any.  *Pacing*
sends each publication at its time, decided beforehand; one that is sent late carries
the time at which it was to be sent, so that waiting counts as latency.
"""

import selectors
from dataclasses import dataclass
from math import inf
from time import perf_counter, perf_counter_ns, process_time, sleep
from typing import NamedTuple, Protocol

import numpy as np

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.loadgen.latency import new_counters, percentile
from siena.bench.broker.loadgen.publisher import Frames, Publisher
from siena.bench.broker.loadgen.subscriber import Bench, Subscriber
from siena.bench.broker.processes import cpu_seconds
from siena.bench.broker.workload import Workload
from siena.errors import SienaError

# Deliveries under way: some 8 MB, less than any server keeps for one subscriber.
WINDOW = 40_000
# A flood works in turns: short ones where a server takes much, or it would have read
# all and wait; longer ones where it takes little, so that this gathers.
TURN_SECONDS = 0.00025
TURN_SECONDS_MAX = 0.001
# Without any delivery for so long, those under way are lost.
STALL_SECONDS = 20.0


@dataclass(frozen=True)
class Load:
    """What one generator does."""

    workload: Workload
    publishers: int
    unbatched: bool
    port: int
    processes: tuple[int, ...]  # of the server, or of all servers of a network
    # Where subscribers are, in turn, if that is not where publishers are.
    subscriber_ports: tuple[int, ...] = ()


class Flood(NamedTuple):
    """What a flood has shown."""

    seconds: float
    publications: int
    deliveries: int
    matches: int
    server_seconds: float  # of CPU
    generator_seconds: float  # of CPU
    idle_seconds: float  # that the generator chose to sleep

    @property
    def rate(self) -> float:
        """Publications in a second."""
        return self.publications / self.seconds

    @property
    def per_cpu_second(self) -> float:
        """Publications for a second of the server's CPU."""
        # The clock of the CPU ticks: less than one tick is no time.
        return self.publications / max(self.server_seconds, 0.01)

    @property
    def busy(self) -> float:
        """The share of the time that the server computed."""
        return self.server_seconds / self.seconds

    @property
    def idle(self) -> float:
        """The share of the time that the generator had nothing to do.

        Not what its CPU time leaves: on a busy machine it may have waited for its core.
        """
        return self.idle_seconds / self.seconds


class Pace(NamedTuple):
    """What pacing has shown; latencies in seconds."""

    rate: float
    publications: int
    deliveries: int
    p50: float
    p99: float


class SideTask(Protocol):
    """Who does something of its own while publications are paced."""

    def advance(self) -> bool:
        """Go on; whether there is more to do."""
        ...


class Generator:
    """Connections to one server, and the load on them."""

    def __init__(self, contender: Contender, load: Load) -> None:
        self.contender = contender
        self.load = load
        workload, count = load.workload, load.publishers
        # Publishers begin at different places, so that they do not publish the same.
        begun = np.arange(count, dtype=np.int64) * workload.pool // count
        self.bench = Bench(workload, begun)
        self.selector = selectors.DefaultSelector()
        frames = Frames.of(contender, workload)
        self.publishers = []
        for number in range(count):
            connection = self.connect().finish()
            publisher = Publisher(
                number,
                connection,
                contender,
                frames,
                begun=int(begun[number]),
                unbatched=load.unbatched,
            )
            self.publishers.append(publisher)
            self.selector.register(connection, selectors.EVENT_READ, publisher)
        ports = load.subscriber_ports or (load.port,)
        self._wires = [
            self.connect(ports[number % len(ports)])
            for number in range(workload.connections)
        ]
        self.subscribers: list[Subscriber] = []
        self._fans = np.zeros(workload.pool, np.int64)
        self._under_way = 0  # deliveries that must come

    def connect(self, port: int | None = None) -> Wire:
        """A new connection, to where publishers are unless another port is named."""
        wire = Wire(self.load.port if port is None else port)
        self.contender.greet(wire)
        return wire

    def subscribe(self) -> None:
        """Make all subscriptions, and wait until they are in force."""
        for number, wire in enumerate(self._wires):
            self.contender.subscribe(wire, self.load.workload, number)
            subscriber = Subscriber(number, wire.finish(), self.contender, self.bench)
            self.subscribers.append(subscriber)
            self.selector.register(subscriber.socket, selectors.EVENT_READ, subscriber)
            self._fans[subscriber.due.places] += 1
        # Deliveries of the first so many positions, round twice: a batch may wrap.
        self._fan_sums = np.concatenate([[0], np.cumsum(np.tile(self._fans, 2))])

    def close(self) -> None:
        """Leave."""
        for wire in self._wires:
            wire.socket.close()
        for publisher in self.publishers:
            publisher.socket.close()
        self.selector.close()

    # --- Flood -----------------------------------------------------------------------

    def flood(self, seconds: float, load: float = inf) -> Flood:
        """Publish as fast as it goes for so long, and wait for the last delivery.

        With a load, not faster than so many publications in a second.
        """
        before = self._counts()
        cpu, own, begin = (
            cpu_seconds(self.load.processes),
            process_time(),
            perf_counter(),
        )
        idle = 0.0
        turn, batch = TURN_SECONDS, self.publishers[0].batch
        while (now := perf_counter()) < begin + seconds:
            done = self._since(before)[0]
            self._fill(now + turn, (now - begin) * load - done)
            self._receive(0)
            if self._since(before)[0] - done < batch:
                turn = min(2 * turn, TURN_SECONDS_MAX)
            else:
                turn = max(turn / 2, TURN_SECONDS)
            left = now + turn - perf_counter()
            if left > 0:
                sleep(left)
                idle += left  # waking late is not being idle
        self._drain()
        taken, own = perf_counter() - begin, process_time() - own
        cpu = cpu_seconds(self.load.processes) - cpu
        publications, deliveries, matches = self._since(before)
        return Flood(taken, publications, deliveries, matches, cpu, own, idle)

    def _fill(self, until: float, allowed: float) -> None:
        """Send until no more is taken or allowed, or time is up."""
        sends = True
        while sends and perf_counter() < until:
            sends = False
            for publisher in self.publishers:
                if publisher.is_idle and allowed > 0 and self._is_open():
                    count = int(min(publisher.batch, allowed + 1))
                    self._make(publisher, count, perf_counter_ns(), 0)
                    allowed -= count
                sends |= not publisher.is_idle and publisher.push()

    def _make(self, publisher: Publisher, count: int, sent: int, step: float) -> None:
        first = (publisher.begun + publisher.made) % self.load.workload.pool
        sums = self._fan_sums
        self._under_way += int(sums[first + count] - sums[first])
        publisher.make(count, sent, step)

    def _is_open(self) -> bool:
        return self._under_way - self.bench.delivered < WINDOW

    def _receive(self, timeout: float) -> bool:
        """Take what has come; whether anything has."""
        events = self.selector.select(timeout)
        for key, _ in events:
            try:
                key.data.receive()
            except BlockingIOError:
                continue
            except ConnectionError:
                name = self.contender.name
                raise SienaError(f"{name} has closed a connection") from None
        return bool(events)

    def _drain(self) -> None:
        """Send what is left, and wait until all has been worked off and delivered."""
        for publisher in self.publishers:
            publisher.ask()
        deadline = perf_counter() + STALL_SECONDS
        while not self._is_quiet():
            sent = [each.push() for each in self.publishers if not each.is_idle]
            if self._receive(0 if any(sent) else 0.01) or any(sent):
                deadline = perf_counter() + STALL_SECONDS
            elif perf_counter() > deadline:
                raise self._stalled()
        made = np.array([publisher.made for publisher in self.publishers])
        if any(subscriber.lacks(made) for subscriber in self.subscribers):
            raise SienaError(f"{self.contender.name}: not all deliveries have come")

    def _stalled(self) -> SienaError:
        missing = self._under_way - self.bench.delivered
        return SienaError(
            f"{self.contender.name}: {missing} of {self._under_way} deliveries "
            "have not come"
        )

    def _is_quiet(self) -> bool:
        return self._under_way == self.bench.delivered and all(
            each.is_idle and each.answered == each.asked for each in self.publishers
        )

    def _counts(self) -> tuple[int, int, int]:
        """Publications, deliveries and matches so far."""
        return (
            sum(each.made for each in self.publishers),
            sum(each.deliveries for each in self.subscribers),
            sum(each.matches for each in self.subscribers),
        )

    def _since(self, before: tuple[int, int, int]) -> tuple[int, int, int]:
        publications, deliveries, matches = self._counts()
        return publications - before[0], deliveries - before[1], matches - before[2]

    # --- Pacing ----------------------------------------------------------------------

    def pace(
        self, rate: float, seconds: float, side_task: SideTask | None = None
    ) -> Pace:
        """Publish at this rate for so long, or while the side_task has more to do.

        All that was to be sent by then is sent, however late.
        """
        self.bench.latencies = new_counters()
        before = self._counts()
        schedule = Schedule(rate, len(self.publishers))
        if side_task is None:
            schedule.end = schedule.begin + int(seconds * 1e9)
        deadline = perf_counter() + STALL_SECONDS
        while True:
            now = perf_counter_ns()
            waiting = [self._send_due(each, schedule, now) for each in self.publishers]
            if self._receive(0) or not any(waiting):
                deadline = perf_counter() + STALL_SECONDS
            elif perf_counter() > deadline:
                raise self._stalled()
            if (
                side_task is not None
                and schedule.end == inf
                and not side_task.advance()
            ):
                schedule.end = now
            if now >= schedule.end and not any(waiting):
                break
        self._drain()
        publications, deliveries, _ = self._since(before)
        p50, p99 = (percentile(self.bench.latencies, each) for each in (50, 99))
        return Pace(rate, publications, deliveries, p50, p99)

    def _send_due(self, publisher: Publisher, schedule: "Schedule", now: int) -> bool:
        """Send what is due by now; whether some of it must wait."""
        due = schedule.due(publisher.number, now)
        if due > 0 and publisher.is_idle and self._is_open():
            count = min(due, publisher.batch)
            first = schedule.take(publisher.number, count)
            self._make(publisher, count, first, schedule.step)
            due -= count
        while not publisher.is_idle and publisher.push():
            pass
        return due > 0


class Schedule:
    """When each publication is to be sent, decided before any is; in nanoseconds.

    >>> schedule = Schedule(rate=1e9, publishers=2)  # one every nanosecond, in turn
    >>> begin = schedule.begin
    >>> [schedule.due(0, begin + each) for each in (-1, 0, 1, 2)]
    [0, 1, 1, 2]
    >>> schedule.take(1, 2) - begin, schedule.take(1, 1) - begin
    (1, 5)
    """

    def __init__(self, rate: float, publishers: int) -> None:
        self.begin = perf_counter_ns()
        self.end: float = inf
        self.step = 1e9 / rate * publishers  # of each publisher
        self._first = [self.begin + each * 1e9 / rate for each in range(publishers)]
        self._taken = [0] * publishers

    def due(self, publisher: int, now: int) -> int:
        """How many are to be sent by now."""
        passed = min(now, self.end) - self._first[publisher]
        if passed < 0:
            return 0
        return int(passed / self.step) + 1 - self._taken[publisher]

    def take(self, publisher: int, count: int) -> int:
        """Take the next so many; the time of the first of them."""
        time = self._first[publisher] + self._taken[publisher] * self.step
        self._taken[publisher] += count
        return int(time)
