"""Subscribers that do not read: what they lose, and what nobody else does."""

import asyncio

import pytest

import siena
from siena import testing
from siena.client import Backoff, Client, Settings
from siena.client.settings import SlowPolicy

SECONDS = 20.0
OUTPUT_BYTES_MAX = 1_048_576
BODY = "x" * 10_000
# Well below what the broker holds, so that whoever reads loses nothing.
AT_ONCE = 50
# Far more than the broker and the sockets between hold.
SENT = 2_000


@pytest.fixture(scope="module")
def url() -> str:  # type: ignore[misc]  # a generator, for pytest
    with testing.broker(limits={"output_bytes": OUTPUT_BYTES_MAX}) as broker:
        yield broker.url


async def test_too_much_for_one_turn_is_told_although_nobody_is_slow(url: str) -> None:
    """What the system takes at once never made the loop ask the broker to wait."""
    async with siena.connect(url) as reader:
        wanted = await reader.subscribe("burst any").settled()
        async with asyncio.TaskGroup() as tasks:
            for _ in range(4):
                tasks.create_task(burst(url))
        await reader.flush()
        await reader.flush()  # LOST may come in the turn after the answer
        assert wanted.waiting + wanted.lost == 4 * 200


async def burst(url: str) -> None:
    async with siena.connect(url) as client:
        await client.publish_many({"burst": i, "x": BODY} for i in range(200))


def stop_reading(client: Client) -> None:
    assert client._session.transport is not None
    assert client._session.transport._transport is not None
    client._session.transport._transport.pause_reading()


def read_on(client: Client) -> None:
    assert client._session.transport is not None
    assert client._session.transport._transport is not None
    client._session.transport._transport.resume_reading()


async def test_a_subscriber_that_does_not_read_loses_its_own_and_knows_it(
    url: str,
) -> None:
    async with (
        siena.connect(url) as slow,
        siena.connect(url) as quick,
        siena.connect(url) as publisher,
    ):
        missed = await slow.subscribe("i any").settled()
        got = await quick.subscribe("i any").settled()
        stop_reading(slow)
        for start in range(0, SENT, AT_ONCE):
            numbers = range(start, start + AT_ONCE)
            await publisher.publish_many({"i": i, "x": BODY} for i in numbers)
            await publisher.flush()
            await quick.flush()
        assert got.waiting == SENT
        read_on(slow)
        async with asyncio.timeout(SECONDS):
            # The broker says what was lost once it has written what waited, which may
            # be after the answer to a PING.
            while missed.waiting + missed.lost < SENT:
                await slow.flush()
        await slow.flush()
        assert 0 < missed.lost < SENT
        assert missed.waiting + missed.lost == SENT
        assert slow.lost == missed.lost


async def test_who_blocks_loses_nothing(url: str) -> None:
    async with siena.connect(url, slow="block") as slow, siena.connect(url) as other:
        wanted = await slow.subscribe("block any").settled()
        stop_reading(slow)
        async with asyncio.TaskGroup() as tasks:
            publishing = tasks.create_task(
                other.publish_many({"block": i, "x": BODY} for i in range(SENT))
            )
            await asyncio.wait([publishing], timeout=0.3)
            read_on(slow)
        found = 0
        while found < SENT:
            found += len(await wanted.get_many(timeout_s=SECONDS))
        assert wanted.lost == 0


async def test_who_wants_it_is_disconnected_and_comes_back(url: str) -> None:
    soon = Backoff(first_s=0.01)
    async with (
        siena.connect(url, slow="disconnect", reconnect=soon) as slow,
        siena.connect(url) as other,
    ):
        wanted = await slow.subscribe("gone any").settled()
        stop_reading(slow)
        await other.publish_many({"gone": i, "x": BODY} for i in range(SENT))
        await other.flush()
        read_on(slow)
        async with asyncio.timeout(SECONDS):
            while not slow.reconnects:  # noqa: ASYNC110 -- has no event
                await asyncio.sleep(0.005)
        await wanted.settled()
        await other.publish(gone=-1)
        async for n in wanted:
            if n["gone"] == -1:
                break


def test_the_policies_are_those_of_the_protocol() -> None:
    assert Settings().slow == "drop"
    assert set(SlowPolicy.__args__) == {"drop", "disconnect", "block"}  # type: ignore[attr-defined]
