"""A web server of a test, to which handlers post."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any


class Hook:
    """A web server that keeps what it is posted, and answers as it is told."""

    def __init__(self) -> None:
        self.letters: list[Any] = []
        self.heads: list[str] = []
        self.answers: list[int] = []
        self.tried: list[Any] = []
        self.judge: Callable[[Any], int] = lambda _letter: 204
        self.url = ""

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().split("content-length:")[1].split("\r\n")[0])
        letter = json.loads(await reader.readexactly(length))
        self.tried.append(letter)
        status = self.answers.pop(0) if self.answers else self.judge(letter)
        if status < 300:
            self.letters.append(letter)
        self.heads.append(head)
        place = "location: http://127.0.0.1:1/\r\n"
        writer.write(
            f"HTTP/1.1 {status} so\r\n{place}content-length: 0\r\n"
            "connection: close\r\n\r\n".encode()
        )
        await writer.drain()
        writer.close()


@asynccontextmanager
async def hooked() -> AsyncIterator[Hook]:
    hook = Hook()
    server = await asyncio.start_server(hook.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    hook.url = f"http://127.0.0.1:{port}/hooks"
    async with server:
        yield hook
