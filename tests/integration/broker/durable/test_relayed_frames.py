"""What a broker answers to what a neighbour relays, frame by frame."""

import asyncio
from pathlib import Path

import msgspec
import numpy as np
from msgspec import structs

from broker import rogue
from broker.logs import kept_in, numbers
from siena.block import encode
from siena.protocol.durable.receipts import Relayed
from siena.protocol.fast.relay_runs import RelayRun
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import Op
from siena.protocol.handshake import RELAY
from wire import SECONDS_MAX, Wire, serving

LIFE = 1


def relayed(frame: int, broker: int, number: int, n: int) -> bytes:
    """A frame with one publication, which entered at a broker under a number."""
    run = run_of([encode({"n": n})])
    return RelayRun(frame, broker, LIFE, number, 5, np.zeros(1, np.uint32), run).pack()


async def answered(wire: Wire) -> int:
    """Up to which frame there is an answer."""
    async with asyncio.timeout(SECONDS_MAX):
        while True:
            op, body = await wire.frame()
            if op == Op.RELAYED:
                return msgspec.msgpack.decode(body, type=Relayed).frame


async def test_its_own_that_come_round_are_answered_and_not_stored(
    tmp_path: Path,
) -> None:
    """And so is what follows them."""
    async with serving(structs.replace(kept_in(tmp_path), accept_peers=True)) as broker:
        wire = await rogue.link(broker, "peer", "rogue", RELAY)
        me = broker.state.router.me
        wire.send(relayed(1, me, 0, 0))
        assert await answered(wire) == 1
        wire.send(relayed(2, 77, 0, 1))
        assert await answered(wire) == 2
        assert await numbers(broker) == [1]
