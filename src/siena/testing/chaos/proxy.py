"""A way between two brokers that can be held, cut, and slowed down."""

import asyncio
from contextlib import suppress

_CHUNK = 65_536


class Proxy:
    """Passes on what comes to a port of its own, until it is told otherwise.

    Ownership: :meth:`close` ends it, and all that goes through it.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._server: asyncio.Server | None = None
        self._open = asyncio.Event()
        self._open.set()
        self.delay_s = 0.0
        self._ends: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        """Listen at a free port."""
        self._server = await asyncio.start_server(self._pass, "127.0.0.1", 0)

    @property
    def url(self) -> str:
        """Where it listens."""
        assert self._server is not None, "start it first"
        return f"siena://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def hold(self) -> None:
        """Let nothing through; neither end is told."""
        self._open.clear()

    def let(self) -> None:
        """Let everything through again."""
        self._open.set()

    def reset(self) -> None:
        """Cut what is connected now; others may connect."""
        for end in list(self._ends):
            with suppress(OSError, RuntimeError):
                end.transport.abort()

    async def close(self) -> None:
        """End it."""
        self._open.set()
        self.reset()
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._ends.add(writer)
        there: asyncio.StreamWriter | None = None
        try:
            await self._open.wait()
            back, there = await asyncio.open_connection(*self._target)
            self._ends.add(there)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._copy(reader, there))
                both.create_task(self._copy(back, writer))
        except* (OSError, asyncio.CancelledError):  # one has gone, or all is over
            pass
        finally:
            for end in (writer, there):
                if end is not None:
                    self._ends.discard(end)
                    with suppress(OSError, RuntimeError):
                        end.transport.abort()
            self._tasks.discard(task)

    async def _copy(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        while data := await reader.read(_CHUNK):
            await self._open.wait()
            if self.delay_s:
                await asyncio.sleep(self.delay_s)
            writer.write(data)
            await writer.drain()
        raise ConnectionResetError("the other end has closed")
