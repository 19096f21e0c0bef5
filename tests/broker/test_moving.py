"""An identity moves from one broker to another, over real sockets."""

import pytest

from siena.broker.settings import Side
from siena.matching.blocks import encode
from siena.protocol.bodies import Done, Error, Lost, Move, Settled, Subscribe, Suspend
from siena.protocol.deliveries import Delivery
from siena.protocol.faults import Fault
from siena.protocol.frames import Op
from wire import chain, connect, serving, settings, until


def x(value: int) -> bytes:
    return encode({"x": value})


@pytest.mark.parametrize("side", ["peer", "mesh", "master"])
async def test_what_was_kept_comes_along_once_and_in_order(side: Side) -> None:
    async with chain(3, side) as brokers:
        wire, other = (
            await connect(brokers[0], identity="ann"),
            await connect(brokers[1]),
        )
        await wire.subscribe(1, "x > 0")
        wire.send(Suspend(100))
        await wire.sync()
        wire.close()
        other.publish({"x": 1}, {"x": 2})
        await other.sync()
        await until(lambda: brokers[0].core.counters.received >= 2)
        moved = await connect(brokers[2], identity="ann")
        assert moved.welcome is not None
        assert not moved.welcome.resumed
        moved.send(Move(brokers[0].addresses[0].url))
        for value in range(3, 30):
            other.publish({"x": value})
            await other.sync()
        got: list[Delivery] = []
        while not isinstance(came := await moved.next(), Done):
            if isinstance(came, Delivery):
                got.append(came)
        other.publish({"x": 100})
        while not got or got[-1].block != x(100):
            came = await moved.next()
            assert isinstance(came, Delivery)
            got.append(came)
        assert [d.block for d in got] == [x(v) for v in [*range(1, 30), 100]]
        assert {d.subscriptions for d in got} == {(1,)}
        await until(lambda: "ann" not in brokers[0].core.identities)
        assert not brokers[0].core.router.tables.filters.held_by("1/1")


async def test_what_was_not_kept_is_counted() -> None:
    async with chain(2) as (old, new):
        wire, other = await connect(old, identity="ann"), await connect(old)
        await wire.subscribe(1, "x > 0")
        wire.send(Suspend(1))
        await wire.sync()
        wire.close()
        other.publish({"x": 1}, {"x": 2}, {"x": 3})
        await other.sync()
        moved = await connect(new, identity="ann")
        moved.send(Suspend(10))
        moved.send(Subscribe(1, "x > 0"))
        moved.send(Move(old.addresses[0].url))
        wanted = [Done(Op.SUSPEND), Settled(1), Delivery((1,), x(1)), Lost(2)]
        assert [await moved.next() for _ in range(5)] == [*wanted, Done(Op.MOVE)]


async def test_a_broker_is_not_made_to_call_anybody() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker, identity="ann")
        wire.send(Move("siena://192.0.2.1"))
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.NOT_ALLOWED.number
        wire.send(Move("siena://127.0.0.1:1"))
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_REQUEST.number
        assert error.request == Op.MOVE


async def test_without_an_identity_nobody_moves() -> None:
    async with serving(settings("a")) as broker:
        wire = await connect(broker)
        wire.send(Move("siena://127.0.0.1:1"))
        wire.send(Suspend())
        for error in await wire.sync():
            assert isinstance(error, Error)
            assert error.fault == Fault.BAD_REQUEST.number
