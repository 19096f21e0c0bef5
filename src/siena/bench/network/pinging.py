"""How long another client waits for a broker that has much to do.

Pings are due at fixed times.  While an answer is late, those that are due meanwhile
wait as well, and are counted as if they had been sent: a silence of a second is not one
slow ping, but all that would have been sent in it.
"""

import os
from math import ceil
from multiprocessing.connection import Connection, wait
from time import perf_counter
from typing import NamedTuple

from siena.bench.broker.contenders.contender import Wire
from siena.bench.broker.contenders.siena import Siena, expect, take_frame
from siena.bench.broker.processes import Companion
from siena.errors import SienaError
from siena.protocol.frames import Op

# A ping is due every so many seconds.
PING_SECONDS = 0.002


class Waits(NamedTuple):
    """How long pings took, in seconds."""

    pings: int
    p50: float
    p99: float
    highest: float

    @classmethod
    def of(cls, seconds: list[float]) -> "Waits":
        """Of what each took.

        >>> Waits.of([0.001] * 99 + [0.5])
        Waits(pings=100, p50=0.001, p99=0.001, highest=0.5)
        """
        ordered = sorted(seconds) or [0.0]
        middle, most = (ordered[ceil(len(ordered) * p) - 1] for p in (0.5, 0.99))
        return cls(len(seconds), middle, most, ordered[-1])


class Clockwork:
    """When pings are due, and how long each had to wait for an answer.

    >>> clockwork = Clockwork(begin=10.0, step=1.0)
    >>> clockwork.answered(10.25)  # the first, in time
    >>> clockwork.due
    11.0
    >>> clockwork.answered(13.5)  # the second, and two were due meanwhile
    >>> clockwork.seconds, clockwork.due
    ([0.25, 2.5, 1.5, 0.5], 14.0)
    """

    def __init__(self, begin: float, step: float) -> None:
        self.due = begin
        self.seconds: list[float] = []
        self._step = step

    def answered(self, now: float) -> None:
        """The answer to the ping that was due has come."""
        while self.due <= now:
            self.seconds.append(now - self.due)
            self.due += self._step


class Pinger(Companion):
    """A client that pings a broker from a process of its own, for a ``with`` block."""

    def __init__(self, port: int, core: int) -> None:
        super().__init__(_ping, port, core)
        self._receive()  # it has begun

    def lap(self) -> Waits:
        """How long pings took since the last time; begin anew."""
        self._here.send(None)
        found = self._receive()
        assert isinstance(found, Waits)
        return found

    def _receive(self) -> object:
        try:
            return self._here.recv()
        except (EOFError, OSError):
            raise SienaError("a broker has closed the connection that pings") from None


def _ping(pipe: Connection, port: int, core: int) -> None:
    os.sched_setaffinity(0, {core})
    client = Siena()
    wire = Wire(port)
    client.greet(wire)
    pipe.send("begun")
    while True:
        clockwork = Clockwork(perf_counter(), PING_SECONDS)
        is_answered = True
        while not pipe.poll(max(0.0, clockwork.due - perf_counter())):
            wire.send(client.barrier)
            # Also when a lap ends before the answer comes: it took so long at least.
            is_answered = wire.socket in wait([pipe, wire.socket])
            if is_answered:
                expect(take_frame(wire), Op.PONG)
            clockwork.answered(perf_counter())
        try:
            pipe.recv()
        except EOFError:
            return
        pipe.send(Waits.of(clockwork.seconds))
        if not is_answered:
            expect(take_frame(wire), Op.PONG)
