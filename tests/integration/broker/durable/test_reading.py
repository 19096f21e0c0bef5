"""Durable subscriptions over real connections: what is not acknowledged comes again."""

import asyncio
import itertools
import random
import threading
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from pathlib import Path

import pytest
from msgspec import structs

import siena
from broker.logs import SMALL, kept_in, publish, url
from siena.broker.broker import Broker
from siena.broker.durable.cursors import cursor as cursors_module
from siena.broker.durable.cursors.cursor import Cursor
from siena.broker.log import group_commit
from siena.broker.settings import LinkSettings, Settings
from siena.client.durable.subscription import Begin, Delivered, DurableSubscription
from siena.errors import RequestRefusedError
from siena.lang.parser import parse_filter
from siena.model import Notification, Predicate, Value
from siena.protocol.control_frames import Settled
from siena.protocol.durable.reading import (
    Ack,
    DurableDelivery,
    DurableSubscribe,
    unpack_deliver,
)
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from siena.testing.in_process import ProcessBroker
from wire import Wire, connect, serving, until

SECONDS = 10.0


async def take(subscription: DurableSubscription, count: int) -> list[Delivered]:
    found: list[Delivered] = []
    while len(found) < count:
        found += await subscription.get_many(count - len(found), SECONDS)
    return found


def shown(broker: Broker, name: str = "billing") -> dict[str, object]:
    [found] = [
        d for d in broker.log_service.durable.durables(1_000) if d["name"] == name
    ]
    return found


async def joined(broker: Broker, **how: object) -> Wire:
    """Somebody who reads, and answers nothing by itself."""
    wire = await connect(broker)
    wire.send(DurableSubscribe(7, "[]", "billing", **how))  # type: ignore[arg-type]
    return wire


async def delivered(wire: Wire) -> DurableDelivery:
    while True:
        op, body = await wire.frame()
        if op == Op.DELIVER:
            return unpack_deliver(body)


async def test_what_was_acknowledged_does_not_come_again(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        async with siena.connect(url(broker)) as client:
            read = await client.subscribe("n > 2", durable="billing").settled()
            await publish(broker, 6)
            first, second, third = await take(read, 3)
            assert [m["n"] for m in (first, second, third)] == [3, 4, 5]
            assert [m.offset for m in (first, second, third)] == [3, 4, 5]
            first.ack()
            third.ack()
            await client.flush()
        async with siena.connect(url(broker)) as client:
            read = await client.subscribe("n > 2", durable="billing").settled()
            again = await read.get(SECONDS)
            assert (again["n"], again.attempt) == (4, 2)
            assert shown(broker)["low"] == 4
            again.ack()
            await client.flush()
            assert shown(broker)["low"] == 6
            await publish(broker, 1, first=7)
            assert (await read.get(SECONDS))["n"] == 7
            assert [message async for message in read.within(0.01)] == []


async def test_what_the_filter_excludes_counts_as_acknowledged(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await client.subscribe("n < 0", durable="billing").settled()
        await publish(broker, 100)
        assert shown(broker)["low"] == 100
        assert shown(broker)["lag"] == 0


async def test_what_was_published_while_nobody_read_is_there(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        async with siena.connect(url(broker)) as client:
            await client.subscribe("n any", durable="billing").settled()
        await publish(broker, 5_000)  # more than a cursor holds
        async with siena.connect(url(broker)) as client:
            read = client.subscribe("n any", durable="billing", credit=100)
            for n in range(5_000):
                message = await read.get(SECONDS)
                assert message["n"] == n
                message.ack()


async def test_a_restart_forgets_nothing(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = await client.subscribe("n any", durable="billing").settled()
        await publish(broker, 3_000)
        some = await take(read, 500)
        for message in some[100:]:
            message.ack()
        await client.flush()
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = client.subscribe("n any", durable="billing", credit=5_000)
        found = [m["n"] for m in await take(read, 2_600)]
        assert found == [*range(100), *range(500, 3_000)]


def test_a_kill_forgets_nothing(tmp_path: Path) -> None:
    broker = ProcessBroker(["--log", str(tmp_path)])
    broker.start()
    try:
        with siena.connect(broker.url) as client:
            read = client.subscribe("n any", durable="billing").settled()
            client.publish_many([{"n": n} for n in range(100)], ack=True)
            found: list[Delivered] = []
            while len(found) < 100:
                found += read.get_many(timeout_s=SECONDS)
            for message in found:
                if message["n"] % 3:  # type: ignore[operator]
                    message.ack()
            client.flush()
            broker.kill()
            broker.start()
            again = [read.get(SECONDS)["n"] for _ in range(34)]
            assert again == [*range(0, 100, 3)]
    finally:
        broker.kill()


async def test_a_lost_connection_brings_it_again_at_once(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        first = await joined(broker, ack_wait=1_000.0)
        await publish(broker, 1)
        assert (await delivered(first)).attempt == 1
        second = await joined(broker, ack_wait=1_000.0)
        first.writer.transport.abort()
        assert (await delivered(second)).attempt == 2


async def test_what_has_no_answer_comes_again_later_and_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[tuple[float, float]] = []  # when, and when it is due again
    original = Cursor.sent

    def noted(cursor: Cursor, offset: int, member: int, size: int, now: float) -> int:
        attempt = original(cursor, offset, member, size, now)
        assert cursor.next_due is not None
        sent.append((now, cursor.next_due))
        return attempt

    monkeypatch.setattr(Cursor, "sent", noted)
    async with serving(kept_in(tmp_path)) as broker:
        wire = await joined(broker, ack_wait=0.02)
        await publish(broker, 1)
        for attempt in range(1, 5):
            assert (await delivered(wire)).attempt == attempt
    waits = [due - now for now, due in sent[:4]]
    assert waits == pytest.approx([0.02, 0.04, 0.08, 0.16])
    # However slow the machine is, it came again when it was due, and not before.
    for (_, due), (now, _) in itertools.pairwise(sent):
        assert due <= now


async def test_a_no_brings_it_again_when_that_is_wanted(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = await client.subscribe("[]", durable="billing").settled()
        await publish(broker, 2)
        first, second = await take(read, 2)
        second.nak()
        again = await read.get(SECONDS)
        assert (again["n"], again.attempt) == (1, 2)
        begun = asyncio.get_running_loop().time()
        first.nak(delay_s=0.05)
        again = await read.get(SECONDS)
        assert (again["n"], again.attempt) == (0, 2)
        assert asyncio.get_running_loop().time() - begun > 0.04


async def test_after_too_many_deliveries_it_is_a_dead_letter(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        dead = await client.subscribe("siena.dead = true").settled()
        read = await client.subscribe(
            "n any", durable="billing", max_deliver=3
        ).settled()
        await publish(broker, 2)
        good = 0
        while good < 1:
            message = await read.get(SECONDS)
            if message["n"]:
                message.ack()
                good += 1
            else:
                message.nak()
        seen = 1
        while seen < 3:
            message = await read.get(SECONDS)
            assert message["n"] == 0
            seen = message.attempt
            message.nak()
        letter = await dead.get(SECONDS)
        expected: dict[str, Value] = {
            "siena.dead": True,
            "siena.durable": "billing",
            "siena.offset": 0,
            "siena.reason": "delivered 3 times without an answer",
        }
        assert letter == Notification(expected)
        assert shown(broker)["dead"] == 1
        await until(lambda: shown(broker)["low"] == 3)


async def test_what_a_dead_letter_is_about_is_done_with_when_the_disk_has_the_letter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    may_go_on.set()
    real = group_commit.sync_and_close

    def sync(descriptors: list[int]) -> None:
        may_go_on.wait()
        real(descriptors)

    monkeypatch.setattr(group_commit, "sync_and_close", sync)
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        dead = await client.subscribe("siena.dead = true").settled()
        wire = await joined(broker, max_deliver=1, ack_wait=0.01)
        durable = broker.log_service.durable
        await until(lambda: durable.count == 1 and shown(broker)["readers"] == 1)
        may_go_on.clear()
        try:
            await publish(broker, 1)
            assert (await delivered(wire)).offset == 0
            assert (await dead.get(SECONDS))["siena.offset"] == 0
            assert shown(broker)["low"] == 0, "it comes again if the letter is lost"
        finally:
            may_go_on.set()
        await until(lambda: shown(broker)["low"] != 0)


async def test_dead_letters_do_not_bury_each_other(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await joined(broker, max_deliver=1, ack_wait=0.01)
        await publish(broker, 1)
        assert (await delivered(wire)).offset == 0
        assert (await delivered(wire)).offset == 1  # the letter about it
        await until(lambda: shown(broker)["dead"] == 2)
        assert broker.log_service.journal is not None
        assert broker.log_service.journal.store.latest == 2


async def test_several_readers_share_the_work(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(serving(kept_in(tmp_path)))
        clients = [
            await stack.enter_async_context(siena.connect(url(broker))) for _ in "abc"
        ]
        reads = [
            await c.subscribe("[]", durable="billing", credit=10).settled()
            for c in clients
        ]
        await publish(broker, 300)
        got: list[list[int]] = [[] for _ in clients]

        async def work(place: int) -> None:
            async for message in reads[place]:
                got[place].append(message.offset)
                message.ack()
                if sum(map(len, got)) == 300:
                    for read in reads:
                        await read.close()

        async with asyncio.TaskGroup() as tasks:
            for place in range(3):
                tasks.create_task(work(place))
        assert sorted(itertools.chain(*got)) == [*range(300)]
        assert all(len(found) > 30 for found in got)


async def test_a_reader_that_leaves_hands_its_share_to_others(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as one,
        siena.connect(url(broker)) as other,
    ):
        first = await one.subscribe("[]", durable="billing").settled()
        await publish(broker, 10)
        assert len(await take(first, 10)) == 10
        second = await other.subscribe("[]", durable="billing").settled()
        await first.close()
        assert [m["n"] for m in await take(second, 10)] == [*range(10)]


async def test_of_one_key_one_is_under_way_and_in_order(tmp_path: Path) -> None:
    chance = random.Random(7)
    async with AsyncExitStack() as stack:
        broker = await stack.enter_async_context(serving(kept_in(tmp_path)))
        client = await stack.enter_async_context(siena.connect(url(broker)))
        reads = []
        for _ in range(3):
            each = await stack.enter_async_context(siena.connect(url(broker)))
            reads.append(
                await each.subscribe("[]", durable="billing", key="k").settled()
            )
        await client.publish_many([{"n": n, "k": n % 4} for n in range(80)], ack=True)
        done: dict[object, list[object]] = {}
        under_way: set[object] = set()

        async def work(read: DurableSubscription) -> None:
            async for message in read:
                key = message["k"]
                assert key not in under_way
                under_way.add(key)
                await asyncio.sleep(0)
                under_way.discard(key)
                if chance.random() < 0.2:
                    message.nak()
                    continue
                done.setdefault(key, []).append(message["n"])
                message.ack()
                if sum(map(len, done.values())) == 80:
                    for every in reads:
                        await every.close()

        async with asyncio.TaskGroup() as tasks:
            for read in reads:
                tasks.create_task(work(read))
        assert done == {k: [*range(k, 80, 4)] for k in range(4)}


async def test_no_more_than_the_credit_is_without_an_answer(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await joined(broker, credit=3)
        await publish(broker, 10)
        first = [await delivered(wire) for _ in range(3)]
        assert [d.offset for d in first] == [0, 1, 2]
        assert shown(broker)["under_way"] == 3
        assert all(isinstance(came, Settled) for came in await wire.sync())
        wire.send(Ack(7, [1]))
        assert (await delivered(wire)).offset == 3
        wire.send(Ack(7, [], up_to=3))
        assert [(await delivered(wire)).offset for _ in range(2)] == [4, 5]


async def test_all_up_to_an_offset_may_be_more_than_was_delivered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cursors_module, "FOUND_MAX", 10)
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = await client.subscribe("[]", durable="billing", credit=2).settled()
        await publish(broker, 100)
        assert [m.offset for m in await take(read, 2)] == [0, 1]
        read.ack_up_to(90)
        assert [m.offset for m in await take(read, 2)] == [90, 91]
        assert shown(broker)["low"] == 90


async def test_another_filter_holds_from_then_on(tmp_path: Path) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        async with siena.connect(url(broker)) as client:
            await client.subscribe("n < 10", durable="billing").settled()
        await publish(broker, 20)
        async with siena.connect(url(broker)) as client:
            read = await client.subscribe("n >= 10", durable="billing").settled()
            await publish(broker, 20)
            found = [(m.offset, m["n"]) for m in await take(read, 20)]
        assert found == [
            *((n, n) for n in range(10)),
            *((20 + n, n) for n in range(10, 20)),
        ]


async def test_another_filter_waits_for_those_who_are_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was logged before is matched by the filter of its time, even much later."""
    monkeypatch.setattr(cursors_module, "FOUND_MAX", 10)
    async with serving(kept_in(tmp_path)) as broker:
        async with siena.connect(url(broker)) as client:
            await client.subscribe("n < 50", durable="billing").settled()
        await publish(broker, 100)
        async with siena.connect(url(broker)) as client:
            await client.subscribe("n >= 50", durable="billing").settled()
        await publish(broker, 100)
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = client.subscribe("n >= 50", durable="billing")
        found = []
        for _ in range(100):
            message = await read.get(SECONDS)
            found.append(message.offset)
            message.ack()
        assert found == [*range(50), *range(150, 200)]
        assert len(shown(broker)["epochs"]) == 1  # type: ignore[arg-type]


async def test_where_it_begins(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await publish(broker, 5)
        await asyncio.sleep(0.002)
        now = datetime.now(UTC)
        await publish(broker, 5, first=5)
        starts: list[tuple[Begin, int]] = [
            ("all", 0), ("new", 10), (3, 3), (10, 10), (now, 5),
        ]  # fmt: skip
        for place, (start, first) in enumerate(starts):
            read = await client.subscribe(
                "[]", durable=f"from {place}", start=start
            ).settled()
            found = [m.offset for m in await take(read, 10 - first)]
            assert found == [*range(first, 10)]
            await read.close()
        with pytest.raises(RequestRefusedError) as refused:
            await client.subscribe("[]", durable="ahead", start=11).settled()
        assert refused.value.fault == Fault.OFFSET_AHEAD.number


async def test_seek_and_forget(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = await client.subscribe("[]", durable="billing").settled()
        await publish(broker, 10)
        for message in await take(read, 10):
            message.ack()
        await client.flush()
        await client.seek_durable("billing", 7)
        assert [m.offset for m in await take(read, 3)] == [7, 8, 9]
        await client.forget_durable("billing")
        with pytest.raises(RequestRefusedError) as refused:
            await read.get(SECONDS)
        assert refused.value.fault == Fault.DURABLE_UNKNOWN.number
        assert broker.log_service.durable.count == 0
        for asked in (client.seek_durable("billing", 0), client.forget_durable("x")):
            with pytest.raises(RequestRefusedError) as refused:
                await asked
            assert refused.value.fault == Fault.DURABLE_UNKNOWN.number


async def test_many_filters_get_what_each_selects(tmp_path: Path) -> None:
    """The one table of all of them, against each filter on its own."""
    chance = random.Random(3)
    texts = [
        f"n {chance.choice(['<', '>', '=', '!='])} {chance.randrange(60)}"
        for _ in range(40)
    ]
    texts += ["[]", "n < 5 or n > 55", "n < 3 or n < 4 or n any"]
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await publish(broker, 30)
        reads = [
            await client.subscribe(
                text, durable=f"d{place}", start="all", credit=100
            ).settled()
            for place, text in enumerate(texts)
        ]
        await publish(broker, 30, first=30)
        for text, read in zip(texts, reads, strict=True):
            wanted = siena.parse_interest(text) if "or" in text else parse_filter(text)
            expected = [
                n
                for n in range(60)
                if wanted.matches(Notification(n=n))  # type: ignore[union-attr]
            ]
            found = await take(read, len(expected)) if expected else []
            assert [m["n"] for m in found] == expected
            assert not read.waiting


async def test_the_log_keeps_what_is_not_acknowledged(tmp_path: Path) -> None:
    """A full log lets publishers wait; acknowledging makes room."""
    async with (
        serving(kept_in(tmp_path, **SMALL)) as broker,
        siena.connect(url(broker)) as client,
        siena.connect(url(broker)) as reader,
    ):
        read = await reader.subscribe("[]", durable="billing").settled()
        many: list[dict[str, Value]] = [{"n": n, "text": "x" * 400} for n in range(100)]
        publishing = asyncio.get_running_loop().create_task(
            client.publish_many(many, ack=True)
        )
        for n in range(100):
            message = await read.get(SECONDS)
            assert message["n"] == n
            message.ack()
        assert await publishing == 100


def lose_everything(folder: Path) -> None:
    """As a disk may that was not synced, though a log is cut at its end only."""
    for path in folder.glob("*.log"):
        path.unlink()


async def test_a_log_that_lost_its_end_gives_no_offset_again(tmp_path: Path) -> None:
    """What comes then is delivered, and not taken for what was acknowledged."""
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = await client.subscribe("[]", durable="billing").settled()
        await publish(broker, 10)
        for message in await take(read, 10):
            message.ack()
        await client.flush()
    lose_everything(tmp_path)
    for life in range(2):
        async with (
            serving(kept_in(tmp_path)) as broker,
            siena.connect(url(broker)) as client,
        ):
            read = client.subscribe("[]", durable="billing")
            await publish(broker, 3)
            found = await take(read, 3)
            for message in found:
                message.ack()
            offsets = [message.offset for message in found]
            assert offsets == [*range(10 + 3 * life, 13 + 3 * life)]
            await client.flush()


async def test_half_a_record_of_the_cursors_is_cut_off_and_said(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        await client.subscribe("[]", durable="billing").settled()
    path = tmp_path / "cursors.state"
    path.write_bytes(path.read_bytes() + b"\x09\x00\x00\x00half")
    async with serving(kept_in(tmp_path)) as broker:
        assert shown(broker)["low"] == 0
        assert "ended with half a record" in caplog.text


async def test_a_mistake_at_the_tail_is_made_good_by_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        read = await client.subscribe("[]", durable="billing").settled()
        finder = broker.log_service.durable._finder
        assert finder is not None
        with monkeypatch.context() as patch:

            def mistake(*_: object) -> None:
                raise MemoryError

            patch.setattr(finder, "_matches", mistake)
            assert await client.publish(n=0, ack=True) == 0
        assert (await read.get(SECONDS))["n"] == 0
        assert await client.publish(n=1, ack=True) == 1
        assert (await read.get(SECONDS))["n"] == 1


async def test_what_comes_from_other_brokers_is_for_it_too(tmp_path: Path) -> None:
    keeping = structs.replace(kept_in(tmp_path), accept_peers=True)
    async with serving(keeping) as home, siena.connect(url(home)) as client:
        link = LinkSettings(url=url(home), side="peer")
        async with serving(Settings(listen=("127.0.0.1:0",), links=(link,))) as away:
            await until(lambda: bool(home.state.links) and bool(away.state.links))
            read = await client.subscribe("n > 2", durable="billing").settled()
            await read.close()  # nobody reads, and it is wanted all the same
            await publish(away, 6)
            again = client.subscribe("n > 2", durable="billing")
            assert [m["n"] for m in await take(again, 3)] == [3, 4, 5]
            # And no longer, when it is forgotten.
            await client.forget_durable("billing")
            await until(lambda: not len(away.state.router.tables.filters))


async def test_a_grant_is_a_guard_at_delivery(tmp_path: Path) -> None:
    """What is not granted counts as acknowledged, and the cursor is as it was."""
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        reading = broker.log_service.durable.reading
        assert reading is not None
        reading._heard_by = lambda _: Predicate([parse_filter("n != 1")])
        read = await client.subscribe("n any", durable="billing").settled()
        await publish(broker, 3)
        for message in await take(read, 2):
            assert message["n"] != 1
            message.ack()
        await client.flush()
        assert shown(broker)["low"] == 3


@pytest.mark.parametrize(
    ("interest", "fault"),
    [("n >", Fault.BAD_INTEREST), ("n = 1 then n = 2", Fault.BAD_INTEREST)],
)
async def test_what_cannot_be_durable_is_refused(
    tmp_path: Path, interest: str, fault: Fault
) -> None:
    async with serving(kept_in(tmp_path)) as broker:
        wire = await connect(broker)
        wire.send(DurableSubscribe(7, interest, "billing"))
        told = await wire.next()
        assert getattr(told, "fault", None) == fault.number
        assert getattr(told, "number", None) == 7
        assert broker.log_service.durable.count == 0


async def test_without_a_store_there_is_no_durable_subscription() -> None:
    async with serving(Settings(listen=("127.0.0.1:0",))) as broker:
        async with siena.connect(url(broker)) as client:
            with pytest.raises(RequestRefusedError) as refused:
                await client.subscribe("[]", durable="billing").settled()
            assert refused.value.fault == Fault.NO_STORE.number
        wire = await connect(broker)
        wire.send(DurableSubscribe(7, "[]", "billing"))
        assert getattr(await wire.next(), "fault", None) == Fault.NO_STORE.number


async def test_a_client_sees_how_far_each_is(tmp_path: Path) -> None:
    async with (
        serving(kept_in(tmp_path)) as broker,
        siena.connect(url(broker)) as client,
    ):
        assert await client.durables() == []
        read = await client.subscribe("n > 2", durable="billing").settled()
        await publish(broker, 6)
        found = await take(read, 3)
        found[0].ack()
        await client.flush()
        [shown] = await client.durables()
        assert (shown["name"], shown["low"], shown["lag"]) == ("billing", 4, 2)


async def test_answers_to_what_came_of_one_broker_are_not_said_to_another(
    tmp_path: Path,
) -> None:
    """The next address is another broker, whose log has something else there."""
    async with serving(kept_in(tmp_path / "b")) as second:
        await publish(second, 3, first=100)
        ends = AsyncExitStack()
        first = await ends.enter_async_context(serving(kept_in(tmp_path / "a")))
        await publish(first, 3)
        async with siena.connect(url(first), url(second)) as client:
            read = client.subscribe("[]", durable="billing", start="all")
            [of_first, answered, _] = await take(read, 3)
            await ends.aclose()
            answered.ack()  # while there is no connection
            [of_second, *_] = found = await take(read, 3)
            assert [m["n"] for m in found] == [100, 101, 102]
            of_first.ack()
            await client.flush()
            assert shown(second)["low"] == 0
            of_second.ack()
            await client.flush()
            assert shown(second)["low"] == 1
