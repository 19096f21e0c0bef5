"""A broker with the console's questions, and who asks them over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import httpx

from http_wire import asking
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.cli.console.looking_around import LookAround
from siena.web.around import around_routes
from siena.web.files import file_routes


class Served(NamedTuple):
    """A broker, and who asks it over HTTP."""

    broker: Broker
    client: httpx.AsyncClient

    async def ask(self, path: str, **body: Any) -> Any:  # noqa: ANN401 -- as JSON is
        answer = await self.client.post(f"/api/{path}", json=body)
        assert answer.status_code == 200, answer.text
        return answer.json()


@asynccontextmanager
async def served(broker: Broker, token: str | None = None) -> AsyncIterator[Served]:
    routes = [*around_routes(LookAround(broker)), *file_routes()]
    server = HttpServer(broker, "127.0.0.1:0", routes)
    await server.start()
    headers = {} if token is None else {"authorization": f"Bearer {token}"}
    async with asking(server.url, headers=headers) as client:
        try:
            yield Served(broker, client)
        finally:
            await server.drain()
