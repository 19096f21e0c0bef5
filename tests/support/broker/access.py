"""A broker that asks who comes, credentials of every kind, and ways to come to it.

A *way* is a function that asks for something with a credential, and returns the number
of the error, or 0.  The tables of tests are made of ways and credentials.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from msgspec import structs
from websockets.asyncio.client import connect as connect_ws
from websockets.exceptions import ConnectionClosed, InvalidStatus

from siena.broker.access.credentials import Credentials, save_credentials
from siena.broker.access.settings import Access
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.broker.io.message_stream import SUBPROTOCOL
from siena.broker.settings import HandlerSettings, Log, Settings
from siena.client.tokens import narrow_token, new_token
from siena.protocol.control_frames import (
    Body,
    Connect,
    Error,
    Look,
    Move,
    Peer,
    Subscribe,
    unpack,
)
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.handshake import PREFACE
from siena.protocol.log_frames import Commit, Read
from wire import SECONDS_MAX, open_wire, serving

# What each credential gets, wherever it is shown: 0 is to be let in.
EXPECTED = {
    "without": 211,
    "wrong": 211,
    "unknown": 211,
    "revoked": 211,
    "expired": 212,
    "narrower, expired": 212,
    "narrower": 0,
    "good": 0,
}


@dataclass
class Guarded:
    """A broker with access control, its HTTP side, and credentials for it."""

    broker: Broker
    server: HttpServer
    client: httpx.AsyncClient
    tokens: dict[str, str | None]
    file: Path


def make_tokens(file: Path, identity: str = "ann") -> dict[str, str | None]:
    """Credentials of every kind, of which this file knows some."""
    good, expired, unknown, revoked = (new_token() for _ in range(4))
    known = Credentials().with_token(good, identity, ("all",), made_at=0.0)
    known = known.with_token(expired, identity, ("all",), made_at=0.0, expires_at=1.0)
    known = known.with_token(revoked, identity, ("all",), made_at=0.0)
    save_credentials(file, known.without(revoked.number))
    return {
        "without": None,
        "wrong": f"siena1.{good.number}.{unknown.proof}",
        "unknown": unknown.text,
        "revoked": revoked.text,
        "expired": expired.text,
        "narrower, expired": narrow_token(expired.text, "x any"),
        "narrower": narrow_token(good.text, "x any", for_s=3600),
        "good": good.text,
    }


@asynccontextmanager
async def guarded(folder: Path, **more: Any) -> AsyncIterator[Guarded]:  # noqa: ANN401 -- any setting
    """A broker that asks, with a log, that links to others and calls web hooks."""
    file = folder / "credentials.json"
    tokens = make_tokens(file)
    settings = Settings(
        name="b1",
        listen=("127.0.0.1:0",),
        accept_peers=True,
        access=Access(credentials=str(file)),
        log=Log(path=str(folder / "log")),
        handlers=HandlerSettings(allow=("http://127.0.0.1:9/",)),
    )
    async with serving(structs.replace(settings, **more)) as broker:
        server = HttpServer(broker, "127.0.0.1:0")
        await server.start()
        async with httpx.AsyncClient(
            base_url=server.url, timeout=SECONDS_MAX, trust_env=False
        ) as client:
            try:
                yield Guarded(broker, server, client, tokens, file)
            finally:
                await server.drain()


Way = Callable[[Guarded, str | None], Awaitable[int]]


def _native(*asks: bytes, **connect: Any) -> Way:  # noqa: ANN401 -- any field
    """Frames: CONNECT, and what shall follow."""

    async def come(found: Guarded, token: str | None) -> int:
        wire = await open_wire(found.broker)
        body = Connect(1, token=token, **connect)
        wire.send(PREFACE + body.pack() + b"".join(asks) + pack(Op.PING, b"end"))
        try:
            while (said := await wire.next()) != b"end":
                if isinstance(said, Error):
                    return said.fault
                if connect.get("peer"):  # it has been let in, and answers no PING
                    return 0
        except EOFError:
            return -1
        return 0

    return come


async def _lines(found: Guarded, token: str | None) -> int:
    wire = await open_wire(found.broker)
    auth = b"" if token is None else f"auth {token}\n".encode()
    wire.writer.write(auth + b"pub x=1\nping end\n")
    line = json.loads(await wire.reader.readline())
    return int(line.get("error", 0))


def _http(method: str, path: str, **request: Any) -> Way:  # noqa: ANN401 -- any of httpx
    """One request; of a stream, its beginning."""

    async def come(found: Guarded, token: str | None) -> int:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        async with found.client.stream(
            method, path, headers=headers, **request
        ) as answer:
            if answer.status_code < 400:
                return 0
            return int(json.loads(await answer.aread())["error"])

    return come


def _websocket(*, in_message: bool) -> Way:
    """A header, as programs send it, or the first message, as browsers do."""

    async def come(found: Guarded, token: str | None) -> int:
        url = f"ws://{found.server.address.place}/ws"
        headers = {} if token is None or in_message else _bearer(token)
        try:
            async with connect_ws(url, additional_headers=headers, proxy=None) as ws:
                if token is not None and in_message:
                    await ws.send(json.dumps({"token": token}))
                await ws.send('{"ping": "end"}')
                return int(json.loads(await ws.recv()).get("error", 0))
        except InvalidStatus as error:  # which says nothing more
            if error.response.status_code != 403:
                return -1
            return EXPECTED["expired" if token in _expired(found) else "wrong"]
        except ConnectionClosed:
            return -1

    return come


def _expired(found: Guarded) -> list[str | None]:
    return [found.tokens["expired"], found.tokens["narrower, expired"]]


def _bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def _link_by_websocket(found: Guarded, token: str | None) -> int:
    url = f"ws://{found.server.address.place}/link"
    async with connect_ws(url, subprotocols=[SUBPROTOCOL], proxy=None) as ws:  # type: ignore[list-item]
        await ws.recv()  # INFO
        await ws.send(PREFACE + Connect(1, peer=PEER, token=token).pack())
        frames = Splitter()
        while True:
            data = await asyncio.wait_for(ws.recv(), SECONDS_MAX)
            assert isinstance(data, bytes)
            for frame in frames.feed(data):
                said = unpack(*frame)
                assert isinstance(said, Body)
                return said.fault if isinstance(said, Error) else 0


PEER = Peer(7, 1, "peer")
HOOK = {"handler": "http://127.0.0.1:9/", "subscriptions": ["x any"]}

WAYS: dict[str, Way] = {
    "native PUB": _native(pack(Op.PUB, b"\x81\xa1x\x01")),
    "native SUB": _native(Subscribe(1, "x any").pack()),
    "native LOOK": _native(Look("sessions").pack()),
    "native READ": _native(Read("x any", 0).pack()),
    "native COMMIT": _native(Commit("reader", 0).pack()),
    "native link": _native(peer=PEER),
    "lines": _lines,
    "POST /publish": _http("POST", "/publish", json={"x": 1}),
    "GET /subscribe": _http("GET", "/subscribe", params={"filter": "x any"}),
    "GET /api/sessions": _http("GET", "/api/sessions"),
    "GET /metrics": _http("GET", "/metrics"),
    "GET /api/identities": _http("GET", "/api/identities"),
    "/ws with a header": _websocket(in_message=False),
    "/ws with a message": _websocket(in_message=True),
    "/link": _link_by_websocket,
}
# With these, only a token that was not narrowed is let in: it takes what was kept.
OWNING_WAYS: dict[str, Way] = {
    "native identity": _native(identity="ann"),
    "native MOVE": _native(Move("").pack(), identity="ann/phone"),
    "PUT /api/identities": _http("PUT", "/api/identities/ann", json=HOOK),
}
