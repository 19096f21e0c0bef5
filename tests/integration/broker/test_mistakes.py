"""Whatever goes wrong, in one connection or in the broker, others are served."""

import logging

import pytest

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.io.connection import Connection
from siena.broker.limits import REPLY_BYTES_MAX
from siena.broker.settings import Limits, Settings
from siena.protocol.control_frames import Error
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from wire import Wire, connect, serving

LIMIT = 2**16
SMALL = Settings(listen=("127.0.0.1:0",), limits=Limits(output_bytes=LIMIT))


class MistakeError(Exception):
    """Of ours."""


def fails(*_: object) -> int:
    raise MistakeError


def last(broker: Broker) -> Connection:
    """The connection of who came last."""
    session = broker.state.sessions[max(broker.state.sessions)]
    assert isinstance(session.sink, Connection)
    return session.sink


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
            assert await wire.sync() == []
        assert broker.state.router.published == 2, "their stamps are not given again"
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
            await first.sync()
        second.send(pack(Op.PING, b"") + pack(Op.PUB, encode({"x": "other"})))
        await second.sync()
        assert await reader.sync() == [Delivery((1,), encode({"x": "other"}))]
