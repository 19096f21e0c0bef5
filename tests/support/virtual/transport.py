"""One end of a connection, as an asyncio protocol sees it."""

import asyncio
from collections.abc import Callable, Iterable
from contextvars import Context

from virtual.pipe import Pipe

# Above this much output a protocol is told to wait, unless it asks for another bound.
HIGH_BYTES = 65_536

Address = tuple[str, int]


class Unplugged:
    """Stands where a socket would: it takes options, and nothing comes of them."""

    def fileno(self) -> int:
        """The smallest there is: it takes no file from other connections."""
        return 0

    def setsockopt(self, *option: object) -> None:
        """Take an option."""


class Transport(asyncio.Transport):
    """One end: what it writes goes out by one pipe, and what it reads comes by another.

    Ownership: of its protocol, from ``connection_made`` to ``connection_lost``.  The
    pipe out is given with :meth:`attach`, because each end has the other's.
    """

    def __init__(
        self, loop: asyncio.AbstractEventLoop, context: Context, peer: Address
    ) -> None:
        super().__init__({"peername": peer, "socket": Unplugged()})
        self.context = context
        self._loop = loop
        self._protocol: asyncio.BaseProtocol | None = None
        self._out: Pipe | None = None
        self._into: Pipe | None = None
        self._is_closing = False
        self._is_lost = False
        self._is_reading = True
        self._is_full = False
        self._high, self._low = HIGH_BYTES, HIGH_BYTES // 4
        self.on_lost: Callable[[], None] = lambda: None
        """Called when the protocol has heard that it is over."""

    def attach(self, out: Pipe, into: Pipe) -> None:
        """Take the two directions."""
        self._out, self._into = out, into
        out.on_taken = self._drained

    def begin(self, protocol: asyncio.BaseProtocol) -> None:
        """Let a protocol have this end."""
        self._protocol = protocol
        protocol.connection_made(self)

    # --- Reading --------------------------------------------------------------------

    def take(self, piece: bytes | None) -> None:
        """Hand what has arrived to the protocol; ``None``: the other end has closed."""
        if self._is_closing:
            return
        if piece is None:
            self._end()
        elif isinstance(self._protocol, asyncio.BufferedProtocol):
            self._fill(self._protocol, piece)
        else:
            assert isinstance(self._protocol, asyncio.Protocol)
            self._protocol.data_received(piece)

    def _fill(self, protocol: asyncio.BufferedProtocol, piece: bytes) -> None:
        while piece and not self._is_closing:
            room = memoryview(protocol.get_buffer(-1))
            count = min(len(room), len(piece))
            room[:count] = piece[:count]
            protocol.buffer_updated(count)
            piece = piece[count:]

    def _end(self) -> None:
        assert isinstance(self._protocol, (asyncio.Protocol, asyncio.BufferedProtocol))
        if not self._protocol.eof_received():
            self.close()

    def pause_reading(self) -> None:
        assert self._into is not None
        self._is_reading = False
        self._into.pause()

    def resume_reading(self) -> None:
        assert self._into is not None
        if not self._is_reading:
            self._is_reading = True
            self._into.resume()

    def is_reading(self) -> bool:
        return self._is_reading and not self._is_closing

    # --- Writing --------------------------------------------------------------------

    def write(self, data: bytes | bytearray | memoryview) -> None:
        assert self._out is not None
        if data and not self._is_closing:
            self._out.send(bytes(data))
            if self._out.beyond > self._high and not self._is_full:
                self._is_full = True
                assert self._protocol is not None
                self._protocol.pause_writing()

    def writelines(self, data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(data))

    def can_write_eof(self) -> bool:
        return False

    def set_write_buffer_limits(
        self, high: int | None = None, low: int | None = None
    ) -> None:
        self._high = HIGH_BYTES if high is None else high
        self._low = self._high // 4 if low is None else low

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def get_write_buffer_size(self) -> int:
        assert self._out is not None
        return self._out.beyond

    def _drained(self) -> None:
        assert self._out is not None
        if self._is_full and self._out.beyond <= self._low:
            self._is_full = False
            assert self._protocol is not None
            self._loop.call_soon(self._protocol.resume_writing, context=self.context)
        if self._is_closing and not self._out.beyond:
            self._lose(None)

    # --- Ending ---------------------------------------------------------------------

    def close(self) -> None:
        """End when what was written is with the system; read nothing more."""
        assert self._out is not None
        if not self._is_closing:
            self._is_closing = True
            self._out.end()
            if not self._out.beyond:
                self._lose(None)

    def abort(self) -> None:
        """End at once; the other end hears of it behind what is on its way."""
        assert self._out is not None
        if not self._is_closing:
            self._out.end()
        self._lose(None)

    def cut(self) -> None:
        """The wire is cut: what is on its way to this end never arrives."""
        assert self._into is not None
        self._into.shatter()
        self._lose(ConnectionResetError("the connection was cut"))

    def _lose(self, error: Exception | None) -> None:
        self._is_closing = True
        if not self._is_lost:
            self._is_lost = True
            self._loop.call_soon(self._tell_lost, error, context=self.context)

    def _tell_lost(self, error: Exception | None) -> None:
        assert self._protocol is not None
        self._protocol.connection_lost(error)
        self.on_lost()

    def is_closing(self) -> bool:
        return self._is_closing

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    def get_protocol(self) -> asyncio.BaseProtocol:
        assert self._protocol is not None
        return self._protocol
