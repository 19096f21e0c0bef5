"""A broker's log over real connections: what was published can be read by offset."""

import asyncio
from pathlib import Path

import pytest

import siena
from broker.logs import SMALL, kept_in, numbers, publish, url
from siena.broker.broker import Broker
from siena.broker.durable.service import DurableService
from siena.broker.log.files import locked
from siena.broker.log.store import Store
from siena.errors import RequestRefusedError
from siena.lang.parser import parse_filter
from siena.model import Notification, Value
from siena.protocol.control_frames import Error
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from wire import connect, serving, until


async def test_what_is_published_can_be_read_by_offset(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 100)
        async with siena.connect(url(broker)) as client:
            found = [logged async for logged in client.log.read()]
            assert [logged.offset for logged in found] == [*range(100)]
            assert [logged.notification for logged in found] == [
                Notification(n=n) for n in range(100)
            ]
            assert found == sorted(found, key=lambda logged: logged.time)
            extent = await client.log.extent()
            assert (extent.earliest, extent.latest, extent.committed) == (0, 100, None)


@pytest.mark.parametrize(
    "interest",
    ["[]", "n < 10", "n >= 990 or n = 5", "s starts with a", "x any", "t = true"],
)
async def test_a_filter_selects_what_it_selects_anywhere(
    tmp_path: Path, interest: str
) -> None:
    every: list[dict[str, Value]] = [
        {"n": n, "s": "abc"[n % 3], "t": n % 7 == 0} for n in range(1_000)
    ]
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await client.publish_many(every[:400])
        await client.flush()
        # Some in records of their own.
        for each in every[400:]:
            await client.publish(each)
            if each["n"] in range(400, 450):
                await client.flush()
        await client.flush()
        earliest = (await client.log.extent()).earliest
        assert earliest > 0, "the log is larger than that"
        found = {
            logged.offset: logged.notification
            async for logged in client.log.read(interest)
        }
    wanted = [parse_filter(part) for part in interest.split(" or ")]
    assert found == {
        n: Notification(every[n])
        for n in range(earliest, 1_000)
        if any(f.matches(Notification(every[n])) for f in wanted)
    }


async def test_pages_advance_over_what_was_not_wanted(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 100)
        async with siena.connect(url(broker)) as client:
            page = await client.log.page("n = 99", 10, 50)
            assert (page.next, page.entries, page.latest) == (50, [], 100)
            page = await client.log.page("n > 20", 10, count_max=3)
            assert [entry.offset for entry in page.entries] == [21, 22, 23]
            assert page.next == 24
            page = await client.log.page("[]", 100)
            assert (page.next, page.entries) == (100, [])


async def test_large_notifications_come_one_by_one(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 5, filling="x" * 1_000_000)
        async with siena.connect(url(broker)) as client:
            page = await client.log.page("[]", 0)
            assert [entry.offset for entry in page.entries] == [0]
            assert [logged.offset async for logged in client.log.read()] == [*range(5)]


async def test_what_is_bad_is_not_kept(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        wire.publish({"n": 1})
        wire.send(pack(Op.PUB, b"\x81"))
        wire.publish({"n": 2})
        (error,) = await wire.sync()
        assert isinstance(error, Error)
        assert await numbers(broker) == [1, 2]


async def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    for life in range(3):
        async with serving(kept_in(tmp_path, segment_bytes=4_096)) as broker:
            await publish(broker, 500, first=500 * life)
            assert await numbers(broker) == [*range(500 * life + 500)]
            assert await numbers(broker, start=700 * life) == [
                *range(700 * life, 500 * life + 500)
            ]


async def test_without_a_log_there_is_nothing_to_read() -> None:
    async with serving() as broker:
        assert "log" not in (await connect(broker)).info.features
        async with siena.connect(url(broker)) as client:
            with pytest.raises(RequestRefusedError) as caught:
                await client.log.extent()
            assert caught.value.fault == Fault.NO_LOG.number


async def test_offsets_that_are_not_there_have_numbered_errors(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path, **SMALL)) as broker:
        assert "log" in (await connect(broker)).info.features
        await publish(broker, 2_000)
        async with siena.connect(url(broker)) as client:
            for start, fault in [
                (0, Fault.OFFSET_EXPIRED),
                (2_001, Fault.OFFSET_AHEAD),
            ]:
                with pytest.raises(RequestRefusedError) as caught:
                    await client.log.page("[]", start)
                assert caught.value.fault == fault.number
            with pytest.raises(RequestRefusedError) as caught:
                await client.log.commit("me", 2_001)
            assert caught.value.fault == Fault.OFFSET_AHEAD.number
            with pytest.raises(RequestRefusedError) as caught:
                await client.log._ask(siena.protocol.log_frames.Read("x >", 5))
            assert caught.value.fault == Fault.BAD_INTEREST.number


async def test_without_readers_the_oldest_makes_room(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path, **SMALL)) as broker:
        for first in range(0, 2_000, 100):
            await publish(broker, 100, first)
        found = await numbers(broker, start=(await extent(broker)).earliest)
        assert found == [*range(2_000 - len(found), 2_000)]
        assert 0 < len(found) < 2_000
        assert broker.log_service.journal
        assert broker.log_service.journal.store.size < 16_384 + 4_096


async def extent(broker: Broker) -> siena.protocol.log_frames.Extent:
    async with siena.connect(url(broker)) as client:
        return await client.log.extent()


async def test_a_full_log_slows_publishers_and_loses_nothing(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as reader,
    ):
        await reader.log.commit("slow", 0)
        journal = broker.log_service.journal
        assert journal is not None
        found: list[Value] = []
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            writer = group.create_task(publish(broker, 20_000, filling="x" * 100))
            await until(lambda: journal.holds)
            stuck = (await reader.log.extent()).latest
            for _ in range(20):  # nothing more comes, however long one waits
                await asyncio.sleep(0.01)
            assert (await reader.log.extent()).latest == stuck < 20_000
            assert not writer.done()
            at = 0
            while len(found) < 20_000:
                page = await reader.log.page("[]", at)
                found += [n for entry in page.entries for n in [read(entry.block)]]
                at = page.next
                await reader.log.commit("slow", at)
        assert found == [*range(20_000)]
        assert not journal.holds
        assert journal.store.size < 16_384 + 2 * 1024 * 1024


def read(block: bytes) -> Value:
    return siena.block.decode(block)["n"]


async def test_who_waits_hears_that_somebody_is_there(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path, **SMALL)) as broker:
        async with siena.connect(url(broker)) as reader:
            await reader.log.commit("slow", 0)
        wire = await connect(broker)
        journal = broker.log_service.journal
        assert journal is not None
        wire.publish(*({"n": n} for n in range(2_000)))
        await until(lambda: journal.holds)
        journal._show_life()
        assert (await wire.frame()).op == Op.PING


async def test_a_reader_that_is_forgotten_holds_nobody(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as reader,
        asyncio.timeout(20),
    ):
        await reader.log.commit("gone", 0)
        async with asyncio.TaskGroup() as group:
            group.create_task(publish(broker, 10_000, filling="x" * 100))
            await until(
                lambda: broker.log_service.journal and broker.log_service.journal.holds
            )
            await reader.log.forget("gone")
        assert (await reader.log.extent("gone")).committed is None


async def test_readers_are_remembered(tmp_path: Path) -> None:
    for offset in (None, 3, 7):
        async with (
            serving(kept_in(tmp_path)) as broker,
            siena.connect(url(broker)) as client,
        ):
            await publish(broker, 5)
            assert (await client.log.extent("me")).committed == offset
            await client.log.commit("me", 3 if offset is None else 7)


async def test_a_full_disk_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        await publish(broker, 3)
        journal = broker.log_service.journal
        assert journal is not None
        store = journal.store
        assert isinstance(store, Store)
        write = store._write

        def refuse(*_: object) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(store, "_write", refuse)
        async with asyncio.timeout(20), asyncio.TaskGroup() as group:
            writer = group.create_task(publish(broker, 10, first=3))
            await until(lambda: journal.defers)
            for _ in range(10):
                await asyncio.sleep(0.01)
            assert not writer.done(), "nobody hears that it is done before it is"
            assert store.latest == 3
            monkeypatch.setattr(store, "_write", write)
            journal.look_for_room()
        assert await numbers(broker) == [*range(13)]


async def test_what_was_written_late_is_not_written_again_after_a_mistake(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither for every second in which who hears of it makes one."""
    async with serving(kept_in(tmp_path)) as broker:
        journal = broker.log_service.journal
        assert journal is not None
        wire = await connect(broker)

        def refuse(*_: object) -> None:
            raise OSError(28, "No space left on device")

        def mistake(*_: object) -> None:
            raise RuntimeError("nobody expected it")

        with monkeypatch.context() as patch:
            patch.setattr(journal.store, "append", refuse)
            wire.publish({"n": 0}, {"n": 1})
            await until(lambda: journal.defers)
        with monkeypatch.context() as patch:
            patch.setattr(journal, "on_append", mistake)
            with pytest.raises(RuntimeError, match="nobody expected it"):
                journal.look_for_room()
            journal.look_for_room()
        assert await numbers(broker) == [0, 1]


async def test_a_folder_is_let_go_when_everything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = DurableService.close
    said: list[str] = []

    async def close(service: DurableService) -> None:
        try:
            locked(tmp_path).close()
        except siena.SienaError as error:
            said.append(str(error))
        await real(service)

    monkeypatch.setattr(DurableService, "close", close)
    async with serving(kept_in(tmp_path)):
        pass
    assert "another broker" in said[0]
    locked(tmp_path).close()


async def test_one_folder_is_of_one_broker(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)):
        with pytest.raises(siena.SienaError, match="another broker"):
            await Broker(kept_in(tmp_path)).start()
