"""A broker with its HTTP side, at free ports, and those who ask it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.broker.settings import Settings
from wire import SECONDS_MAX, serving


class Web(NamedTuple):
    """A broker, its HTTP side, and somebody who asks."""

    broker: Broker
    server: HttpServer
    client: httpx.AsyncClient


def asking(url: str, **options: Any) -> httpx.AsyncClient:  # noqa: ANN401 -- httpx's
    """One who asks by plain HTTP, and does not read the certificates of the system."""
    options = {"timeout": SECONDS_MAX, "trust_env": False, "verify": False, **options}
    return httpx.AsyncClient(base_url=url, **options)


@asynccontextmanager
async def web(**settings: Any) -> AsyncIterator[Web]:  # noqa: ANN401 -- any setting
    """A broker that is reached by HTTP."""
    async with serving(Settings(listen=("127.0.0.1:0",), **settings)) as broker:
        server = HttpServer(broker, "127.0.0.1:0")
        await server.start()
        async with asking(server.url) as client:
            try:
                yield Web(broker, server, client)
            finally:
                await server.drain()


class Events:
    """The server-sent events of an answer, one after the other."""

    def __init__(self, answer: httpx.Response) -> None:
        self._lines = answer.aiter_lines()

    async def next(self) -> tuple[str, Any]:
        """The name of the next event, and what it says."""
        name = "message"
        async for line in self._lines:
            if line.startswith("event: "):
                name = line.removeprefix("event: ")
            elif line.startswith("data: "):
                return name, json.loads(line.removeprefix("data: "))
        raise EOFError


@asynccontextmanager
async def subscribed(
    client: httpx.AsyncClient, *filters: str, **params: str
) -> AsyncIterator[Events]:
    """Events, once the subscription is settled."""
    query: dict[str, Any] = {"filter": list(filters), **params}
    async with client.stream("GET", "/subscribe", params=query) as answer:
        assert answer.status_code == 200, await answer.aread()
        events = Events(answer)
        for _ in filters:
            assert (await events.next())[0] == "settled"
        yield events
