"""A broker over real sockets: subscriptions, publications and their order."""

import json

from siena.block import encode
from siena.broker.settings import Limits, Settings
from siena.protocol.control_frames import Done, Error, Settled, Subscribe, Unsubscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from wire import connect, open_wire, serving, until


def delivery(*numbers: int, **attributes: int | str) -> Delivery:
    return Delivery(numbers, encode(attributes))


async def test_what_is_published_reaches_who_wants_it_unchanged() -> None:
    async with serving() as broker:
        subscriber, publisher = await connect(broker), await connect(broker)
        await subscriber.subscribe(7, "symbol = DIS and change < 0")
        publisher.publish({"symbol": "DIS", "change": -4}, {"symbol": "DIS"})
        assert await publisher.sync() == []
        assert await subscriber.sync() == [delivery(7, symbol="DIS", change=-4)]


async def test_a_delivery_names_every_subscription_that_matches_once() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(9, "x > 1")
        await wire.subscribe(3, "x > 2 or x = 5")
        await wire.subscribe(4, "x > 9")
        wire.publish({"x": 5})
        assert await wire.sync() == [delivery(3, 9, x=5)]


async def test_requests_act_in_order_with_publications_of_the_same_connection() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        wire.send(
            pack(Op.PUB, encode({"x": 1}))
            + Subscribe(1, "x any").pack()
            + pack(Op.PUB, encode({"x": 2}))
            + Unsubscribe(1).pack()
            + pack(Op.PUB, encode({"x": 3}))
        )
        assert await wire.sync() == [Settled(1), delivery(1, x=2), Done(Op.UNSUB, 1)]


async def test_the_order_of_each_publisher_is_kept() -> None:
    async with serving() as broker:
        subscriber = await connect(broker)
        await subscriber.subscribe(1, "n any")
        publishers = [await connect(broker) for _ in range(5)]
        for n in range(20):
            for p, publisher in enumerate(publishers):
                publisher.publish({"p": p, "n": n})
        for publisher in publishers:
            await publisher.sync()
        got = [d.block for d in await subscriber.sync() if isinstance(d, Delivery)]
        for p in range(5):
            mine = [encode({"p": p, "n": n}) for n in range(20)]
            assert [block for block in got if block in mine] == mine
        assert len(got) == 100


async def test_unsubscribing_one_number_leaves_another_that_it_covers() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 1")
        await wire.subscribe(2, "x > 5")
        wire.send(Unsubscribe(1))
        wire.publish({"x": 7})
        assert await wire.sync() == [Done(Op.UNSUB, 1), delivery(2, x=7)]


async def test_requests_that_cannot_be_done_are_answered_with_a_number() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 1")
        wire.send(Subscribe(1, "x > 2"))
        wire.send(Subscribe(2, "x >> 2"))
        wire.send(Unsubscribe(5))
        wire.send(pack(Op.PUB, b"\xc1"))
        wire.publish({"x": 3})
        *errors, last = await wire.sync()
        got = [(e.fault, e.request, e.number) for e in errors if isinstance(e, Error)]
        assert got == [
            (Fault.NUMBER_TAKEN.number, Op.SUB, 1),
            (Fault.BAD_INTEREST.number, Op.SUB, 2),
            (Fault.NUMBER_UNKNOWN.number, Op.UNSUB, 5),
            (Fault.BAD_NOTIFICATION.number, Op.PUB, None),
        ]
        assert last == delivery(1, x=3)
        assert broker.state.counters.rejected == 1
        assert broker.state.counters.publications == 1


async def test_asked_for_again_a_subscription_is_settled_again() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 1")
        await wire.subscribe(1, "x > 1")
        wire.publish({"x": 3})
        assert await wire.sync() == [delivery(1, x=3)]


async def test_who_has_gone_leaves_nothing_behind() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 1")
        wire.close()
        await until(lambda: not broker.state.sessions)
        assert len(broker.state.exchange) == 0
        assert len(broker.state.router.tables.filters) == 0
        assert broker.state.counters.subscriptions_now == 0


async def test_a_broker_that_drains_says_so() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await broker.drain()
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.DRAINING.number
        assert await wire.closed()


async def test_more_connections_than_allowed_are_refused() -> None:
    settings = Settings(listen=("127.0.0.1:0",), limits=Limits(connections=1))
    async with serving(settings) as broker:
        first, second = await connect(broker), await open_wire(broker)
        said = json.loads(await second.reader.readline())
        assert said["error"] == Fault.TOO_MANY_CONNECTIONS.number
        assert await second.closed()
        assert await first.sync() == []
