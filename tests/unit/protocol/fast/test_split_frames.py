"""What is cut by the kernel is what is cut frame by frame."""

from itertools import accumulate

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.block import BLOCK_BYTES_MAX
from siena.protocol.data_frames import MSG_HEAD_BYTES, pack_msg
from siena.protocol.fast import split_frames
from siena.protocol.fast.kernels import framing
from siena.protocol.fast.split_frames import PublishRun, cut, cut_one_by_one, run_of
from siena.protocol.frames import HEAD_BYTES, Frame, Op, pack
from siena.protocol.limits import FRAME_BYTES_MAX

LIMIT = 40
KERNELS = {"compiled": framing, "plain": plain("framing")}
frames = st.builds(
    pack, st.sampled_from([Op.PUB, Op.PUB, Op.PUB, Op.PING, 99]), st.binary(max_size=50)
)


@pytest.mark.parametrize("kernel", KERNELS)
@given(
    st.lists(frames, max_size=12),
    st.binary(max_size=9),
    st.integers(0, 700),
    st.integers(1, 200),
)
def test_both_cut_alike(
    kernel: str, sent: list[bytes], rest: bytes, size: int, at_once: int
) -> None:
    """However little is looked at at once."""
    data = (b"".join(sent) + rest)[:size]
    pieces: list[PublishRun | Frame] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(split_frames, "SHORT_BYTES", 0)
        patch.setattr(split_frames, "AT_ONCE_BYTES", at_once)
        patch.setattr(split_frames, "framing", KERNELS[kernel])
        found = cut(data, LIMIT)
        pieces += found.pieces
        while not found.is_all:
            before = found.end
            found = cut(data, LIMIT, before)
            assert found.end > before
            pieces += found.pieces
    expected = cut_one_by_one(data, LIMIT)
    assert _in_rows(pieces) == _in_rows(expected.pieces)
    assert found[1:3] == expected[1:3]
    assert str(found.error) == str(expected.error)


def _in_rows(pieces: list[PublishRun | Frame]) -> list[list[bytes] | Frame]:
    """The same, with the blocks of runs, and together those that stand side by side."""
    found: list[list[bytes] | Frame] = []
    for piece in pieces:
        if isinstance(piece, Frame):
            found.append(piece)
        elif found and isinstance(found[-1], list):
            found[-1] += piece.blocks()
        else:
            found.append(piece.blocks())
    return found


@pytest.mark.parametrize("kernel", KERNELS)
@given(st.lists(st.binary(max_size=50), max_size=12), st.binary(max_size=9))
def test_blocks_without_their_frames(
    kernel: str, blocks: list[bytes], before: bytes
) -> None:
    run = run_of(blocks)
    offsets = np.zeros(len(blocks) + 1, np.int64)
    unframe = KERNELS[kernel].unframe
    assert unframe(before + run.frames, len(before), offsets) == b"".join(blocks)
    assert offsets.tolist() == [0, *accumulate(map(len, blocks))]
    assert run.blocks() == blocks
    more = np.zeros(len(blocks) + 2, np.int64)
    with pytest.raises(ValueError, match="frame"):
        unframe(before + run.frames, len(before), more)


def test_a_publication_that_is_too_long_is_for_itself() -> None:
    long = pack(Op.PUB, bytes(BLOCK_BYTES_MAX + 1))
    short = pack(Op.PUB, b"x")
    data, pieces, at = short + long + short, list[PublishRun | Frame](), 0
    while at < len(data):
        found = cut(data, FRAME_BYTES_MAX, at)
        assert found.error is None
        pieces += found.pieces
        at = found.end
    assert [type(piece) for piece in pieces] == [PublishRun, Frame, PublishRun]
    assert _in_rows(pieces) == _in_rows(cut_one_by_one(data, FRAME_BYTES_MAX).pieces)


def test_kernels_have_the_numbers_of_the_protocol() -> None:
    """Those below the protocol cannot import them, and have their own."""
    framing = plain("framing")
    assert framing.OTHER_FRAME == split_frames.OTHER_FRAME
    assert (framing.PUB, framing.MSG, framing.HEAD) == (Op.PUB, Op.MSG, HEAD_BYTES)
    message = pack_msg([], b"")
    assert framing.MSG_HEAD == MSG_HEAD_BYTES == len(message)
