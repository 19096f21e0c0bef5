"""Durable subscriptions by HTTP and WebSocket."""

import json
from pathlib import Path

import pytest
from websockets.asyncio.client import connect as open_websocket

from broker.logs import publish
from http_wire import Events, web
from siena.broker.settings import Log
from wire import until


async def test_events_are_read_and_acknowledged_by_requests(tmp_path: Path) -> None:
    async with web(log=Log(path=str(tmp_path))) as (broker, _, client):
        path = "/subscribe?durable=billing&filter=n > 2&start=all"
        durable = broker.log_service.durable
        await publish(broker, 6)
        async with client.stream("GET", path) as answer:
            assert answer.status_code == 200
            events = Events(answer)
            found: list[object] = []
            while len(found) < 3:
                name, form = await events.next()
                if name == "message":
                    found.append(form["n"])
            assert found == [3, 4, 5]
            said = await client.post("/durables/billing/ack", json={"offsets": [3, 5]})
            assert said.json() == {"answered": 2}
            said = await client.post("/durables/billing/nak", json={"offsets": [4]})
            assert said.json() == {"answered": 1}
            while (await events.next())[1] != {"n": 4}:
                pass
        await until(lambda: durable.durables(1)[0]["readers"] == 0)
        said = await client.post("/durables/billing/ack", json={"up_to": 6})
        assert said.json() == {"answered": 1}
        [shown] = (await client.get("/api/durables")).json()["durables"]
        assert (shown["low"], shown["lag"]) == (6, 0)
        metrics = (await client.get("/metrics")).text
        assert 'siena_durable_lag{name="billing"} 0.0' in metrics
        assert (await client.delete("/durables/billing")).status_code == 204
        assert (await client.delete("/durables/billing")).status_code == 404


@pytest.mark.parametrize(
    "query",
    ["durable=b", "durable=b&filter=x any&filter=y any", "durable=&filter=x any",
     "durable=b&filter=x any&credit=0", "durable=b&filter=x any&start=later",
     "durable=b&filter=x any&policy=drop",
     f"durable=b&filter=x any&start={'9' * 5_000}"],
)  # fmt: skip
async def test_what_cannot_be_understood_is_refused(tmp_path: Path, query: str) -> None:
    async with web(log=Log(path=str(tmp_path))) as (broker, _, client):
        answer = await client.get(f"/subscribe?{query}")
        assert (answer.status_code, answer.json()["error"]) == (400, 108)
        assert broker.log_service.durable.count == 0


async def test_without_a_store_it_is_refused() -> None:
    async with web() as (_, _, client):
        answer = await client.get("/subscribe?durable=b&filter=x any")
        assert (answer.status_code, answer.json()["error"]) == (501, 126)
        answer = await client.post("/durables/b/ack", json={"offsets": [1]})
        assert answer.status_code == 501


async def test_a_websocket_reads_and_answers(tmp_path: Path) -> None:
    async with web(log=Log(path=str(tmp_path))) as (broker, server, _):
        place = server.url.removeprefix("http://")
        async with open_websocket(f"ws://{place}/ws") as socket:
            await socket.send(json.dumps({"sub": "n any", "durable": "billing"}))
            await until(lambda: broker.log_service.durable.count == 1)
            await publish(broker, 2)
            found: list[object] = []
            while len(found) < 2:
                said = json.loads(await socket.recv())
                if said["siena"] == "DELIVER":
                    found.append(
                        (said["offset"], said["attempt"], said["notification"])
                    )
            assert found == [(0, 1, {"n": 0}), (1, 1, {"n": 1})]
            await socket.send(json.dumps({"ack": [0], "number": 1}))
            await socket.send(json.dumps({"nak": [1], "number": 1}))
            while (said := json.loads(await socket.recv()))["siena"] != "DELIVER":
                pass
            assert (said["offset"], said["attempt"]) == (1, 2)
            await socket.send(json.dumps({"ack": {"up_to": 2}, "number": 1}))
            durables = broker.log_service.durable.durables
            await until(lambda: durables(1)[0]["low"] == 2)
            await socket.send(json.dumps({"ack": "x", "number": 1}))
            while (said := json.loads(await socket.recv()))["siena"] != "ERR":
                pass
            assert said["error"] == 108
