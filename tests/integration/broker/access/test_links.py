"""Links with roles: what a neighbour may bring and get, and nothing else."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from broker.people import access, named
from siena.block import decode
from siena.broker.broker import Broker
from siena.broker.settings import LinkSettings, Routing, Settings, Side
from siena.protocol.control_frames import Subscribe
from siena.protocol.data_frames import Delivery, FoundSequence
from wire import Wire, connect, serving, until

PARTNER = {"peer": {"import": "for = us", "export": "for = them and level < 5"}}


@asynccontextmanager
async def bridge(
    side: Side = "peer", forwarding: str = "subscription"
) -> AsyncIterator[tuple[Broker, Broker, Settings]]:
    """A broker that lets anybody in, and one that calls it as a partner."""
    routing = Routing(forwarding=forwarding)  # type: ignore[arg-type]
    theirs = Settings(
        name="them", listen=("127.0.0.1:0",), accept_peers=True, routing=routing
    )
    async with AsyncExitStack() as stack:
        them = await stack.enter_async_context(serving(theirs))
        link = LinkSettings(url=them.addresses[0].url, side=side, role="partner")
        ours = replace(theirs, name="us", links=(link,), access=access(partner=PARTNER))
        us = await stack.enter_async_context(named(ours))
        await until(lambda: us.state.links and them.state.links)
        yield us, them, ours


async def levels(wire: Wire) -> list[Any]:
    return [
        decode(came.block)["level"]
        for came in await wire.sync()
        if isinstance(came, Delivery)
    ]


async def through(publisher: Wire, broker: Broker, count: int) -> None:
    """Publish both ways' marks, and wait until the other broker has them."""
    for who in ("us", "them", "all"):
        publisher.publish(*({"for": who, "level": n} for n in range(10)))
    await publisher.sync()
    await until(lambda: broker.state.counters.received >= count)


@pytest.mark.parametrize("side", ["peer", "mesh", "master"])
async def test_a_neighbour_gets_what_it_may_have_and_no_more(side: Side) -> None:
    async with bridge(side) as (us, them, _):
        there, here = await connect(them), await connect(us)
        await there.subscribe(1, "level > 2")
        await until(lambda: us.state.router.tables.neighbours)
        await through(here, them, 2)
        assert await levels(there) == [3, 4]
        there.close()


async def test_what_it_brings_beyond_its_grant_goes_nowhere_and_is_counted() -> None:
    async with bridge() as (us, them, _):
        there, here = await connect(them), await connect(us)
        await here.subscribe(1, "level > 6")
        await through(there, us, 9)
        await until(lambda: us.state.gate.refusals)
        found = []
        for who in ("us", "them", "all"):
            found += [(who, n) for n in range(7, 10)]
        assert await levels(here) == [7, 8, 9]
        assert dict(us.state.gate.refusals) == {("import", "partner"): 6}
        assert us.state.counters.rejected == 6


async def test_a_pattern_of_a_neighbour_finds_nothing_that_it_may_not_have() -> None:
    async with bridge() as (us, them, _):
        there, here = await connect(them), await connect(us)
        there.send(Subscribe(1, "level = 1 then level = 2"))
        await there.next()
        here.publish({"for": "us", "level": 1}, {"for": "us", "level": 2})
        here.publish({"for": "them", "level": 1}, {"for": "them", "level": 2})
        await here.sync()
        found = await there.next()
        assert isinstance(found, FoundSequence)
        assert {decode(block)["for"] for block in found.blocks} == {"them"}


async def test_roles_that_change_count_for_links_at_once() -> None:
    async with bridge() as (us, them, ours):
        there, here = await connect(them), await connect(us)
        await there.subscribe(1, "level > 2")
        sent = 0
        for export, count in (("level = 9", 3), ("not []", 0), ("[]", 21)):
            roles = {"partner": {"peer": {"import": "[]", "export": export}}}
            us.reload(replace(ours, access=access(**roles)))
            for who in ("us", "them", "all"):
                here.publish(*({"for": who, "level": n} for n in range(10)))
            await here.sync()
            sent += count
            assert us.state.counters.forwarded == sent
            await until(lambda wanted=sent: them.state.counters.received == wanted)  # type: ignore[misc]
            assert len(await levels(there)) == count


async def test_a_stranger_is_no_neighbour_where_roles_say_who_is() -> None:
    settings = Settings(
        listen=("127.0.0.1:0",), accept_peers=True, access=access(anonymous={})
    )
    async with serving(settings) as broker:
        link = LinkSettings(url=broker.addresses[0].url)
        caller = Settings(listen=("127.0.0.1:0",), links=(link,))
        async with serving(caller) as other:
            await until(lambda: other.wanted_links()[0]["error"])
            assert not broker.state.links
