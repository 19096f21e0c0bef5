"""Deliveries to many readers: server-sent events, and frames beside them.

Every byte is checked: what a reader gets is what was published and it wants, in order.
"""

import selectors
import socket
from collections.abc import Sequence
from contextlib import suppress
from time import perf_counter
from urllib.parse import quote as quoted

from siena.bench.broker.contenders.contender import Wire
from siena.bench.broker.contenders.siena import Siena, expect, take_frame
from siena.bench.front.quotes import PRICE_MIN, PRICES, Quote, quotes
from siena.bench.front.servers import Server
from siena.errors import SienaError
from siena.protocol.control_frames import Subscribe
from siena.protocol.data_frames import pack_msg
from siena.protocol.frames import Op, pack

READ_BYTES = 1 << 20
# So many publications are ahead of the slowest reader, so that no reader loses any.
AHEAD = 4_000
# Sent at once.
SLICE = 256
# A flood in which nothing comes for so long has failed.
SILENT_SECONDS = 30.0


class Reader:
    """One who subscribed, and checks what comes."""

    def __init__(self, port: int, bound: float | None) -> None:
        self.bound = bound
        self.expected = b""
        self.at = 0
        self.socket = self.subscribe(port, _filter(bound))
        self.socket.setblocking(False)

    def subscribe(self, port: int, text: str) -> socket.socket:
        """A connection on which nothing comes but deliveries of this filter."""
        raise NotImplementedError

    def text(self, quote: Quote) -> bytes:
        """What comes of a quote."""
        raise NotImplementedError

    def payload(self, data: bytes) -> bytes:
        """What of these bytes is such text."""
        return data

    def await_all(self, some: Sequence[Quote]) -> int:
        """Expect what is wanted of these; how many that is."""
        wanted = [q for q in some if self.bound is None or q.price < self.bound]
        self.expected, self.at = b"".join(map(self.text, wanted)), 0
        return len(wanted)

    def read(self) -> None:
        """Compare what has come with what must come."""
        data = self.payload(self.socket.recv(READ_BYTES))
        if not self.expected.startswith(data, self.at):
            raise SienaError(f"a reader got what it must not: {data[:200]!r}")
        self.at += len(data)

    @property
    def share(self) -> float:
        """How much of all has come."""
        return self.at / len(self.expected) if self.expected else 1.0


class EventReader(Reader):
    """One who reads server-sent events, in chunks of HTTP."""

    _left = 0  # of a chunk
    _rest = b""  # of what stands between chunks

    def subscribe(self, port: int, text: str) -> socket.socket:
        """GET, and wait for the event that says that it is settled."""
        made = socket.create_connection(("127.0.0.1", port), SILENT_SECONDS)
        path = f"/subscribe?filter={quoted(text)}"
        made.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        come = b""
        while not come.endswith(b'"number":1}\n\n\r\n'):
            come += made.recv(READ_BYTES)
        return made

    def text(self, quote: Quote) -> bytes:
        """An event without a name."""
        return b"data: %b\n\n" % quote.json

    def payload(self, data: bytes) -> bytes:
        """What is in the chunks."""
        data, self._rest = self._rest + data, b""
        parts, at = [], 0
        while at < len(data):
            if self._left:
                parts.append(data[at : at + self._left])
                at += len(parts[-1])
                self._left -= len(parts[-1])
                continue
            line, end, _ = data[at:].lstrip(b"\r\n").partition(b"\r\n")
            if not end:
                self._rest = data[at:]
                break
            at = data.index(line + end, at) + len(line + end)
            self._left = int(line, 16)
        return b"".join(parts)


class FrameReader(Reader):
    """One who reads frames, as a client does."""

    def subscribe(self, port: int, text: str) -> socket.socket:
        """Connect as a client, and wait for SETTLED."""
        wire = Wire(port)
        Siena().greet(wire)
        wire.send(Subscribe(1, text).pack())
        expect(take_frame(wire), Op.SETTLED)
        return wire.finish()

    def text(self, quote: Quote) -> bytes:
        """A MSG frame."""
        return pack_msg([1], quote.block)


class Flood:
    """Readers of one kind at one broker, and who publishes for them."""

    def __init__(
        self, server: Server, kind: type[Reader], readers: int, *, apart: bool
    ) -> None:
        self._server = server
        port = server.ports[1 if kind is EventReader else 0]
        bounds = [
            PRICE_MIN + 1 + PRICES * (n + 1) / readers if apart else None
            for n in range(readers)
        ]
        self._readers = [kind(port, bound) for bound in bounds]
        self._selector = selectors.DefaultSelector()
        for reader in self._readers:
            self._selector.register(reader.socket, selectors.EVENT_READ, reader)
        wire = Wire(server.ports[0])
        Siena().greet(wire)
        self._publisher = wire.finish()
        self._next = 0

    def once(self, publications: int) -> float:
        """Publish so many; how many were delivered for a CPU second of the broker."""
        some = list(quotes(publications, self._next))
        self._next += publications
        total = sum(reader.await_all(some) for reader in self._readers)
        frames = [pack(Op.PUB, quote.block) for quote in some]
        slices = [b"".join(frames[i : i + SLICE]) for i in range(0, len(frames), SLICE)]
        before = self._server.cpu_seconds()
        self._flood(slices, publications)
        return total / max(self._server.cpu_seconds() - before, 0.01)

    def _flood(self, slices: list[bytes], publications: int) -> None:
        sent, left = 0, memoryview(b"")
        heard = perf_counter()
        while (slowest := min(reader.share for reader in self._readers)) < 1:
            is_time = sent * SLICE < slowest * publications + AHEAD
            if not left and is_time and sent < len(slices):
                left = memoryview(slices[sent])
                sent += 1
            if left:
                with suppress(BlockingIOError):
                    left = left[self._publisher.send(left) :]
            for key, _ in self._selector.select(0 if left else 0.001):
                key.data.read()
                heard = perf_counter()
            if perf_counter() - heard > SILENT_SECONDS:
                raise SienaError(f"nothing comes any more, after {slowest:.0%}")

    def close(self) -> None:
        """Hang up."""
        self._selector.close()
        self._publisher.close()
        for reader in self._readers:
            reader.socket.close()


def _filter(bound: float | None) -> str:
    text = "symbol = DIS"
    return text if bound is None else f"{text} and price < {bound!r}"
