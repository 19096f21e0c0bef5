"""An outbox neither forgets nor invents anything, whatever is put into it."""

import struct

from hypothesis import given, strategies as st

from siena.broker.io.outbox import Fit, Outbox
from siena.protocol.frames import Op, pack

LIMIT = 60


def frames(sizes: list[int], first: int) -> tuple[bytes, list[bytes]]:
    each = [
        pack(Op.MSG, struct.pack("<H", first + n) + b"x" * size)
        for n, size in enumerate(sizes)
    ]
    return b"".join(each), each


@given(
    st.lists(
        st.one_of(
            st.lists(st.integers(0, 30), min_size=1, max_size=4),
            st.just("read"),
        ),
        max_size=20,
    )
)
def test_what_is_sent_and_what_is_lost_is_everything(
    run: list[list[int] | str],
) -> None:
    outbox = Outbox("drop", LIMIT)
    outbox.in_lines = False
    wanted: list[bytes] = []
    got, waiting, lost = b"", 0, 0
    for step in run:
        if isinstance(step, str):  # the reader has caught up
            waiting = 0
            lost += outbox.recover()
            continue
        data, each = frames(step, len(wanted))
        wanted += each
        is_losing = outbox.lost > 0
        fit = outbox.deliver(data, len(each), waiting)
        sent = b"".join(outbox.take())
        assert not (is_losing and sent), "after a gap nothing comes before LOST"
        assert (fit is Fit.TAKEN) == (sent == data)
        got += sent
        waiting += len(sent)
        assert waiting <= LIMIT
    lost += outbox.recover()
    kept = [frame for frame in wanted if frame in got]
    assert got == b"".join(kept)
    assert len(kept) + lost == len(wanted)


def test_lines_are_cut_at_their_ends() -> None:
    outbox = Outbox("drop", 10)
    assert outbox.deliver(b"{1}\n{22}\n{333}\n", 3, 0) is Fit.DROPPED
    assert b"".join(outbox.take()) == b"{1}\n{22}\n"
    assert outbox.lost == 1


def test_events_are_cut_at_their_ends() -> None:
    outbox = Outbox("drop", 30)
    outbox.line_end = b"\n\n"
    events = b"event: found\ndata: [1]\n\n", b"data: 2\n\n"
    assert outbox.deliver(b"".join(events), 2, 0) is Fit.DROPPED
    assert b"".join(outbox.take()) == events[0]
    assert outbox.lost == 1


def test_who_publishes_too_much_in_one_turn_is_held_all_the_same() -> None:
    outbox = Outbox("block", LIMIT)
    outbox.in_lines = False
    data, each = frames([23] * 6, 0)  # 30 bytes each
    assert outbox.deliver(data, 6, 0) is Fit.BLOCKING
    assert b"".join(outbox.take()) == b"".join(each[:4])
    assert outbox.lost == 2
    assert outbox.deliver(data, 6, 120) is Fit.BLOCKING, "and so are those who go on"
    assert outbox.lost == 8


def test_what_was_kept_does_not_count_beside_what_comes() -> None:
    outbox = Outbox("disconnect", LIMIT)
    outbox.in_lines = False
    data, _ = frames([23] * 10, 0)
    outbox.expect(len(data), 0)
    assert outbox.deliver(data, 10, 0) is Fit.TAKEN
    more, _ = frames([23, 23], 10)
    assert outbox.deliver(more, 2, 0) is Fit.TAKEN
    waiting = len(b"".join(outbox.take()))
    outbox.expect(len(data), waiting)  # not twice before it was read
    assert outbox.deliver(data, 10, waiting) is Fit.TOO_SLOW
    assert outbox.deliver(more[:30], 1, 60) is Fit.TOO_SLOW
    assert outbox.deliver(more[:30], 1, 30) is Fit.TAKEN
