"""A neighbour that sends nonsense loses its link, and nothing else happens."""

import random

import pytest

from broker.rogue import link
from siena.block import BLOCK_BYTES_MAX, encode
from siena.broker.ids import number_of
from siena.broker.peers import bounds
from siena.messages import Stamp
from siena.protocol.control_frames import Digest, Error, Tell
from siena.protocol.data_frames import Delivery, Forwarded, pack_forward
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from wire import connect, serving, until

STAMP = Stamp(number_of("rogue"), 1, 1)


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        (pack(Op.PUB, encode({"x": 1})), Fault.BAD_FRAME),
        (pack(Op.FORWARD, b"short"), Fault.BAD_FRAME),
        (pack(Op.TELL, b"\xc1"), Fault.BAD_FRAME),
        (Tell("explode", []).pack(), Fault.BAD_FRAME),
        (Tell("subscribe", ["x >> 1"]).pack(), Fault.BAD_FRAME),
        (Tell("subscribe", []).pack(), Fault.BAD_FRAME),
        (Digest(7, b"?" * 16).pack(), Fault.BROKEN),
        (pack(Op.SUB, b"\x92\x01\xa1x"), Fault.BAD_FRAME),
        (pack(0xEE, b""), Fault.BAD_FRAME),
    ],
    ids=str,
)
async def test_nonsense_ends_the_link(frame: bytes, fault: Fault) -> None:
    async with serving() as broker:
        witness = await connect(broker)
        wire = await link(broker)
        assert len(broker.state.links) == 1
        wire.send(frame)
        error = await wire.next()
        assert isinstance(error, Error)
        assert error.fault == fault.number
        assert await wire.closed()
        await until(lambda: not broker.state.links)
        assert not broker.state.router.tables.neighbours
        assert await witness.sync() == []


async def test_a_bad_block_is_refused_and_a_second_copy_dropped() -> None:
    async with serving() as broker:
        witness = await connect(broker)
        await witness.subscribe(1, "x any")
        wire = await link(broker)
        await wire.next()  # is told what is wanted
        good = Forwarded(STAMP, STAMP.broker, 1.0, 5, 0, encode({"x": 1}))
        wire.send(pack_forward(good._replace(stamp=Stamp(1, 1, 2), block=b"\xc1")))
        wire.send(pack_forward(good) * 2)
        (error,) = await wire.sync()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_NOTIFICATION.number
        assert await witness.sync() == [Delivery((1,), encode({"x": 1}))]
        assert broker.state.counters.duplicates == 1


async def test_what_can_be_left_out_costs_nothing_that_follows_it() -> None:
    async with serving() as broker:
        witness = await connect(broker)
        await witness.subscribe(1, "x any")
        wire = await link(broker)
        await wire.next()  # is told what is wanted
        good = Forwarded(STAMP, STAMP.broker, 1.0, 5, 0, encode({"x": 1}))
        too_long = good._replace(block=bytes(BLOCK_BYTES_MAX + 1))
        wire.send(
            pack(Op.PING, bytes(65)) + pack_forward(too_long) + pack_forward(good)
        )
        errors = await wire.sync()
        assert [e.fault for e in errors if isinstance(e, Error)] == [
            Fault.BAD_REQUEST.number,
            Fault.BAD_NOTIFICATION.number,
        ]
        assert await witness.sync() == [Delivery((1,), encode({"x": 1}))]


@pytest.mark.parametrize("side", ["peer", "mesh", "master", "child"])
async def test_whatever_it_tells_the_broker_goes_on(
    side: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "WAIT_SECONDS", 0.0)  # it comes again at once
    rng = random.Random(side)
    tells = [
        Tell("subscribe", ["x > 1", 99]),
        Tell("unsubscribe", ["x any"]),
        Tell("subscribe", [[["x = 1"], ["x = 2"]]]),
        Tell("advertise", ["x any", 3]),
        Tell("unadvertise", ["x any"]),
        Tell("settle", ["x > 1", 5, None, True, 3]),
        Tell("settled", [77]),
        Tell("found", [[["x = 1"], ["x = 2"]], []]),
        Tell("linkstate", [99, 1, 1, [[5, 1.0], [number_of("rogue"), 2.0]]]),
        Tell("linkstate", [number_of("rogue"), 1, 9, [[99, 1.0]]]),
        Tell("peerconnect", ["peer", 1.0]),
        Tell("peerconfirm", []),
        Tell("peerrefuse", ["no"]),
        Tell("peerdisconnect", []),
        Tell("release", []),
        Tell("parcel", [[]]),
    ]
    async with serving() as broker:
        witness = await connect(broker)
        await witness.subscribe(1, "sane any")
        for _ in range(12):
            wire = await link(broker, side)
            for tell in rng.sample(tells, 6):
                wire.send(tell)
            wire.close()
            await until(lambda: not broker.state.links)
            witness.publish({"sane": 1})
            assert await witness.sync() == [Delivery((1,), encode({"sane": 1}))]
        broker.state.router.check()
    assert not [r for r in caplog.records if r.levelname == "ERROR"]
