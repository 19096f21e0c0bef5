"""The HTTP side of a broker over real sockets: publish, subscribe, watch."""

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from http_wire import subscribed, web
from siena.block import encode
from siena.broker.http import limits, publish
from siena.broker.settings import Limits, Log, Routing
from siena.model import Value
from siena.protocol.control_frames import Connect, Peer
from siena.protocol.data_frames import Delivery
from siena.protocol.handshake import PREFACE
from wire import connect, open_wire, until

JSON = {"content-type": "application/json"}
EVENT = {"specversion": "1.0", "id": "7", "source": "/shop", "type": "order"}


async def test_what_is_posted_reaches_a_client_of_frames() -> None:
    async with web() as (broker, _, client):
        subscriber = await connect(broker)
        await subscriber.subscribe(7, "symbol = DIS and change < 0")
        said = {"symbol": "DIS", "change": -4, "note": None}
        answer = await client.post("/publish", json=said)
        assert (answer.status_code, answer.json()) == (200, {"published": 1})
        expected = Delivery((7,), encode({"change": -4, "symbol": "DIS"}))
        assert await subscriber.sync() == [expected]


async def test_what_a_client_of_frames_publishes_comes_as_events() -> None:
    async with web() as (broker, _, client):
        publisher = await connect(broker)
        async with subscribed(client, "x > 3") as events:
            publisher.publish({"x": 3}, {"x": 4}, {"x": 5, "s": "a\nb"})
            assert await events.next() == ("message", {"x": 4})
            assert await events.next() == ("message", {"x": 5, "s": "a\nb"})


async def test_several_filters_and_patterns_are_one_subscription() -> None:
    async with web() as (_, _, client):
        filters = ("x > 3", "x > 4 or y any", "x = 1 then x = 9")
        async with subscribed(client, *filters) as events:
            await client.post("/publish", json=[{"x": 1}, {"x": 5}, {"x": 9}])
            got = [await events.next() for _ in range(3)]
        assert ("found", [{"x": 1}, {"x": 9}]) in got
        assert [form for name, form in got if name == "message"] == [{"x": 5}, {"x": 9}]


async def test_who_leaves_wants_nothing_any_more() -> None:
    async with web() as (broker, server, client):
        async with subscribed(client, "x any"):
            assert broker.state.counters.subscriptions_now == 1
            assert len(server.entry) == 1
        await until(lambda: not broker.state.sessions)
        assert broker.state.counters.subscriptions_now == 0
        assert len(server.entry) == 0


BODIES: list[tuple[str, str, list[Any]]] = [
    ("application/json", '{"x": 1}', [{"x": 1}]),
    ("application/json; charset=utf-8", '[{"x": 1}, {"x": 2}]', [{"x": 1}, {"x": 2}]),
    ("application/json", "[]", []),
    ("application/x-ndjson", '{"x": 1}\n\n{"x": 2.5}\n', [{"x": 1}, {"x": 2.5}]),
    (
        "application/cloudevents+json",
        json.dumps({**EVENT, "data": {"x": 1, "id": True, "deep": {}}}),
        [{**EVENT, "x": 1, "data.id": True}],
    ),
    (
        "application/cloudevents-batch+json",
        json.dumps([{**EVENT, "data": "x"}, {**EVENT, "data": [1], "x": 3}]),
        [{**EVENT, "data": "x"}, {**EVENT, "x": 3}],
    ),
]


async def test_bodies() -> None:
    async with web() as (_, _, client), subscribed(client, "[]") as events:
        for kind, body, expected in BODIES:
            headers = {"content-type": kind}
            answer = await client.post("/publish", content=body, headers=headers)
            assert answer.json()["published"] == len(expected)
            assert [(await events.next())[1] for _ in expected] == expected


NESTED = '{"a": {"b": 1, "c": null}, "tags": ["x", "y"], "s": "t"}'
WINDOWS = '{"Event": {"System": {"EventID": 1}, "EventData": {"Image": "a.exe"}}}'
BY_PATH = {"Event.System.EventID": 1, "Event.EventData.Image": "a.exe"}
BEYOND = '{"user": {"id": 12345678901234567890}}'


async def test_nested_bodies_have_their_paths_as_names() -> None:
    async with web() as (_, _, client), subscribed(client, "[]") as events:
        for query, body, expected, left_out in [
            ("1", NESTED, {"a.b": 1, "s": "t"}, 1),
            ("path", WINDOWS, BY_PATH, 0),
            ("windows", WINDOWS, {"EventID": 1, "Image": "a.exe"}, 0),
        ]:
            url = f"/publish?nested={query}"
            answer = await client.post(url, content=body, headers=JSON)
            assert answer.json()["published"] == 1
            assert answer.json().get("left_out", 0) == left_out
            assert (await events.next())[1] == expected
        for query, body, why in [
            ("windows", NESTED, "a Windows event"),
            ("path", BEYOND, "does not fit in 64 bits"),
            ("deep", NESTED, "not how events are nested"),
            ("1", "[[1]]", "an event is a JSON object"),
        ]:
            url = f"/publish?nested={query}"
            answer = await client.post(url, content=body, headers=JSON)
            assert (answer.status_code, why in answer.text) == (400, True)


BAD_BODIES: list[tuple[str, str | bytes, int, int, str]] = [
    ("text/plain", '{"x": 1}', 415, 108, "text/plain"),
    ("", '{"x": 1}', 415, 108, "missing"),
    ("application/json", '{"x": 1', 400, 100, "notification 1: this is not JSON"),
    ("application/json", '[{"x": 1}, {"x": [2]}]', 400, 100, "notification 2"),
    ("application/json", '{"x": 1, "x": 2}', 400, 100, "twice"),
    ("application/json", b"\xff", 400, 100, "UTF-8"),
    ("application/json", "3", 400, 100, "a notification is a JSON object"),
    ("application/x-ndjson", '{"x": 1}\n{"x": }', 400, 100, "notification 2"),
    ("application/cloudevents+json", '{"id": "7"}', 400, 100, "specversion"),
    (
        "application/cloudevents+json",
        json.dumps({**EVENT, "specversion": "0.3"}),
        400,
        100,
        "version 1.0",
    ),
    ("application/cloudevents-batch+json", "{}", 400, 100, "a JSON array"),
]


async def test_bad_bodies_publish_nothing() -> None:
    async with web() as (broker, _, client):
        for kind, body, status, error, text in BAD_BODIES:
            headers = {"content-type": kind}
            answer = await client.post("/publish", content=body, headers=headers)
            said = answer.json()
            assert (answer.status_code, said["error"]) == (status, error)
            assert text in said["text"]
            assert "\n" not in said["text"]
        assert broker.state.counters.publications == 0


async def test_events_whose_attributes_are_in_headers_are_not_half_read() -> None:
    async with web() as (broker, _, client):
        headers = {f"ce-{name}": value for name, value in EVENT.items()}
        answer = await client.post("/publish", json={"x": 1}, headers=headers)
        assert answer.status_code == 415
        assert "application/cloudevents+json" in answer.json()["text"]
        assert broker.state.counters.publications == 0


async def test_bodies_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    async with web() as (broker, _, client):
        body = b" " * (limits.BODY_BYTES_MAX + 1)
        answer = await client.post("/publish", content=body, headers=JSON)
        assert (answer.status_code, answer.json()["name"]) == (413, "TOO_LONG")
        monkeypatch.setattr("siena.broker.http.body.NOTIFICATIONS_MAX", 2)
        answer = await client.post("/publish", json=[{}, {}, {}])
        assert answer.status_code == 413
        assert broker.state.counters.publications == 0


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"filter": "x >"}, "expected a value"),
        ({}, "filter="),
        ({"filter": "x any", "fliter": "y any"}, "filter="),
        ({"filter": "x any", "policy": "block"}, "policy"),
    ],
)
async def test_bad_subscriptions_are_refused_at_once(
    query: dict[str, str], text: str
) -> None:
    async with web() as (broker, _, client):
        answer = await client.get("/subscribe", params=query)
        assert answer.status_code == 400
        assert text in answer.json()["text"]
        assert not broker.state.sessions


async def test_a_place_is_shown() -> None:
    async with web() as (_, _, client):
        answer = await client.get("/subscribe", params={"filter": "x >"})
        said = answer.json()
        assert (said["name"], said["column"]) == ("BAD_INTEREST", 4)
        assert said["pointer"] == ["x >", "   ^"]


async def test_only_our_own_pages_may_ask() -> None:
    async with web(http_hosts=("broker.test",)) as (_, server, client):
        port = server.address.port

        async def status(**headers: str) -> int:
            answer = await client.post("/publish", json={"x": 1}, headers=headers)
            return answer.status_code

        assert await status() == 200
        assert await status(host=f"localhost:{port}") == 200
        assert await status(host=f"broker.test:{port}") == 200
        assert await status(host=f"evil.test:{port}") == 421
        assert await status(origin=server.url) == 200
        assert await status(origin="http://evil.test") == 403
        assert await status(origin="null") == 403
        answer = await client.options("/publish", headers={"origin": server.url})
        assert not [
            name for name in answer.headers if name.startswith("access-control")
        ]


async def test_a_page_of_another_site_makes_no_browser_subscribe(
    tmp_path: Path,
) -> None:
    """Found: a picture is asked for without ``Origin``, and made a subscription."""
    log = Log(path=str(tmp_path))
    async with web(log=log) as (broker, _, client):

        async def status(path: str, site: str, mode: str = "no-cors") -> int:
            headers = {"sec-fetch-site": site, "sec-fetch-mode": mode}
            async with client.stream("GET", path, headers=headers) as answer:
                return answer.status_code

        for site in ("cross-site", "same-site"):
            for mode in ("no-cors", "navigate"):
                path = f"/subscribe?filter=x+any&durable={site}-{mode}"
                assert await status(path, site, mode) == 403
            assert await status("/metrics", site) == 403
            # A link that leads here from a page of others.
            assert await status("/healthz", site, "navigate") == 200
        assert broker.log_service.durable.durables(10) == []
        for site in ("same-origin", "none"):
            assert await status("/subscribe?filter=x+any&durable=mine", site) == 200
        assert len(broker.log_service.durable.durables(10)) == 1


async def test_what_is_not_there_is_said_in_json() -> None:
    async with web() as (_, _, client):
        for method, path, status in (
            ("GET", "/", 404),
            ("GET", "/publish", 405),
            ("POST", "/subscribe?filter=x+any", 405),
        ):
            answer = await client.request(method, path)
            assert answer.status_code == status
            assert answer.json()["error"] == 108
            if path == "/publish":
                assert answer.headers["allow"] == "POST"


async def test_a_reader_that_is_slow_loses_its_own_and_hears_of_it() -> None:
    small = Limits(output_bytes=1_048_576)
    async with web(limits=small) as (broker, server, _):
        fast = await connect(broker)
        await fast.subscribe(1, "n any")
        publisher = await connect(broker)
        host = f"Host: {server.address.place}"
        request = f"GET /subscribe?filter=n+any HTTP/1.1\r\n{host}\r\n\r\n"
        reader, writer = await asyncio.open_connection(
            *server.address.pair, limit=2**16
        )
        writer.write(request.encode())
        await until(lambda: broker.state.counters.subscriptions_now == 2)
        text, total, got = "a" * 10_000, 2_000, 0
        for n in range(0, total, 50):
            some: list[dict[str, int | str]] = [
                {"n": n + i, "text": text} for i in range(50)
            ]
            publisher.publish(*some)
            got += len(await fast.sync())
            got += len(await publisher.sync())
        got += len(await fast.sync())
        assert got == total  # nobody else has lost any
        assert broker.state.counters.lost > 0
        seen, lost, data = 0, 0, b""
        while seen + lost < total:
            async with asyncio.timeout(10):
                data += await reader.read(2**20)
            *lines, data = data.split(b"\n")
            for line in lines:
                if line.startswith((b'data: {"n"', b'data: {"text"')):
                    seen += 1
                elif line.startswith(b'data: {"siena":"LOST"'):
                    lost += json.loads(line.removeprefix(b"data: "))["count"]
        assert (seen + lost, lost) == (total, broker.state.counters.lost)
        writer.close()


async def test_snapshots() -> None:
    async with web(name="b1") as (broker, _, client):
        wire = await connect(broker, name="me")
        await wire.subscribe(1, "x > 3")
        await wire.subscribe(2, "x > 5")

        async def get(path: str) -> Any:  # noqa: ANN401 -- JSON
            answer = await client.get(path)
            assert answer.status_code == 200
            return answer.json()

        assert (await get("/healthz")) == {"ok": True, "broker": "b1"}
        counters = await get("/api/counters")
        assert counters["counters"]["subscriptions_now"] == 2
        tables = (await get("/api/tables"))["filters"]
        assert {one["text"] for one in tables["shown"]} == {"x > 3", "x > 5"}
        assert tables["shown"][0]["held"] == 1
        assert tables["complete"]
        few = (await get("/api/tables?limit=1"))["filters"]
        assert (len(few["shown"]), few["complete"]) == (1, False)
        assert (await get("/api/poset"))["filters"] == [
            {"filter": "x > 3", "covers": ["x > 5"]},
            {"filter": "x > 5", "covers": []},
        ]
        assert (await get("/api/sessions"))["sessions"][0]["name"] == "me"
        assert (await get("/api/links"))["links"] == []
        for most in ("1e9", "1001", "000000000999999999"):
            answer = await client.get(f"/api/tables?limit={most}")
            assert answer.status_code == 400, most


async def test_metrics() -> None:
    async with web() as (_, _, client):
        await client.post("/publish", json=[{"x": 1}, {"x": 2}])
        answer = await client.get("/metrics")
        assert answer.headers["content-type"].startswith("text/plain")
        lines = answer.text.splitlines()
        assert "siena_publications_total 2.0" in lines
        assert "siena_connections 0.0" in lines
        assert not any(line.startswith("python_") for line in lines)
        assert any(line.startswith("siena_build_info{") for line in lines)
        assert 'siena_queue_bytes_bucket{le="+Inf"} 0.0' in lines
        ticks = next(line for line in lines if line.startswith("siena_ticks_total "))
        assert f"siena_tick_seconds_count {ticks.split()[1]}" in lines


async def test_every_metric_says_what_it_means() -> None:
    async with web() as (_, _, client):
        lines = (await client.get("/metrics")).text.splitlines()
    said = [line.split(" ", 3)[2:] for line in lines if line.startswith("# HELP ")]
    assert len(said) > 30
    for name, text in said:
        assert text.endswith("."), f"{name} has no sentence in broker/metric_help.py"


async def test_who_has_not_advertised_may_not_publish() -> None:
    async with web(routing=Routing(forwarding="advertisement")) as (_, _, client):
        answer = await client.post("/publish", json={"x": 1})
        assert (answer.status_code, answer.json()["name"]) == (403, "NOT_ADVERTISED")


async def test_the_router_never_hears_of_who_only_posts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A post of one notification would cost half as much again."""
    async with web() as (broker, _, client):
        monkeypatch.delattr(type(broker.state.router), "handle")
        answer = await client.post("/publish", json={"x": 1})
        assert (answer.status_code, broker.state.counters.publications) == (200, 1)
        assert not broker.state.sessions
        monkeypatch.undo()


async def test_a_post_advertises_for_as_long_as_it_takes() -> None:
    routing = Routing(forwarding="advertisement")
    async with web(routing=routing) as (broker, _, client):
        wire = await connect(broker)
        await wire.subscribe(1, "x > 3")
        both = {"advertise": ["integer x any", "y any"]}
        answer = await client.post("/publish", params=both, json=[{"x": 4}, {"y": 1}])
        assert (answer.status_code, answer.json()) == (200, {"published": 2})
        assert await wire.sync() == [Delivery((1,), encode({"x": 4}))]
        assert broker.state.counters.advertisements_now == 0
        for texts, status, name in (
            (["x >"], 400, "BAD_ADVERTISEMENT"),
            (["y any"], 403, "NOT_ADVERTISED"),
            (["y any"] * 65, 429, "TOO_MANY"),
        ):
            params = {"advertise": texts}
            answer = await client.post("/publish", params=params, json={"x": 4})
            assert (answer.status_code, answer.json()["name"]) == (status, name)
        assert await wire.sync() == []


async def test_of_notifications_of_which_one_is_not_advertised_none_is_published() -> (
    None
):
    routing = Routing(forwarding="advertisement")
    async with web(routing=routing) as (broker, _, client):
        wire = await connect(broker)
        await wire.subscribe(1, "x any")
        answer = await client.post(
            "/publish?advertise=x any", json=[{"x": 1}, {"x": 2, "y": 3}, {"x": 4}]
        )
        assert (answer.status_code, answer.json()["name"]) == (403, "NOT_ADVERTISED")
        assert answer.json()["text"].startswith("notification 2: ")
        assert await wire.sync() == []
        assert broker.state.counters.publications == 0


async def test_a_post_that_no_network_answers_publishes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A neighbour that has stopped: the advertisement is not known everywhere."""
    monkeypatch.setattr(publish, "HOLD_SECONDS_MAX", 0.1)
    routing = Routing(forwarding="advertisement")
    async with web(routing=routing, accept_peers=True) as (broker, _, client):
        silent = await open_wire(broker)
        peer = Peer(77, 1, "peer")
        silent.send(PREFACE + Connect(1, name="silent", peer=peer).pack())
        await until(lambda: broker.state.links)
        answer = await client.post("/publish?advertise=x any", json={"x": 4})
        assert (answer.status_code, answer.json()["name"]) == (503, "NO_ROOM")
        assert broker.state.counters.publications == 0


async def test_a_broker_that_ends_says_so_to_its_subscribers() -> None:
    async with web() as (_, server, client), subscribed(client, "x any") as events:
        task = asyncio.get_running_loop().create_task(server.drain())
        name, said = await events.next()
        assert (name, said["name"]) == ("err", "DRAINING")
        with pytest.raises(EOFError):
            await events.next()
        await task
        with pytest.raises(httpx.ConnectError):
            await client.get("/healthz")


async def test_a_stream_never_begins_for_who_only_asks_for_its_head() -> None:
    async with web() as (broker, _, client):
        answer = await client.head("/subscribe", params={"filter": "x any"})
        assert answer.status_code == 405
        assert not broker.state.sessions


async def test_a_head_without_an_end_is_refused() -> None:
    async with web() as (_, server, client):
        reader, writer = await asyncio.open_connection(*server.address.pair)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        answer = asyncio.get_running_loop().create_task(reader.read())
        for _ in range(2 * limits.HEAD_BYTES_MAX // 1_000):
            if writer.transport.is_closing():
                break
            writer.write(b"x" * 1_000)
            await asyncio.sleep(0)
        async with asyncio.timeout(10):
            # What the server has not read may take its answer away.
            with contextlib.suppress(ConnectionResetError):
                assert (await answer).startswith(b"HTTP/1.1 400 ")
        writer.close()
        assert (await client.get("/healthz")).status_code == 200


async def test_many_headers_of_many_requests_are_none_too_long() -> None:
    async with web() as (_, _, client):
        headers = {f"x-{n}": "y" * 100 for n in range(50)}
        for _ in range(2 * limits.HEAD_BYTES_MAX // 5_000):
            answer = await client.get("/healthz", headers=headers)
            assert answer.status_code == 200


async def test_garbage_leaves_the_broker_unimpressed() -> None:
    async with web() as (broker, server, client):
        host = f"Host: {server.address.place}\r\n".encode()
        for data in (
            b"\x00SIENA\r\n" * 100,
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST /publish HTTP/1.1\r\n" + host + b"Content-Length: -1\r\n\r\n",
            b"GET /healthz HTTP/1.1\r\n" + host + host + b"\r\n",
            b"GET /" + b"a" * 200_000,
            b"POST /publish HTTP/1.1\r\n"
            + host
            + b"Content-Type: application/json\r\nContent-Length: 9\r\n\r\n{",
        ):
            reader, writer = await asyncio.open_connection(*server.address.pair)
            writer.write(data)
            writer.write_eof()
            async with asyncio.timeout(10):
                answer = await reader.read(100_000)
            assert not answer or b" 4" in answer.split(b"\r\n")[0], answer
            writer.close()
        assert (await client.get("/healthz")).status_code == 200
        assert not broker.state.sessions
        assert broker.state.counters.publications == 0


async def test_a_reader_may_rather_be_disconnected() -> None:
    limits = Limits(output_bytes=1_048_576)
    async with web(limits=limits) as (broker, _, client):
        publisher = await connect(broker)
        async with subscribed(client, "n any", policy="disconnect") as events:
            notification: dict[str, Value] = {"n": 1, "text": "a" * 10_000}
            for _ in range(60):
                publisher.publish(*[notification] * 50)
                await publisher.sync()
            while (said := await events.next())[0] == "message":
                pass
            assert (said[0], said[1]["name"]) == ("err", "TOO_SLOW")
