"""Brokers with many interests: links that come and go, and clients that hang up."""

from siena.block import encode
from siena.broker.broker import Broker
from siena.broker.settings import LinkSettings
from siena.protocol.data_frames import Delivery
from siena.routing.steps.backlog import STEP_MAX
from wire import Wire, connect, serving, settings, until

# So many that nothing is done in one step.
MANY = 3 * STEP_MAX + 5


async def wanting_much(broker: Broker, name: str) -> Wire:
    """A client with many interests, of which one covers a half of the others."""
    wire = await connect(broker)
    await wire.subscribe(0, f"{name} > 0 and {name} < {MANY}")
    for number in range(1, MANY):
        low = number if number % 2 else -number
        await wire.subscribe(number, f"{name} > {low} and {name} < {low + 3}")
    return wire


def link_to(broker: Broker) -> LinkSettings:
    return LinkSettings(url=f"siena://127.0.0.1:{broker.addresses[0].port}")


def told(broker: Broker) -> int:
    """How many filters a broker's neighbours were told."""
    neighbours = broker.state.router.tables.neighbours.values()
    return sum(len(neighbour.filters.told) for neighbour in neighbours)


def has_rest(broker: Broker) -> bool:
    return not broker.state.router.backlog


async def test_a_broker_with_many_interests_tells_its_first_neighbour_all() -> None:
    async with serving(settings("a")) as a:
        wire = await wanting_much(a, "x")
        async with serving(settings("b", link_to(a))) as b:
            await until(lambda: a.state.links and told(a) and has_rest(a))
            held = b.state.router.tables.filters
            await until(lambda: len(held.held_by(a.state.router.me)) == told(a))
            a.state.router.check()
            publisher = await connect(b)
            publisher.publish({"x": 7}, {"x": -1000})
            got = await wire.next()
            assert isinstance(got, Delivery)
            assert got.block == encode({"x": 7})
            assert 0 in got.subscriptions


async def test_what_is_asked_for_while_a_link_comes_up_is_settled_when_it_is_told() -> (
    None
):
    async with serving(settings("a")) as a:
        await wanting_much(a, "x")
        async with serving(settings("b", link_to(a))) as b:
            late = await connect(a)
            await until(lambda: a.state.links)
            await late.subscribe(1, "y = 1")
            # It is settled: whatever is published from now on arrives.
            publisher = await connect(b)
            publisher.publish({"y": 1})
            assert await late.next() == Delivery((1,), encode({"y": 1}))


async def test_a_client_with_many_interests_is_forgotten_with_all_of_them() -> None:
    async with (
        serving(settings("a")) as a,
        serving(settings("b", link_to(a))) as b,
    ):
        await until(lambda: a.state.links and b.state.links)
        wire, other = await wanting_much(a, "x"), await connect(a)
        await other.subscribe(1, "x > 2 and x < 4")
        sessions = len(a.state.sessions)
        sent = a.state.counters.router_out
        wire.close()
        await until(lambda: len(a.state.sessions) == sessions - 1 and has_rest(a))
        tables = a.state.router.tables
        assert len(tables.filters) == told(a) == 1
        assert len(a.state.exchange) == 1
        # Nothing was told that would have been taken back at once.
        assert a.state.counters.router_out - sent <= MANY + 1
        await until(lambda: len(b.state.router.tables.filters) == 1)
        assert a.state.counters.lost == 0


async def test_a_neighbour_with_many_interests_is_forgotten_and_comes_back() -> None:
    async with serving(settings("a")) as a:
        async with serving(settings("b", link_to(a))) as b:
            await until(lambda: a.state.links and b.state.links)
            await wanting_much(b, "x")
            held = a.state.router.tables.filters
            number = b.state.router.me
            await until(lambda: len(held.held_by(number)) == told(b) > STEP_MAX)
            # Whoever calls again is told to wait until the old entries have gone.
            for link in list(a.state.links.values()):
                link.connection.close()  # type: ignore[attr-defined]
            await until(lambda: not a.state.links)
            await until(
                lambda: (
                    number not in a.state.router.leaving
                    and a.state.links
                    and len(held.held_by(number)) == told(b)
                )
            )
            a.state.router.check()
        await until(lambda: not len(held) and has_rest(a))
        assert len(a.state.exchange) == 0
