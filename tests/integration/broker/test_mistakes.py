"""Whatever goes wrong, in one connection or in the broker, others are served."""

import errno
import logging
from asyncio import timeout
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NoReturn

import pytest

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.io.connection import Connection
from siena.broker.limits import REPLY_BYTES_MAX
from siena.broker.log.records import DamagedLogError
from siena.broker.settings import Limits, Log, Settings
from siena.messages import Outbox
from siena.model import Filter
from siena.protocol.control_frames import Error, Subscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from siena.protocol.log_frames import Batch, Part, Stage
from siena.routing.interest_table import Change
from wire import Wire, chain, connect, serving, until

LIMIT = 2**16
SMALL = Settings(listen=("127.0.0.1:0",), limits=Limits(output_bytes=LIMIT))


class MistakeError(Exception):
    """Of ours."""


def fails(*_: object) -> int:
    raise MistakeError


def last(broker: Broker, place: int = -1) -> Connection:
    """The connection of the client that came last, or before it."""
    session = broker.state.sessions[sorted(broker.state.sessions)[place]]
    assert isinstance(session.sink, Connection)
    return session.sink


def mistaken_task() -> Iterator[Outbox]:
    yield []
    raise MistakeError


async def serves(broker: Broker) -> bool:
    wire = await connect(broker)
    await wire.subscribe(1, "x any")
    wire.publish({"x": 1})
    return any(isinstance(came, Delivery) for came in await wire.sync())


async def test_who_asks_and_never_reads_ends_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving(SMALL) as broker:
        wire = await connect(broker)
        connection = last(broker)
        # As full as can be: not even what it is told in the end has room.
        full = property(lambda _: 2 * LIMIT + REPLY_BYTES_MAX)
        with monkeypatch.context() as patch:
            patch.setattr(Connection, "waiting", full)
            connection.reply(pack(Op.PONG, b""))
            assert connection.is_closing
        assert await final(wire) == Fault.TOO_SLOW.number
        assert await serves(broker)


async def final(wire: Wire) -> int:
    came: object = None
    while not isinstance(came, Error):
        came = await wire.next()
    return came.fault


@pytest.mark.parametrize("broken", [("process",), ("process", "fail"), ("write",)])
async def test_a_mistake_at_one_connection_is_no_mistake_at_others(
    broken: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "siena.broker")
    async with serving(SMALL) as broker:
        wire = await connect(broker)
        connection = last(broker)
        for name in broken:
            setattr(connection, name, fails)
        wire.send(pack(Op.PING, b""))
        if "fail" in broken or "write" in broken:
            assert await wire.closed()
        else:
            assert await final(wire) == Fault.BROKEN.number
        assert await serves(broker)


async def test_a_mistake_while_routing_leaves_nobody_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "siena.broker")
    async with serving(SMALL) as broker:
        wire = await connect(broker)
        with monkeypatch.context() as patch:
            patch.setattr(broker.state.exchange, "route", fails)
            wire.publish({"x": 1}, {"x": 2})
            wire.send(pack(Op.PING, b"acknowledge"))
            assert await final(wire) == Fault.BROKEN.number
            assert await wire.closed()
        assert broker.state.router.published == 2, "their stamps are not given again"
        assert await serves(broker)


async def test_a_mistake_in_what_was_gathered_leaves_no_client_waiting(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Those whose requests failed hear of it; others are served."""
    caplog.set_level(logging.CRITICAL, "siena.broker")
    async with chain(2) as (broker, _):
        wires = [await connect(broker) for _ in range(3)]
        tables = broker.state.router.tables
        apply = tables.apply_filters

        def fails_at_x(changes: list[Change[Filter]]) -> None:
            if any(each.gained and "x" in str(each.item) for each in changes):
                raise MistakeError
            apply(changes)

        monkeypatch.setattr(tables, "apply_filters", fails_at_x)
        for wire in wires[:2]:
            wire.send(Subscribe(1, "x any"))
        for wire in wires[:2]:
            assert await final(wire) == Fault.BROKEN.number
        assert await wires[2].sync() == []
        await wires[2].subscribe(1, "y any")


@pytest.mark.parametrize("brokers", [1, 2])
async def test_a_mistake_at_a_subscription_that_was_not_gathered_yet_is_told(
    brokers: int, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Who sent it hears of it, with neighbours and without; others are served."""
    caplog.set_level(logging.CRITICAL, "siena.broker")
    async with chain(brokers) as (broker, *_):
        first, second = [await connect(broker) for _ in range(2)]
        with monkeypatch.context() as patch:
            for way in ("subscribe", "enter"):  # without neighbours, and with them
                patch.setattr(broker.state.router.registrations, way, fails)
            first.send(Subscribe(1, "x any"))
            async with timeout(5):
                assert await final(first) == Fault.BROKEN.number
        await second.subscribe(1, "y any")


async def test_after_a_mistake_in_what_was_put_off_neighbours_are_told_anew(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """What was to be told is lost with the step that failed."""
    caplog.set_level(logging.CRITICAL, "siena.broker")
    async with chain(2) as (broker, other):
        wire = await connect(broker)
        await wire.subscribe(1, "x any")
        (before,) = broker.state.links.values()
        broker.state.router.backlog.add(mistaken_task())
        await until(lambda: before not in broker.state.links.values())
        await until(lambda: broker.state.links and other.state.links)
        assert await serves(other)
        reader = await connect(broker)
        await reader.subscribe(1, "y = 1")
        (await connect(other)).publish({"x": 1, "y": 1})
        assert isinstance(await reader.next(), Delivery)


def is_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "the disk is full")


DELIVER = "siena.broker.clients.session.Session.deliver"
APPEND = "siena.broker.log.store.Store.append"
BREAKS: dict[str, dict[str, Callable[..., object]]] = {
    "matching": {"siena.broker.data.exchange.Exchange.route": fails},
    "writing to the log": {APPEND: fails},
    "delivering": {DELIVER: fails},
    "delivering while the disk is full": {DELIVER: fails, APPEND: is_full},
    "all that follows": {"siena.broker.data.publish_batch.PublishBatch._go_on": fails},
}


@pytest.mark.parametrize("sync", ["always", "second"])
@pytest.mark.parametrize("broken", BREAKS)
async def test_nothing_is_acknowledged_after_a_mistake(
    broken: str,
    sync: Literal["always", "second"],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Who published in that batch is told, and others are answered as ever."""
    caplog.set_level(logging.ERROR, "siena.broker")
    settings = Settings(
        listen=("127.0.0.1:0",), log=Log(path=str(tmp_path / "log"), sync=sync)
    )
    async with serving(settings) as broker:
        reader = await connect(broker)
        await reader.subscribe(1, "x any")
        first, second, other = [await connect(broker) for _ in range(3)]
        connections = [last(broker, -3), last(broker, -2), last(broker, -1)]
        with monkeypatch.context() as patch:
            for name, how in BREAKS[broken].items():
                patch.setattr(name, how)
            # In one batch, as if all of it had come in one turn.
            for connection, frames in zip(
                connections,
                [
                    pack(Op.PUB, encode({"x": 1})) + pack(Op.PING, b"1"),
                    pack(Op.PUB, encode({"x": 2})) + pack(Op.PING, b"2"),
                    pack(Op.PING, b"3"),
                ],
                strict=True,
            ):
                connection.put(frames)
            for wire in (first, second):
                error = await wire.next()
                assert isinstance(error, Error), error
                assert (error.fault, error.closes) == (Fault.BROKEN.number, True)
                assert await wire.closed()
        assert await other.next() == b"3"
        assert broker.state.router.published == 2
        assert broker.state.counters.faults == 2
        (record,) = [r for r in caplog.records if r.exc_info]
        assert "routing" in record.getMessage()
        assert await serves(broker)
        stamps = broker.state.router.published
        assert stamps == 3, "no stamp is given twice"


async def test_a_batch_that_could_not_be_routed_is_not_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "siena.broker")
    part = bytes(16)
    log = Log(path=str(tmp_path / "log"))
    async with serving(Settings(listen=("127.0.0.1:0",), log=log)) as broker:
        wire = await connect(broker)
        wire.send(Stage(part, 0, [encode({"x": 1})]))
        await wire.next()
        with monkeypatch.context() as patch:
            patch.setattr(broker.state.exchange, "route", fails)
            wire.send(Batch("query", 1, [Part(part, 1)]))
            error = await wire.next()
        assert isinstance(error, Error)
        assert error.request == Op.BATCH
        assert (error.fault, error.closes) == (Fault.BROKEN.number, True)
        assert await serves(broker)


async def test_a_batch_of_which_a_record_cannot_be_read_says_which_kind_of_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The disk's is error 125, a mistake of ours 299."""
    caplog.set_level(logging.CRITICAL, "siena.broker")
    log = Log(path=str(tmp_path / "log"))
    failures = (
        (DamagedLogError("no checksum"), Fault.LOG_DAMAGED),
        (OSError("no disk"), Fault.LOG_DAMAGED),
        (ValueError("ours"), Fault.BROKEN),
    )
    async with serving(Settings(listen=("127.0.0.1:0",), log=log)) as broker:
        for number, (failure, fault) in enumerate(failures):
            wire, part = await connect(broker), bytes([number] * 16)
            wire.send(Stage(part, 0, [encode({"x": 1})]))
            await wire.next()

            def fail(_: object, error: Exception = failure) -> NoReturn:
                raise error

            with monkeypatch.context() as patch:
                patch.setattr(
                    broker.log_service.idempotent_batches._staging, "records", fail
                )
                wire.send(Batch("query", number, [Part(part, 1)]))
                error = await wire.next()
            assert isinstance(error, Error)
            assert (error.fault, error.request) == (fault.number, Op.BATCH)
        assert await serves(broker)


async def test_what_could_not_be_gathered_is_not_read_again_elsewhere(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where it came, something else has come since."""
    caplog.set_level(logging.CRITICAL, "siena.broker")
    monkeypatch.setattr("siena.broker.io.connection.HERE_BYTES_MIN", 1)
    async with serving() as broker:
        reader = await connect(broker)
        await reader.subscribe(1, "x any")
        first, second = await connect(broker), await connect(broker)
        with monkeypatch.context() as patch:
            patch.setattr("siena.broker.data.publish_batch.joined", fails)
            # Behind a PING, it is not published at once.
            first.send(pack(Op.PING, b"") + pack(Op.PUB, encode({"x": "first"})))
            assert await final(first) == Fault.BROKEN.number
        second.send(pack(Op.PING, b"") + pack(Op.PUB, encode({"x": "other"})))
        await second.sync()
        assert await reader.sync() == [Delivery((1,), encode({"x": "other"}))]
