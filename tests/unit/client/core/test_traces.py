"""Traced publications: a trace is complete when all who are named have answered."""

import asyncio
from itertools import permutations

import pytest

from siena.client.core.traces import TraceInProgress
from siena.protocol.control_frames import Hop


def hop(broker: str, *went_to: str) -> Hop:
    return Hop(broker, 0.0, 0.0, "", list(went_to), [])


@pytest.mark.parametrize("order", list(permutations(range(4))))
async def test_a_trace_is_complete_when_all_who_are_named_have_answered(
    order: tuple[int, ...],
) -> None:
    hops = [hop("a", "b"), hop("b", "c", "d"), hop("c"), hop("d")]
    trace = TraceInProgress("a")
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(trace.complete())
        for number in order:
            await asyncio.sleep(0)
            assert not waiting.done()
            trace.add(hops[number])
