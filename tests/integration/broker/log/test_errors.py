"""Disks that are full, and files that cannot be opened: nothing is lost or doubled."""

import asyncio
import os
import secrets
import shutil
from pathlib import Path
from typing import Any, NoReturn

import pytest

import siena
from broker.logs import (
    SMALL,
    blocks,
    everything,
    kept_in,
    numbers,
    publish,
    staged,
    url,
)
from http_wire import web
from siena.broker.broker import Broker
from siena.broker.http import publish as publishing
from siena.broker.log.cursors import Readers
from siena.broker.log.files import Files
from siena.broker.log.journal import Journal
from siena.broker.log.segment import Segment
from siena.broker.log.state_file import StateFile
from siena.broker.log.store import Store
from siena.errors import RequestRefusedError
from siena.matching.input.buffers import encode_all
from siena.model import Value
from siena.protocol.error_codes import Fault
from siena.protocol.log_frames import Batch, Part
from wire import connect, serving, until


def refuse(*_: object, **__: object) -> NoReturn:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("what", [(Segment, "seal"), (os, "dup"), (os, "open")])
def test_a_file_that_cannot_be_begun_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: tuple[Any, str]
) -> None:
    """It would say that the one before it ends where it does not."""
    store = Store(tmp_path, 4_096)
    with monkeypatch.context() as patch:
        patch.setattr(*what, refuse)
        for n in range(400):
            store.append(*encode_all([{"n": n}]), 7)
        is_needed = what == (os, "open")  # without the others a file can be begun
        assert (len([*tmp_path.glob("*.log")]) == 1) == is_needed
    assert everything(store) == blocks(400)
    os.close(store._file)  # as if it had been killed
    store._lock.close()
    again = Store(tmp_path, 4_096)
    assert (again.earliest, again.latest) == (0, 400)
    assert everything(again) == blocks(400)
    again.append(*encode_all([{"n": 400}]), 7)
    assert len([*tmp_path.glob("*.log")]) >= 2
    assert everything(again) == blocks(401)
    again.close()


def test_half_a_record_is_cut_off_before_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = Store(tmp_path, 4_096)
    store.append(*encode_all([{"n": 0}]), 7)
    with monkeypatch.context() as patch:
        writev = os.writev
        patch.setattr(os, "writev", lambda d, p: writev(d, [b"".join(p)[:9]]))
        patch.setattr(os, "write", refuse)
        patch.setattr(os, "ftruncate", refuse)
        with pytest.raises(OSError, match="space"):
            store.append(*encode_all([{"n": 1}]), 7)
    store.append(*encode_all([{"n": 1}]), 7)
    assert everything(store) == blocks(2)
    store.close()


async def test_nobody_hears_of_what_was_not_synced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even when the disk says the next time that all is well; until SIGHUP."""
    settings = kept_in(tmp_path, sync="always")
    async with (
        asyncio.timeout(20),
        serving(settings) as broker,
        asyncio.TaskGroup() as group,
    ):
        journal = broker.log_service.journal
        assert journal is not None
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", refuse)
            with pytest.raises(RequestRefusedError, match="the disk failed"):
                await publish(broker, 10)
        assert "No space" in journal.failure
        writer = group.create_task(publish(broker, 5, first=10))
        await until(lambda: len(journal.holds) == 1)
        journal._tick()
        await asyncio.sleep(0)
        assert not writer.done()
        assert await _is_answered(broker), "who has published nothing waits for nothing"
        broker.reload(settings)
        await writer
        assert await numbers(broker) == [*range(15)]


async def _is_answered(broker: Broker) -> bool:
    async with siena.connect(url(broker)) as client:
        await client.subscribe("n any").settled()
        await client.flush()
    return True


async def test_after_a_kill_without_room_for_a_copy_publishers_wait_for_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing fails, and no operator is needed; it is said once."""
    async with serving(kept_in(tmp_path / "log")) as broker:
        await publish(broker, 5)
        shutil.copytree(tmp_path / "log", tmp_path / "killed")
    full = Broker(kept_in(tmp_path / "killed", sync="always"))
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        with monkeypatch.context() as patch:
            patch.setattr(Files, "free_bytes", lambda _files, _folder: 10)
            await full.start()
            journal = full.log_service.journal
            assert journal is not None
            writer = group.create_task(publish(full, 5, first=5))
            await until(lambda: len(journal.holds) == 1)
            for _ in range(3):
                journal._tick()
            assert not writer.done()
            assert not [*(tmp_path / "killed").glob("*.new")]
            assert caplog.text.count("acknowledged until it has") == 1
        journal._tick()
        await writer
        assert await numbers(full) == [*range(10)]
    await full.drain()


async def test_a_sync_that_fails_elsewhere_holds_publishers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        asyncio.timeout(20),
        serving(kept_in(tmp_path, sync="second")) as broker,
        asyncio.TaskGroup() as group,
    ):
        journal = broker.log_service.journal
        assert journal is not None
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", refuse)
            await publish(broker, 1)
            journal._sync_elsewhere()
            await until(lambda: bool(journal.failure))
        writer = group.create_task(publish(broker, 1, first=1))
        await until(lambda: len(journal.holds) == 1)
        assert not writer.done()
        broker.reload(broker.settings)
        await writer


async def test_a_full_disk_holds_publishers_and_nobody_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Their PINGs wait, those of others do not; and it is said once."""
    async with (
        asyncio.timeout(20),
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
        asyncio.TaskGroup() as group,
    ):
        journal = broker.log_service.journal
        assert journal is not None
        wanted = await client.subscribe("n any").settled()
        with monkeypatch.context() as patch:
            patch.setattr(os, "writev", refuse)
            writer = group.create_task(publish(broker, 3))
            assert [(await anext(wanted))["n"] for _ in range(3)] == [0, 1, 2]
            await client.flush()
            for _ in range(10):
                journal._tick()
            assert not writer.done()
            said = [r.name for r in caplog.records if "publishers wait" in r.message]
            assert said == ["siena.broker", "siena.client"], "and the publisher is told"
        await writer
        assert await numbers(broker) == [0, 1, 2]


async def test_what_is_published_is_delivered_though_no_room_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as client,
    ):
        wanted = await client.subscribe("n any").settled()
        monkeypatch.setattr(Segment, "delete", refuse)
        wire = await connect(broker)
        each: list[dict[str, Value]] = [
            {"n": n, "filling": "x" * 100} for n in range(300)
        ]
        wire.publish(*each)
        async with asyncio.timeout(20):
            assert [(await anext(wanted))["n"] for _ in range(300)] == [*range(300)]


async def test_a_commit_counts_though_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await publish(broker, 5)
        with monkeypatch.context() as patch:
            patch.setattr(StateFile, "save", refuse)
            await client.log.commit("me", 3)
        assert broker.log_service.journal is not None
        broker.log_service.journal.readers.forget_silent()
        assert '"me":{"offset":3' in (tmp_path / "readers.json").read_text()


def test_who_could_not_be_heard_was_not_silent(tmp_path: Path) -> None:
    class Clock:
        time = 0.0

        def now(self) -> float:
            return self.time

        def nanoseconds(self) -> int:
            return int(self.time * 1e9)

        def elapsed(self) -> float:
            return self.time

    clock = Clock()
    Readers(tmp_path / "readers.json", clock, 60.0).commit("me", 3)
    clock.time = 1_000.0  # the broker was away
    readers = Readers(tmp_path / "readers.json", clock, 60.0)
    readers.forget_silent()
    assert readers.ask("me") == 3
    clock.time = 1_061.0
    assert readers.forget_silent()


async def test_what_is_posted_to_a_full_log_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "HOLD_SECONDS_MAX", 0.05)
    async with web(log=kept_in(tmp_path, **SMALL).log) as (broker, _, client):
        journal = broker.log_service.journal
        assert journal is not None
        journal.readers.commit("me", 0)
        filling = [{"n": n, "filling": "x" * 100} for n in range(300)]
        assert (await client.post("/publish", json=filling)).status_code == 200
        assert not journal.holds, "who has gone waits no longer"
        answer = await client.post("/publish", json={"n": 300})
        assert (answer.status_code, answer.json()["name"]) == (503, "NO_ROOM")
        assert journal.store.latest == 300
        assert not journal.holds
        journal.readers.commit("me", 300)
        assert (await client.post("/publish", json={"n": 300})).status_code == 200
        assert journal.store.latest == 301


# --- Batches ------------------------------------------------------------------------


async def test_a_batch_that_cannot_be_written_down_is_not_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        parts = await staged(client, 5)
        with monkeypatch.context() as patch:
            patch.setattr(StateFile, "save", refuse)
            with pytest.raises(RequestRefusedError) as caught:
                await client.log.batch("q", 0, parts)
        assert caught.value.fault == Fault.NO_ROOM.number
        assert not broker.log_service.idempotent_batches._kept.value.begun
        assert (await client.log.batch("q", 0, parts)).is_new
        assert await numbers(broker) == [*range(5)]


async def test_batches_end_once_that_can_be_written_down(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
        siena.connect(url(broker)) as other,
        asyncio.timeout(20),
        asyncio.TaskGroup() as group,
    ):
        batches, journal = (
            broker.log_service.idempotent_batches,
            broker.log_service.journal,
        )
        assert journal is not None
        parts = [await staged(client, 5), await staged(client, 5, first=5)]
        with monkeypatch.context() as patch:
            patch.setattr(batches, "_go_on", lambda: None)
            first = group.create_task(client.log.batch("q", 0, parts[0]))
            await until(lambda: len(batches._queue) == 1)
            second = group.create_task(other.log.batch("q", 1, parts[1]))
            await until(lambda: len(batches._queue) == 2)
        with monkeypatch.context() as patch:
            patch.setattr(StateFile, "save", refuse)
            batches._go_on()
            await until(lambda: journal.store.latest == 5)
            await asyncio.sleep(0.02)
            assert len(batches._queue) == 2
        assert (await first).count == (await second).count == 5
        assert await numbers(broker) == [*range(10)]


async def _begin(broker: Broker, until_step: int) -> None:
    """Publish some records of a batch of ten, of two each, and stop there."""
    part, batches = secrets.token_bytes(16), broker.log_service.idempotent_batches
    step, steps = batches._step, 0

    def counted() -> None:
        nonlocal steps
        if steps < until_step:
            steps += 1
            step()

    batches._step = counted  # type: ignore[method-assign]
    async with siena.connect(url(broker)) as client:
        for at in range(0, 10, 2):
            two = client.log.blocks_of([{"n": at}, {"n": at + 1}])
            await client.log.stage_pile(part, at, [*two])
    wire = await connect(broker)
    wire.send(Batch("q", 1, [Part(part, 10)]))
    await until(lambda: steps == until_step and batches._kept.value.begun)


def _is_full_at_once(journal: Journal) -> bool:
    """As a log is that has come to its bound, and makes room whenever it is asked."""
    journal._make_room()
    return False


@pytest.mark.parametrize("life", [1, 2])
async def test_a_batch_is_completed_once_though_room_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, life: int
) -> None:
    """Then it is written down how far it is: amid a record, or before anything else."""
    settings = kept_in(tmp_path, retain_seconds=3_600.0)
    for each in (1, 2):
        with monkeypatch.context() as patch:
            if each == life:
                patch.setattr(Journal, "_is_full", _is_full_at_once)
            async with serving(settings) as broker:
                if each == 1:
                    await _begin(broker, 3)
                else:
                    await until(
                        lambda: not broker.log_service.idempotent_batches._queue
                    )
                    assert await numbers(broker) == [*range(10)]


async def test_parts_of_a_batch_of_another_life_stay(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await _begin(broker, 3)
    (path,) = (tmp_path / "staged").iterdir()
    os.utime(path, (0, 0))
    async with serving(kept_in(tmp_path)) as broker:
        broker.log_service._staging.drop_old()
        broker.log_service._staging.drop_unclaimed(bytes.fromhex(path.stem))
        await until(lambda: not broker.log_service.idempotent_batches._queue)
        assert await numbers(broker) == [*range(10)]


async def test_a_part_is_of_one_batch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
        siena.connect(url(broker)) as other,
        asyncio.timeout(20),
        asyncio.TaskGroup() as group,
    ):
        batches = broker.log_service.idempotent_batches
        await other.log.batch("another", 5, [])
        parts = await staged(client, 5)
        with monkeypatch.context() as patch:
            patch.setattr(batches, "_go_on", lambda: None)
            first = group.create_task(client.log.batch("q", 0, parts))
            await until(lambda: batches._queue)
            assert not (await other.log.batch("another", 4, parts)).is_new
            with pytest.raises(RequestRefusedError) as caught:
                await other.log.batch("another", 6, parts)
            assert caught.value.fault == Fault.PART_UNKNOWN.number
            more = [*other.log.blocks_of([{"n": 5}])]
            with pytest.raises(RequestRefusedError) as caught:
                await other.log.stage_pile(parts[0][0], 5, more)
            assert caught.value.fault == Fault.PART_UNKNOWN.number
        batches._go_on()
        assert (await first).count == 5
        assert await numbers(broker) == [*range(5)]
