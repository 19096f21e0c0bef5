"""Each state takes what the table says."""

import pytest

from protocol.streams import BETWEEN_BROKERS, KINDS, REQUESTS, heard
from siena.protocol.control_frames import Connect, Tell, Welcome
from siena.protocol.data_frames import pack_msg
from siena.protocol.frames import HEAD_BYTES, Op, pack
from siena.protocol.handshake import PREFACE
from siena.protocol.server import ServerConversation
from siena.protocol.states import TABLE, ServerState, misplaced

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
