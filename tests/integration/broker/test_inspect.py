"""Looking at a broker, in frames and in lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from broker.people import access, named
from siena.block import encode
from siena.broker.access.grants.sight import ANOTHER
from siena.broker.settings import Log, Settings
from siena.model import Value
from siena.protocol.control_frames import Error, Look, Seen, Subscribe, Suspend
from siena.protocol.durable.reading import DurableSubscribe
from siena.protocol.error_codes import Fault
from siena.protocol.handshake import WANTING
from siena.protocol.limits import LOOK_MAX
from wire import Wire, chain, connect, open_wire, serving, until


async def test_who_looks_sees_what_the_broker_knows() -> None:
    async with serving(Settings(listen=("127.0.0.1:0",), name="b1")) as broker:
        wire = await connect(broker, name="me")
        await wire.subscribe(7, "x > 3")
        for what in ("counters", "links", "tables", "poset", "sessions"):
            wire.send(Look(what))
            seen = await wire.next()
            assert isinstance(seen, Seen)
            assert (seen.what, seen.seen["broker"]) == (what, "b1")
        wire.send(Look("tables", 1))
        seen = await wire.next()
        assert isinstance(seen, Seen)
        number = wire.welcome.session if wire.welcome else 0
        shown = {"text": "x > 3", "held": 1, "holders": [f"client {number}/7"]}
        assert seen.seen["filters"] == {"shown": [shown], "complete": True}


async def test_what_is_not_there_cannot_be_seen() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        wire.send(Look("secrets"))
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_REQUEST.number
        assert "counters, links" in error.text


async def test_people_look_as_well() -> None:
    async with serving() as broker:
        wire = await open_wire(broker)
        wire.send(b"look links 20\nlook links 2000\nlook\n")
        seen = json.loads(await wire.reader.readline())
        assert (seen["siena"], seen["what"]) == ("SEEN", "links")
        assert seen["seen"]["links"] == []
        for _ in range(2):
            assert json.loads(await wire.reader.readline())["error"] == 108


async def test_neighbours_know_where_clients_find_each_other() -> None:
    async with serving(Settings(listen=("127.0.0.1:0",), accept_peers=True)) as one:
        url = one.addresses[0].url
        settings = Settings(listen=("127.0.0.1:0",)).linked_to([{"url": url}])
        async with serving(settings) as two:
            await until(lambda: one.state.links and two.state.links)
            (known,) = (link.snapshot() for link in one.state.links.values())
            assert known["urls"] == [two.addresses[0].url]
            (known,) = (link.snapshot() for link in two.state.links.values())
            assert known["urls"] == [url]


# --- Who wants a notification ---------------------------------------------------------


async def wanting(wire: Wire, limit: int = 100, **attributes: Value) -> dict[str, Any]:
    """What a broker says of those who want this; only that."""
    wire.send(Look(WANTING, limit, encode(attributes)))
    for _ in range(10):
        seen = await wire.next()
        if isinstance(seen, Seen):
            return seen.seen
    raise AssertionError


async def test_who_wants_it_is_found_among_more_filters_than_are_listed() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        assert WANTING in wire.info.features
        for number in range(LOOK_MAX + 200):
            wire.send(Subscribe(number, f"x = {number}"))
        await wire.sync()
        number = LOOK_MAX + 100
        client = f"client {wire.welcome.session if wire.welcome else 0}"
        found = await wanting(wire, x=number)
        shown = [{"who": f"{client}/{number}", "text": f"x = {number}"}]
        assert (found["wanting"], found["complete"]) == (shown, True)
        assert (await wanting(wire, x=-1))["wanting"] == []
        await wire.subscribe(9_000, "x any")
        found = await wanting(wire, 1, x=number)
        assert (len(found["wanting"]), found["complete"]) == (1, False)


@pytest.mark.parametrize(
    ("interest", "by"),
    [
        ("x > 3", "x > 3"),
        ("y any or x > 3", "x > 3"),
        ("[]", "[]"),
        ("y any then x > 3", "x > 3"),
        ("x any and y any, if x < y", None),
        ("x any and y any, if x > y", "x any and y any"),
    ],
)
async def test_whatever_is_wanted_is_known(interest: str, by: str | None) -> None:
    async with serving() as broker:
        other = await connect(broker)
        wire = await connect(broker)
        await wire.subscribe(7, interest)
        session = wire.welcome.session if wire.welcome else 0
        found = (await wanting(other, x=4, y=3))["wanting"]
        named = [] if by is None else [{"who": f"client {session}/7", "text": by}]
        if "then" in interest:  # both of its steps
            named = [{"who": f"client {session}/7", "text": "y any"}]
        assert found == named


async def test_who_is_away_and_who_reads_from_the_log_want_it_too(
    tmp_path: Path,
) -> None:
    told = Settings(listen=("127.0.0.1:0",), log=Log(path=str(tmp_path)))
    async with serving(told) as broker:
        here, away = await connect(broker), await connect(broker, identity="ann")
        await away.subscribe(1, "x > 3")
        away.send(Suspend(10))
        await away.sync()
        here.send(DurableSubscribe(1, "x > 2", "billing"))
        await here.sync()
        found = (await wanting(here, x=4))["wanting"]
        assert sorted(one["text"] for one in found) == ["x > 2", "x > 3"]


async def test_neighbours_come_first_and_each_once() -> None:
    async with chain(2) as (one, two):
        near, far = await connect(one), await connect(two)
        for number in range(20):
            await near.subscribe(number, f"x > {number}")
            await far.subscribe(number, f"x < {number + 10}")
        await until(lambda: len(one.state.router.tables.filters) > 20)
        found = await wanting(near, 3, x=9)
        whose = [one["who"].partition("/")[0] for one in found["wanting"]]
        session = near.welcome.session if near.welcome else 0
        assert whose == [f"broker {two.name}", *[f"client {session}"] * 2]
        assert not found["complete"]


async def test_what_is_not_looked_through_is_not_called_complete(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with serving() as broker:
        wire = await connect(broker)
        for number in range(3):
            await wire.subscribe(number, f"x = {number} then y any")
        assert (await wanting(wire, x=2))["complete"]
        monkeypatch.setattr("siena.broker.questions.wanting.LOOKED_THROUGH_MAX", 2)
        found = await wanting(wire, x=2)
        assert (found["wanting"], found["complete"]) == ([], False)


async def test_who_is_named_is_so_for_a_filter_that_the_viewer_may_see(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a party and of a neighbour, whichever of its filters the table has first."""
    roles = {
        "eve": {"subscribe": "x > 0", "inspect": "[]"},
        "all": {"subscribe": "[]", "publish": "[]", "inspect": "[]"},
    }
    settings = Settings(
        listen=("127.0.0.1:0",), accept_peers=True, access=access(**roles)
    )
    async with named(settings) as one:
        link = Settings(listen=("127.0.0.1:0",)).linked_to(
            [{"url": one.addresses[0].url}]
        )
        async with serving(link) as two:
            far = await connect(two)
            for number, text in enumerate(("a any", "x > 1", "z any")):
                await far.subscribe(number, text)
            await until(lambda: len(one.state.router.tables.filters) == 3)
            near = await connect(one)
            await near.subscribe(1, "a any or x > 1 or z any")
            await near.subscribe(2, "a any or z any")
            eve = await connect(one, name="eve")
            found = await wanting(eve, a=1, x=2, z=3)
            neighbour = {"who": f"broker {two.name}", "text": "x > 1"}
            client = {"who": ANOTHER, "text": "x > 1"}
            assert found["wanting"] == [neighbour, client]
            assert found["complete"]
            monkeypatch.setattr("siena.broker.questions.wanting.FILTERS_MAX", 1)
            assert not (await wanting(eve, a=1, x=2, z=3))["complete"]


async def test_wanting_is_asked_of_a_notification() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        for about, fault in ((b"", Fault.BAD_REQUEST), (b"x", Fault.BAD_NOTIFICATION)):
            wire.send(Look(WANTING, 3, about))
            error = await wire.next()
            assert isinstance(error, Error)
            assert error.fault == fault.number
