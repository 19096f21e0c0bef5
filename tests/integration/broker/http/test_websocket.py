"""WebSockets of a broker: JSON objects go both ways."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from uvicorn.protocols.utils import ClientDisconnected
from websockets.asyncio.client import ClientConnection, connect as connect_ws
from websockets.exceptions import ConnectionClosed, InvalidStatus

from http_wire import Web, web
from siena.block import encode
from siena.broker.http.limits import STREAM_BYTES_AT_ONCE
from siena.broker.http.websocket import LINES, ManyMessages
from siena.broker.settings import Limits, Routing
from siena.model import Value
from siena.protocol.data_frames import Delivery
from wire import connect, until


class Socket:
    """Somebody at the other end of a WebSocket."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection

    async def ask(self, **request: object) -> None:
        await self.connection.send(json.dumps(request))

    async def next(self) -> Any:  # noqa: ANN401 -- JSON
        return json.loads(await self.connection.recv())


@asynccontextmanager
async def socket(found: Web, **headers: str) -> AsyncIterator[Socket]:
    url = f"ws://{found.server.address.place}/ws"
    async with connect_ws(url, additional_headers=headers, proxy=None) as connection:
        yield Socket(connection)


async def test_publish_and_subscribe_as_in_the_line_mode() -> None:
    async with web() as found, socket(found) as one, socket(found) as other:
        wire = await connect(found.broker)
        await wire.subscribe(1, "x = 4")
        await one.ask(sub="x > 3")
        assert await one.next() == {"siena": "SETTLED", "number": 1}
        await one.ask(sub="x > 3 or y any", number=7)
        assert await one.next() == {"siena": "SETTLED", "number": 7}
        await other.ask(pub={"x": 4})
        await other.ask(pub=[{"y": 1}, {"z": 1}])
        await other.ask(ping="done")
        assert await other.next() == {"siena": "PONG", "data": "done"}
        assert await one.next() == {
            "siena": "MSG",
            "subscriptions": [1, 7],
            "notification": {"x": 4},
        }
        assert (await one.next())["notification"] == {"y": 1}
        await one.ask(unsub=7)
        assert await one.next() == {"siena": "DONE", "request": "UNSUB", "number": 7}
        assert await wire.sync() == [Delivery((1,), encode({"x": 4}))]


async def test_what_is_written_at_once_comes_one_by_one() -> None:
    async with web() as found, socket(found) as one:
        publisher = await connect(found.broker)
        await one.ask(sub="n any")
        await one.next()
        total, text = 2 * STREAM_BYTES_AT_ONCE // 100, "\n\u2028é" * 20
        some: list[dict[str, Value]] = [{"n": n, "text": text} for n in range(total)]
        publisher.publish(*some)
        for each in some:
            assert (await one.next())["notification"] == each


async def test_a_filter_ends_all_that_it_covers() -> None:
    async with web() as found, socket(found) as one:
        for text in ("x > 3", "x > 5", "y any"):
            await one.ask(sub=text)
            await one.next()
        await one.ask(unsub="x any")
        assert await one.next() == {
            "siena": "ENDED",
            "request": "UNSUB_COVERED",
            "numbers": [1, 2],
        }
        await one.ask(adv="x any")
        await one.next()
        await one.ask(unadv="[]")
        assert (await one.next())["siena"] == "ENDED"


async def test_who_hangs_up_is_forgotten() -> None:
    async with web() as found:
        async with socket(found) as one:
            await one.ask(sub="x any")
            await one.next()
        await until(lambda: not found.broker.state.sessions)
        assert found.broker.state.counters.subscriptions_now == 0


async def test_what_is_wrong_is_said_and_the_rest_goes_on() -> None:
    async with web() as found, socket(found) as one:
        for text, error, said in (
            ("{", 108, "not JSON"),
            ("[]", 108, "one of pub, sub"),
            ('{"pub": {}, "sub": "x any"}', 108, "one of pub, sub"),
            ('{"shout": 1}', 108, "one of pub, sub"),
            ('{"sub": 3}', 108, "interest"),
            ('{"sub": "x any", "number": -1}', 108, "numbers"),
            ('{"sub": "x any", "number": true}', 108, "integer"),
            ('{"sub": "x >"}', 101, "expected a value"),
            ('{"unsub": 3}', 104, "3"),
            ('{"pub": {"x": [1]}}', 100, "value"),
            ('{"pub": [{"x": 1}, 2]}', 100, "object"),
            (json.dumps({"ping": "a" * 65}), 108, "64"),
        ):
            await one.connection.send(text)
            answer = await one.next()
            assert (answer["siena"], answer["error"]) == ("ERR", error), answer
            assert said in answer["text"]
        assert found.broker.state.counters.publications == 0
        await one.ask(ping="still here")
        assert (await one.next())["data"] == "still here"


async def test_who_advertises_may_publish() -> None:
    routing = Routing(forwarding="advertisement")
    async with web(routing=routing) as found, socket(found) as one:
        await one.ask(pub={"x": 1})
        assert (await one.next())["name"] == "NOT_ADVERTISED"
        await one.ask(adv="x any")
        assert await one.next() == {"siena": "QUENCH", "number": 1, "quenched": True}
        await one.ask(pub={"x": 1})
        await one.ask(ping="")
        assert (await one.next())["siena"] == "PONG"


async def test_pages_of_other_sites_are_refused() -> None:
    async with web() as found:
        with pytest.raises(InvalidStatus):
            async with socket(found, Origin="http://evil.test"):
                pass


async def test_a_message_that_is_too_long_ends_it() -> None:
    async with web() as found, socket(found) as one:
        await one.connection.send('"' + "a" * 2_000_000 + '"')
        with pytest.raises(ConnectionClosed):
            await one.next()
        await until(lambda: not found.broker.state.sessions)


async def test_a_broker_that_ends_says_so() -> None:
    async with web() as found, socket(found) as one:
        await one.ask(ping="a")
        await one.next()
        found.server.entry.drain()
        assert (await one.next())["name"] == "DRAINING"
        with pytest.raises(ConnectionClosed):
            await one.next()


async def test_who_looks_sees_snapshots() -> None:
    async with web(name="b1") as found, socket(found) as one:
        await one.ask(look="sessions", limit=5)
        seen = await one.next()
        assert (seen["siena"], seen["what"]) == ("SEEN", "sessions")
        assert seen["seen"]["sessions"][0]["name"] == "/ws"
        await one.ask(look="sessions", limit=0)
        assert (await one.next())["error"] == 108
        await one.ask(look="secrets")
        assert (await one.next())["request"] == "LOOK"


async def test_a_socket_that_is_not_read_loses_its_own_and_hears_of_it() -> None:
    limits = Limits(output_bytes=1_048_576)
    async with web(limits=limits) as found, socket(found) as slow:
        counters = found.broker.state.counters
        await slow.ask(sub="n any")
        assert (await slow.next())["siena"] == "SETTLED"
        publisher = await connect(found.broker)
        text, total = "a" * 10_000, 3_000
        for n in range(0, total, 50):
            some: list[dict[str, int | str]] = [
                {"n": n + i, "text": text} for i in range(50)
            ]
            publisher.publish(*some)
            await publisher.sync()
        assert counters.lost > 0
        got = lost = 0
        while got + lost < total:
            said = await slow.next()
            if said["siena"] == "MSG":
                assert said["notification"]["n"] == got + lost
                got += 1
            else:
                lost += said["count"]
        assert lost == counters.lost


async def test_who_publishes_for_a_reader_that_blocks_waits_for_it() -> None:
    limits = Limits(output_bytes=1_048_576)
    async with web(limits=limits) as found, socket(found) as publisher:
        reader = await connect(found.broker, policy="block")
        await reader.subscribe(1, "n any")
        text, total = "a" * 20_000, 1_500

        async def publish() -> None:
            for n in range(total):
                await publisher.ask(pub={"n": n, "text": text})
            await publisher.ask(ping="done")

        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(publish())
            await until(lambda: any(g.is_held for g in found.server.entry.guests))
            for n in range(total):
                delivery = await reader.next()
                assert isinstance(delivery, Delivery)
                assert delivery.block == encode({"n": n, "text": text})
        assert (await publisher.next())["data"] == "done"
        assert found.broker.state.counters.lost == 0


async def test_what_is_said_to_who_has_just_closed_is_no_error() -> None:
    """Found: a page that was left while much came for it wrote a trace to the log."""
    connection = ManyMessages.__new__(ManyMessages)
    connection.handshake_complete = connection.close_sent = True
    with pytest.raises(ClientDisconnected):
        await connection.send({"type": "websocket.send", LINES: b"{}\n"})
