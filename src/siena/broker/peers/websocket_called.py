"""The called end of a WebSocket: ``/link`` of the HTTP side, for neighbours.

Brokers behind proxies that let nothing but HTTP pass call each other so.  What arrives
is handed to a connection as if it had come through a socket of its own, and everything
else, whether links are accepted too, is the same (:mod:`siena.broker.peers.links`).

Ownership: the handler owns the connection and one task for each direction.
"""

import asyncio
from collections.abc import Iterable

from starlette.websockets import WebSocket, WebSocketDisconnect

from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.io.connection import Connection
from siena.broker.io.message_stream import SUBPROTOCOL, fill, messages

# As WebSockets number the reasons for their end.
NORMAL = 1000
WRONG_PROTOCOL = 1002


class LinkTransport(asyncio.Transport):
    """What a connection takes for its transport: it keeps what is to be sent.

    Back-pressure: as a transport of the loop, it says when what is kept has become less
    than the lower bound, having been more than the higher one.
    """

    def __init__(self, connection: Connection, peer: tuple[str, int] | None) -> None:
        super().__init__({"peername": peer})
        self._connection = connection
        self._kept: list[bytes] = []
        self._size = 0
        self._high = self._low = 0
        self._is_full = False
        self._is_closing = False
        self._has_something = asyncio.Event()
        self.over = asyncio.Event()
        """Set when there is nothing left to do for either direction."""
        self._may_read = asyncio.Event()
        self._may_read.set()

    # --- What the connection calls --------------------------------------------------

    def writelines(
        self, list_of_data: Iterable[bytes | bytearray | memoryview]
    ) -> None:
        """Keep it until it can be sent."""
        pieces = list(map(bytes, list_of_data))
        self._kept += pieces
        self._size += sum(map(len, pieces))
        self._is_full |= self._size > self._high
        self._has_something.set()

    def get_write_buffer_size(self) -> int:
        """How many bytes wait to be sent."""
        return self._size

    def set_write_buffer_limits(
        self, high: int | None = None, low: int | None = None
    ) -> None:
        """Above how many the connection waits, and below how many it goes on."""
        self._high, self._low = high or 0, low or 0

    def pause_reading(self) -> None:
        """Hand over no more."""
        self._may_read.clear()

    def resume_reading(self) -> None:
        """Go on."""
        self._may_read.set()

    def is_closing(self) -> bool:
        """Whether it ends."""
        return self._is_closing

    def close(self) -> None:
        """End when all is sent."""
        self._is_closing = True
        self._has_something.set()

    def abort(self) -> None:
        """End at once, also while something is being sent that is not taken."""
        self._kept.clear()
        self.close()
        self.over.set()

    # --- What the two directions need -----------------------------------------------

    async def readable(self) -> None:
        """Wait until the connection wants more."""
        await self._may_read.wait()

    async def next(self) -> list[bytes]:
        """What is to be sent next; nothing, if it is over."""
        while not self._kept and not self._is_closing:
            self._has_something.clear()
            await self._has_something.wait()
        pieces, self._kept = self._kept, []
        return pieces

    def sent(self, size: int) -> None:
        """So many bytes are on their way."""
        self._size -= size
        if self._is_full and self._size <= self._low:
            self._is_full = False
            self._connection.resume_writing()


async def link(socket: WebSocket) -> None:
    """Serve one neighbour until one of both ends."""
    entry: InProcessEntry = socket.app.state.entry
    if SUBPROTOCOL not in socket.scope["subprotocols"]:
        await socket.close(WRONG_PROTOCOL)
        return
    await socket.accept(SUBPROTOCOL)
    connection = entry.broker.accept()
    client = socket.client
    transport = LinkTransport(
        connection, (client.host, client.port) if client else None
    )
    connection.connection_made(transport)
    try:
        async with asyncio.TaskGroup() as tasks:
            both = (
                tasks.create_task(_listen(socket, connection, transport)),
                tasks.create_task(_speak(socket, transport)),
            )
            await transport.over.wait()
            for each in both:
                each.cancel()
    except* (WebSocketDisconnect, OSError):
        pass
    finally:
        connection.connection_lost(None)


async def _listen(
    socket: WebSocket, connection: Connection, transport: LinkTransport
) -> None:
    """Hand over what comes, until the other end says good-bye."""
    while True:
        message = await socket.receive()
        if message["type"] != "websocket.receive":
            break
        data = memoryview(message.get("bytes") or b"")
        while data:
            await transport.readable()
            data = data[fill(connection, data) :]
            await asyncio.sleep(0)  # others have their turn
    # What has been handed over is still looked at; then the connection closes.
    connection.eof_received()


async def _speak(socket: WebSocket, transport: LinkTransport) -> None:
    """Send what is to be sent, until the connection is closed."""
    while pieces := await transport.next():
        for message in messages(pieces):
            await socket.send_bytes(message)
            transport.sent(len(message))
    await socket.close(NORMAL)
    transport.over.set()
