"""Patterns, advertisements, and identities that come and go."""

from siena.block import encode
from siena.broker.settings import Routing, Settings
from siena.protocol.control_frames import (
    Advertise,
    Connect,
    Done,
    Error,
    Lost,
    Quench,
    Resume,
    Settled,
    Subscribe,
    Suspend,
    Unadvertise,
    Unsubscribe,
)
from siena.protocol.data_frames import Delivery, FoundSequence
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op
from siena.protocol.handshake import PREFACE
from wire import connect, open_wire, serving, until


def x(value: int) -> bytes:
    return encode({"x": value})


async def test_a_pattern_is_found_across_publishers_and_within_one_turn() -> None:
    async with serving() as broker:
        wire, other = await connect(broker), await connect(broker)
        await wire.subscribe(1, "x = 1 then x = 2")
        other.publish({"x": 1}, {"x": 2}, {"x": 1})
        await other.sync()
        wire.publish({"x": 2}, {"x": 2})
        found = FoundSequence(1, (x(1), x(2)))
        assert await wire.sync() == [found, found]
        wire.send(Unsubscribe(1))
        wire.publish({"x": 1}, {"x": 2})
        assert await wire.sync() == [Done(Op.UNSUB, 1)]
        assert len(broker.state.exchange) == 0


async def test_publishers_hear_whether_anybody_wants_what_they_advertise() -> None:
    async with serving() as broker:
        publisher, subscriber = await connect(broker), await connect(broker)
        publisher.send(Advertise(1, "x any"))
        assert await publisher.next() == Quench(1, True)
        await subscriber.subscribe(1, "x > 3")
        assert await publisher.next() == Quench(1, False)
        publisher.send(Advertise(2, "x > 0"))
        assert await publisher.next() == Quench(2, False)
        subscriber.send(Unsubscribe(1))
        await subscriber.sync()
        got = await publisher.sync()
        assert {g.number for g in got if isinstance(g, Quench) and g.quenched} == {1, 2}
        publisher.send(Advertise(2, "x > 0"))  # again, as after a broken connection
        publisher.send(Unadvertise(1))
        assert await publisher.sync() == [Quench(2, True), Done(Op.UNADV, 1)]


async def test_of_subscriptions_in_a_row_each_is_answered_for_itself() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        texts = ["x = 1", "x =", "x = 3", "x = 4"]
        numbers = [1, 2, 3, 1]  # the last is taken
        some = [Subscribe(*each) for each in zip(numbers, texts, strict=True)]
        wire.send(b"".join(each.pack() for each in some))
        wire.publish({"x": 1}, {"x": 3}, {"x": 4})
        found = await wire.sync()
        errors = [each for each in found if isinstance(each, Error)]
        assert [(each.number, each.request) for each in errors] == [
            (2, Op.SUB),
            (1, Op.SUB),
        ]
        assert [each for each in found if isinstance(each, Settled)] == [
            Settled(1),
            Settled(3),
        ]
        got = [each for each in found if isinstance(each, Delivery)]
        assert got == [Delivery((1,), x(1)), Delivery((3,), x(3))]
        assert broker.state.counters.faults == 2


async def test_a_subscription_and_an_advertisement_may_have_one_number() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        wire.send(Advertise(1, "x any"))
        wire.send(Subscribe(1, "x any"))
        wire.send(Unadvertise(1))
        wire.publish({"x": 1})
        *_, done, got = await wire.sync()
        assert (done, got) == (Done(Op.UNADV, 1), Delivery((1,), x(1)))


async def test_where_publishers_advertise_nothing_else_is_published() -> None:
    settings = Settings(
        listen=("127.0.0.1:0",), routing=Routing(forwarding="advertisement")
    )
    async with serving(settings) as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x any")
        wire.send(Advertise(1, "x > 3"))
        wire.publish({"x": 1}, {"x": 5})
        _, error, got = await wire.sync()
        assert isinstance(error, Error)
        assert error.fault == Fault.NOT_ADVERTISED.number
        assert got == Delivery((1,), x(5))


async def test_what_comes_while_an_identity_is_suspended_is_kept_up_to_a_bound() -> (
    None
):
    async with serving() as broker:
        wire, other = await connect(broker, identity="ann"), await connect(broker)
        await wire.subscribe(1, "x > 0")
        await wire.subscribe(2, "x > 1 or x = 9")
        wire.send(Suspend(2))
        assert await wire.next() == Done(Op.SUSPEND)
        other.publish(*({"x": value} for value in (1, 2, 3, 4)))
        await other.sync()
        assert await wire.sync() == []
        wire.send(Resume())
        kept = [Delivery((1,), x(1)), Delivery((1, 2), x(2))]
        assert await wire.sync() == [*kept, Lost(2), Done(Op.RESUME)]
        other.publish({"x": 5})
        await other.sync()
        assert await wire.sync() == [Delivery((1, 2), x(5))]


async def test_an_identity_comes_back_to_what_it_asked_for() -> None:
    async with serving() as broker:
        wire, other = await connect(broker, identity="ann"), await connect(broker)
        assert wire.welcome is not None
        assert not wire.welcome.resumed
        await wire.subscribe(1, "x > 0")
        await wire.subscribe(2, "x = 1 then x = 2")
        wire.close()
        await until(lambda: broker.state.counters.connections_now == 1)
        other.publish({"x": 1}, {"x": 2})
        await other.sync()
        again = await connect(broker, identity="ann")
        assert again.welcome is not None
        assert again.welcome.resumed
        again.send(Subscribe(1, "x > 0"))  # does not disturb
        again.send(Resume())
        settled, *got, done = await again.sync()
        assert (settled, done) == (Settled(1), Done(Op.RESUME))
        one, two = Delivery((1,), x(1)), Delivery((1,), x(2))
        assert got in (
            [one, two, FoundSequence(2, (x(1), x(2)))],
            [one, FoundSequence(2, (x(1), x(2))), two],
        )


async def test_an_identity_that_wants_nothing_leaves_nothing() -> None:
    async with serving() as broker:
        wire = await connect(broker, identity="ann")
        await wire.subscribe(1, "x > 0")
        wire.send(Unsubscribe(1))
        await wire.sync()
        wire.close()
        await until(lambda: not broker.state.sessions)
        assert not broker.state.identities


async def test_an_identity_is_connected_once() -> None:
    async with serving() as broker:
        wire = await connect(broker, identity="ann")
        second = await open_wire(broker)
        second.send(PREFACE + Connect(1, identity="ann").pack())
        error = await second.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.IDENTITY_TAKEN.number
        assert await wire.sync() == []
