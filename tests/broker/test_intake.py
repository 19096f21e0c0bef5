"""What is cut by the kernel is what is cut frame by frame."""

import pytest
from hypothesis import given, strategies as st

from siena.broker import intake
from siena.broker.intake import Run, cut, cut_one_by_one
from siena.protocol.frames import Frame, Op, pack
from siena.protocol.limits import BLOCK_BYTES_MAX, FRAME_BYTES_MAX

LIMIT = 40
frames = st.builds(
    pack, st.sampled_from([Op.PUB, Op.PUB, Op.PUB, Op.PING, 99]), st.binary(max_size=50)
)


@given(st.lists(frames, max_size=12), st.binary(max_size=9), st.integers(0, 700))
def test_both_cut_alike(sent: list[bytes], rest: bytes, size: int) -> None:
    data = (b"".join(sent) + rest)[:size]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "SHORT_BYTES", 0)
        found = cut(data, LIMIT)
    expected = cut_one_by_one(data, LIMIT)
    assert found[:3] == expected[:3]
    assert str(found.error) == str(expected.error)


def test_a_publication_that_is_too_long_is_for_itself() -> None:
    long = pack(Op.PUB, bytes(BLOCK_BYTES_MAX + 1))
    short = pack(Op.PUB, b"x")
    found = cut(short + long + short, FRAME_BYTES_MAX)
    assert [type(piece) for piece in found.pieces] == [Run, Frame, Run]
    assert found.error is None
