"""Networks of three brokers with import and export filters, and roles that change."""

from typing import Any

import pytest
from msgspec.structs import replace

from broker.people import access
from broker.three import NAMES, Roles, World, three
from siena.block import decode, encode
from siena.protocol.control_frames import GrantChanged, Look, Seen, Subscribe, Trace
from siena.protocol.data_frames import Delivery, pack_traced
from siena.protocol.handshake import GRANTS
from wire import Wire, connect, until

OPEN = Roles(
    dict.fromkeys(NAMES, "[]"),
    {(name, n): "[]" for name in NAMES for n in range(2)},
    dict.fromkeys((("b1", "b2"), ("b2", "b1"), ("b2", "b3"), ("b3", "b2")), "[]"),
    dict.fromkeys((("b1", "b2"), ("b2", "b1"), ("b2", "b3"), ("b3", "b2")), "[]"),
)


async def worlds(seeds: range, each: int) -> tuple[int, int, int, int]:
    """Decisions, permitted, forbidden and missing deliveries of random networks."""
    total = [0, 0, 0, 0]
    for seed in seeds:
        world = World(seed)
        await world.run(each)
        found = world.decisions, world.permitted, world.forbidden, world.missing
        assert found[2:] == (0, 0), f"seed {seed}"
        total = [a + b for a, b in zip(total, found, strict=True)]
    return total[0], total[1], total[2], total[3]


async def test_what_crosses_three_brokers_is_what_all_of_them_let_pass() -> None:
    decisions, permitted, forbidden, missing = await worlds(range(3), each=15)
    assert decisions == 3 * 2 * 45 * 12
    assert permitted > 100
    assert (forbidden, missing) == (0, 0)


@pytest.mark.slow
@pytest.mark.timeout(1_200)
async def test_ten_thousand_random_decisions_in_networks_of_three() -> None:
    decisions, permitted, forbidden, missing = await worlds(
        range(1_000, 1_030), each=30
    )
    assert decisions >= 10_000
    assert permitted > 1_000
    assert (forbidden, missing) == (0, 0)


# --- Roles that change ----------------------------------------------------------------


async def heard(wire: Wire, last: int) -> list[Any]:
    """All that comes up to a delivery with a number: others, and the levels."""
    found: list[Any] = []
    while True:
        came = await wire.next()
        if isinstance(came, Delivery):
            said = decode(came.block)
            if said.get("n") == last:
                return found
            found.append(said["level"])
        else:
            found.append(came)


def levels(first: int) -> list[dict[str, Any]]:
    return [{"level": n % 10, "n": first + n} for n in range(100)]


async def test_after_a_reload_nothing_forbidden_is_delivered_anywhere() -> None:
    async with three("b2", OPEN) as brokers:
        reader = await connect(brokers["b3"], name="reader0", features=(GRANTS,))
        await reader.subscribe(1, "level any")
        writer = await connect(brokers["b1"], name="writer")
        # At the broker of the subscriber: it hears of it, and gets no more than that.
        writer.publish(*levels(0), {"level": 0, "n": 1_000})
        narrower = OPEN.of("b3")
        narrower["reader0"] = {"subscribe": "level < 5"}
        settings = brokers["b3"].settings
        before = await heard(reader, 1_000)
        assert sorted(set(before)) == list(range(10))
        writer.publish(*levels(200))
        brokers["b3"].reload(replace(settings, access=access(**narrower)))
        writer.publish(*levels(400), {"level": 0, "n": 1_001})
        came = await heard(reader, 1_001)
        at = came.index(GrantChanged(1, "level < 5"))
        assert all(level < 5 for level in came[at + 1 :])
        # What was published since is there as far as it is granted: nothing is missing.
        assert [n for n in came[at + 1 :] if n == 4][-10:] == [4] * 10
        # The network stops sending what is not wanted any more.
        await until(lambda: _is_told(brokers["b1"], "level < 5"))
        sent = brokers["b1"].state.counters.forwarded
        writer.publish(*levels(600))
        await writer.sync()
        assert brokers["b1"].state.counters.forwarded == sent + 50


@pytest.mark.parametrize("verb", ["export", "import", "publish"])
async def test_a_role_that_shrinks_elsewhere_counts_in_the_network(verb: str) -> None:
    async with three("b2", OPEN) as brokers:
        reader = await connect(brokers["b3"], name="reader0")
        await reader.subscribe(1, "level any")
        writer = await connect(brokers["b1"], name="writer")
        writer.publish(*levels(0), {"level": 0, "n": 1_000})
        await heard(reader, 1_000)
        where = "b2" if verb == "import" else "b1"
        roles = OPEN.of(where)
        if verb == "publish":
            roles["writer"] = {"publish": "level < 5"}
        else:
            peer = {"import": "[]", "export": "[]", verb: "level < 5"}
            roles["b1" if where == "b2" else "b2"] = {"peer": peer}
        brokers[where].reload(replace(brokers[where].settings, access=access(**roles)))
        writer.publish(*levels(200), {"level": 0, "n": 1_001})
        came = await heard(reader, 1_001)
        assert came == [n % 10 for n in range(100) if n % 10 < 5]
        refused = {verb for verb, _ in brokers[where].state.gate.refusals}
        assert refused == (set() if verb == "export" else {verb})


def _is_told(broker: Any, text: str) -> bool:  # noqa: ANN401 -- of any kind
    return any(str(f) == text for f in broker.state.router.tables.filters)


# --- Looking --------------------------------------------------------------------------


async def test_a_trace_ends_where_it_is_not_granted() -> None:
    async with three("b2", OPEN) as brokers:
        reader = await connect(brokers["b3"], name="reader0")
        await reader.subscribe(1, "level any")
        for name in ("b1", "b2"):  # but not b3, of what b2 brings
            roles = OPEN.of(name)
            for other in ("writer", "b1", "b2"):
                if other in roles:
                    roles[other]["inspect"] = "what = trace"
            broker = brokers[name]
            broker.reload(replace(broker.settings, access=access(**roles)))
        writer = await connect(brokers["b1"], name="writer")
        writer.send(pack_traced(1, encode({"level": 1})))
        assert isinstance(await reader.next(), Delivery)
        hops = [
            said.hop.broker for said in await writer.sync() if isinstance(said, Trace)
        ]
        assert hops[0] == "b1"
        await until(lambda: brokers["b2"].state.counters.received == 1)
        more = [
            said.hop.broker for said in await writer.sync() if isinstance(said, Trace)
        ]
        assert {*hops, *more} == {"b1", "b2"}


async def test_a_reader_of_one_broker_sees_nothing_of_it() -> None:
    async with three("b2", OPEN) as brokers:
        reader = await connect(brokers["b2"], name="reader0")
        reader.send(Subscribe(1, "level any"))
        await reader.next()
        for what in ("tables", "sessions", "links", "told", "poset", "counters"):
            reader.send(Look(what))
            assert not isinstance(await reader.next(), Seen)
