"""A subscriber of ``siena bench broker``: takes deliveries, and checks every one."""

import socket
from dataclasses import dataclass, field
from time import perf_counter_ns
from types import ModuleType

import numpy as np
import numpy.typing as npt

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.kernels import checking, cutting
from siena.bench.broker.loadgen.latency import Counters, new_counters
from siena.bench.broker.loadgen.publisher import number_at, sent_at
from siena.bench.broker.workload import Bands, Due, Workload
from siena.errors import SienaError

# What is read at a time, by all: what one connection leaves over is copied.
SLAB_BYTES = 262_144
# Deliveries found before they are checked.
SPANS = 4_096

WRONG = {
    checking.WRONG_SIZE: "has another size",
    checking.UNKNOWN_PUBLISHER: "is by nobody who publishes",
    checking.NOT_DUE: "was not due: it came before, comes too late, or matches nothing",
    checking.TOO_EARLY: "came although another is due first, and may be lost",
    checking.WRONG_CONTENT: "is not what was published",
    checking.WRONG_SUBSCRIPTIONS: "came for the wrong subscriptions",
}


@dataclass
class Bench:
    """What all subscribers share: the pool, a place to read into, latencies."""

    workload: Workload
    begun: npt.NDArray[np.int64]  # where each publisher began in the pool
    pool: npt.NDArray[np.uint8] = field(init=False)
    slab: bytearray = field(default_factory=lambda: bytearray(SLAB_BYTES))
    spans: npt.NDArray[np.int64] = field(
        default_factory=lambda: np.zeros((SPANS, 4), np.int64)
    )
    latencies: Counters = field(default_factory=new_counters)
    delivered: int = 0
    # The tests put the kernels' plain twins here.
    cutter: ModuleType = cutting
    checker: ModuleType = checking

    def __post_init__(self) -> None:
        blocks = self.workload.blocks
        self.pool = np.frombuffer(b"".join(blocks), np.uint8)
        size = len(blocks[0])
        self.view = memoryview(self.slab)
        self.stamps = (size, number_at(size), sent_at(size))
        self.columns = (self.workload.symbol, self.workload.price, self.workload.change)


class Subscriber:
    """One connection, and what it must get."""

    def __init__(
        self, number: int, connection: socket.socket, contender: Contender, bench: Bench
    ) -> None:
        self.number = number
        self.socket = connection
        self._contender = contender
        self._bench = bench
        workload = bench.workload
        self.due: Due = workload.due(number, by_topic=contender.by_topic)
        self._bands: Bands | None = (
            workload.bands(number) if contender.by_topic else None
        )
        interests = len(workload.rows(number))
        cursors, self._nexts = self.due.first(bench.begun, workload.pool)
        self._totals = np.zeros(3, np.int64)
        seen = np.zeros(interests + 1, np.int64)
        self._state = (self._nexts, cursors, seen, self._totals)
        self._rest = b""

    @property
    def deliveries(self) -> int:
        """How many have come."""
        return int(self._totals[1])

    @property
    def matches(self) -> int:
        """How many interests they have met."""
        return int(self._totals[2])

    def lacks(self, made: npt.NDArray[np.int64]) -> bool:
        """Whether something has not come of what the publishers have made."""
        return bool(np.any(self._nexts < made))

    def receive(self) -> None:
        """Read once, and check what is complete."""
        bench, rest = self._bench, self._rest
        bench.slab[: len(rest)] = rest
        size = self.socket.recv_into(bench.view[len(rest) :])
        if size == 0:
            raise ConnectionResetError
        self._rest = self.take(len(rest) + size, perf_counter_ns())

    def take(self, end: int, now: int) -> bytes:
        """Check what stands in the slab; what is not complete is left over."""
        bench, at = self._bench, 0
        while True:
            at, found, why = bench.cutter.cut(
                bench.slab, at, end, self._contender.protocol, bench.spans
            )
            self._check(found, now)
            if why == cutting.NEEDS_MORE:
                break
            if why == cutting.OTHER:
                length = self._contender.other(bytes(bench.view[at:end]))
                if length == 0:
                    break
                at += length
        return bytes(bench.view[at:end])

    def _check(self, found: int, now: int) -> None:
        bench = self._bench
        right, wrong = bench.checker.check(
            bench.slab,
            bench.spans,
            found,
            now,
            bench.pool,
            bench.stamps,
            self.due,
            self._state,
            bench.columns,
            self._bands,
            bench.latencies,
        )
        bench.delivered += right
        if wrong != checking.FINE:
            start, end = bench.spans[right, :2].tolist()
            raise SienaError(
                f"{self._contender.name}: delivery {self.deliveries + 1} to "
                f"connection {self.number} {WRONG[wrong]}: "
                f"{bytes(bench.view[start:end])!r}"
            )
