"""Passing a connection to another process of the same broker.

The socket itself travels, over a Unix socket in a folder of this user's own, and with
it what has been read of it already.  The other end notices nothing.
"""

import asyncio
import logging
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Protocol

log = logging.getLogger("siena.broker")

# How long all of it may take: both ends are on this machine.
PASSING_SECONDS_MAX = 10.0
# What travels with a socket: CONNECT, and what was read behind it at once.
PASSING_BYTES_MAX = 1024 * 1024
_SIZE = struct.Struct("<I")


class Adopter(Protocol):
    """Who takes connections over."""

    async def adopt(self, connection: socket.socket, data: bytes) -> None:
        """Serve a connection, of which this has been read already."""
        ...


async def pass_socket(path: Path, connection: socket.socket, data: bytes) -> None:
    """Let another process serve a connection; here it is closed, whatever happens."""
    with connection, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as way:
        way.setblocking(False)
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(PASSING_SECONDS_MAX):
            await loop.sock_connect(way, str(path))
            # A few bytes: there is room for them in a socket that is new.
            socket.send_fds(way, [_SIZE.pack(len(data))], [connection.fileno()])
            await loop.sock_sendall(way, data)


class SocketReceiver:
    """Where connections are taken over.

    Ownership: its maker calls :meth:`stop`.
    """

    def __init__(self, path: Path, adopter: Adopter) -> None:
        self._adopter = adopter
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        path.unlink(missing_ok=True)  # of a hub that has died
        self._listener.bind(str(path))
        self._listener.listen()
        self._listener.setblocking(False)
        loop = asyncio.get_running_loop()
        self._taken: set[asyncio.Task[None]] = set()
        self._task = loop.create_task(self._run())

    async def stop(self) -> None:
        """Take no more."""
        for task in (self._task, *self._taken):
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        self._listener.close()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            way, _ = await loop.sock_accept(self._listener)
            task = loop.create_task(self._take(way))
            self._taken.add(task)
            task.add_done_callback(self._taken.discard)

    async def _take(self, way: socket.socket) -> None:
        with way:
            try:
                async with asyncio.timeout(PASSING_SECONDS_MAX):
                    connection, data = await _receive(way)
                    await self._adopter.adopt(connection, data)
            except (OSError, TimeoutError, ValueError) as error:
                log.warning("a connection could not be taken over: %s", error)


async def _receive(way: socket.socket) -> tuple[socket.socket, bytes]:
    way.setblocking(False)
    await _readable(way)
    head, files, _, _ = socket.recv_fds(way, _SIZE.size, 1)
    if len(head) < _SIZE.size or not files:
        raise ValueError("no socket came")
    connection = socket.socket(fileno=files[0])
    try:
        return connection, await _read(way, _SIZE.unpack(head)[0])
    except BaseException:
        connection.close()
        raise


async def _read(way: socket.socket, size: int) -> bytes:
    if size > PASSING_BYTES_MAX:
        raise ValueError("too much came with it")
    loop = asyncio.get_running_loop()
    data = bytearray()
    while len(data) < size:
        more = await loop.sock_recv(way, size - len(data))
        if not more:
            raise ValueError("not all came that was to come with it")
        data += more
    return bytes(data)


async def _readable(way: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    came = asyncio.Event()
    loop.add_reader(way, came.set)
    try:
        await came.wait()
    finally:
        loop.remove_reader(way)
