"""A link that is broken: what is kept for a neighbour, and what is told if not all."""

import errno
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import pytest

import siena
from broker.logs import numbers, url
from siena.broker.broker import Broker
from siena.broker.durable.relays import receiving, relaying
from siena.broker.log.files import Files
from siena.broker.log.store import Store
from siena.broker.peers.link import Link
from siena.broker.settings import Settings, as_settings
from siena.client.missed_interval import MissedInterval
from siena.clock import SystemClock
from siena.errors import RequestRefusedError
from siena.lang.parser import parse_predicate
from wire import serving, until

# The smallest: four files of four KiB.
SMALL = {"bytes": 16_384, "segment_bytes": 4_096}


def stored_in(
    folder: Path,
    name: str,
    *links: Broker,
    log: dict[str, int] | None = None,
    **more: object,
) -> Settings:
    form: dict[str, object] = {
        "name": name,
        "listen": ["127.0.0.1:0"],
        "accept_peers": True,
        "log": {"path": str(folder / name), **(log or {})},
        "links": [{"url": url(each)} for each in links],
        **more,
    }
    return as_settings(form)


@asynccontextmanager
async def chain(folder: Path, count: int) -> AsyncIterator[Sequence[Broker]]:
    """Brokers of which each calls the one before it."""
    async with AsyncExitStack() as stack:
        found: list[Broker] = []
        for number in range(count):
            form = stored_in(folder, f"b{number}", *found[-1:])
            found.append(await stack.enter_async_context(serving(form)))
        await until(lambda: sum(len(b.state.links) for b in found) == 2 * (count - 1))
        yield found


async def subscribe(at: Broker, interest: str = "n any") -> None:
    """Make a durable subscription, which is in force when this returns."""
    async with siena.connect(url(at)) as client:
        wanted = client.subscribe(interest, durable="billing")
        await wanted.settled()
        await wanted.close()


def dropped(at: Broker) -> int:
    return at.state.counters.relay_dropped


def links_of(at: Broker) -> list[Link]:
    return [each for each in at.state.links.values() if isinstance(each, Link)]


async def test_one_that_is_waited_for_too_long_is_told_of_the_gap(
    tmp_path: Path,
) -> None:
    """What is dropped is counted, and told to those who read durably behind it."""
    short = stored_in(tmp_path, "b0", durable={"spool_seconds": 0.1})
    async with serving(short) as b0:
        async with serving(stored_in(tmp_path, "b1", b0)) as b1:
            await until(lambda: bool(b1.state.links))
            await subscribe(b1, "n > 5")
        async with siena.connect(url(b0)) as client:
            for n in (6, 1, 7):
                await client.publish(n=n, ack=True)
            await until(lambda: dropped(b0) == 2)
            gaps: list[MissedInterval] = []
            async with (
                serving(stored_in(tmp_path, "b1")) as b1,
                siena.connect(url(b1), on_gap=gaps.append) as reader,
            ):
                wanted = reader.subscribe("n > 5", durable="billing")
                await wanted.settled()
                b1.links.call(stored_in(tmp_path, "b1", b0).links)
                await until(lambda: bool(b0.state.links))
                await client.publish(n=8, ack=True)
                assert (await wanted.get(20.0)).notification["n"] == 8
                await reader.flush()
                reasons = [gap.reason for gap in gaps]
                kept = "2 acknowledged publications were not kept any longer at b0"
                assert kept in reasons
                assert await numbers(b1) == [8]


async def test_a_clock_that_is_set_ahead_drops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(stored_in(tmp_path, "b0")) as b0:
        async with serving(stored_in(tmp_path, "b1", b0)) as b1:
            await until(lambda: bool(b1.state.links))
            await subscribe(b1)
        async with siena.connect(url(b0)) as client:
            await client.publish(n=1, ack=True)
        relaying = b0.log_service.durable.relaying
        assert relaying is not None
        assert relaying._timer is not None
        real = SystemClock.now
        with monkeypatch.context() as patch:
            patch.setattr(SystemClock, "now", lambda clock: real(clock) + 4 * 86_400)
            relaying._timer.cancel()
            relaying._tick()
        async with serving(stored_in(tmp_path, "b1", b0)) as b1:
            await until(lambda: _latest(b1) == 1)
        assert dropped(b0) == 0


async def test_a_sync_that_failed_here_is_not_answered_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer is for all before it: they are written anew before it is given."""
    async with chain(tmp_path, 2) as (b0, b1):
        await subscribe(b1)
        journal = b1.log_service.journal
        assert journal is not None
        assert isinstance(journal.store, Store)
        real, fails = Store.syncing, [True]

        def syncing(store: Store) -> Callable[[], None]:
            sync = real(store)

            def failing() -> None:
                sync()
                if fails[0] and store is journal.store:
                    store._in_doubt = True
                    raise OSError(5, "Input/output error")

            return failing

        monkeypatch.setattr(Store, "syncing", syncing)
        async with siena.connect(url(b0)) as client:
            await client.publish(n=0, ack=True)
            await until(lambda: bool(journal.failure))
            relaying = b0.log_service.durable.relaying
            assert relaying is not None
            assert relaying.snapshot()[0]["under_way"] == 1
            fails[0] = False
            path = journal.store.segments[-1].path
            before = path.stat().st_ino
            journal.resume()
            assert path.stat().st_ino != before
            await client.publish(n=1, ack=True)
        await until(lambda: relaying.snapshot()[0]["under_way"] == 0)
        assert await numbers(b1) == [0, 1]


async def test_neighbours_that_left_for_good_are_remembered_up_to_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Found: each name under which a neighbour had ever come stayed for ever."""
    monkeypatch.setattr(relaying, "RELAYS_GONE_MAX", 2)
    short = stored_in(tmp_path, "b0", durable={"spool_seconds": 0.05})
    async with serving(short) as b0:
        for number in range(1, 5):
            async with serving(stored_in(tmp_path, f"b{number}", b0)):
                await until(lambda: bool(b0.state.links))
                await knows(b0, f"b{number}")
        await until(lambda: known(b0) == [("b3", 0), ("b4", 0)])
        relays = b0.log_service.durable.relaying
        assert relays is not None
        await until(lambda: all(r.is_given_up for r in relays._relays))
    async with serving(short) as b0:
        assert known(b0) == [("b3", 0), ("b4", 0)]


async def knows(at: Broker, name: str) -> None:
    """Wait until a neighbour is remembered."""
    await until(lambda: (name, 0) in known(at))


def known(at: Broker) -> list[tuple[object, object]]:
    """Neighbours that are remembered, and how far they are behind."""
    relays = at.log_service.durable.relays(10)
    return [(each["neighbour"], each["lag"]) for each in relays]


async def test_what_is_too_much_is_not_kept(tmp_path: Path) -> None:
    """Publishers wait for no neighbour; the log keeps half of what it has room for."""
    async with serving(stored_in(tmp_path, "b0", log=SMALL)) as b0:
        async with serving(stored_in(tmp_path, "b1", b0)) as b1:
            await until(lambda: bool(b1.state.links))
            await subscribe(b1)
        async with siena.connect(url(b0)) as client:
            for n in range(40):
                await client.publish(n=n, text="x" * 1_000, ack=True)
        async with serving(stored_in(tmp_path, "b1", b0)) as b1:
            relaying = b0.log_service.durable.relaying
            assert relaying is not None
            await until(lambda: bool(b0.state.links))
            await until(lambda: relaying.snapshot()[0]["lag"] == 0)
            found = await numbers(b1)
            assert len(found) > 3
            assert found == [*range(dropped(b0), 40)]
            assert dropped(b0) > 20


async def test_links_that_break_all_the_time_lose_nothing(tmp_path: Path) -> None:
    async with chain(tmp_path, 3) as brokers:
        await subscribe(brokers[2])
        async with siena.connect(url(brokers[0])) as client:
            for n in range(0, 200, 10):
                await client.publish_many(
                    [{"n": m} for m in range(n, n + 10)], ack=True
                )
                for each in links_of(brokers[1]):
                    each.connection.abort()
        await until(lambda: _latest(brokers[2]) >= 200)
        assert await numbers(brokers[2]) == [*range(200)]


def _latest(at: Broker) -> int:
    assert at.log_service.journal is not None
    return at.log_service.journal.store.latest


async def test_a_neighbour_that_knows_no_relaying_is_one_without_a_store(
    tmp_path: Path,
) -> None:
    """As one of an older version is: what is acknowledged is refused, by its name."""
    async with (
        serving(stored_in(tmp_path, "b0")) as b0,
        serving(stored_in(tmp_path, "b1")) as b1,
    ):
        b1.links.relaying = None  # as if it were older: it does not say `relay`
        b1.links.call(stored_in(tmp_path, "b1", b0).links)
        await until(lambda: bool(b0.state.links and b1.state.links))
        async with siena.connect(url(b1)) as client:
            wanted = await client.subscribe("n any").settled()
            async with siena.connect(url(b0)) as publisher:
                with pytest.raises(RequestRefusedError, match="b1, which has no store"):
                    await publisher.publish(n=1, ack=True)
                await publisher.publish(n=2)
            assert (await wanted.get(20.0))["n"] == 2


async def test_what_a_neighbour_may_not_have_is_not_relayed(tmp_path: Path) -> None:
    """Grants hold on this way, too, also for what it wanted before its link broke."""
    async with chain(tmp_path, 2) as (b0, b1):
        await subscribe(b1)
        (link,) = links_of(b0)
        link.exports = parse_predicate("n > 5")
        async with siena.connect(url(b0)) as client:
            for n in (6, 4, 7):
                await client.publish(n=n, ack=True)
        await until(lambda: _latest(b1) >= 2)
        assert await numbers(b1) == [6, 7]


async def test_a_broker_without_a_store_further_on_is_sent_it_at_best_effort(
    tmp_path: Path,
) -> None:
    """If it is not known where it enters: what cannot be promised is counted."""
    async with chain(tmp_path, 2) as (b0, b1):
        for link in links_of(b1):
            link.hears_unassured = False  # as if b0 were of the version before
        links = [{"url": url(b1)}]
        lean = {"name": "b2", "listen": ["127.0.0.1:0"], "links": links}
        async with serving(as_settings(lean)) as b2:
            await until(lambda: len(b1.state.links) == 2)
            async with siena.connect(url(b2)) as client:
                wanted = await client.subscribe("n any").settled()
                async with siena.connect(url(b0)) as publisher:
                    await publisher.publish(n=1, ack=True)
                assert (await wanted.get(20.0))["n"] == 1
        assert b1.state.counters.relay_unassured == 1
        assert await numbers(b1) == [1]


# --- A neighbour whose disk fails -----------------------------------------------------


def latest(at: Broker) -> int:
    """How far its log has come."""
    journal = at.log_service.journal
    return 0 if journal is None else journal.store.latest


def without_answer(at: Broker) -> int:
    """How many frames its neighbours have not answered."""
    relaying = at.log_service.durable.relaying
    assert relaying is not None
    return sum(relay.in_flight for relay in relaying.sending.relays.values())


async def test_what_came_while_the_disk_failed_is_answered_when_it_is_good(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if nothing more comes: who relays may wait for room."""
    monkeypatch.setattr(receiving, "RETRY_SECONDS", 0.01)

    def syncing() -> Callable[[], None]:
        def fail() -> None:
            raise OSError(errno.EIO, "Input/output error")

        return fail

    async with chain(tmp_path, 2) as (b0, b1), siena.connect(url(b0)) as client:
        await subscribe(b1)
        journal = b1.log_service.journal
        assert journal is not None
        with monkeypatch.context() as patch:
            patch.setattr(journal.store, "syncing", syncing)
            await client.publish(n=0, ack=True)
            await until(lambda: bool(journal.failure))
        assert (latest(b1), without_answer(b0)) == (1, 1)
        journal.resume()
        await until(lambda: not without_answer(b0))


class Full(Files):
    """A disk that takes no small files."""

    def open_for_append(self, path: Path) -> int:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))


async def test_a_stream_that_cannot_be_written_down_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if nothing more comes."""
    monkeypatch.setattr(receiving, "RETRY_SECONDS", 0.01)
    async with chain(tmp_path, 2) as (b0, b1), siena.connect(url(b0)) as client:
        await subscribe(b1)
        publishers = b1.log_service.durable._publishers
        assert publishers is not None
        with monkeypatch.context() as patch:
            patch.setattr(publishers._file, "_files", Full())
            await client.publish(n=0, ack=True)
            await until(lambda: publishers._file._is_failing)
            assert latest(b1) == 0
        await until(lambda: latest(b1) == 1)
        await until(lambda: not without_answer(b0))
