"""It does not matter in which pieces frames come, nor where they are read."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from siena.block import encode
from siena.broker.io.outbox import Fit, Outbox
from siena.broker.peers.link import Link
from siena.broker.settings import Limits, Routing, Settings, Side
from siena.protocol.control_frames import Advertise, Error, Subscribe, Unsubscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault
from siena.protocol.fast.receive_buffer import ReceiveBuffer
from siena.protocol.frames import Op, pack
from wire import Wire, chain, connect, serving, until

FRAMES = 400
# Little, so that frames are longer than what is read, and stand across its end.
SMALL: dict[str, float] = {
    "ROOM_BYTES": 400,
    "HERE_BYTES_MIN": 50,
}
USUAL: dict[str, float] = {}
# Others have their turn after each event.
SLICED = {"SLICE_SECONDS_MAX": -1.0}


def frames(rng: random.Random) -> tuple[list[bytes], list[Delivery | bytes]]:
    """What one connection sends; and of what comes back, deliveries and PONGs."""
    sent: list[bytes] = []
    back: list[Delivery | bytes] = []
    held = {1}
    for i in range(FRAMES):
        draw = rng.random()
        if draw < 0.8:
            block = encode({"x": i, "y": "y" * rng.choice([0, 1, 9, 90, 900])})
            sent.append(pack(Op.PUB, block))
            back.append(Delivery(tuple(sorted(held)), block))
        elif draw < 0.85:
            sent.append(pack(Op.PUB, rng.randbytes(rng.randrange(40)) + b"\xc1"))
        elif draw < 0.92:
            sent.append(pack(Op.PING, f"{i}".encode()))
            back.append(f"{i}".encode())
        elif 2 in held:
            held.remove(2)
            sent.append(Unsubscribe(2).pack())
        else:
            held.add(2)
            sent.append(Subscribe(2, "x any").pack())
    return sent, back


@pytest.mark.parametrize(
    "limits",
    [SMALL, USUAL, SLICED, SMALL | SLICED],
    ids=["small", "usual", "sliced", "small and sliced"],
)
@pytest.mark.parametrize("seed", range(6))
async def test_frames_may_be_cut_anywhere(
    seed: int, limits: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        where = "tick" if name == "ROOM_BYTES" else "connection"
        monkeypatch.setattr(f"siena.broker.io.{where}.{name}", value)
    rng = random.Random(seed)
    sent, back = frames(rng)
    data = b"".join(sent)
    async with serving() as broker:
        wire, witness = await connect(broker), await connect(broker)
        await wire.subscribe(1, "x any")
        await witness.subscribe(7, "x any")
        while data:
            size = rng.choice([1, 30, 300, 3_000, 100_000])
            wire.send(data[:size])
            data = data[size:]
            await wire.writer.drain()
            if rng.random() < 0.5:
                await asyncio.sleep(0)
        came = await wire.sync()
        assert _deliveries(came) == _deliveries(back)
        # A PONG comes after all that was before its PING, and maybe after more.
        pongs = [each for each in back if isinstance(each, bytes)]
        assert [each for each in came if isinstance(each, bytes)] == pongs
        for pong in pongs:
            before = len(_deliveries(back[: back.index(pong)]))
            assert len(_deliveries(came[: came.index(pong)])) >= before
        assert sum(isinstance(each, Error) for each in came) == sum(
            frame[4] == Op.PUB and frame[-1] == 0xC1 for frame in sent
        )
        assert await witness.sync() == [
            Delivery((7,), each.block) for each in _deliveries(back)
        ]


def _deliveries(came: Sequence[object]) -> list[Delivery]:
    return [each for each in came if isinstance(each, Delivery)]


async def test_a_flood_takes_turns_with_others() -> None:
    """What is read at once is full again and again; others are served meanwhile."""
    block = encode({"x": "y" * 100})
    settings = Settings(
        listen=("127.0.0.1:0",), limits=Limits(output_bytes=64 * 1024 * 1024)
    )
    async with serving(settings) as broker:
        flood, other = await connect(broker), await connect(broker)
        await other.subscribe(1, "x any")
        count = 40_000
        flood.send(pack(Op.PUB, block) * count)
        asked = 0
        got = 0
        while got < count:
            came = await other.sync()
            asked += 1
            got += sum(isinstance(each, Delivery) for each in came)
        assert got == count
        assert asked > 3
        await flood.sync()


async def test_many_requests_take_turns_with_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One that asks for much at once is not carried out before a PING of another."""
    monkeypatch.setattr("siena.broker.io.connection.SLICE_SECONDS_MAX", -1.0)
    async with serving() as broker:
        flood, other = await connect(broker), await connect(broker)
        count = 2_000
        flood.send(b"".join(Subscribe(i, f"x > {i}").pack() for i in range(count)))
        await until(lambda: broker.state.counters.subscriptions_now > 0)
        await other.sync()
        assert broker.state.counters.subscriptions_now < count
        await flood.sync()
        assert broker.state.counters.subscriptions_now == count


async def test_what_was_asked_before_the_end_is_carried_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("siena.broker.io.connection.SLICE_SECONDS_MAX", -1.0)
    async with serving() as broker:
        flood, other = await connect(broker), await connect(broker)
        await other.subscribe(1, "x any")
        requests = [Subscribe(i, "y any").pack() for i in range(50)]
        flood.send(b"".join([*requests, pack(Op.PUB, encode({"x": 1}))]))
        flood.writer.write_eof()
        assert await other.next() == Delivery((1,), encode({"x": 1}))


def many(count: int) -> list[bytes]:
    """Blocks that come in one piece, far more than is put aside."""
    return [encode({"x": i, "text": "y" * (i % 60)}) for i in range(count)]


async def heard(wire: Wire, count: int) -> list[bytes]:
    """The blocks of so many deliveries."""
    found: list[bytes] = []
    while len(found) < count:
        found += [each.block for each in _deliveries([await wire.next()])]
    return found


@pytest.mark.parametrize("limits", [SMALL, USUAL, SLICED, SMALL | SLICED])
async def test_runs_may_be_cut_anywhere(
    limits: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that came whole are routed where they came, and others when they are."""
    for name, value in limits.items():
        where = "tick" if name == "ROOM_BYTES" else "connection"
        monkeypatch.setattr(f"siena.broker.io.{where}.{name}", value)
    if "SLICE_SECONDS_MAX" in limits:
        monkeypatch.setattr("siena.broker.peers.link.SLICE_SECONDS_MAX", -1.0)
    monkeypatch.setattr("siena.protocol.fast.forward_runs.RUN_BYTES_MAX", 150)
    published = 0
    publish = Link.publish

    def watched(self: Link, frames: memoryview) -> int:
        nonlocal published
        published += (end := publish(self, frames)) > 0
        return end

    monkeypatch.setattr(Link, "publish", watched)
    blocks = many(3_000)
    async with chain(3) as (first, second, third):
        reader, writer = await connect(first), await connect(third)
        await reader.subscribe(1, "x any")
        await until(lambda: len(third.state.exchange))
        for at in range(0, len(blocks), 100):
            frames = [pack(Op.PUB, block) for block in blocks[at : at + 100]]
            writer.send(b"".join(frames))
            await writer.writer.drain()
        assert await heard(reader, len(blocks)) == blocks
        assert second.state.counters.received == len(blocks)
    assert published


@pytest.mark.parametrize("side", ["peer", "master"])
async def test_much_at_once_goes_on_to_neighbours(side: Side) -> None:
    """To whom not everything is laid out beforehand; a master gets all."""
    blocks = many(3_000)
    async with chain(2, side) as (first, second):
        reader, writer = await connect(first), await connect(second)
        await reader.subscribe(1, "x any")
        await until(lambda: len(second.state.exchange) or side == "master")
        writer.send(b"".join(pack(Op.PUB, block) for block in blocks))
        assert await heard(reader, len(blocks)) == blocks


async def test_much_at_once_is_published_only_if_it_was_advertised() -> None:
    routing = Routing(forwarding="advertisement")
    async with serving(Settings(listen=("127.0.0.1:0",), routing=routing)) as broker:
        reader, writer = await connect(broker), await connect(broker)
        await reader.subscribe(1, "x any")
        writer.send(Advertise(1, "x < 1000, text any"))
        blocks = many(3_000)
        writer.send(b"".join(pack(Op.PUB, block) for block in blocks))
        said = await writer.sync()
        refused = [each for each in said if isinstance(each, Error)]
        assert [each.fault for each in refused] == [Fault.NOT_ADVERTISED.number] * 2_000
        assert await heard(reader, 1_000) == blocks[:1_000]


async def test_what_is_looked_at_at_once_is_bounded_for_all_together(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Or a subscriber that reads as fast as it can would lose some."""
    monkeypatch.setattr("siena.broker.io.tick.ROOM_BYTES", 65_536)
    monkeypatch.setattr("siena.broker.io.tick.TURN_BYTES_MAX", 65_536)
    monkeypatch.setattr("siena.broker.io.connection.HERE_BYTES_MIN", 1_000)
    most = 0
    deliver = Outbox.deliver

    def watched(self: Outbox, frames: bytes, count: int, waiting: int) -> Fit:
        nonlocal most
        most = max(most, waiting + self._size + len(frames))
        return deliver(self, frames, count, waiting)

    monkeypatch.setattr(Outbox, "deliver", watched)
    block = encode({"x": "y" * 1_000})
    async with serving() as broker:
        reader = await connect(broker)
        await reader.subscribe(1, "x any")
        writers = [await connect(broker) for _ in range(60)]
        for writer in writers:
            writer.send(pack(Op.PUB, block) * 100)
        assert await heard(reader, 6_000) == [block] * 6_000
    # All of it came at once, and would have waited at once.
    assert most < 60 * 100 * len(block) / 4


async def test_what_waits_is_not_copied_for_every_byte(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0
    rest = vars(ReceiveBuffer)["rest"]

    def counted(self: ReceiveBuffer) -> bytes | None:
        nonlocal asked
        asked += self.size > 4_096
        found: bytes | None = rest.fget(self)
        return found

    monkeypatch.setattr(ReceiveBuffer, "rest", property(counted))
    block = encode({"x": "y" * 60_000})
    async with serving() as broker:
        wire = await connect(broker)
        await wire.subscribe(1, "x any")
        data = pack(Op.PUB, block)
        for start in range(0, len(data), 1_000):
            wire.send(data[start : start + 1_000])
            await wire.writer.drain()
            await asyncio.sleep(0)
        assert await heard(wire, 1) == [block]
    assert asked == 0
