"""Clients learn when something may have been lost: their connection, or a link."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import siena
from broker.logs import url
from siena.broker.broker import Broker
from siena.broker.peers.link import Link
from siena.broker.settings import as_settings
from siena.client.missed_interval import MissedInterval
from siena.errors import RequestRefusedError
from siena.protocol.control_frames import Gap
from siena.testing.in_thread import ThreadBroker
from wire import chain, connect, until


def links_of(broker: Broker) -> list[Link]:
    return [link for link in broker.state.links.values() if isinstance(link, Link)]


def test_a_client_knows_of_the_gap_in_its_own_connection() -> None:
    gaps: list[MissedInterval] = []
    with (
        ThreadBroker(as_settings({})) as broker,
        siena.connect(broker.url, on_gap=gaps.append) as client,
    ):
        wanted = client.subscribe("x any").settled()
        client.publish(x=1)
        assert wanted.get(10.0)["x"] == 1
        assert client.gaps == 0
        broker.restart()
        while not gaps:
            with suppress(RequestRefusedError):  # the broker that ends says so
                client.flush()
        client.publish(x=2)
        assert wanted.get(10.0)["x"] == 2
        assert client.gaps == 1
    (gap,) = gaps
    assert gap.reason == "the connection was lost"
    assert gap.start < gap.end


async def test_all_on_both_sides_of_a_link_that_broke_are_told_once() -> None:
    """At the brokers beside it and behind them; who does not ask hears nothing."""
    async with chain(4) as brokers:
        heard: list[list[MissedInterval]] = [[] for _ in brokers]
        async with asyncio.TaskGroup() as group:
            leave = asyncio.Event()
            ready = [asyncio.Event() for _ in brokers]

            async def listen(number: int) -> None:
                where = url(brokers[number])
                async with siena.connect(where, on_gap=heard[number].append) as client:
                    wanted = await client.subscribe("x any").settled()
                    ready[number].set()
                    await leave.wait()
                    await wanted.close()

            for number in range(len(brokers)):
                group.create_task(listen(number))
            for each in ready:
                await each.wait()
            quiet = await connect(brokers[3])
            await quiet.subscribe(1, "x any")
            await _break(brokers[0], brokers)
            async with asyncio.timeout(20):
                await until(lambda: all(heard))
            assert not any(isinstance(each, Gap) for each in await quiet.sync())
            leave.set()
        assert [len(each) for each in heard] == [1, 1, 1, 1]
        assert all("was down" in each[0].reason for each in heard)
        # Each end has told its own side.
        assert [broker.state.counters.gaps for broker in brokers] == [1, 1, 1, 1]


async def _break(broker: Broker, brokers: Sequence[Broker]) -> None:
    """Break its link, and wait until it is up again."""
    (link,) = links_of(broker)
    link.connection.abort()
    await until(lambda: links_of(broker) and links_of(broker)[0] is not link)
    await until(lambda: all(len(links_of(each)) for each in brokers))
