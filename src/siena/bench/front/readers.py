"""Readers of every kind: each subscribes, and checks all that comes, byte by byte."""

import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence
from urllib.parse import quote as quoted

from siena.bench.broker.contenders.contender import Wire
from siena.bench.broker.contenders.siena import Siena, expect, take_frame
from siena.bench.front.quotes import Quote
from siena.errors import SienaError
from siena.protocol.control_frames import Subscribe
from siena.protocol.data_frames import pack_msg
from siena.protocol.frames import Op

READ_BYTES = 1 << 20
# Who does not answer within this time never will.
ANSWER_SECONDS = 30.0
SETTLED = b'{"siena":"SETTLED","number":1}'


class Reader(ABC):
    """One who subscribed, and checks what comes."""

    is_http = False
    """Whether it asks at the port of HTTP."""

    def __init__(self, port: int, bound: float | None) -> None:
        self.bound = bound
        self.expected = b""
        self.at = 0
        self.socket = self.subscribe(port, _filter(bound))
        self.socket.setblocking(False)

    @abstractmethod
    def subscribe(self, port: int, text: str) -> socket.socket:
        """A connection on which nothing comes but deliveries of this filter."""

    @abstractmethod
    def text(self, quote: Quote) -> bytes:
        """What comes of a quote."""

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

    is_http = True
    _left = 0  # of a chunk
    _rest = b""  # of what stands between chunks

    def subscribe(self, port: int, text: str) -> socket.socket:
        """GET, and wait for the event that says that it is settled."""
        made = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        path = f"/subscribe?filter={quoted(text)}"
        made.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        _read_until(made, SETTLED + b"\n\n\r\n")
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


class LineReader(Reader):
    """One who reads lines, as a person does."""

    def subscribe(self, port: int, text: str) -> socket.socket:
        """Ask in words, and wait until it is settled."""
        wire = Wire(port)
        wire.line()  # the greeting
        wire.send(f"sub {text}\n".encode())
        if wire.line() != SETTLED:
            raise SienaError("a person was not answered")
        return wire.finish()

    def text(self, quote: Quote) -> bytes:
        """A line."""
        return _msg(quote) + b"\n"


class SocketReader(Reader):
    """One who reads a WebSocket; a server does not mask what it sends."""

    is_http = True

    def subscribe(self, port: int, text: str) -> socket.socket:
        """Upgrade, ask in JSON, and wait until it is settled."""
        made = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
        made.sendall(
            b"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
            b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
            b"Sec-WebSocket-Key: c2llbmEgc2llbmEgc2llbg==\r\n\r\n"
        )
        _read_until(made, b"\r\n\r\n")
        asked = b'{"sub":"%b"}' % text.encode()
        mask = bytes(4)  # which changes nothing
        made.sendall(bytes([0x81, 0x80 | len(asked)]) + mask + asked)
        _read_until(made, SETTLED)
        return made

    def text(self, quote: Quote) -> bytes:
        """A message, in one frame of a WebSocket."""
        said = _msg(quote)
        size = len(said)
        # A length above 125 stands in two bytes of its own.
        head = bytes([0x81, size]) if size < 126 else b"\x81\x7e" + size.to_bytes(2)
        return head + said


def _msg(quote: Quote) -> bytes:
    start = b'{"siena":"MSG","subscriptions":[1],"notification":'
    return start + quote.json + b"}"


def _read_until(made: socket.socket, end: bytes) -> None:
    come = b""
    while not come.endswith(end):
        data = made.recv(READ_BYTES)
        if not data:
            raise SienaError(f"the server hung up after {come[-200:]!r}")
        come += data


def _filter(bound: float | None) -> str:
    text = "symbol = DIS"
    return text if bound is None else f"{text} and price < {bound!r}"
