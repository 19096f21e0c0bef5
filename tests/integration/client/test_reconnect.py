"""Connections that break, brokers that come back, and calls that are cancelled."""

import asyncio
import random
from collections.abc import Callable

import pytest

import siena
from siena import testing
from siena.client import Backoff, Client
from siena.errors import (
    ConnectionLostError,
    NoBrokerError,
    RequestRefusedError,
    SienaError,
)

SECONDS = 10.0
# Quick, and the same on every run.
SOON = Backoff(first_s=0.01, most_s=0.05, give_up_s=SECONDS)


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that happens by itself."""
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 -- what is waited for has no event
            await asyncio.sleep(0.005)


def chance() -> random.Random:
    return random.Random(7)


async def test_everything_stands_again_after_a_restart() -> None:
    with testing.broker() as broker:
        async with siena.connect(broker.url, reconnect=SOON, chance=chance()) as client:
            wanted = await client.subscribe("x > 3").settled()
            pattern = await client.subscribe("x = 1 then x = 2").settled()
            advertising = await client.advertise("y any").settled()
            await asyncio.to_thread(broker.restart)
            await until(lambda: client.reconnects == 1)
            await wanted.settled()
            await pattern.settled()
            await advertising.settled()
            assert advertising.quenched
            await client.publish_many([{"x": 1}, {"x": 2}, {"x": 5}])
            assert (await wanted.get(SECONDS))["x"] == 5
            assert len(await pattern.get(SECONDS)) == 2


async def test_publishing_waits_for_the_connection_and_trying_does_not() -> None:
    with testing.broker() as broker:
        async with siena.connect(broker.url, reconnect=SOON, chance=chance()) as client:
            wanted = await client.subscribe("x any").settled()
            await asyncio.to_thread(broker.stop)
            await until(lambda: not client.is_connected)
            assert client.try_publish(x=0) is False
            async with asyncio.TaskGroup() as tasks:
                publishing = tasks.create_task(client.publish(x=1))
                await asyncio.sleep(0.02)
                assert not publishing.done()
                await asyncio.to_thread(broker.start)
            assert client.try_publish(x=2) is True
            assert [(await wanted.get(SECONDS))["x"] for _ in range(2)] == [1, 2]


async def test_a_publication_is_not_waited_for_longer_than_is_said() -> None:
    with testing.broker() as broker:
        async with siena.connect(broker.url, reconnect=SOON, chance=chance()) as client:
            await client.publish(x=0, timeout_s=0)  # nobody has to wait
            await asyncio.to_thread(broker.stop)
            await until(lambda: not client.is_connected)
            with pytest.raises(TimeoutError, match=r"not done within 0\.01 s"):
                await client.publish(x=1, timeout_s=0.01)
            with pytest.raises(TimeoutError, match=r"not done within 0\.01 s"):
                await client.flush(0.01)
            await asyncio.to_thread(broker.start)
            wanted = await client.subscribe("x any").settled()
            await client.publish(x=2, timeout_s=SECONDS)
            assert await wanted.get(SECONDS) == siena.Notification(x=2)
            assert wanted.waiting == 0


async def test_a_program_hears_that_its_connection_went_and_came(
    caplog: pytest.LogCaptureFixture,
) -> None:
    heard: list[str] = []

    def gone(reason: SienaError) -> None:
        heard.append(f"gone: {reason.message}")
        raise ValueError("a mistake of the program")

    with testing.broker() as broker:
        async with siena.connect(
            broker.url,
            reconnect=SOON,
            chance=chance(),
            on_disconnect=gone,
            on_reconnect=lambda: heard.append("back"),
        ) as client:
            assert heard == []
            await asyncio.to_thread(broker.restart)
            await until(lambda: heard[1:] == ["back"])
            assert heard[0].startswith("gone: ")
            await client.flush()
    said = [record.getMessage() for record in caplog.records]
    assert any(line.endswith("; trying again for 10 s") for line in said)
    assert any(line.endswith(": connected again") for line in said)
    assert "a callback of the program failed" in said
    assert len(heard) == 2, "to leave is no loss"


async def test_a_flush_over_a_broken_connection_says_so() -> None:
    with testing.process() as broker:
        async with siena.connect(broker.url, reconnect=SOON, chance=chance()) as client:
            broker.freeze()
            await client.publish(x=1)
            with pytest.raises(ConnectionLostError):
                await asyncio.gather(client.flush(), asyncio.to_thread(broker.kill))
            await asyncio.to_thread(broker.start)
            await until(lambda: client.is_connected)
            await client.flush()


async def test_a_broker_that_is_silent_is_left() -> None:
    with testing.process() as broker:
        async with siena.connect(
            broker.url, reconnect=SOON, keepalive_s=0.05, connect_s=SECONDS
        ) as client:
            await asyncio.sleep(0.2)
            assert client.reconnects == 0  # it answers, and that is enough
            broker.freeze()
            await until(lambda: not client.is_connected)
            broker.thaw()
            await until(lambda: client.is_connected)


async def test_a_client_that_gives_up_tells_everybody() -> None:
    brief = Backoff(first_s=0.01, give_up_s=0.05)
    with testing.broker() as broker:
        async with siena.connect(broker.url, reconnect=brief) as client:
            wanted = await client.subscribe("x any").settled()
            advertising = await client.advertise("x any").settled()
            await asyncio.to_thread(broker.stop)
            with pytest.raises(NoBrokerError):
                await wanted.get(SECONDS)
            with pytest.raises(NoBrokerError):
                await client.publish(x=1)
            with pytest.raises(NoBrokerError):
                await client.flush()
            with pytest.raises(NoBrokerError):
                await advertising.wanted()
            with pytest.raises(NoBrokerError):
                await client.subscribe("y any").settled()


async def test_who_does_not_want_to_come_back_does_not() -> None:
    with testing.broker() as broker:
        async with siena.connect(broker.url, reconnect=None) as client:
            wanted = await client.subscribe("x any").settled()
            await asyncio.to_thread(broker.stop)
            with pytest.raises(RequestRefusedError, match="207"):
                await wanted.get(SECONDS)


async def test_a_patient_client_waits_for_the_first_broker() -> None:
    broker = testing.broker()
    broker.start()
    url = broker.url
    broker.stop()

    async def connect() -> str:
        async with siena.connect(url, patient=True, reconnect=SOON) as client:
            return client.url

    async with asyncio.TaskGroup() as tasks:
        connecting = tasks.create_task(connect())
        await asyncio.sleep(0.02)
        await asyncio.to_thread(broker.start)
    assert connecting.result() == url
    await asyncio.to_thread(broker.stop)


async def test_the_next_address_is_tried() -> None:
    with testing.broker(name="one") as one, testing.broker(name="two") as two:
        urls = ("siena://127.0.0.1:1", one.url, two.url)
        async with siena.connect(*urls, reconnect=SOON, chance=chance()) as client:
            assert client.broker == "one"
            await asyncio.to_thread(one.stop)
            await until(lambda: client.is_connected and client.reconnects == 1)
            assert client.broker == "two"


async def a_bit_of_everything(client: Client) -> None:
    """Ends never: it waits for a reply that nobody sends."""
    async with client.subscribe("x any") as subscription:
        await client.publish(x=1)
        await client.publish_many({"x": i} for i in range(3))
        await client.flush()
        async for _ in subscription:
            break
        async with client.advertise("x any"):
            await client.request(x=2, timeout_s=SECONDS)


@pytest.mark.parametrize("turns", [*range(12), 20, 50, 100, 200, 500, 1_000, 5_000])
async def test_whatever_is_cancelled_leaves_the_connection_in_order(
    turns: int, url: str
) -> None:
    async with siena.connect(url) as client:
        async with asyncio.TaskGroup() as tasks:
            task = tasks.create_task(a_bit_of_everything(client))
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
        await client.flush()
        check = await client.subscribe("check any").settled()
        await client.publish(check=turns)
        assert (await check.get(SECONDS))["check"] == turns
        assert client.reconnects == 0
        kept = {interest.interest for interest in client._session.interests.values()}
        assert "x any" not in kept
        assert not client._session.advertisements


async def test_a_cancelled_reader_takes_nothing_with_it() -> None:
    with testing.broker() as broker:
        async with siena.connect(broker.url) as client:
            numbers = await client.subscribe("x any").settled()
            found: list[object] = []
            for i in range(50):
                async with asyncio.TaskGroup() as tasks:
                    reading = tasks.create_task(numbers.get())
                    await asyncio.sleep(0)
                    await client.publish(x=i)
                    await client.flush()
                    reading.cancel()  # its turn may have come, or not
                if not reading.cancelled():
                    found.append(reading.result()["x"])
                if numbers.waiting:
                    found += [n["x"] for n in await numbers.get_many()]
            assert found == list(range(50))


async def test_a_cancelled_connection_leaves_nothing_behind() -> None:
    with testing.broker() as broker:
        for turns in range(12):

            async def connect() -> None:
                async with siena.connect(broker.url) as client:
                    await client.subscribe("x any").settled()
                    await asyncio.Event().wait()

            async with asyncio.TaskGroup() as tasks:
                task = tasks.create_task(connect())
                for _ in range(turns):
                    await asyncio.sleep(0)
                task.cancel()
        async with siena.connect(broker.url) as client:
            await client.flush()
