"""A flood of batches: each publisher sends the next when all of the last is stored.

With a load publishers send in turns, at fixed times.  Who still waits for its last
batch then sends late, and the lateness counts as waiting: a store that stumbles is not
spared the batches that it held up.  That the generator itself wakes late, by up to the
millisecond of its timer, does not count.
"""

import math
import os
import selectors
import socket
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from siena.bench.broker.contenders.contender import Wire
from siena.bench.broker.processes import Running, cpu_seconds, family
from siena.bench.durable.stores import Publishing, Store
from siena.bench.front.quotes import quotes
from siena.errors import SienaError

READ_BYTES = 1 << 18
# A store that acknowledges nothing for so long has failed.
SILENCE_SECONDS = 30.0
SYNC_PROBES = 100
SYNC_BYTES = 4_096


@dataclass(frozen=True)
class StoreRound:
    """What one store did in one round."""

    acknowledged: int
    seconds: float
    cpu: float  # of the server
    idle: float  # the share of its time that the generator waited
    waits: Sequence[float]  # of each batch, from its sending to its last receipt

    @property
    def rate(self) -> float:
        """Acknowledged in a second."""
        return self.acknowledged / self.seconds

    def wait(self, share: float) -> float:
        """What this share of the batches waited at most."""
        ordered = sorted(self.waits)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@dataclass
class _Sender:
    """A publisher and its connection."""

    socket: socket.socket
    publishing: Publishing
    out: memoryview = field(default_factory=lambda: memoryview(b""))
    come: bytes = b""
    missing: int = 0
    since: float = 0.0
    done: float = 0.0  # when its last batch was acknowledged
    due: float = 0.0  # when its next is to be sent


class StoreFlood:
    """Publishers of one store, which stay connected from round to round."""

    def __init__(
        self,
        store: Store,
        server: Running,
        publishers: int,
        batch: int,
        load: float | None = None,
    ) -> None:
        self._store, self._server, self._batch = store, server, batch
        # Seconds between two batches of a publisher.
        self._pause = 0.0 if load is None else publishers * batch / load
        self.acknowledged = 0
        self._senders = []
        for number in range(publishers):
            blocks = [quote.block for quote in quotes(batch, number * batch)]
            wire = Wire(server.port)
            publishing = store.begin(wire, number, blocks)
            self._senders.append(_Sender(wire.finish(), publishing))

    def run(self, seconds: float) -> StoreRound:
        """Publish for so long, and wait for what is under way then."""
        processes = family(self._server.process)
        waits: list[float] = []
        with selectors.DefaultSelector() as selector:
            start, cpu, own = perf_counter(), cpu_seconds(processes), process_time()
            for number, each in enumerate(self._senders):
                selector.register(each.socket, selectors.EVENT_READ, each)
                each.due = start + self._pause * number / len(self._senders)
            resting = list(self._senders)  # who have nothing under way
            end = start + seconds
            while True:
                resting = self._begin(resting, selector, end)
                if len(selector.get_map()) == 0:
                    break
                until = min((min(each.due, end) for each in resting), default=math.inf)
                done = self._go_on(selector, until)
                waits.extend(sender.done - sender.since for sender in done)
                resting += done
            took = perf_counter() - start
            waited = took - (process_time() - own)
            cpu = cpu_seconds(processes) - cpu
        count = len(waits) * self._batch
        self.acknowledged += count
        return StoreRound(count, took, cpu, waited / took, waits)

    def _begin(
        self, resting: list[_Sender], selector: selectors.BaseSelector, end: float
    ) -> list[_Sender]:
        """Send the batches that are due; who rests goes on resting, or has ended."""
        now = perf_counter()
        left = []
        for sender in resting:
            if now >= end:
                selector.unregister(sender.socket)
            elif sender.due <= now:
                self._send_next(sender, now)
                self._write(sender, selector)
            else:
                left.append(sender)
        return left

    def _go_on(self, selector: selectors.BaseSelector, until: float) -> list[_Sender]:
        """Wait, read and write, and return whose batch has been acknowledged."""
        pause = min(max(until - perf_counter(), 0.0), SILENCE_SECONDS)
        ready = selector.select(pause)
        if not ready and pause == SILENCE_SECONDS:
            raise SienaError(
                f"{self._store.contender.name} acknowledges nothing for "
                f"{SILENCE_SECONDS:g} seconds"
            )
        done = []
        for key, events in ready:
            sender: _Sender = key.data
            if events & selectors.EVENT_WRITE:
                self._write(sender, selector)
            if events & selectors.EVENT_READ and self._is_done(sender):
                sender.done = perf_counter()
                done.append(sender)
        return done

    def stored(self) -> int:
        """How many the server has stored, by its own word."""
        wire = Wire(self._server.port)
        try:
            return self._store.count(wire)
        finally:
            wire.socket.close()

    def close(self) -> None:
        """Hang up."""
        for sender in self._senders:
            sender.socket.close()

    def _send_next(self, sender: _Sender, now: float) -> None:
        sender.out = memoryview(sender.publishing.batch())
        sender.missing = self._batch
        was_held_up = self._pause > 0 and sender.done > sender.due
        sender.since = sender.due if was_held_up else now
        sender.due += self._pause

    @staticmethod
    def _write(sender: _Sender, selector: selectors.BaseSelector) -> None:
        """Send what goes, and look for room only while there is more."""
        try:
            while sender.out:
                sender.out = sender.out[sender.socket.send(sender.out) :]
        except BlockingIOError:
            pass
        events = selectors.EVENT_READ
        if sender.out:
            events |= selectors.EVENT_WRITE
        selector.modify(sender.socket, events, sender)

    def _is_done(self, sender: _Sender) -> bool:
        """Whether the last of a batch has been acknowledged."""
        data = sender.socket.recv(READ_BYTES)
        if not data:
            raise SienaError(f"{self._store.contender.name} hung up")
        found, sender.come = sender.publishing.acknowledged(sender.come + data)
        sender.missing -= found
        return sender.missing == 0


def sync_seconds(folder: Path) -> float:
    """The median time in which this disk syncs a page that is appended to a file."""
    took = []
    path = folder / "synced"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        for _ in range(SYNC_PROBES):
            os.write(file, bytes(SYNC_BYTES))
            start = perf_counter()
            os.fdatasync(file)
            took.append(perf_counter() - start)
    finally:
        os.close(file)
        path.unlink()
    return median(took)
