"""The conversation that brokers drive says what its obvious twin says."""

import random
from typing import Any

import pytest

from protocol.obvious_server import obviously
from protocol.streams import (
    BETWEEN_BROKERS,
    KINDS,
    LIMITS,
    REQUESTS,
    chopped,
    heard,
    plain,
)
from protocol.test_fuzz import after_hello, damaged_stream, drawn, nonsense
from siena.protocol.control_frames import Connect, Tell, Welcome
from siena.protocol.data_frames import pack_msg
from siena.protocol.fast import split_frames
from siena.protocol.frames import HEAD_BYTES, Op, pack
from siena.protocol.handshake import PREFACE
from siena.protocol.server import ServerConversation
from siena.protocol.states import TABLE, ServerState, misplaced

SERVED = ("requests", "brokers", "lines")


def without_texts(events: list[Any]) -> list[Any]:
    """Of errors, their fault and operation: texts are for people."""
    return [(e[0], e[2]) if type(e) is tuple else e for e in events]


@pytest.mark.parametrize("short", [0, split_frames.SHORT_BYTES], ids=["kernel", "loop"])
@pytest.mark.parametrize("kind", SERVED)
def test_any_stream_means_what_it_means_frame_by_frame(
    kind: str, short: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(split_frames, "SHORT_BYTES", short)
    rng = random.Random(f"twins {kind}")
    for _ in range(500):
        how = rng.choice((drawn, drawn, damaged_stream, nonsense, after_hello))
        data = how(rng, kind)
        events = heard(ServerConversation(LIMITS), chopped(rng, data))
        assert without_texts(events) == obviously(data, LIMITS)


@pytest.mark.parametrize("kind", SERVED[:2])
def test_frames_read_where_they_came_mean_the_same(kind: str) -> None:
    """The rest of what came before stands in front of what comes, as in a broker."""
    rng = random.Random(f"in place {kind}")
    for _ in range(200):
        data = drawn(rng, kind)
        conversation = ServerConversation(LIMITS)
        events = heard(conversation, iter([KINDS[kind][1]]))
        for piece in chopped(rng, data[len(KINDS[kind][1]) :]):
            rest = conversation.rest
            if rest is None or not piece:
                continue
            events += plain(conversation.read_in_place(memoryview(rest + piece), 0))
        assert without_texts(events) == obviously(data, LIMITS)


HELLOS = {
    ServerState.HANDSHAKE: PREFACE,
    ServerState.CLIENT: PREFACE + Connect(1).pack(),
    ServerState.IDENTIFIED: PREFACE + Connect(1, identity="me").pack(),
    ServerState.PEER: KINDS["brokers"][1],
    ServerState.CALLED: KINDS["answers"][1].partition(b"\n")[0] + b"\n",
}
# Of each operation a frame that is right; of the others the head is enough.
EXAMPLES = {
    frame[4]: frame[HEAD_BYTES:]
    for frame in [
        *(Connect(1).pack(), Welcome(1, 3, 1, 2).pack(), pack_msg([1], b"\x80")),
        *(*REQUESTS[::-1], *BETWEEN_BROKERS, Tell("settled", [1]).pack()),
    ]
}


@pytest.mark.parametrize("state", TABLE, ids=lambda state: state.name)
def test_each_state_takes_what_the_table_says_and_nothing_else(
    state: ServerState,
) -> None:
    assert HELLOS.keys() == TABLE.keys()
    for op in range(256):
        conversation = ServerConversation(is_calling=state is ServerState.CALLED)
        conversation.feed(HELLOS[state])
        assert conversation.state is state
        assert conversation.may_publish == (Op.PUB in TABLE[state].allowed)
        (event,) = heard(conversation, iter([pack(op, EXAMPLES.get(op, b""))]))
        if op in TABLE[state].allowed:
            # What has no example here is understood to be wrong, and not misplaced.
            assert op in EXAMPLES or event[1] != misplaced(state, op).message
        else:
            fault, text, request, _ = event
            assert (fault, request) == (TABLE[state].fault_of(op), op)
            assert text == misplaced(state, op).message
            assert conversation.closed
