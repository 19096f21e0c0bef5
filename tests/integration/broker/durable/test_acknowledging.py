"""Publications with a receipt: what is acknowledged is on the disk, and there once."""

import asyncio
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

import siena
import siena.testing
from broker.logs import SMALL, kept_in, numbers, url
from siena.block import encode
from siena.broker.durable import limits
from siena.broker.durable.receipts import publishers
from siena.broker.durable.receipts.publishers import Publishers
from siena.broker.log import group_commit
from siena.broker.log.store import Store
from siena.broker.settings import Durable, Settings
from siena.errors import RequestRefusedError
from siena.protocol.durable.receipts import Publisher, PublisherIs, Stored, pack_acked
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from siena.testing.in_process import ProcessBroker
from wire import Wire, connect, serving, until


class Disk:
    """A disk that waits, or fails, when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.may_go_on = threading.Event()
        self.may_go_on.set()
        self.syncs = 0
        self.fails = False
        real = group_commit.sync_and_close

        def sync(descriptors: list[int]) -> None:
            self.may_go_on.wait()
            self.syncs += 1
            real(descriptors)
            if self.fails:
                raise OSError(5, "Input/output error")

        monkeypatch.setattr(group_commit, "sync_and_close", sync)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Disk]:
    found = Disk(monkeypatch)
    yield found
    found.may_go_on.set()


async def publisher(wire: Wire, name: str = "me") -> int:
    wire.send(Publisher(name))
    known = await wire.next()
    assert isinstance(known, PublisherIs)
    return known.publisher


def acked(number: int, sequence: int, *values: int) -> bytes:
    frames = b"".join(pack(Op.PUB, encode({"n": n})) for n in values)
    return pack_acked(number, sequence, len(values), frames)


async def test_a_receipt_says_where_it_is_stored(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        async with siena.connect(url(broker)) as client:
            await client.publish(n=0)
            offsets = [await client.publish(n=n, ack=True) for n in (1, 2)]
            assert offsets == [1, 2]
            assert await client.publish_many([{"n": 3}, {"n": 4}], ack=True) == 2
        assert await numbers(broker) == [0, 1, 2, 3, 4]


async def test_there_is_no_receipt_before_the_disk_has_it(
    tmp_path: Path, disk: Disk
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        disk.may_go_on.clear()
        wire.send(acked(number, 0, 7))
        assert await wire.sync() == []  # it is routed and written
        assert await numbers(broker) == [7]
        assert await wire.sync() == []
        disk.may_go_on.set()
        assert await wire.next() == Stored(number, 0, 1, 0)


async def test_one_sync_is_for_all_that_came_while_the_last_one_ran(
    tmp_path: Path, disk: Disk
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wires = [await connect(broker) for _ in range(10)]
        handles = [await publisher(wire, f"p{i}") for i, wire in enumerate(wires)]
        disk.may_go_on.clear()
        before = disk.syncs
        for turn in range(3):
            for wire, number in zip(wires, handles, strict=True):
                wire.send(acked(number, turn, turn))
                assert await wire.sync() == []
        disk.may_go_on.set()
        for wire, number in zip(wires, handles, strict=True):
            found = [await wire.next() for _ in range(3)]
            assert {
                (s.publisher, s.sequence) for s in found if isinstance(s, Stored)
            } == {(number, turn) for turn in range(3)}
        # The first one, and one for all the others; the log may want one, too.
        assert disk.syncs - before <= 3


async def test_after_the_disk_has_failed_nothing_is_acknowledged(
    tmp_path: Path, disk: Disk
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        assert await client.publish(n=0, ack=True) == 0
        disk.fails = True
        with pytest.raises(RequestRefusedError, match="disk of the broker has failed"):
            await client.publish(n=1, ack=True)
        disk.fails = False  # a sync that succeeds says nothing about what was lost
        with pytest.raises(RequestRefusedError) as refused:
            await client.publish(n=2, ack=True)
        assert refused.value.fault == Fault.NOT_STORED.number


async def test_what_a_sync_failed_to_keep_is_written_anew_before_it_is_acknowledged(
    tmp_path: Path, disk: Disk
) -> None:
    """The operator says that the disk may be tried again, and it may fail again."""
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        wire.send(acked(number, 0, 7))
        assert await wire.next() == Stored(number, 0, 1, 0)
        disk.fails = True
        wire.send(acked(number, 1, 8))
        assert getattr(await wire.next(), "fault", None) == Fault.NOT_STORED.number
        journal = broker.log_service.journal
        assert journal is not None
        assert isinstance(journal.store, Store)
        path = journal.store.segments[-1].path
        before = path.stat().st_ino
        with pytest.MonkeyPatch.context() as patch:

            def refuse(*_: object) -> None:
                raise OSError(5, "Input/output error")

            patch.setattr(journal.store.files, "sync", refuse)
            journal.resume()
        assert journal.failure
        disk.fails = False
        journal.resume()
        assert not journal.failure
        assert path.stat().st_ino != before, "what was in doubt is in a fresh file"
        again = await connect(broker)
        assert await publisher(again) == number
        again.send(acked(number, 1, 8))
        assert await again.next() == Stored(number, 1, 1, 1)
        assert await numbers(broker) == [7, 8]


async def test_what_is_sent_again_is_stored_once(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        wire.send(acked(number, 0, 0, 1, 2))
        assert await wire.next() == Stored(number, 0, 3, 0)
        again = await connect(broker)  # the first connection was lost, for all it knows
        assert await publisher(again) == number
        again.send(acked(number, 1, 1, 2, 3, 4))
        assert [await again.next(), await again.next()] == [
            Stored(number, 1, 2, 1),
            Stored(number, 3, 2, 3),
        ]
        assert await numbers(broker) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("checkpoint", [1, 100_000])
async def test_what_is_sent_again_after_a_restart_is_stored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, checkpoint: int
) -> None:
    monkeypatch.setattr(publishers, "CHECKPOINT_OFFSETS", checkpoint)
    for life in range(3):
        async with serving(kept_in(tmp_path)) as broker:
            wire = await connect(broker)
            number = await publisher(wire)
            wire.send(acked(number, 0, *range(life + 1)))
            told = 0
            while told < life + 1:
                said = await wire.next()
                assert isinstance(said, Stored)
                assert not said.fault
                told += said.count
            assert await numbers(broker) == [*range(life + 1)]


async def test_what_was_stored_before_a_crash_is_found_in_the_log(
    tmp_path: Path,
) -> None:
    """A copy of the folder is what a broker finds that was killed at that moment."""
    before, after = tmp_path / "before", tmp_path / "after"
    async with serving(kept_in(before)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        wire.send(acked(number, 0, 0, 1, 2))
        assert await wire.next() == Stored(number, 0, 3, 0)
        await asyncio.to_thread(shutil.copytree, before, after)
    async with serving(kept_in(after)) as broker:
        wire = await connect(broker)
        assert await publisher(wire) == number
        wire.send(acked(number, 1, 1, 2, 3))
        assert [await wire.next(), await wire.next()] == [
            Stored(number, 1, 2, 1),
            Stored(number, 3, 1, 3),
        ]
        assert await numbers(broker) == [0, 1, 2, 3]


async def test_a_checkpoint_says_no_more_than_publishers_were_told(
    tmp_path: Path, disk: Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of several who wait for one sync the first that hears of it has it written."""
    monkeypatch.setattr(publishers, "CHECKPOINT_OFFSETS", 1)
    states: list[bytes] = []
    real = Publishers._contents

    def contents(known: Publishers) -> bytes:
        states.append(real(known))
        return states[-1]

    monkeypatch.setattr(Publishers, "_contents", contents)
    async with serving(kept_in(tmp_path)) as broker:
        wires = [await connect(broker) for _ in range(2)]
        handles = [await publisher(wire, f"p{i}") for i, wire in enumerate(wires)]
        disk.may_go_on.clear()
        for turn in range(2):
            for wire, number in zip(wires, handles, strict=True):
                wire.send(acked(number, turn, turn))
                assert await wire.sync() == []
        states.clear()
        disk.may_go_on.set()
        for wire in wires:
            assert [await wire.next(), await wire.next()]
        await until(lambda: bool(states))
    for state in states:
        said = msgspec.json.decode(state)
        offset, known = said["offset"], said["publishers"]
        assert offset <= sum(each[-1] for each in known), state


async def test_what_is_sent_again_is_known_though_the_log_is_damaged_before_it(
    tmp_path: Path,
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    async with serving(kept_in(before)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        for sequence in range(3):
            wire.send(acked(number, sequence, sequence))
            await wire.next()
        await asyncio.to_thread(shutil.copytree, before, after)
    (path,) = after.glob("*.log")
    data = bytearray(path.read_bytes())
    data[data.index(encode({"n": 1}))] ^= 1
    path.write_bytes(data)
    async with serving(kept_in(after)) as broker:
        wire = await connect(broker)
        assert await publisher(wire) == number
        wire.send(acked(number, 2, 2))
        assert await wire.next() == Stored(number, 2, 1, 2)


async def test_two_publishers_do_not_know_each_others_numbers(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        one, other = await publisher(wire, "one"), await publisher(wire, "other")
        wire.send(acked(one, 0, 1) + acked(other, 0, 2))
        assert {await wire.next(), await wire.next()} == {
            Stored(one, 0, 1, 0),
            Stored(other, 0, 1, 1),
        }


async def test_the_publisher_that_was_silent_longest_is_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishers, "PUBLISHERS_MAX", 2)
    assert limits.PUBLISHERS_MAX > 2
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        one = await publisher(wire, "one")
        for name in ("two", "three"):
            await publisher(wire, name)
        wire.send(acked(one, 0, 1))
        told = await wire.next()
        assert isinstance(told, Stored)
        assert told.fault == Fault.PUBLISHER_UNKNOWN.number
        assert await numbers(broker) == []


async def test_what_is_no_notification_is_refused_and_the_others_are_stored(
    tmp_path: Path,
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        blocks = [encode({"n": 0}), b"\xc1", encode({"n": 2})]
        frames = b"".join(pack(Op.PUB, block) for block in blocks)
        wire.send(pack_acked(number, 0, 3, frames))
        told = [await wire.next() for _ in range(3)]
        refused = [t for t in told if isinstance(t, Stored) and t.fault]
        assert [(t.sequence, t.fault) for t in refused] == [(1, 100)]
        rest = [t for t in told if t not in refused]
        assert rest == [Stored(number, 0, 1, 0), Stored(number, 2, 1, 1)]
        assert await numbers(broker) == [0, 2]


async def test_a_mistake_of_the_broker_acknowledges_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        with monkeypatch.context() as patch:

            def mistake(*_: object) -> None:
                raise MemoryError

            patch.setattr(broker.state.exchange, "route", mistake)
            wire.send(acked(number, 0, 1))
            told = await wire.next()
            assert getattr(told, "fault", None) == Fault.BROKEN.number
        again = await connect(broker)
        number = await publisher(again)
        again.send(acked(number, 0, 1))  # it is not taken for stored
        assert await again.next() == Stored(number, 0, 1, 0)
        assert await numbers(broker) == [1]


@pytest.mark.parametrize("keeps_log", [True, False])
async def test_without_a_store_it_is_refused(tmp_path: Path, keeps_log: bool) -> None:  # noqa: FBT001
    settings = kept_in(tmp_path) if keeps_log else Settings(listen=("127.0.0.1:0",))
    async with serving(settings) as broker, siena.connect(url(broker)) as client:
        assert ("durable" in client.features) == keeps_log
        if keeps_log:
            assert await client.publish(n=1, ack=True) == 0
            return
        with pytest.raises(RequestRefusedError) as refused:
            await client.publish(n=1, ack=True)
        assert refused.value.fault == Fault.NO_STORE.number
        wire = await connect(broker)  # and so is somebody who does not look
        wire.send(Publisher("me"))
        assert getattr(await wire.next(), "fault", None) == Fault.NO_STORE.number
        wire.send(acked(1, 0, 1))
        assert getattr(await wire.next(), "fault", None) == Fault.NO_STORE.number


async def test_a_receipt_may_be_asked_not_to_wait_for_the_disk(
    tmp_path: Path, disk: Disk
) -> None:
    settings = Settings(
        listen=("127.0.0.1:0",),
        log=kept_in(tmp_path).log,
        durable=Durable(sync="second"),
    )
    async with serving(settings) as broker, siena.connect(url(broker)) as client:
        disk.may_go_on.clear()
        assert await client.publish(n=1, ack=True) == 0
        disk.may_go_on.set()


async def test_a_full_log_lets_publishers_wait_and_loses_nothing(
    tmp_path: Path,
) -> None:
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as client,
        siena.connect(url(broker)) as reader,
    ):
        await reader.log.commit("reader", 0)
        pending = [
            asyncio.ensure_future(client.publish(n=n, text="x" * 400, ack=True))  # noqa: TID251
            for n in range(60)
        ]
        read: list[object] = []
        while len(read) < 60:
            found = reader.log.read(start=len(read))
            read += [logged.notification["n"] async for logged in found]
            await reader.log.commit("reader", len(read))
            await asyncio.sleep(0)
        assert await asyncio.gather(*pending) == [*range(60)]
        assert read == [*range(60)]


def test_kills_lose_nothing_that_was_acknowledged_and_store_nothing_twice(
    tmp_path: Path,
) -> None:
    """The client sends again what had no receipt, over three lives of the broker."""
    broker = ProcessBroker(["--log", str(tmp_path)])
    broker.start()
    stop = threading.Event()
    receipts: dict[int, int | None] = {}

    def publish() -> None:
        with siena.connect(broker.url, patient=True) as client:
            n = 0
            while not stop.is_set():
                receipts[n] = client.publish(n=n, ack=True)
                n += 1

    thread = threading.Thread(target=publish)
    try:
        thread.start()
        for life in range(1, 3):
            while len(receipts) < 40 * life:
                thread.join(0.01)
            broker.kill()
            broker.start()
        stop.set()
        thread.join()
        with siena.connect(broker.url) as client:
            found = {x.offset: x.notification["n"] for x in client.log.read()}
    finally:
        stop.set()
        broker.kill()
    assert Counter(found.values()).most_common(1)[0][1] == 1
    for n, offset in receipts.items():
        assert offset is None or found[offset] == n
        assert n in found.values()


async def test_a_program_goes_on_under_its_name_where_its_last_life_ended(
    tmp_path: Path,
) -> None:
    rows = [{"n": n} for n in range(7)]
    for end in (3, 7):  # it dies; then it does not
        async with (
            serving(kept_in(tmp_path)) as broker,
            siena.connect(url(broker), publisher="importer") as client,
        ):
            for row in rows[await client.next_sequence() : end]:
                await client.publish(row, ack=True)
            assert await client.next_sequence() == end
            assert await numbers(broker) == [*range(end)]


async def test_what_was_on_its_way_when_a_program_died_is_sent_again_and_stored_once(
    tmp_path: Path, disk: Disk
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        number = await publisher(wire, "importer")
        disk.may_go_on.clear()
        wire.send(acked(number, 0, 0, 1, 2))
        await until(lambda: broker.log_service.journal.store.latest == 3)  # type: ignore[union-attr]
        wire.close()
        async with siena.connect(url(broker), publisher="importer") as client:
            assert await client.next_sequence() == 0  # nothing had its receipt
            rows = [client.publish({"n": n}, ack=True) for n in range(5)]
            waiting = asyncio.gather(*rows)
            disk.may_go_on.set()
            assert await waiting == [0, 1, 2, 3, 4]
        assert await numbers(broker) == [0, 1, 2, 3, 4]


async def test_two_programs_under_one_name_are_not_taken_for_each_other_unnoticed(
    tmp_path: Path,
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker), publisher="importer") as client,
    ):
        assert await client.publish({"n": 0}, ack=True) == 0
        wire = await connect(broker)
        wire.send(acked(await publisher(wire, "importer"), 1, 7, 8))
        assert isinstance(await wire.next(), Stored)
        for session in list(broker.state.sessions.values()):
            if session.sink is not None:  # the connection is lost
                session.sink.abort()  # type: ignore[attr-defined]
        with pytest.raises(siena.SienaError, match="other publications of 'importer'"):
            await client.publish({"n": 1}, ack=True)
        assert await client.next_sequence() == 3


def test_a_program_that_does_not_await_asks_as_well(tmp_path: Path) -> None:
    with (
        siena.testing.broker(log={"path": str(tmp_path)}) as broker,
        siena.connect(broker.url, publisher="importer") as client,
    ):
        assert client.next_sequence() == 0
        client.publish(n=1, ack=True)
        assert client.next_sequence() == 1


async def test_a_name_needs_a_store_as_receipts_do() -> None:
    async with (
        serving(Settings(listen=("127.0.0.1:0",))) as broker,
        siena.connect(url(broker), publisher="importer") as client,
    ):
        with pytest.raises(RequestRefusedError, match="no store"):
            await client.next_sequence()


async def test_what_stands_behind_damage_is_known_to_be_stored(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    async with serving(kept_in(before)) as broker:
        wire = await connect(broker)
        number = await publisher(wire)
        for n in range(3):  # a record each
            wire.send(acked(number, n, n))
            assert await wire.next() == Stored(number, n, 1, n)
        await asyncio.to_thread(shutil.copytree, before, after)
    path = next(after.glob("*.log"))
    block = encode({"n": 1})
    path.write_bytes(path.read_bytes().replace(block, bytes(len(block))))
    async with serving(kept_in(after)) as broker:
        wire = await connect(broker)
        await publisher(wire)
        wire.send(acked(number, 2, 2))
        assert await wire.next() == Stored(number, 2, 1, 2)
