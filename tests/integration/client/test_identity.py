"""Identities: what is kept for a client that is suspended or away."""

import asyncio

import pytest

import siena
from siena import testing
from siena.client import Backoff, Client
from siena.errors import ConnectionLostError, RequestRefusedError, ServiceError

SECONDS = 10.0
SOON = Backoff(first_s=0.01, most_s=0.05, give_up_s=SECONDS)


async def cut(client: Client, other: Client) -> None:
    """Break a connection; until the broker knows, what it sends there is lost."""
    assert client._session.transport is not None
    client._session.transport.abort(ConnectionLostError("cut by a test"))
    await client._session.transport.ended
    # By the second answer the broker has had a turn for the end that came before.
    await other.flush()
    await other.flush()


async def test_what_comes_while_suspended_is_kept_up_to_a_bound(url: str) -> None:
    async with siena.connect(url, identity="ann") as ann, siena.connect(url) as other:
        wanted = await ann.subscribe("kept any").settled()
        await ann.suspend(queue=2)
        await other.publish_many({"kept": i} for i in range(5))
        await other.flush()
        await ann.flush()
        assert wanted.waiting == 0
        await ann.resume()
        assert [n["kept"] for n in await wanted.get_many(timeout_s=SECONDS)] == [0, 1]
        await ann.flush()
        assert wanted.lost == 3
        await other.publish(kept=5)
        assert (await wanted.get(SECONDS))["kept"] == 5


async def test_who_wants_nothing_kept_hears_how_much_there_was(url: str) -> None:
    async with siena.connect(url, identity="nil") as nil, siena.connect(url) as other:
        wanted = await nil.subscribe("dropped any").settled()
        await nil.suspend(queue=0)
        await other.publish_many({"dropped": i} for i in range(5))
        await other.flush()
        await nil.resume()
        await nil.flush()
        assert (wanted.waiting, wanted.lost, nil.lost) == (0, 5, 5)


async def test_another_program_with_the_same_identity_goes_on(url: str) -> None:
    async with siena.connect(url, identity="bob") as bob:
        assert not bob.resumed
        await bob.subscribe("program any").settled()
    async with siena.connect(url) as other:
        await other.publish_many({"program": i} for i in range(3))
    async with siena.connect(url, identity="bob") as again:
        assert again.resumed
        wanted = await again.subscribe("program any").settled()
        await again.resume()
        assert [(await wanted.get(SECONDS))["program"] for _ in range(3)] == [0, 1, 2]


async def test_a_program_that_starts_anew_resumes_when_it_reads(url: str) -> None:
    async with siena.connect(url, identity="bea") as bea:
        await bea.subscribe("anew any").settled()
        await bea.subscribe("other any").settled()
    async with siena.connect(url) as other:
        await other.publish_many([{"anew": 1}, {"other": 2}])
    async with siena.connect(url, identity="bea") as again:
        first = await again.subscribe("anew any").settled()
        second = await again.subscribe("other any").settled()
        assert first.waiting == 0
        assert (await first.get(SECONDS))["anew"] == 1
        async for found in second:
            assert found["other"] == 2
            break
        assert again.lost == 0


async def test_what_comes_before_its_subscription_is_made_is_told(
    url: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with siena.connect(url, identity="pia") as pia:
        await pia.subscribe("early any").settled()
        await pia.subscribe("late any").settled()
    async with siena.connect(url) as other:
        await other.publish_many([{"late": 2}, {"early": 1}])
    async with siena.connect(url, identity="pia") as again:
        first = again.subscribe("early any")
        assert (await first.get(SECONDS))["early"] == 1
        assert again.lost == 1
        assert "subscribe to everything, and then read" in caplog.text


async def test_who_suspends_again_is_not_resumed_by_reading(url: str) -> None:
    async with siena.connect(url, identity="sid") as sid:
        await sid.subscribe("still any").settled()
    async with siena.connect(url, identity="sid") as again:
        wanted = await again.subscribe("still any").settled()
        await again.suspend()
        async with siena.connect(url) as other:
            await other.publish(still=1)
        with pytest.raises(TimeoutError):
            await wanted.get(0.01)


async def test_a_subscription_of_an_identity_ends_only_when_it_is_closed(
    url: str,
) -> None:
    async with siena.connect(url, identity="zoe") as zoe:
        await zoe.subscribe("forgotten any").settled()
        await zoe.flush()
        assert len(zoe._session.interests) == 1


async def test_a_program_that_asks_for_something_else_gets_that(url: str) -> None:
    async with siena.connect(url, identity="eve") as eve:
        await eve.subscribe("before any").settled()
        await eve.advertise("before any").settled()
    async with siena.connect(url) as other:
        await other.publish(before=1)
        async with siena.connect(url, identity="eve") as again:
            wanted = await again.subscribe("after any").settled()
            advertising = await again.advertise("later any").settled()
            await again.resume()
            await other.publish(after=2)
            assert (await wanted.get(SECONDS))["after"] == 2
            assert wanted.waiting == 0
            assert advertising.quenched


async def test_a_lost_connection_resumes_by_itself(url: str) -> None:
    async with (
        siena.connect(url, identity="joe", reconnect=SOON) as joe,
        siena.connect(url) as other,
    ):
        wanted = await joe.subscribe("broken any").settled()
        await cut(joe, other)
        await other.publish_many({"broken": i} for i in range(3))
        found = [(await wanted.get(SECONDS))["broken"] for _ in range(3)]
        assert found == [0, 1, 2]
        assert joe.reconnects == 1


async def test_a_suspended_client_stays_suspended_over_a_reconnection(url: str) -> None:
    async with (
        siena.connect(url, identity="sue", reconnect=SOON) as sue,
        siena.connect(url) as other,
    ):
        wanted = await sue.subscribe("asleep any").settled()
        await sue.suspend()
        await cut(sue, other)
        async with asyncio.timeout(SECONDS):
            while not sue.reconnects:  # noqa: ASYNC110 -- has no event
                await asyncio.sleep(0.005)
        await other.publish(asleep=1)
        await other.flush()
        await sue.flush()
        assert wanted.waiting == 0
        await sue.resume()
        assert (await wanted.get(SECONDS))["asleep"] == 1


async def test_one_identity_is_one_connection(url: str) -> None:
    async with siena.connect(url, identity="one") as one:
        await one.subscribe("x any").settled()
        with pytest.raises(ServiceError, match="error 205"):
            async with siena.connect(url, identity="one"):
                raise AssertionError("it is connected already")


async def test_who_has_no_identity_cannot_be_suspended(url: str) -> None:
    async with siena.connect(url) as client:
        with pytest.raises(RequestRefusedError, match="identity"):
            await client.suspend()
        with pytest.raises(RequestRefusedError, match="identity"):
            await client.resume()
        await client.flush()


async def test_an_identity_moves_and_takes_along_what_was_kept() -> None:
    with testing.network("chain:3") as network:
        async with siena.connect(network[2].url) as other:
            async with siena.connect(network[1].url, identity="mo") as mo:
                await mo.subscribe("moved any").settled()
            await other.publish_many({"moved": i} for i in range(3))
            await other.flush()
            async with siena.connect(network[3].url, identity="mo") as mo:
                wanted = mo.subscribe("moved any")
                await mo.move(network[1].url)
                await other.publish(moved=3)
                found = [(await wanted.get(SECONDS))["moved"] for _ in range(4)]
                assert found == [0, 1, 2, 3]
                await mo.flush()
                assert (wanted.waiting, wanted.lost) == (0, 0)


async def test_a_move_from_nowhere_is_refused(url: str) -> None:
    async with siena.connect(url, identity="lost") as client:
        with pytest.raises(RequestRefusedError):
            await client.move("siena://127.0.0.1:1")
        wanted = await client.subscribe("x any").settled()
        await client.resume()
        await client.publish(x=1)
        assert (await wanted.get(SECONDS))["x"] == 1
