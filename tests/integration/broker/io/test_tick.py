"""What is put off waits for its share, and the loop does not go round meanwhile."""

import asyncio

from siena.broker.broker import Broker
from siena.broker.io.shares import THERE_SECONDS
from siena.broker.settings import Settings
from siena.clock import SystemClock
from wire import until

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
        state.shares.serve(state.accounts.of("ann"))
        before = state.counters.ticks
        state.router.backlog.add(iter([[]]))
        for _ in range(ROUNDS):
            await asyncio.sleep(0)
        assert state.router.backlog, "others are there"
        assert state.counters.ticks == before + 1
        clock.seconds += 2 * THERE_SECONDS  # and have gone
        await until(lambda: not state.router.backlog)
    finally:
        await broker.drain()
