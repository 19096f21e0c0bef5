"""Questions are answered one by one, and too many of one principal are refused."""

import asyncio

import pytest

from siena.broker.access.principal import LOCAL, Principal
from siena.broker.questions.turns import OF_ONE_MAX, WAITING_MAX, Turns
from siena.protocol.error_codes import Fault, ProtocolError


class Asked:
    """How many are answered at a time, until they are let go."""

    def __init__(self) -> None:
        self.turns, self.now, self.most = Turns(), 0, 0
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
