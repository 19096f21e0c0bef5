"""A neighbour that uses the stamps of others harms nobody but itself."""

import pytest

from broker.rogue import EPOCH, link
from siena.block import encode
from siena.broker.ids import number_of
from siena.messages import Stamp
from siena.protocol.data_frames import TRACED, Delivery, Forwarded, pack_forward
from siena.protocol.fast.forward_runs import ForwardRun
from wire import chain, connect, until

AHEAD = 1_000_000
COUNT = 1_000


@pytest.mark.parametrize("kind", ["run", "forward", "traced"])
async def test_a_victim_gets_all_that_was_published_for_it(kind: str) -> None:
    """Found: after one forged stamp a victim got 0 of 1 000, and none was lost."""
    async with chain(3) as (near, middle, far):
        reader = await connect(far)
        await reader.subscribe(1, "x any")
        await reader.subscribe(2, "forged any")
        publisher = await connect(near)
        publisher.publish({"x": 0})
        await until(lambda: far.state.counters.received == 1)
        liar = await link(middle)
        router = near.state.router
        for broker in (near, far):
            stamp = Stamp(broker.state.router.me, broker.state.router.epoch, AHEAD)
            flags = TRACED if kind == "traced" else 0
            one = Forwarded(stamp, stamp.broker, 1.0, 9, flags, encode({"forged": 1}))
            run = ForwardRun.of(one)
            liar.send(run.pack(run.head) if kind == "run" else pack_forward(one))
        await until(lambda: middle.state.counters.misplaced == 2)
        for n in range(COUNT):
            publisher.publish({"x": n})
        await publisher.sync()
        await until(lambda: far.state.counters.received == 1 + COUNT)
        came = [each for each in await reader.sync() if isinstance(each, Delivery)]
        assert len(came) == 1 + COUNT
        assert all(each.subscriptions == (1,) for each in came)
        assert router.published == 1 + COUNT
        [there] = (
            each
            for each in middle.state.links.values()
            if each.snapshot()["name"] == "rogue"
        )
        assert there.snapshot()["misplaced"] == 2


async def test_what_is_its_own_it_may_number_as_it_likes() -> None:
    async with chain(2) as (near, far):
        reader = await connect(far)
        await reader.subscribe(1, "x any")
        liar = await link(near)
        for number in (0, AHEAD, AHEAD + 1):
            stamp = Stamp(number_of("rogue"), EPOCH, number)
            one = Forwarded(stamp, stamp.broker, 1.0, 9, 0, encode({"x": number}))
            liar.send(pack_forward(one))
        await until(lambda: far.state.counters.received == 3)
        assert len(await reader.sync()) == 3
        assert near.state.counters.misplaced == 0
