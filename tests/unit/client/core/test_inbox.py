"""The bounded queue of a subscription, against a plain list."""

import asyncio
from typing import get_args

import pytest
from hypothesis import given, strategies as st

from siena.client.core.inbox import Inbox, Overflow
from siena.errors import ConnectionLostError, OverflowedError

ITEMS = st.sampled_from([b"a", b"bb", b"cccc", (b"a", b"bb")])
STEPS = st.lists(st.one_of(ITEMS, st.integers(1, 3)), max_size=30)


def size(item: bytes | tuple[bytes, ...]) -> int:
    return len(b"".join(item)) if isinstance(item, tuple) else len(item)


@given(STEPS, st.integers(1, 4), st.integers(1, 8), st.sampled_from(get_args(Overflow)))
def test_it_keeps_what_a_list_would(
    steps: list[bytes | tuple[bytes, ...] | int],
    count_max: int,
    bytes_max: int,
    overflow: Overflow,
) -> None:
    inbox = Inbox(count_max=count_max, bytes_max=bytes_max, overflow=overflow)
    kept: list[bytes | tuple[bytes, ...]] = []
    lost = 0
    is_over = False
    for step in steps:
        if isinstance(step, int):
            assert inbox.take(step) == kept[:step]
            del kept[:step]
            continue
        if is_over:
            assert not inbox.put(step)
            continue

        def fits(item: bytes | tuple[bytes, ...] = step) -> bool:
            return (
                len(kept) < count_max and sum(map(size, kept)) + size(item) <= bytes_max
            )

        if overflow == "drop oldest" and size(step) <= bytes_max:
            while not fits():
                kept.pop(0)
                lost += 1
        is_kept = fits()
        assert inbox.put(step) == is_kept
        if is_kept:
            kept.append(step)
        else:
            lost += 1
            is_over = overflow == "error"
        assert (inbox.lost, len(inbox)) == (lost, len(kept))
        assert inbox.bytes == sum(map(size, kept))


@given(
    st.lists(st.lists(ITEMS, max_size=4) | st.just("read"), max_size=12),
    st.integers(1, 6),
    st.integers(1, 12),
    st.sampled_from(get_args(Overflow)),
)
def test_a_run_is_kept_as_its_items_would_be_one_by_one(
    steps: list[list[bytes | tuple[bytes, ...]] | str],
    count_max: int,
    bytes_max: int,
    overflow: Overflow,
) -> None:
    inboxes = [
        Inbox(count_max=count_max, bytes_max=bytes_max, overflow=overflow)
        for _ in range(2)
    ]
    together, alone = inboxes
    for step in steps:
        if isinstance(step, str):
            assert together.pop() == next(iter(alone.take(1)), None)
        else:
            kept = [alone.put(item) for item in step]
            assert together.put_all(step) == all(kept)
        one, other = ((len(i), i.bytes, i.lost, bool(i.end)) for i in inboxes)
        assert one == other
    assert together.take(100) == alone.take(100)


async def test_a_run_wakes_as_many_readers_as_it_has_items() -> None:
    inbox = Inbox()
    async with asyncio.TaskGroup() as tasks:
        readers = [tasks.create_task(inbox.get()) for _ in range(3)]
        await asyncio.sleep(0)
        assert inbox.put_all([b"1", b"2"])
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert [reader.done() for reader in readers] == [True, True, False]
        inbox.finish()
    assert [reader.result() for reader in readers] == [[b"1"], [b"2"], []]


async def test_readers_wait_and_each_gets_one() -> None:
    inbox = Inbox()
    async with asyncio.TaskGroup() as tasks:
        readers = [tasks.create_task(inbox.get()) for _ in range(3)]
        await asyncio.sleep(0)
        for item in (b"1", b"2", b"3"):
            inbox.put(item)
    assert [reader.result() for reader in readers] == [[b"1"], [b"2"], [b"3"]]


async def test_the_turn_of_a_cancelled_reader_goes_to_the_next() -> None:
    inbox = Inbox()
    async with asyncio.TaskGroup() as tasks:
        first = tasks.create_task(inbox.get())
        second = tasks.create_task(inbox.get())
        await asyncio.sleep(0)
        inbox.put(b"1")
        first.cancel()  # it was woken, and has not run yet
    assert first.cancelled()
    assert second.result() == [b"1"]


async def test_the_end_comes_after_what_is_there_or_at_once() -> None:
    inbox = Inbox()
    inbox.put(b"1")
    inbox.finish()
    assert await inbox.get() == [b"1"]
    assert await inbox.get() == []
    inbox = Inbox()
    inbox.put(b"1")
    inbox.finish(at_once=True)
    assert await inbox.get() == []
    assert not inbox.put(b"2")


async def test_a_reason_is_raised_for_everybody() -> None:
    inbox = Inbox()
    async with asyncio.TaskGroup() as tasks:
        readers = [tasks.create_task(_reason(inbox)) for _ in range(2)]
        await asyncio.sleep(0)
        inbox.finish(ConnectionLostError("gone"))
    assert [reader.result() for reader in readers] == ["gone", "gone"]


async def test_who_waits_for_the_end_of_reading_is_told() -> None:
    inbox = Inbox()
    await inbox.emptied()
    inbox.put(b"1")
    async with asyncio.TaskGroup() as tasks:
        waiting = tasks.create_task(inbox.emptied())
        await asyncio.sleep(0)
        assert not waiting.done()
        inbox.take(1)


async def test_an_overflow_can_be_the_end() -> None:
    inbox = Inbox(count_max=1, overflow="error")
    assert [inbox.put(b"1"), inbox.put(b"2")] == [True, False]
    assert await inbox.get() == [b"1"]
    with pytest.raises(OverflowedError, match="more than 1 notifications"):
        await inbox.get()


async def _reason(inbox: Inbox) -> str:
    try:
        await inbox.get()
    except ConnectionLostError as error:
        return error.message
    raise AssertionError("it should have ended")
