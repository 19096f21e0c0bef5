"""Half of something is not kept for ever."""

import pytest

from siena.block import encode
from siena.broker.io import stalls
from siena.protocol.control_frames import Error
from siena.protocol.frames import Op, pack
from wire import connect, open_wire, serving

FRAME = pack(Op.PUB, encode({"x": 1}))


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stalls, "STALLED_SECONDS", 0.03)


async def test_half_a_frame_after_connect_is_given_up() -> None:
    async with serving() as broker:
        quiet, wire = await connect(broker), await connect(broker)
        wire.send(FRAME + FRAME[:-1])
        said = await wire.next()
        assert isinstance(said, Error)
        assert said.fault == 210
        assert await wire.closed()
        # Who has said nothing at all may stay.
        assert await quiet.sync() == []
        assert broker.state.counters.publications == 1


async def test_half_a_line_is_given_up() -> None:
    async with serving() as broker:
        wire = await open_wire(broker)
        wire.writer.write(b"pub x=1\npub x=")
        assert b'"error":210' in await wire.reader.readline()
