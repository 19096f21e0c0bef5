"""Links between brokers over real sockets."""

import asyncio
from pathlib import Path

import pytest
from msgspec.structs import replace

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.data.publish_batch import JOINED_BYTES_MAX
from siena.broker.io.listen import listen
from siena.broker.settings import LinkSettings, Routing, Settings, Side
from siena.broker.workers.worker import Worker
from siena.lang.parser import parse_filter
from siena.messages import Unsubscribe
from siena.protocol import control_frames as bodies
from siena.protocol.address import Address
from siena.protocol.control_frames import Advertise, Quench, Trace
from siena.protocol.data_frames import Delivery, FoundSequence, pack_traced
from siena.protocol.error_codes import Fault
from siena.protocol.fast.split_frames import AT_ONCE_BYTES
from siena.protocol.frames import HEAD_BYTES, Op
from siena.protocol.handshake import PREFACE
from wire import chain, connect, serving, settings, until


def x(value: int) -> bytes:
    return encode({"x": value})


@pytest.mark.parametrize("side", ["peer", "mesh", "master"])
async def test_what_is_published_at_one_end_reaches_the_other(side: Side) -> None:
    async with chain(3, side) as brokers:
        subscriber, publisher = await connect(brokers[0]), await connect(brokers[2])
        await subscriber.subscribe(1, "x > 3")
        publisher.publish({"x": 1}, {"x": 5}, {"x": 6})
        assert [await subscriber.next(), await subscriber.next()] == [
            Delivery((1,), x(5)),
            Delivery((1,), x(6)),
        ]
        back, forth = await connect(brokers[2]), await connect(brokers[0])
        await back.subscribe(9, "x < 0")
        forth.publish({"x": -1})
        assert await back.next() == Delivery((9,), x(-1))


async def test_links_carry_nothing_that_nobody_wants_and_one_copy_of_the_rest() -> None:
    async with chain(3) as brokers:
        wires = [await connect(brokers[2]) for _ in range(3)]
        for wire in wires:
            await wire.subscribe(1, "x > 3")
        publisher = await connect(brokers[0])
        publisher.publish({"x": 1}, {"x": 5})
        for wire in wires:
            assert await wire.next() == Delivery((1,), x(5))
        assert [b.state.counters.forwarded for b in brokers] == [1, 1, 0]


async def test_a_pattern_is_found_across_brokers() -> None:
    async with chain(3) as brokers:
        wire = await connect(brokers[0])
        await wire.subscribe(1, "x = 1 then x = 2")
        one, two = await connect(brokers[1]), await connect(brokers[2])
        one.publish({"x": 1})
        await until(lambda: brokers[0].state.counters.received == 1)
        two.publish({"x": 2})
        assert await wire.next() == FoundSequence(1, (x(1), x(2)))


async def test_publishers_hear_of_subscribers_elsewhere() -> None:
    async with chain(2) as brokers:
        publisher, subscriber = await connect(brokers[0]), await connect(brokers[1])
        publisher.send(Advertise(1, "x any"))
        assert await publisher.next() == Quench(1, True)
        await subscriber.subscribe(1, "x > 3")
        assert await publisher.next() == Quench(1, False)
        subscriber.close()
        assert await publisher.next() == Quench(1, True)


@pytest.mark.parametrize("side", ["peer", "mesh", "master"])
async def test_what_comes_and_goes_within_a_batch_is_never_announced(
    side: Side,
) -> None:
    async with chain(3, side, routing=Routing(batch_seconds=0.3)) as brokers:
        # The master is the one that was called: interests go from 2 to 0.
        subscriber, publisher = await connect(brokers[2]), await connect(brokers[0])
        await subscriber.subscribe(1, "x > 3")
        counters = [broker.state.counters for broker in brokers]
        before = counters[2].router_out
        for number in range(2, 50):
            subscriber.send(bodies.Subscribe(number, f"y = {number}"))
            subscriber.send(bodies.Unsubscribe(number))
        subscriber.send(bodies.Subscribe(50, "y > 0"))
        said = await subscriber.sync()
        assert {type(each) for each in said} <= {bodies.Done, bodies.Settled}
        assert await subscriber.next() == bodies.Settled(50)
        # One subscription and one question, of some fifty; two if a batch was cut.
        assert counters[2].router_out - before < 10
        # What is settled is in force throughout.
        publisher.publish({"x": 1}, {"x": 5}, {"y": 1})
        assert await subscriber.next() == Delivery((1,), x(5))
        assert await subscriber.next() == Delivery((50,), encode({"y": 1}))


@pytest.mark.parametrize("side", ["peer", "mesh"])
async def test_what_is_published_after_the_answer_to_adv_reaches_all_who_want_it(
    side: Side,
) -> None:
    routing = Routing(forwarding="advertisement")
    async with chain(4, side, routing=routing) as brokers:
        readers = [await connect(broker) for broker in brokers]
        for reader in readers:
            await reader.subscribe(1, "x > 3")
        for number in range(10):
            publisher = await connect(brokers[number % 4])
            publisher.send(Advertise(7, "integer x any"))
            assert await publisher.next() == Quench(7, False)
            publisher.publish({"x": 4 + number})
            for reader in readers:
                assert await reader.next() == Delivery((1,), x(4 + number))
            publisher.send(bodies.Unadvertise(7))
            assert await publisher.next() == bodies.Done(Op.UNADV, 7)
        quiet = await connect(brokers[0])
        quiet.send(Advertise(1, "y any"))
        assert await quiet.next() == Quench(1, True)


async def test_without_neighbours_nothing_waits_for_a_batch() -> None:
    told = Settings(listen=("127.0.0.1:0",), routing=Routing(batch_seconds=60))
    async with serving(told) as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x > 3")  # or the test would wait for a minute
        wire.publish({"x": 5})
        assert await wire.sync() == [Delivery((1,), x(5))]


async def test_a_broker_that_was_not_told_so_has_no_neighbours() -> None:
    async with serving(Settings(listen=("127.0.0.1:0",))) as broker:
        reader, writer = await asyncio.open_connection(*broker.addresses[0].pair)
        await reader.readline()
        peer = bodies.Peer(77, 1, "peer")
        writer.write(PREFACE + bodies.Connect(1, name="stranger", peer=peer).pack())
        head = await reader.readexactly(HEAD_BYTES)
        size = int.from_bytes(head[:4], "little") - 1
        said = bodies.unpack(head[4], await reader.readexactly(size))
        writer.close()
        assert isinstance(said, bodies.Error)
        assert said.fault == Fault.PEER_REFUSED.number
        assert "--accept-peers" in said.text
        assert not broker.state.links


async def test_a_broker_that_comes_back_is_called_again_and_told_everything() -> None:
    async with serving(settings("a")) as first:
        url = first.addresses[0].url
        async with serving(settings("b", LinkSettings(url=url))) as second:
            wire = await connect(second)
            await wire.subscribe(1, "x any")
            address = first.addresses[0].place
            await first.drain()
            assert not second.state.links
            again = Settings(name="a", listen=(address,), accept_peers=True)
            async with serving(again) as third:
                await until(lambda: third.state.links and second.state.links)
                await until(lambda: len(third.state.exchange) == 1)
                publisher = await connect(third)
                publisher.publish({"x": 1})
                assert await wire.next() == Delivery((1,), x(1))


async def test_two_that_call_each_other_have_one_link() -> None:
    async with serving(settings("a")) as one, serving(settings("b")) as two:
        one.links.call((LinkSettings(url=two.addresses[0].url),))
        two.links.call((LinkSettings(url=one.addresses[0].url),))
        await until(lambda: one.state.links and two.state.links)
        wire, other = await connect(one), await connect(two)
        await wire.subscribe(1, "x any")
        other.publish({"x": 1}, {"x": 2})
        assert [await wire.next(), await wire.next()] == [
            Delivery((1,), x(1)),
            Delivery((1,), x(2)),
        ]
        assert await wire.sync() == []


async def test_drift_is_found_and_repaired() -> None:
    async with chain(2, digest_seconds=0.05) as (one, two):
        wire = await connect(one)
        await wire.subscribe(1, "integer x > 3")
        other = await connect(two)
        await other.subscribe(1, "integer x >= 4")  # the same, in other words
        await until(lambda: len(two.state.exchange) == 2)
        turns = two.state.counters.ticks
        await until(lambda: two.state.counters.ticks > turns + 5)
        assert two.state.counters.repaired == 0
        # As if something had gone wrong.
        two.state.router.handle(
            Unsubscribe(parse_filter("integer x > 3")), one.state.router.me
        )
        assert len(two.state.exchange) == 1
        await until(lambda: two.state.counters.repaired)
        await until(lambda: len(two.state.exchange) == 2)
        other.publish({"x": 7})
        assert await wire.next() == Delivery((1,), x(7))


async def test_a_broker_does_not_link_to_itself() -> None:
    async with serving(settings("a")) as broker:
        broker.links.call((LinkSettings(url=broker.addresses[0].url),))
        await until(lambda: broker.state.counters.connections > 2)
        assert not broker.state.links


async def test_who_calls_a_worker_is_sent_to_the_hub() -> None:
    with listen(Address("127.0.0.1", 0), is_shared=True) as reserved:
        private = Address(*reserved.getsockname()[:2])
        one = Worker(0, private, "secret", Path())
        hub = Broker(settings("w"), worker=one)
        await hub.start()
    told = replace(settings("w#1", LinkSettings(url=private.url)), accept_peers=False)
    other = Broker(told, worker=one._replace(number=1))
    await other.start()
    try:
        async with serving(
            settings("a", LinkSettings(url=other.addresses[0].url))
        ) as broker:
            await until(lambda: len(hub.state.links) == 2)
            wire, publisher = await connect(other), await connect(broker)
            await wire.subscribe(1, "x any")
            publisher.publish({"x": 1})
            assert await wire.next() == Delivery((1,), x(1))
            wire.close()
    finally:
        await other.drain()
        await hub.drain()


async def test_who_traces_hears_from_every_broker_on_the_way() -> None:
    async with chain(3) as brokers:
        wire, publisher = (
            await connect(brokers[2], name="ann"),
            await connect(brokers[0]),
        )
        await wire.subscribe(1, "x > 3")
        publisher.send(pack_traced(7, x(5)))
        hops = []
        for _ in range(3):
            trace = await publisher.next()
            assert isinstance(trace, Trace)
            assert trace.token == 7
            hop = trace.hop
            hops.append((hop.broker, hop.came_from, hop.went_to, hop.matched))
        assert hops == [
            ("b0", "a client", ["b1"], ["→ b1: x > 3"]),
            ("b1", "b0", ["b2"], ["→ b2: x > 3"]),
            ("b2", "b1", [], ["ann: x > 3"]),
        ]
        assert await wire.next() == Delivery((1,), x(5))


@pytest.mark.parametrize("size", [JOINED_BYTES_MAX, AT_ONCE_BYTES])
async def test_who_traces_much_at_once_hears_of_it_too(size: int) -> None:
    """Long publications are routed as soon as they have come."""
    async with chain(2) as brokers:
        wire, publisher = await connect(brokers[1]), await connect(brokers[0])
        await wire.subscribe(1, "x any")
        publisher.send(pack_traced(7, encode({"x": "a" * size})))
        traces = [await publisher.next() for _ in brokers]
        hops = [trace.hop for trace in traces if isinstance(trace, Trace)]
        assert [hop.broker for hop in hops] == ["b0", "b1"]


async def test_what_was_asked_for_before_there_were_neighbours_is_told_them() -> None:
    async with serving(settings("a")) as one, serving(settings("b")) as two:
        wire, publisher = await connect(one), await connect(two)
        await wire.subscribe(1, "x > 3")
        await wire.subscribe(2, "x = 1 then x = 2")
        await wire.subscribe(3, "x = 8 or y = 1")
        wire.send(bodies.Unsubscribe(3))
        await wire.sync()
        publisher.send(Advertise(1, "x any"))
        assert await publisher.next() == Quench(1, True)
        two.links.call((LinkSettings(url=one.addresses[0].url),))
        assert await publisher.next() == Quench(1, False)
        await until(lambda: len(two.state.exchange) == 3)
        publisher.publish({"x": 1}, {"x": 2}, {"x": 5}, {"y": 1})
        got = [await wire.next(), await wire.next()]
        assert FoundSequence(2, (x(1), x(2))) in got
        assert Delivery((1,), x(5)) in got
        wire.close()
        assert await publisher.next() == Quench(1, True)
        assert one.state.counters.received == 3
