"""Publications come out of a stream as a slow splitter sees them."""

from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.matching.kernels import wiring
from siena.protocol import gathering as module
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.gathering import Gathering, Pause

KERNELS = {"compiled": wiring, "plain": plain("wiring")}
LIMIT = 64

frames = st.tuples(
    st.sampled_from([Op.PUB, Op.PUB, Op.PUB, Op.PING, Op.SUB]), st.binary(max_size=12)
)


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    sent=st.lists(frames, max_size=20),
    rest=st.binary(max_size=8),
    cut=st.integers(0, 400),
)
def test_it_takes_what_the_splitter_cuts(
    kernel: str, sent: list[tuple[Op, bytes]], rest: bytes, cut: int
) -> None:
    stream = (b"".join(pack(op, body) for op, body in sent) + rest)[:cut]
    expected: list[tuple[int, bytes]] = []
    expected_fault = None
    try:
        expected += Splitter(LIMIT).feed(stream)
    except ProtocolError as error:
        expected_fault = error.fault
        expected = _before_the_error(stream)
    got: list[tuple[int, bytes]] = []
    fault = None
    at = 0
    gathering = Gathering(LIMIT, KERNELS[kernel])
    try:
        while True:
            at, why = gathering.take(stream, at)
            ends = gathering.offsets.tolist()
            data = bytes(gathering.blocks)
            got += [(Op.PUB, data[a:b]) for a, b in pairwise(ends)]
            gathering.clear()
            if why is Pause.NEEDS_MORE:
                break
            assert why is Pause.OTHER_FRAME
            size = int.from_bytes(stream[at : at + 4], "little")
            if at + 4 + size > len(stream):
                break
            got.append((stream[at + 4], stream[at + 5 : at + 4 + size]))
            at += 4 + size
    except ProtocolError as error:
        fault = error.fault
        ends = gathering.offsets.tolist()
        data = bytes(gathering.blocks)
        got += [(Op.PUB, data[a:b]) for a, b in pairwise(ends)]
    assert [(op, body) for op, body in got] == [tuple(f) for f in expected]
    # The splitter complains about a length as soon as it has come; a broker with the
    # operation, one byte later.
    if len(stream) - at >= 5 or fault is not None:
        assert fault == expected_fault


def _before_the_error(stream: bytes) -> list[tuple[int, bytes]]:
    found: list[tuple[int, bytes]] = []
    try:
        for frame in Splitter(LIMIT).feed(stream):
            found.append(frame)  # noqa: PERF402 -- what came before the error counts
    except ProtocolError:
        pass
    return found


def test_room_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BYTES_AT_FIRST", 4)
    monkeypatch.setattr(module, "BLOCKS_AT_FIRST", 1)
    gathering = Gathering()
    blocks = [bytes([65 + i]) * i for i in range(40)]
    stream = b"".join(pack(Op.PUB, block) for block in blocks)
    assert gathering.take(stream) == (len(stream), Pause.NEEDS_MORE)
    gathering.add(b"last")
    assert bytes(gathering.blocks) == b"".join(blocks) + b"last"
    assert len(gathering) == 41


def test_lengths_that_no_frame_has() -> None:
    with pytest.raises(ProtocolError) as caught:
        Gathering(LIMIT).take(b"\0\0\0\0\x02")
    assert caught.value.fault is Fault.BAD_FRAME
    with pytest.raises(ProtocolError) as caught:
        Gathering(LIMIT).take(b"\xff\xff\xff\xff\x02")
    assert caught.value.fault is Fault.TOO_LONG
