"""The calling end of a WebSocket, between the loop and a connection.

::

    loop ◀──bytes──▶ WebSocketCall ◀──messages──▶ ClientProtocol (of websockets)
                          │ ▲
                     fill ▼ │ WebSocketTransport
                      connection, which knows nothing of it
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from typing import cast

from websockets.client import ClientProtocol
from websockets.frames import DATA_OPCODES, Frame, Opcode
from websockets.http11 import Response
from websockets.protocol import State
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from siena.broker.io.message_stream import (
    MESSAGE_BYTES_MAX,
    SUBPROTOCOL,
    fill,
    messages,
)
from siena.errors import SienaError

# Why a WebSocket that is no longer needed is closed, as WebSockets number reasons.
NORMAL = 1000


class WebSocketCall(asyncio.Protocol):
    """A WebSocket that is being opened, and then carries a connection's bytes.

    Ownership: the loop owns this, and this the connection from ``connection_made`` to
    ``connection_lost``, which it hears of only if the WebSocket was opened.

    Attributes:
        opened: done when it is open, or with the reason why it is not.
    """

    def __init__(self, url: str, connection: asyncio.BufferedProtocol) -> None:
        self._url = url
        self._connection = connection
        self._socket = ClientProtocol(
            parse_uri(url),
            subprotocols=[Subprotocol(SUBPROTOCOL)],
            max_size=MESSAGE_BYTES_MAX,
        )
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: asyncio.Transport | None = None
        # What has come and was not handed over yet; at last that no more will come.
        self._came: deque[memoryview | None] = deque()
        self._is_paused = False
        self._is_open = False

    # --- What the loop calls --------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for a WebSocket."""
        self._transport = cast("asyncio.Transport", transport)
        self._socket.send_request(self._socket.connect())
        self._push()

    def data_received(self, data: bytes) -> None:
        """Take apart what comes."""
        self._socket.receive_data(data)
        for event in self._socket.events_received():
            if isinstance(event, Response):
                self._answered(event)
            else:
                assert isinstance(event, Frame), "a client gets nothing else"
                self._take(event)
        self._push()
        self._hand_over()

    def eof_received(self) -> bool:
        """They will send no more; a connection still looks at what they have sent."""
        self._end()
        self._hand_over()
        assert self._transport is not None
        # TLS ends in both directions.
        return self._is_open and self._transport.get_extra_info("ssl_object") is None

    def resume_writing(self) -> None:
        """They have caught up."""
        if self._is_open:
            self._connection.resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        if self._is_open:
            self._connection.connection_lost(exc)
        else:
            self._refuse("hangs up")

    # --- Coming in ------------------------------------------------------------------

    def _answered(self, response: Response) -> None:
        """What HTTP says to the wish for a WebSocket."""
        if self._socket.handshake_exc is not None:
            self._refuse(f"answers {response.status_code} {response.reason_phrase}")
        elif self._socket.subprotocol != SUBPROTOCOL:
            self._refuse("has WebSockets, but none for links")
        else:
            assert self._transport is not None
            self._is_open = True
            self.opened.set_result(None)
            self._connection.connection_made(WebSocketTransport(self, self._transport))

    def _refuse(self, why: str) -> None:
        if not self.opened.done():  # else it is not waited for any longer
            self.opened.set_exception(SienaError(f"{self._url} {why}"))
        assert self._transport is not None
        self._transport.abort()

    def _take(self, frame: Frame) -> None:
        """Data, however it is cut; pings have been answered already."""
        if frame.opcode in DATA_OPCODES:
            self._came.append(memoryview(frame.data))
        elif frame.opcode is Opcode.CLOSE:
            self._end()

    def _end(self) -> None:
        if None not in self._came:
            self._came.append(None)

    def _hand_over(self) -> None:
        """Let the connection have what has come, as long as it wants more."""
        while self._came and not self._is_paused and self._is_open:
            piece = self._came.popleft()
            if piece is None:
                self._connection.eof_received()
                break
            size = fill(self._connection, piece)
            if size < len(piece):
                self._came.appendleft(piece[size:])

    def pause(self) -> None:
        """Hand over no more."""
        self._is_paused = True

    def resume(self) -> None:
        """Hand over what has come meanwhile, after what is going on now."""
        self._is_paused = False
        asyncio.get_running_loop().call_soon(self._hand_over)

    # --- Going out ------------------------------------------------------------------

    def send(self, pieces: Iterable[bytes]) -> None:
        """Send bytes, unless the other end has said good-bye."""
        if self._socket.state is State.OPEN:
            for message in messages(pieces):
                self._socket.send_binary(message)
            self._push()

    def say_good_bye(self) -> None:
        """Say that no more will be sent."""
        if self._socket.state is State.OPEN:
            self._socket.send_close(NORMAL)
            self._push()

    def _push(self) -> None:
        """Send what is to be sent by now: answers to pings, too."""
        assert self._transport is not None
        if not self._transport.is_closing():
            self._transport.writelines(filter(None, self._socket.data_to_send()))


class WebSocketTransport(asyncio.Transport):
    """What a connection takes for its transport."""

    def __init__(self, call: WebSocketCall, below: asyncio.Transport) -> None:
        names = ("peername", "socket", "peercert")
        super().__init__({name: below.get_extra_info(name) for name in names})
        self._call = call
        self._below = below

    def writelines(
        self, list_of_data: Iterable[bytes | bytearray | memoryview]
    ) -> None:
        """Send pieces in messages."""
        self._call.send(map(bytes, list_of_data))

    def get_write_buffer_size(self) -> int:
        """How many bytes the loop still has to send."""
        return self._below.get_write_buffer_size()

    def set_write_buffer_limits(
        self, high: int | None = None, low: int | None = None
    ) -> None:
        """Above how many the connection waits."""
        self._below.set_write_buffer_limits(high, low)

    def pause_reading(self) -> None:
        """Read no more, and hand over nothing of what was read."""
        self._call.pause()
        self._below.pause_reading()

    def resume_reading(self) -> None:
        """Go on."""
        self._call.resume()
        self._below.resume_reading()

    def is_closing(self) -> bool:
        """Whether it ends."""
        return self._below.is_closing()

    def close(self) -> None:
        """Say good-bye, and end when that is sent."""
        self._call.say_good_bye()
        self._below.close()

    def abort(self) -> None:
        """End at once."""
        self._below.abort()
