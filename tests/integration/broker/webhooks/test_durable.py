"""Handlers of durable subscriptions: what they take is done, and all else comes."""

import asyncio
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec import structs

import siena
from broker.access import ALL, LESS, guarded
from broker.hooks import hooked
from broker.logs import publish
from http_wire import web
from siena.broker.access.credentials import load_credentials, save_credentials
from siena.broker.access.settings import Access
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.broker.settings import HandlerSettings, Log
from siena.broker.webhooks import durable
from siena.testing.in_process import ProcessBroker
from wire import SECONDS_MAX, serving, until

PATH = "/api/identities/ops"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "RETRY_SECONDS", 0.001)


def wanted(hook: str, **how: object) -> dict[str, Any]:
    said = {"name": "billing", "filter": "n any", **how}
    return {"handler": hook, "durable": said}


async def test_what_a_hook_thanks_for_is_done_and_the_rest_comes_again(
    tmp_path: Path,
) -> None:
    async with (
        hooked() as hook,
        web(
            handlers=HandlerSettings(allow=(hook.url,)), log=Log(path=str(tmp_path))
        ) as (broker, server, client),
    ):
        dead = "siena.dead = true"
        async with siena.connect(broker.addresses[0].url) as other:
            letters = await other.subscribe(dead).settled()
            await publish(broker, 3)
            hook.answers = [503]
            hook.judge = lambda letter: (
                500 if {"n": 1} in letter["notifications"] else 204
            )
            how = wanted(hook.url, start="all", max_deliver=4)
            answer = await client.put(PATH, json=how)
            assert answer.status_code == 200, answer.text
            assert answer.json()["durable"]["name"] == "billing"
            letter = await letters.get(SECONDS_MAX)
        assert (letter["siena.durable"], letter["siena.offset"]) == ("billing", 1)
        # At first all together, and then each alone.
        assert hook.tried[0]["notifications"] == [{"n": 0}, {"n": 1}, {"n": 2}]
        assert hook.tried[0]["offsets"] == [0, 1, 2]
        assert hook.tried[0]["durable"] == "billing"
        assert sorted(each["notifications"][0]["n"] for each in hook.letters) == [0, 2]
        attempts = [x["attempt"] for x in hook.tried if x["offsets"] == [1]]
        assert attempts == [2, 3, 4]
        [shown] = broker.log_service.durable.durables(10)
        assert (shown["acknowledged"], shown["dead"]) == (2, 1)
        tries = server.handlers.totals()
        assert tries == {"delivered": 2, "failed": 1, "retried": 3}
        assert (await client.delete(PATH)).status_code == 200
        await publish(broker, 1, first=7)
        assert broker.log_service.durable.durables(10)[0]["readers"] == 0
        # It goes on where it was.
        assert (await client.put(PATH, json=wanted(hook.url))).is_success
        await until(lambda: len(hook.letters) == 3)
        assert hook.letters[2]["notifications"] == [{"n": 7}]


@pytest.mark.parametrize(
    ("said", "status", "error"),
    [
        ({"name": "b"}, 400, 108),
        ({"name": "b", "filter": "x >"}, 400, 101),
        ({"name": "b", "filter": "x any", "start": "later"}, 400, 108),
        ({"name": "b", "filter": "x any", "credit": 7}, 400, 108),
    ],
)
async def test_what_is_refused_changes_nothing(
    tmp_path: Path, said: dict[str, object], status: int, error: int
) -> None:
    settings = HandlerSettings(allow=("http://127.0.0.1:9/",))
    async with web(handlers=settings, log=Log(path=str(tmp_path))) as (
        broker,
        server,
        client,
    ):
        hook: dict[str, object] = {"handler": "http://127.0.0.1:9/"}
        before = {**hook, "subscriptions": ["x any"]}
        assert (await client.put(PATH, json=before)).is_success
        answer = await client.put(PATH, json={**hook, "durable": said})
        assert (answer.status_code, answer.json()["error"]) == (status, error)
        assert server.handlers.snapshot()["ops"]["subscriptions"] == ["x any"]
        assert broker.log_service.durable.count == 0
        assert len(server.entry) == 1


async def test_without_a_store_there_is_none() -> None:
    async with web(handlers=HandlerSettings(allow=("http://127.0.0.1:9/",))) as found:
        answer = await found.client.put(PATH, json=wanted("http://127.0.0.1:9/"))
        assert (answer.status_code, answer.json()["error"]) == (501, 126)
        both = {**wanted("http://127.0.0.1:9/"), "subscriptions": []}
        answer = await found.client.put(PATH, json=both)
        assert (answer.status_code, answer.json()["error"]) == (400, 108)


async def test_a_kill_of_the_broker_loses_nothing(tmp_path: Path) -> None:
    config = tmp_path / "broker.toml"
    async with hooked() as hook:
        config.write_text(f'http = "127.0.0.1:0"\n[handlers]\nallow = ["{hook.url}"]\n')
        log = ("--log", str(tmp_path / "log"))
        broker = ProcessBroker(["--config", str(config), *log])
        try:
            await asyncio.to_thread(broker.start)
            async with httpx.AsyncClient(trust_env=False) as client:
                path = f"{broker.http_url}{PATH}"
                assert (await client.put(path, json=wanted(hook.url))).is_success
            hook.judge = lambda _letter: 503
            async with siena.connect(broker.url) as client:
                for n in range(5):
                    await client.publish({"n": n}, ack=True)
            await until(lambda: hook.tried)
            broker.kill()
            hook.judge = lambda _letter: 204
            await asyncio.to_thread(broker.start)
            await until(lambda: sum(len(x["notifications"]) for x in hook.letters) == 5)
            found = [each["n"] for x in hook.letters for each in x["notifications"]]
            assert sorted(found) == [0, 1, 2, 3, 4]
        finally:
            broker.kill()


async def test_grants_count_and_are_looked_up_again_after_a_restart(
    tmp_path: Path,
) -> None:
    async with hooked() as hook:
        allow = HandlerSettings(allow=(hook.url,))
        keeper = structs.replace(
            LESS, hold=True
        )  # a durable subscription keeps the log
        asks = Access(
            credentials=str(tmp_path / "credentials.json"),
            roles={"all": ALL, "less": keeper},
        )
        async with guarded(tmp_path, handlers=allow, access=asks) as found:

            async def put(token: str, identity: str, wants: str) -> httpx.Response:
                return await found.client.put(
                    f"/api/identities/{identity}",
                    headers={"authorization": f"Bearer {found.tokens[token]}"},
                    json=wanted(hook.url, filter=wants, name=identity),
                )

            answer = await put("less", "lee", "y any")
            assert (answer.status_code, answer.json()["error"]) == (403, 110)
            assert (await put("less", "ann", "x any")).json()["error"] == 213
            assert (await put("less", "lee", "x any")).is_success
            assert (await put("good", "ann", "[]")).is_success
            settings = found.broker.settings
        known = load_credentials(found.file)
        [lees] = [
            number for number, each in known.tokens.items() if each.identity == "lee"
        ]
        save_credentials(found.file, known.without(lees))
        async with serving(settings) as broker:
            server = HttpServer(broker, "127.0.0.1:0")
            await server.start()
            try:
                assert list(server.handlers.snapshot()) == ["ann"]
                session = server.handlers._deliveries["ann"][
                    0
                ].in_process_session.client.session
                assert session.principal.roles == ("all",)
                await until(lambda: shown(broker, "ann")["readers"] == 1)
                assert shown(broker, "lee")["readers"] == 0
            finally:
                await server.drain()


def shown(broker: Broker, name: str) -> dict[str, object]:
    [found] = [d for d in broker.log_service.durable.durables(9) if d["name"] == name]
    return found
