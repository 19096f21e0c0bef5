"""Questions are answered one by one, and too many of one principal are refused."""

import asyncio

import pytest

from siena.broker.access.principal import LOCAL, Principal
from siena.broker.questions.turns import OF_ONE_MAX, WAITING_MAX, Turns
from siena.broker.settings import Settings
from siena.broker.state import BrokerState
from siena.clock import SystemClock
from siena.protocol.error_codes import Fault, ProtocolError
from siena.routing.router import Router


class Asked:
    """How many are answered at a time, until they are let go."""

    def __init__(self) -> None:
        self.state = BrokerState(Settings(), SystemClock(), Router(1))
        self.turns, self.now, self.most = Turns(lambda: self.state), 0, 0
        self.may_go = asyncio.Event()

    async def ask(self, who: Principal) -> None:
        async with self.turns.of(who):
            self.now += 1
            self.most = max(self.most, self.now)
            await self.may_go.wait()
            self.now -= 1


async def test_one_is_answered_at_a_time_and_one_principal_shuts_none_out() -> None:
    asked, ann, bob = Asked(), Principal("ann"), Principal("bob")
    async with asyncio.TaskGroup() as tasks:
        for _ in range(OF_ONE_MAX):
            tasks.create_task(asked.ask(ann))
        await asyncio.sleep(0)
        with pytest.raises(ProtocolError) as refused:
            await asked.ask(ann)
        assert refused.value.fault is Fault.TOO_MANY
        tasks.create_task(asked.ask(bob))
        await asyncio.sleep(0)
        asked.may_go.set()
    assert asked.most == 1
    await asked.ask(ann)  # and there is room again


async def test_of_all_together_no_more_wait_than_there_is_room() -> None:
    asked = Asked()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(WAITING_MAX):
            tasks.create_task(asked.ask(LOCAL))
        await asyncio.sleep(0)
        for who in (LOCAL, Principal("ann")):
            with pytest.raises(ProtocolError):
                await asked.ask(who)
        asked.may_go.set()


async def test_one_that_gives_up_leaves_its_place() -> None:
    asked, ann = Asked(), Principal("ann")
    async with asyncio.TaskGroup() as tasks:
        waiting = [tasks.create_task(asked.ask(ann)) for _ in range(OF_ONE_MAX)]
        await asyncio.sleep(0)
        for task in waiting:
            task.cancel()
    asked.may_go.set()
    await asked.ask(ann)


async def test_who_has_asked_for_too_much_waits_while_others_are_served() -> None:
    asked, ann, bob = Asked(), Principal("ann"), Principal("bob")
    asked.may_go.set()
    work, shares = asked.state.accounts.of("ann").work, asked.state.shares
    assert work is not None
    before = work.left
    await asked.ask(ann)
    assert work.left < before  # what it took
    now = asked.state.clock.elapsed()
    work.draw(10.0, now)
    shares.serve(10.0, now)
    async with asyncio.TaskGroup() as tasks:
        task = tasks.create_task(asked.ask(ann))
        await asked.ask(bob)  # who keeps none waiting
        assert not task.done()
        work.left = 0.0
