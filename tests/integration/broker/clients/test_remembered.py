"""Identities outlive a broker that has a log, however it ends."""

import asyncio
from contextlib import suppress
from pathlib import Path

import pytest

import siena
from broker.logs import kept_in, publish, url
from siena.broker.broker import Broker
from siena.broker.clients.remembered import FILE
from siena.client.client import Client
from siena.errors import SienaError
from siena.testing.in_process import ProcessBroker
from wire import serving, until


async def come_and_go(broker: Broker, interest: str = "n any") -> None:
    async with siena.connect(url(broker), identity="me") as client:
        await client.subscribe(interest).settled()


async def back(client: Client, count: int, interest: str = "n any") -> list[object]:
    wanted = await client.subscribe(interest).settled()
    await client.resume()
    async with asyncio.timeout(20):
        return [(await anext(wanted))["n"] for _ in range(count)]


async def test_what_was_kept_is_kept_through_an_end_in_good_order(
    tmp_path: Path,
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 3)
        await come_and_go(broker)
        await until(lambda: broker.state.identities["me"].sink is None)
        await publish(broker, 5, first=3)
    for _ in range(2):  # it stays so, if nobody comes
        async with serving(kept_in(tmp_path)) as broker:
            assert len(broker.state.identities["me"].interests) == 1
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 2, first=8)
        async with siena.connect(url(broker), identity="me") as client:
            assert client.resumed
            assert await back(client, 7) == [*range(3, 10)]
            await client.suspend()
        await publish(broker, 1, first=10)
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker), identity="me") as client,
    ):
        assert await back(client, 1) == [10], "and nothing twice"


def test_what_was_kept_is_kept_through_a_kill(tmp_path: Path) -> None:
    """Of an identity that was away; one that was there is told of a gap."""
    with ProcessBroker(["--log", str(tmp_path)]) as broker:
        with siena.connect(broker.url, identity="away") as client:
            client.subscribe("n any").settled()
        gaps: list[object] = []
        with (
            siena.connect(broker.url, identity="there", on_gap=gaps.append) as there,
            siena.connect(broker.url) as publisher,
        ):
            wanted = there.subscribe("n > 100").settled()
            for n in range(110):
                publisher.publish(n=n)
            publisher.flush()
            assert [each["n"] for each in wanted.get_many(9, 60.0)]
            broker.kill()
            broker.start()
            # What is sent over a connection that has gone unnoticed would be lost.
            while not publisher.reconnects:
                with suppress(SienaError):
                    publisher.flush()
            publisher.publish(n=200)
            publisher.flush()
            while wanted.get(60.0)["n"] != 200:
                pass
            assert gaps
        with siena.connect(broker.url, identity="away") as client:
            kept = client.subscribe("n any").settled()
            client.resume()
            found = [kept.get(60.0)["n"] for _ in range(111)]
        assert found == [*range(110), 200]


async def test_who_wants_nothing_any_more_is_forgotten(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await come_and_go(broker)
        async with siena.connect(url(broker), identity="me") as client:
            subscription = await client.subscribe("n any").settled()
            await subscription.close()
        await until(lambda: "me" not in broker.state.identities)
    async with serving(kept_in(tmp_path)) as broker:
        assert not broker.state.identities


async def test_damage_costs_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        for name in ("a", "b"):
            async with siena.connect(url(broker), identity=name) as client:
                await client.subscribe("n any").settled()
            known = broker.state.identities[name]
            await until(lambda known=known: known.sink is None)  # type: ignore[misc]
    path = tmp_path / FILE
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[-1][:20] + b"x" + lines[-1][21:] + b"".join(lines[:1])[:-9])
    async with serving(kept_in(tmp_path)) as broker:
        assert len(broker.state.identities) <= 1
    assert "damaged, and left out" in caplog.text


async def test_the_file_does_not_grow_with_what_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siena.broker.clients.remembered.SLACK_BYTES", 1_000)
    async with serving(kept_in(tmp_path)) as broker:
        for _ in range(40):
            await come_and_go(broker)
        await until(lambda: broker.state.identities["me"].sink is None)
        assert (tmp_path / FILE).stat().st_size < 3_000
