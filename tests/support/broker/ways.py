"""Ways to a broker: each asks for something with a credential, and hears a number.

A *way* returns the number of the error, or 0.  The table of tests is made of ways and
credentials.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from websockets.asyncio.client import connect as connect_ws
from websockets.exceptions import ConnectionClosed, InvalidStatus

from broker.access import Guarded
from siena.broker.io.message_stream import SUBPROTOCOL
from siena.protocol.control_frames import Body, Connect, Error, Peer, Settled, unpack
from siena.protocol.durable.reading import DurableSubscribe
from siena.protocol.durable.receipts import Stored
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.handshake import PREFACE
from wire import SECONDS_MAX, open_wire

Way = Callable[[Guarded, str | None], Awaitable[int]]

PEER = Peer(7, 1, "peer")


def native(*asks: bytes | Body, **connect: Any) -> Way:  # noqa: ANN401 -- any field
    """Frames: CONNECT, and what shall follow; behind DSUB once that is settled."""
    frames = [a.pack() if isinstance(a, Body) else a for a in asks]
    frames.append(pack(Op.PING, b"end"))
    at_once = 1 if isinstance(next(iter(asks), None), DurableSubscribe) else len(frames)

    async def come(found: Guarded, token: str | None) -> int:
        wire = await open_wire(found.broker)
        body = Connect(1, token=token, **connect)
        wire.send(PREFACE + body.pack() + b"".join(frames[:at_once]))
        try:
            while (frame := await wire.frame()).op != Op.PONG:
                said = None if frame.op == Op.DELIVER else unpack(*frame)
                if isinstance(said, Settled):
                    wire.send(b"".join(frames[at_once:]))
                if isinstance(said, Error):
                    return said.fault
                if isinstance(said, Stored) and said.fault:
                    return said.fault
                if connect.get("peer"):  # it has been let in, and answers no PING
                    return 0
        except EOFError:
            return -1
        finally:
            wire.close()
        return 0

    return come


def lines(line: str) -> Way:
    """The text mode: ``auth``, and then what is asked for."""

    async def come(found: Guarded, token: str | None) -> int:
        wire = await open_wire(found.broker)
        auth = "" if token is None else f"auth {token}\n"
        wire.writer.write(f"{auth}{line}\nping end\n".encode())
        number = 0
        async with asyncio.timeout(SECONDS_MAX):
            while said := await wire.reader.readline():
                form = json.loads(said)
                number = number or int(form.get("error", 0))
                if form.get("siena") == "PONG":
                    break
        wire.close()
        return number

    return come


def http(method: str, path: str, **request: Any) -> Way:  # noqa: ANN401 -- any of httpx
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


def websocket(ask: dict[str, object], *, in_message: bool) -> Way:
    """A header, as programs send it, or the first message, as browsers do."""

    async def come(found: Guarded, token: str | None) -> int:
        url = f"ws://{found.server.address.place}/ws"
        has_header = token is not None and not in_message
        headers = {"authorization": f"Bearer {token}"} if has_header else {}
        number = 0
        try:
            async with connect_ws(url, additional_headers=headers, proxy=None) as ws:
                if token is not None and in_message:
                    await ws.send(json.dumps({"token": token}))
                await ws.send(json.dumps(ask))
                await ws.send('{"ping": "end"}')
                while (said := json.loads(await ws.recv())).get("siena") != "PONG":
                    number = number or int(said.get("error", 0))
        except InvalidStatus as error:
            return int(json.loads(error.response.body or b"{}").get("error", -1))
        except ConnectionClosed:
            return number or -1
        return number

    return come


async def link_by_websocket(found: Guarded, token: str | None) -> int:
    """A link through a WebSocket."""
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
