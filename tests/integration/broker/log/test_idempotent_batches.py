"""Batches are published once, however often, and by whom, it is tried."""

import asyncio
import os
import secrets
import threading
from pathlib import Path

import pytest

import siena
from broker.logs import SMALL, kept_in, numbers, publish, staged, url
from siena.broker.broker import Broker
from siena.broker.log import group_commit
from siena.broker.log.batches import idempotent_batches
from siena.broker.settings import Settings, as_settings
from siena.errors import RequestRefusedError
from siena.model import Value
from siena.protocol.error_codes import Fault
from siena.protocol.log_frames import Batch, Stage
from wire import connect, serving, until


@pytest.mark.parametrize("has_log", [True, False])
async def test_a_batch_is_published_once(tmp_path: Path, *, has_log: bool) -> None:
    settings = kept_in(tmp_path) if has_log else Settings(listen=("127.0.0.1:0",))
    async with (
        serving(settings) as broker,
        siena.connect(url(broker)) as client,
        siena.connect(url(broker)) as other,
    ):
        wanted = await other.subscribe("n any").settled()
        for is_new in (True, False, False):
            taken = await client.log.batch("q", 4, await staged(client, 3, 0, 2))
            assert (taken.is_new, taken.count) == (is_new, 5 if is_new else 0)
        taken = await client.log.batch("q", 5, await staged(client, 2, first=5))
        assert (taken.is_new, taken.count) == (True, 2)
        taken = await client.log.batch("q", 3, await staged(client, 1))
        assert not taken.is_new, "it is older than the last"
        taken = await client.log.batch("another", 0, await staged(client, 1, first=7))
        assert taken.is_new
        await other.publish(n=-1)
        got = []
        while (came := (await anext(wanted))["n"]) != -1:
            got.append(came)
        assert got == [*range(8)]
        assert not broker.log_service._staging._parts


async def test_parts_are_on_the_disk_before_their_batch_is_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = os.fsync

    def fsync(descriptor: int) -> None:
        synced.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        real(descriptor)

    settings = kept_in(tmp_path, sync="always")
    async with serving(settings) as broker, siena.connect(url(broker)) as client:
        parts = await staged(client, 3, 0, 2)
        monkeypatch.setattr(os, "fsync", fsync)
        await client.log.batch("q", 4, parts)
    names = [f"{name.hex()}.part" for name, count in parts if count]
    begun = synced.index("sinks.json.new")
    assert synced[: begun + 1] == [*names, "staged", "sinks.json.new"]


async def test_what_is_staged_is_for_nobody_yet(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        parts = await staged(client, 10)
        assert await numbers(broker) == []
        await client.log.unstage([name for name, _ in parts])
        with pytest.raises(RequestRefusedError) as caught:
            await client.log.batch("q", 0, parts)
        assert caught.value.fault == Fault.PART_UNKNOWN.number
        assert not (await client.log.batch("q", 0, [])).count


async def test_a_part_must_be_whole(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        ((name, count),) = await staged(client, 10)
        with pytest.raises(RequestRefusedError) as caught:
            await client.log.batch("q", 0, [(name, count + 1)])
        assert caught.value.fault == Fault.PART_UNKNOWN.number
        with pytest.raises(RequestRefusedError) as caught:
            await client.log.stage_pile(name, 11, [b"\x80"])
        assert caught.value.fault == Fault.PART_UNKNOWN.number
        # Sent again after a connection broke, and with more.
        again = [*client.log.blocks_of({"n": n} for n in range(8, 12))]
        await client.log.stage_pile(name, 8, again)
        assert (await client.log.batch("q", 0, [(name, 12)])).count == 12
        assert await numbers(broker) == [*range(12)]


async def test_what_is_no_notification_is_refused_at_once(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        name = secrets.token_bytes(16)
        with pytest.raises(RequestRefusedError) as caught:
            await client.log.stage_blocks(name, [b"\x80", b"\x81"])
        assert caught.value.fault == Fault.BAD_NOTIFICATION.number
        assert broker.log_service._staging.count(name) is None


async def test_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("siena.broker.log.batches.staging.PARTS_STAGED_MAX", 2)
    async with (
        serving(kept_in(tmp_path, staged_bytes=5_000)) as broker,
        siena.connect(url(broker)) as client,
    ):
        with pytest.raises(RequestRefusedError) as caught:
            await staged(client, 10_000)
        assert caught.value.fault == Fault.NO_ROOM.number
        with pytest.raises(RequestRefusedError) as caught:
            await staged(client, 1, 1, 1)
        assert caught.value.fault == Fault.NO_ROOM.number


async def test_old_parts_are_dropped(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        ((name, _),) = await staged(client, 10)
        staging = broker.log_service._staging
        staging._parts[name].time -= 4_000
        staging.drop_old()
        assert staging.count(name) is None
        assert not [*(tmp_path / "staged").iterdir()]


async def test_batches_are_remembered_across_lives(tmp_path: Path) -> None:
    for is_new in (True, False):
        async with (
            serving(kept_in(tmp_path)) as broker,
            siena.connect(url(broker)) as client,
        ):
            taken = await client.log.batch("q", 7, await staged(client, 5))
            assert taken.is_new == is_new
            assert await numbers(broker) == [*range(5)]


@pytest.mark.parametrize("published", range(6))
async def test_a_batch_that_was_begun_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: int
) -> None:
    """The broker dies after so many records; others publish in between."""
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        part, batch = secrets.token_bytes(16), broker.log_service.idempotent_batches
        async with siena.connect(url(broker)) as client:
            for at in range(0, 10, 2):
                blocks = client.log.blocks_of([{"n": at}, {"n": at + 1}])
                await client.log.stage_pile(part, at, [*blocks])
        step, steps = batch._step, 0

        def counted() -> None:
            nonlocal steps
            if steps < published:
                steps += 1
                step()

        monkeypatch.setattr(batch, "_step", counted)
        wire.send(Batch("q", 1, [siena.protocol.log_frames.Part(part, 10)]))
        await until(lambda: steps == published and batch._kept.value.begun)
        await publish(broker, 3, first=100)
        # Only what is on the disk survives.
    async with serving(kept_in(tmp_path)) as broker:
        await until(lambda: not broker.log_service.idempotent_batches._queue)
        found = await numbers(broker)
        assert [n for n in found if isinstance(n, int) and n < 100] == [*range(10)]
        assert len(found) == 13
        async with siena.connect(url(broker)) as client:
            assert not (await client.log.batch("q", 1, [])).is_new


async def test_a_sink_hears_that_its_batch_is_taken_when_the_disk_has_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And not before it is written down as done: it would never be taken again."""
    may_go_on, real = threading.Event(), group_commit.sync_and_close

    def sync(descriptors: list[int]) -> None:
        may_go_on.wait(60.0)
        real(descriptors)

    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
        asyncio.TaskGroup() as group,
    ):
        monkeypatch.setattr(group_commit, "sync_and_close", sync)
        try:
            taking = group.create_task(
                client.log.batch("q", 0, await staged(client, 5))
            )
            await until(lambda: _latest(broker) == 5)
            await asyncio.sleep(0.05)
            assert not taking.done()
            assert broker.log_service.idempotent_batches._kept.value.done == {}
        finally:
            may_go_on.set()
        assert (await taking).is_new


def _latest(broker: Broker) -> int:
    assert broker.log_service.journal is not None
    return broker.log_service.journal.store.latest


async def test_a_batch_of_which_a_part_is_damaged_is_not_taken_for_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The broker dies before it is published, and a bit of what is staged flips."""
    async with serving(kept_in(tmp_path)) as broker:
        batches = broker.log_service.idempotent_batches
        async with siena.connect(url(broker)) as client:
            parts = await staged(client, 2, 3)
        monkeypatch.setattr(batches, "_step", lambda: None)
        wire = await connect(broker)
        wanted = [siena.protocol.log_frames.Part(*part) for part in parts]
        wire.send(Batch("q", 1, wanted))
        await until(lambda: bool(batches._kept.value.begun))
    path = tmp_path / "staged" / f"{parts[1][0].hex()}.part"
    data = bytearray(path.read_bytes())
    data[-3] ^= 1
    path.write_bytes(data)
    async with serving(kept_in(tmp_path)) as broker:
        await until(lambda: not broker.log_service.idempotent_batches._queue)
        async with siena.connect(url(broker)) as client:
            taken = await client.log.batch("q", 1, await staged(client, 2, 3))
            assert (taken.is_new, taken.count) == (True, 5)
        found = await numbers(broker)
        assert {*found} == {*range(5)}


async def test_a_sink_gets_into_a_full_log_for_a_while(tmp_path: Path) -> None:
    """Or who reads from a log and writes to it would wait for itself."""
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as client,
        asyncio.timeout(20),
    ):
        await client.log.commit("me", 0)
        async with asyncio.TaskGroup() as group:
            group.create_task(publish(broker, 145, filling="x" * 100))
            await until(
                lambda: broker.log_service.journal and broker.log_service.journal.holds
            )
            assert (await client.log.batch("q", 0, await staged(client, 20))).is_new
            parts = [part for _ in range(20) for part in await staged(client, 200)]
            late = group.create_task(client.log.batch("q", 1, parts))
            await asyncio.sleep(0.1)
            assert not late.done(), "but not for ever"
            await client.log.forget("me")
        assert late.result().is_new


async def test_who_may_not_publish_it_may_not_stage_it(tmp_path: Path) -> None:
    settings = as_settings(
        {
            "listen": ["127.0.0.1:0"],
            "routing": {"forwarding": "advertisement"},
            "log": {"path": str(tmp_path)},
        }
    )
    async with serving(settings) as broker, siena.connect(url(broker)) as client:
        with pytest.raises(RequestRefusedError) as caught:
            await staged(client, 1)
        assert caught.value.fault == Fault.NOT_ADVERTISED.number
        client.advertise("n any")
        assert (await client.log.batch("q", 0, await staged(client, 1))).count == 1


async def test_queries_that_were_quiet_longest_are_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotent_batches, "QUERIES_MAX", 2)
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        for query in ("a", "b", "a", "c"):
            number = (
                broker.log_service.idempotent_batches._kept.value.done.get(query, -1)
                + 1
            )
            await client.log.batch(query, number, [])
        assert broker.log_service.idempotent_batches._kept.value.done == {
            "a": 1,
            "c": 0,
        }


async def test_the_longest_frame_that_can_be_staged(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        name = secrets.token_bytes(16)
        many: list[dict[str, Value]] = [
            {"n": n, "filling": "x" * 400_000} for n in range(7)
        ]
        assert await client.log.stage(name, many) == 7
        assert len(Stage(name, 0, [b"x" * 900_000]).pack()) < 2**20
        assert (await client.log.batch("q", 0, [(name, 7)])).count == 7
        assert await numbers(broker) == [*range(7)]
