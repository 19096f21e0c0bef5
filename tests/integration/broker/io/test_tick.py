"""What is put off waits for its share; what takes long leaves others their turn."""

import asyncio

from siena.broker.broker import Broker
from siena.broker.clients.session import Session
from siena.broker.io.shares import WHILE_SECONDS
from siena.broker.limits import SLICE_SECONDS_MAX
from siena.broker.settings import Settings
from siena.clock import SystemClock
from siena.protocol.control_frames import Settled, Subscribe
from siena.protocol.data_frames import Delivery
from wire import connect, hang_up, until

ROUNDS = 100


class Hands(SystemClock):
    """A clock that stands still unless it is set."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def elapsed(self) -> float:
        return self.seconds


async def test_there_is_no_turn_before_what_is_put_off_may_be_done() -> None:
    clock = Hands()
    broker = Broker(Settings(listen=("127.0.0.1:0",)), clock=clock)
    await broker.start()
    try:
        state = broker.state
        state.shares.work_off(1.0)
        state.shares.serve(0.01, clock.seconds)
        before = state.counters.ticks
        state.router.backlog.add(iter([[]]))
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        assert state.router.backlog, "others are there"
        assert state.counters.ticks == before + 1
        clock.seconds += 3 * WHILE_SECONDS  # and have gone
        await until(lambda: not state.router.backlog)
    finally:
        await broker.drain()


async def test_subscriptions_in_a_row_that_take_long_leave_others_their_turn() -> None:
    """Multiplied out, a short text may be a thousand filters."""
    clock = Hands()
    broker = Broker(Settings(listen=("127.0.0.1:0",)), clock=clock)
    await broker.start()
    handler = broker.requests.handler(Subscribe)
    turns: list[int] = []

    def takes_long(session: Session, body: Subscribe) -> None:
        turns.append(broker.state.counters.ticks)
        clock.seconds += 2 * SLICE_SECONDS_MAX
        handler(session, body)

    broker.requests.add(Subscribe, takes_long)
    try:
        wire = await connect(broker)
        numbers = range(1, 9)
        wire.send(b"".join(Subscribe(n, "x any").pack() for n in numbers))
        assert await wire.sync() == [Settled(n) for n in numbers]
        assert len(set(turns)) == len(numbers)
    finally:
        await broker.drain()
        hang_up()


async def test_who_has_only_come_and_publishes_waits_for_no_request_of_others() -> None:
    """Strangers of one host share what requests take; to come is none."""
    clock = Hands()
    broker = Broker(Settings(listen=("127.0.0.1:0",)), clock=clock)
    await broker.start()
    try:
        state = broker.state
        publisher, asker = [await connect(broker) for _ in range(2)]
        await asker.subscribe(1, "x any")
        work = state.accounts.of_stranger("127.0.0.1").work
        assert work is not None
        work.draw(10.0, clock.seconds)
        state.shares.serve(0.01, clock.seconds)  # others are there
        asker.send(Subscribe(2, "y any"))
        await until(lambda: state.accounts.refusals["work_share"])
        publisher.publish({"x": 1})
        async with asyncio.timeout(5):
            assert await publisher.sync() == []
            assert isinstance(await asker.next(), Delivery)
        clock.seconds += 3 * WHILE_SECONDS  # they have gone, and nobody waits
        assert await asker.next() == Settled(2)
    finally:
        hang_up()
        await broker.drain()
