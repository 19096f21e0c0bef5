"""It does not matter in which pieces frames come, nor where they are read."""

import asyncio
import random
from collections.abc import Sequence

import pytest

from siena.broker.settings import Limits, Settings
from siena.matching.blocks import encode
from siena.protocol.bodies import Error, Subscribe, Unsubscribe
from siena.protocol.deliveries import Delivery
from siena.protocol.frames import Op, pack
from wire import connect, serving

FRAMES = 400
# Little, so that frames are longer than what is read, and stand across its end.
SMALL = {"ROOM_BYTES": 400, "HERE_BYTES_MIN": 50, "LEAD_BYTES_MAX": 100}
USUAL: dict[str, int] = {}


def frames(rng: random.Random) -> tuple[list[bytes], list[Delivery | bytes]]:
    """What one connection sends; and of what comes back, deliveries and PONGs."""
    sent: list[bytes] = []
    back: list[Delivery | bytes] = []
    held = {1}
    for i in range(FRAMES):
        draw = rng.random()
        if draw < 0.8:
            block = encode({"x": i, "text": "y" * rng.choice([0, 1, 9, 90, 900])})
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


@pytest.mark.parametrize("limits", [SMALL, USUAL], ids=["small", "usual"])
@pytest.mark.parametrize("seed", range(6))
async def test_frames_may_be_cut_anywhere(
    seed: int, limits: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in limits.items():
        where = "turn" if name == "ROOM_BYTES" else "connection"
        monkeypatch.setattr(f"siena.broker.{where}.{name}", value)
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
