"""Deliveries in runs are the same frames, one after the other."""

import itertools

from hypothesis import given, strategies as st

from siena.protocol.data_frames import pack_msg, unpack_msg
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.delivery_runs import DeliveryRun, RunSplitter
from siena.protocol.frames import Frame, Op, Splitter, pack

LIMIT = 40
BLOCKS = st.binary(max_size=12)
NUMBERS = st.lists(st.sampled_from([1, 2, 2**32 - 1]), max_size=2)
PIECES = (
    st.builds(pack_msg, NUMBERS, BLOCKS)
    | st.builds(pack, st.sampled_from([Op.MSG, Op.PONG, Op.LOST, 99]), BLOCKS)
    | st.binary(max_size=6)  # which may claim to be anything
)
STREAMS = st.lists(PIECES, max_size=12).map(b"".join)


def one_by_one(stream: list[bytes]) -> tuple[list[Frame], str | None, int]:
    """The frames, what was wrong in the end, and how much is left."""
    splitter, found = Splitter(LIMIT), list[Frame]()
    try:
        for data in stream:
            found += splitter.feed(data)
    except ProtocolError as error:
        return found, error.message, 0
    return found, None, splitter.pending


def in_runs(stream: list[bytes]) -> tuple[list[Frame], str | None, int]:
    """The same, with every run taken apart again."""
    splitter, found = RunSplitter(LIMIT), list[Frame]()
    try:
        for data in stream:
            for piece in splitter.feed(data):
                if isinstance(piece, DeliveryRun):
                    for numbers, block in piece.deliveries():
                        found.append(Frame(Op.MSG, pack_msg(numbers, block)[5:]))
                else:
                    found.append(piece)
    except ProtocolError as error:
        return found, error.message, 0
    return found, None, splitter.pending


@given(STREAMS, st.lists(st.integers(0, 60), max_size=5))
def test_a_stream_means_the_same_in_runs_as_frame_by_frame(
    stream: bytes, cuts: list[int]
) -> None:
    places = [0, *sorted(cuts), len(stream)]
    chopped = [stream[a:b] for a, b in itertools.pairwise(places)]
    assert in_runs(chopped) == one_by_one(chopped)


@given(st.lists(st.tuples(NUMBERS, BLOCKS), max_size=12))
def test_neighbours_in_a_stream_are_for_different_subscriptions(
    deliveries: list[tuple[list[int], bytes]],
) -> None:
    """Otherwise they would be one run; and what is in it is what was sent."""
    stream = b"".join(pack_msg(numbers, block) for numbers, block in deliveries)
    runs = [*RunSplitter().feed(stream)]
    assert all(isinstance(run, DeliveryRun) for run in runs)
    for one, other in itertools.pairwise(runs):
        assert one[0] != other[0]
    got = [d for run in runs if isinstance(run, DeliveryRun) for d in run.deliveries()]
    assert got == [unpack_msg(pack_msg(*each)[5:]) for each in deliveries]
