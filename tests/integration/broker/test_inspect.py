"""Looking at a broker, in frames and in lines."""

import json

from siena.broker.settings import Settings
from siena.protocol.control_frames import Error, Look, Seen
from siena.protocol.error_codes import Fault
from wire import connect, open_wire, serving, until


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
