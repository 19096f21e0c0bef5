"""Whatever comes, a broker answers with a number and goes on."""

import json
import random

import pytest

from protocol.refused import REFUSED
from siena.block import BLOCK_BYTES_MAX, encode
from siena.protocol.control_frames import Connect, Error, Subscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE
from siena.protocol.limits import CONNECT_BYTES_MAX, FRAME_BYTES_MAX
from wire import connect, open_wire, serving

CONNECTED = PREFACE + Connect(1).pack()


def claiming(length: int) -> bytes:
    return length.to_bytes(4, "little")


@pytest.mark.parametrize(
    ("sent", "fault"),
    [
        (b"\0HTTP/1.1", Fault.BAD_PREFACE),
        (PREFACE + pack(Op.PING, b""), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.PUB, b"\x80"), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.CONNECT, b"\xc1"), Fault.BAD_CONNECT),
        (PREFACE + Connect(77).pack(), Fault.BAD_VERSION),
        (PREFACE + claiming(CONNECT_BYTES_MAX + 1), Fault.TOO_LONG),
        (PREFACE + claiming(0), Fault.BAD_FRAME),
        (CONNECTED + claiming(0), Fault.BAD_FRAME),
        (CONNECTED + claiming(FRAME_BYTES_MAX + 1), Fault.TOO_LONG),
        (CONNECTED + pack(0xEE, b"?"), Fault.BAD_FRAME),
        (CONNECTED + pack(Op.SUB, b"\x91\x01"), Fault.BAD_FRAME),
        (CONNECTED + pack(Op.SUB, b"\x92\x01\xa1\xff"), Fault.BAD_FRAME),
        (CONNECTED + Connect(1).pack(), Fault.BAD_CONNECT),
        (CONNECTED + pack(Op.MSG, b"\0\0"), Fault.BAD_FRAME),
        (CONNECTED + pack(Op.FORWARD, b"\0" * 60), Fault.PEER_REFUSED),
        (CONNECTED + pack(Op.TELL, b"\x92\xa1x\x90"), Fault.PEER_REFUSED),
    ],
    ids=str,
)
async def test_what_cannot_be_understood_ends_the_connection(
    sent: bytes, fault: Fault
) -> None:
    async with serving() as broker:
        witness = await connect(broker)
        wire = await open_wire(broker)
        wire.send(sent)
        said = await wire.next()
        if sent.startswith(CONNECTED):
            said = await wire.next()
        assert isinstance(said, Error), said
        assert (said.fault, said.closes) == (fault.number, True)
        assert await wire.closed()
        assert await witness.sync() == []


@pytest.mark.parametrize(("sent", "fault"), REFUSED)
async def test_a_broker_refuses_what_the_conversation_refuses(
    sent: bytes, fault: Fault
) -> None:
    async with serving() as broker:
        wire = await open_wire(broker)
        wire.send(sent)
        said = await wire.next()
        while not isinstance(said, Error):
            said = await wire.next()
        assert (said.fault, said.closes) == (fault.number, True)
        assert await wire.closed()
        assert broker.state.counters.faults == 1


async def test_connect_of_a_later_version_is_refused_for_its_version() -> None:
    """Whatever its other fields are: they may mean something else there."""
    async with serving() as broker:
        for body in (b"\x91\x09", b"\x92\x09\xa1x", b"\x93\x09\x90\x81\x01\x02"):
            wire = await open_wire(broker)
            wire.send(PREFACE + pack(Op.CONNECT, body))
            said = await wire.next()
            assert isinstance(said, Error)
            assert (said.fault, said.request) == (203, Op.CONNECT)
            assert await wire.closed()


async def test_frames_may_come_one_byte_at_a_time() -> None:
    async with serving() as broker:
        wire = await open_wire(broker)
        whole = (
            CONNECTED + Subscribe(1, "x any").pack() + pack(Op.PUB, encode({"x": 1}))
        )
        for byte in whole:
            wire.send(bytes([byte]))
            await wire.writer.drain()
        _welcome, _settled, got = [await wire.next() for _ in range(3)]
        assert got == Delivery((1,), encode({"x": 1}))


async def test_a_notification_that_is_too_long_is_refused_alone() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x any")
        wire.send(pack(Op.PUB, b"\0" * (BLOCK_BYTES_MAX + 1)))
        wire.publish({"x": 1})
        error, got = await wire.sync()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_NOTIFICATION.number
        assert got == Delivery((1,), encode({"x": 1}))


async def test_all_may_come_in_one_go_however_long_what_follows_is() -> None:
    async with serving() as broker:
        wire = await open_wire(broker)
        block = encode({"x": "y" * 100_000})
        wire.send(CONNECTED + Subscribe(1, "x any").pack() + pack(Op.PUB, block))
        _welcome, _settled, got = [await wire.next() for _ in range(3)]
        assert got == Delivery((1,), block)


async def test_a_ping_that_is_too_long_is_refused_alone() -> None:
    async with serving() as broker:
        wire = await connect(broker)
        wire.send(pack(Op.PING, b"x" * 65))
        (error,) = await wire.sync()
        assert isinstance(error, Error)
        assert error.fault == Fault.BAD_REQUEST.number


@pytest.mark.parametrize("seed", range(5))
async def test_noise_does_not_impress(seed: int) -> None:
    rng = random.Random(seed)
    good = CONNECTED + Subscribe(1, "x any").pack() + pack(Op.PUB, encode({"x": 1}))
    async with serving() as broker:
        witness = await connect(broker)
        await witness.subscribe(1, "sane any")
        for _ in range(20):
            noise = bytearray(good * 2)
            for _ in range(rng.randint(1, 8)):
                noise[rng.randrange(len(noise))] = rng.randrange(256)
            wire = await open_wire(broker)
            for _ in range(3):
                cut = rng.randrange(len(noise) + 1)
                wire.send(bytes(noise[:cut]))
                del noise[:cut]
                await wire.writer.drain()
            wire.close()
        witness.publish({"sane": True})
        assert await witness.sync() == [Delivery((1,), encode({"sane": True}))]


async def test_people_are_understood_line_by_line() -> None:
    async with serving() as broker:
        wire = await open_wire(broker)
        lines = [
            "sub symbol = DIS and change < 0",
            "pub symbol=DIS change=-4",
            "sub x >",
            "ping hello",
            "quit",
        ]
        wire.send("".join(f"{line}\n" for line in lines).encode())
        answers = [json.loads(line) async for line in wire.reader]
        assert [a["siena"] for a in answers] == ["SETTLED", "MSG", "ERR", "PONG"]
        assert answers[1]["notification"] == {"symbol": "DIS", "change": -4}
