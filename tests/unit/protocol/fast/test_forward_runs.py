"""A run says what as many FORWARD frames would."""

import struct

import numpy as np
import pytest
from hypothesis import given, strategies as st

from kernels import plain
from siena.messages import Stamp
from siena.messages.interface import TTL_MAX
from siena.protocol.data_frames import Forwarded
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast import forward_runs
from siena.protocol.fast.forward_runs import (
    RUN_SPAN_MAX,
    TIME_UNIT,
    ForwardRun,
    RunHead,
    ascending,
    in_pieces,
    runs_in,
    unpack_run,
)
from siena.protocol.fast.kernels import framing
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import HEAD_BYTES, Op, pack

KERNELS = {"compiled": framing, "plain": plain("framing")}
LONGEST = 40
HEAD = RunHead(1, 2, 3, 4, 1e9, 6, 0)
blocks = st.lists(st.binary(max_size=LONGEST), min_size=1, max_size=12)


@st.composite
def runs(draw: st.DrawFn) -> ForwardRun:
    several = draw(blocks)
    steps = st.lists(
        st.integers(1, 5), min_size=len(several) - 1, max_size=len(several) - 1
    )
    numbers, times = (np.cumsum([0, *draw(steps)]).astype(np.uint32) for _ in range(2))
    return ForwardRun(HEAD, numbers, times, run_of(several))


def body_of(run: ForwardRun) -> bytes:
    return run.pack(run.head)[HEAD_BYTES:]


@given(runs())
def test_what_is_packed_is_unpacked(run: ForwardRun) -> None:
    read = unpack_run(body_of(run), LONGEST)
    assert [*read.forwarded()] == [*run.forwarded()]
    first = next(read.forwarded())
    assert first[:5] == (Stamp(1, 2, 3), 4, 1e9, 6, 0)


@given(runs(), st.data())
def test_some_of_them_are_as_they_were(run: ForwardRun, data: st.DataObject) -> None:
    indices = data.draw(
        st.sets(st.integers(0, len(run.numbers) - 1), min_size=1).map(sorted)
    )
    every = [*run.forwarded()]
    expected = [every[i] for i in indices]
    chosen = np.array(indices, np.int32)
    assert [*run.pick(chosen).forwarded()] == expected
    last = every[-1].stamp.number
    bits = sum(1 << last - one.stamp.number for one in expected)
    assert [*run.only(bits).forwarded()] == expected


@given(runs())
def test_their_window_has_a_bit_for_each(run: ForwardRun) -> None:
    window = run.window
    stamps = [one.stamp for one in run.forwarded()]
    assert (window.broker, window.epoch, window.mark) == stamps[-1]
    assert window.bits == sum(1 << window.mark - s.number for s in stamps)


@given(runs(), st.integers(1, 60), st.integers(1, 12))
def test_in_pieces_they_are_the_same(run: ForwardRun, size: int, span: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward_runs, "RUN_BYTES_MAX", size)
        patch.setattr(forward_runs, "RUN_SPAN_MAX", span)
        pieces = [*in_pieces(run)]
    assert [one for p in pieces for one in p.forwarded()] == [*run.forwarded()]
    for piece in pieces:
        frames = piece.publications
        is_short = frames.end - frames.start <= size and piece.numbers[-1] < span
        assert is_short or len(piece.numbers) == 1


@pytest.mark.parametrize("kernel", KERNELS)
@given(blocks, st.binary(max_size=9), st.data())
def test_frames_are_picked(
    kernel: str, several: list[bytes], before: bytes, data: st.DataObject
) -> None:
    indices = sorted(data.draw(st.sets(st.integers(0, len(several) - 1))))
    frames = before + run_of(several).frames
    chosen = np.array(indices, np.int32)
    found = KERNELS[kernel].pick(frames, len(before), chosen)
    assert found == b"".join(pack(Op.PUB, several[i]) for i in indices)
    with pytest.raises(ValueError, match="fewer frames"):
        KERNELS[kernel].pick(frames, len(before), np.array([len(several)], np.int32))
    with pytest.raises(ValueError, match="ascend"):
        KERNELS[kernel].pick(frames, len(before), np.array([0, 0], np.int32))


@pytest.mark.parametrize("kernel", KERNELS)
@given(blocks, st.binary(max_size=9), st.integers(0, 200), st.integers(1, 13))
def test_frames_are_skipped(
    kernel: str, several: list[bytes], before: bytes, room: int, most: int
) -> None:
    """As many as fit, but at least one."""
    skip = KERNELS[kernel].skip
    frames = before + run_of(several).frames
    begun = len(before)
    ends = np.cumsum([HEAD_BYTES + len(block) for block in several]).tolist()
    fitting = sum(end <= room for end in ends)
    count = max(1, min(fitting, most))
    assert skip(frames, begun, begun + room, most) == (count, begun + ends[count - 1])
    for start, limit in ((len(frames), 1), (-1, 1), (begun, 0), (2**40, 1)):
        with pytest.raises(ValueError, match="no frame"):
            skip(frames, start, len(frames), limit)
    with pytest.raises(ValueError, match="no frame"):
        skip(frames[:-1], begun + ends[-1] - len(pack(Op.PUB, several[-1])), 2**40, 1)


@given(st.lists(runs(), max_size=4), st.integers(0, 4), st.data())
def test_runs_are_read_where_they_came(
    several: list[ForwardRun], good: int, data: st.DataObject
) -> None:
    """Up to what is another frame, or wrong, or not complete."""
    packed = [run.pack(run.head) for run in several]
    tails = [b"", pack(Op.PING, b"x" * 60), pack(Op.RUN, b"x" * 60), b"\x07"]
    tails += [frame[:-1] for frame in packed]
    sent = b"".join(packed[:good]) + data.draw(st.sampled_from(tails))
    found = [*runs_in(memoryview(sent), LONGEST)]
    ends = np.cumsum([len(frame) for frame in packed[:good]]).tolist()
    assert [end for _, end in found] == ends
    for (run, _), expected in zip(found, several, strict=False):
        assert [*run.forwarded()] == [*expected.forwarded()]


def test_one_is_a_run_too() -> None:
    one = Forwarded(Stamp(1, 2, 3), 4, 5.0, 6, 1, b"X")
    assert [*ForwardRun.of(one).forwarded()] == [one]


def packed(head: RunHead) -> bytes:
    """A run of two."""
    run = ForwardRun(
        HEAD,
        np.array([0, 1], np.uint32),
        np.array([0, 1], np.uint32),
        run_of([b"a"] * 2),
    )
    return run.pack(head)[HEAD_BYTES:]


def _of_times(*times: int) -> bytes:
    """A run of publications that were made so much later than the first."""
    ahead, count = np.array(times, np.uint32), len(times)
    run = ForwardRun(HEAD, ascending(count), ahead, run_of([b"a"] * count))
    return run.pack(HEAD)[HEAD_BYTES:]


GOOD = packed(HEAD)
COUNT_AT = struct.calcsize("<QQQQdHB")
BAD = {
    "that ends too early": GOOD[:40],
    "of no time": packed(HEAD._replace(time=float("nan"))),
    "with flags": packed(HEAD._replace(flags=1)),
    "hops to go": packed(HEAD._replace(ttl=TTL_MAX + 1)),
    "of 0 publications": GOOD[:COUNT_AT] + bytes(4) + GOOD[COUNT_AT + 4 :],
    "of 4294967295 publications": GOOD[:COUNT_AT] + b"\xff" * 4 + GOOD[COUNT_AT + 4 :],
    "which it has not": GOOD + b"\x00",
    "of 2 publications, which": GOOD[:-1],
    "do not ascend": GOOD[: COUNT_AT + 4] + bytes(16) + GOOD[COUNT_AT + 20 :],
    "too great": packed(HEAD._replace(number=2**64 - 1)),
    "whose times go back": _of_times(0, 2**32 - 1, 5),
    "times go back": _of_times(0, 5, 0),
}


@pytest.mark.parametrize("what", BAD)
def test_what_is_no_run_is_refused(what: str) -> None:
    assert len(unpack_run(GOOD, LONGEST).numbers) == 2
    with pytest.raises(ProtocolError, match=what):
        unpack_run(BAD[what], LONGEST)


def test_numbers_far_apart_are_refused() -> None:
    """Stamps are remembered as bits: a run from far and wide would take memory."""
    apart = np.array([0, RUN_SPAN_MAX], np.uint32)
    run = ForwardRun(HEAD, apart, apart, run_of([b"a", b"b"]))
    with pytest.raises(ProtocolError, match="too great"):
        unpack_run(body_of(run), LONGEST)


def test_a_block_that_is_too_long_is_refused() -> None:
    run = ForwardRun.of(Forwarded(Stamp(1, 2, 3), 4, 5.0, 6, 0, bytes(LONGEST + 1)))
    with pytest.raises(ProtocolError, match="which it has not"):
        unpack_run(body_of(run), LONGEST)


def test_the_unit_of_time_is_what_doubles_of_these_decades_have() -> None:
    for year in (1e9 + 2**28, 2.0**31 - 1):
        assert np.spacing(year) == TIME_UNIT
