"""While an interest in everything comes and goes, settled ones miss nothing."""

import asyncio

import pytest

from siena.block import encode
from siena.protocol.control_frames import Settled, Subscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.frames import Op, pack
from wire import Wire, chain, connect, until

VISITS = 10
# How long what was covered may take to be told again, on a busy machine.
PATIENCE_SECONDS = 120
# Neighbours compare what was told again and again, also while it changes.
DIGEST_SECONDS = 0.01


async def settled(wire: Wire, count: int) -> None:
    """Have as many interests, each in another value of x, in force everywhere."""
    wire.send(b"".join(Subscribe(i, f"x = {i}").pack() for i in range(count)))
    for _ in range(count):
        assert isinstance(await wire.next(), Settled)


async def publish_and_check(
    publisher: Wire, subscriber: Wire, count: int, ended: asyncio.Event
) -> int:
    """Publish what one interest after the other selects; all of it must come."""
    number = 0
    while not ended.is_set():
        sent = [encode({"x": (number + i) % count, "n": number + i}) for i in range(20)]
        publisher.send(b"".join(pack(Op.PUB, block) for block in sent))
        for i, block in enumerate(sent):
            came = await subscriber.next()
            assert came == Delivery(((number + i) % count,), block)
        number += len(sent)
        await asyncio.sleep(0)
    return number


@pytest.mark.parametrize(
    "count",
    [500, pytest.param(20_000, marks=[pytest.mark.slow, pytest.mark.timeout(900)])],
)
async def test_nothing_is_missed_while_a_client_wants_everything(count: int) -> None:
    async with chain(3, digest_seconds=DIGEST_SECONDS) as brokers:
        first, _, last = brokers
        subscriber, publisher = await connect(first), await connect(last)
        await settled(subscriber, count)
        ended = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            checking = tasks.create_task(
                publish_and_check(publisher, subscriber, count, ended)
            )
            for _ in range(VISITS):
                visitor = await connect(first)
                visitor.send(Subscribe(1, "[]"))
                while not isinstance(await visitor.next(), Settled):
                    pass  # what is published already comes to it
                visitor.close()
                await until(
                    lambda: len(last.state.router.tables.filters) == count,
                    seconds_max=PATIENCE_SECONDS,
                )
            ended.set()
        assert checking.result() > 0
        assert not any(broker.state.counters.repaired for broker in brokers)
