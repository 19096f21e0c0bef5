"""A flood of batches: each publisher sends the next when all of the last is stored."""

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
class Round:
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


class Flood:
    """Publishers of one store, which stay connected from round to round."""

    def __init__(
        self, store: Store, server: Running, publishers: int, batch: int
    ) -> None:
        self._store, self._server, self._batch = store, server, batch
        self.acknowledged = 0
        self._senders = []
        for number in range(publishers):
            blocks = [quote.block for quote in quotes(batch, number * batch)]
            wire = Wire(server.port)
            publishing = store.begin(wire, number, blocks)
            self._senders.append(_Sender(wire.finish(), publishing))

    def run(self, seconds: float) -> Round:
        """Publish for so long, and wait for what is under way then."""
        processes = family(self._server.process)
        waits: list[float] = []
        count, waited = 0, 0.0
        with selectors.DefaultSelector() as selector:
            start, cpu, own = perf_counter(), cpu_seconds(processes), process_time()
            for each in self._senders:
                both = selectors.EVENT_READ | selectors.EVENT_WRITE
                selector.register(each.socket, both, each)
                self._send_next(each)
            busy = len(self._senders)
            while busy:
                ready = selector.select(SILENCE_SECONDS)
                if not ready:
                    raise SienaError(
                        f"{self._store.contender.name} acknowledges nothing for "
                        f"{SILENCE_SECONDS:g} seconds"
                    )
                for key, events in ready:
                    sender: _Sender = key.data
                    if events & selectors.EVENT_WRITE:
                        self._write(sender, selector)
                    if events & selectors.EVENT_READ and self._is_done(sender):
                        count += self._batch
                        waits.append(perf_counter() - sender.since)
                        if perf_counter() - start >= seconds:
                            busy -= 1
                            selector.unregister(sender.socket)
                            continue
                        self._send_next(sender)
                        self._write(sender, selector)
            took = perf_counter() - start
            waited = took - (process_time() - own)
            cpu = cpu_seconds(processes) - cpu
        self.acknowledged += count
        return Round(count, took, cpu, waited / took, waits)

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

    def _send_next(self, sender: _Sender) -> None:
        sender.out = memoryview(sender.publishing.batch())
        sender.missing = self._batch
        sender.since = perf_counter()

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
