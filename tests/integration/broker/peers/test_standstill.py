"""Nobody local waits for anybody far: a neighbour that takes nothing is left behind."""

import asyncio

from msgspec import structs

import siena
from broker.logs import url
from siena.broker.io.backpressure import Held
from siena.broker.peers.link import Link
from siena.broker.settings import Limits, LinkSettings
from wire import serving, settings, until

# A neighbour is full soon.
OUTPUT_BYTES = 65_536


class Full:
    """What a connection waits for, and never gets."""

    def __init__(self) -> None:
        self.holds: set[Held] = set()


async def test_local_subscribers_do_not_wait_for_a_frozen_neighbour() -> None:
    here = structs.replace(settings("a"), limits=Limits(output_bytes=OUTPUT_BYTES))
    async with serving(here) as near:
        calling = settings("b", LinkSettings(url=url(near), side="peer"))
        async with serving(calling) as far, asyncio.timeout(60):
            await until(lambda: near.state.links and far.state.links)
            async with (
                siena.connect(url(far)) as there,
                siena.connect(url(near)) as local,
                siena.connect(url(near)) as publisher,
            ):
                elsewhere = await there.subscribe("x any").settled()
                wanted = await local.subscribe("n any").settled()
                (link,) = far.state.links.values()
                assert isinstance(link, Link)
                link.connection.hold(Full())  # it reads nothing any more
                (ours,) = near.state.links.values()
                assert isinstance(ours, Link)
                count = 0
                filling = "x" * 50_000
                while not ours.connection.is_closing and count < 2_000:
                    await publisher.publish(x=filling, n=count)
                    count += 1
                    assert (await anext(wanted))["n"] == count - 1
                # What is for it has come to twice its bound: the link was broken.
                assert ours.connection.is_closing
                await elsewhere.close()
