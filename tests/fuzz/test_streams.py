"""Streams that are chopped, damaged or nonsense."""

import random
from collections.abc import Iterator

import pytest

from protocol.damage import after_hello, damaged, damaged_stream, drawn, nonsense
from protocol.streams import KINDS, LIMITS, chopped, heard
from siena.protocol.client import ClientConversation
from siena.protocol.control_frames import Tell
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.limits import LINE_BYTES_MAX
from siena.protocol.peer_messages import decode
from siena.protocol.server import ServerConversation
from siena.protocol.text.splitter import LineSplitter


@pytest.mark.parametrize("kind", KINDS)
def test_chopped_anyhow_a_stream_says_the_same(kind: str) -> None:
    rng = random.Random(f"chop {kind}")
    make = KINDS[kind][0]
    for _ in range(150):
        data = drawn(rng, kind)
        if rng.random() < 0.3:
            data = damaged(rng, data)
        whole = heard(make(), iter([data]))
        assert heard(make(), chopped(rng, data)) == whole
        assert heard(make(), (data[i : i + 1] for i in range(len(data)))) == whole


@pytest.mark.parametrize("kind", KINDS)
def test_garbage_is_refused_and_nothing_else_happens(kind: str) -> None:
    rng = random.Random(f"garbage {kind}")
    seen: set[Fault] = set()
    for _ in range(600):
        how = rng.choice((damaged_stream, damaged_stream, nonsense, after_hello))
        conversation = KINDS[kind][0]()
        seen |= suffer(conversation, chopped(rng, how(rng, kind)))
    assert seen >= COMMON[kind], seen


# What must have been met, or the fuzzer does not reach where it should.
COMMON = {
    "requests": {
        *(Fault.BAD_PREFACE, Fault.BAD_CONNECT, Fault.BAD_FRAME, Fault.TOO_LONG),
        *(Fault.BAD_NOTIFICATION, Fault.BAD_REQUEST, Fault.PEER_REFUSED),
    },
    "brokers": {Fault.BAD_PREFACE, Fault.BAD_CONNECT, Fault.BAD_FRAME, Fault.TOO_LONG},
    "lines": {
        *(Fault.BAD_REQUEST, Fault.BAD_INTEREST, Fault.BAD_ADVERTISEMENT),
        *(Fault.BAD_NOTIFICATION, Fault.TOO_LONG, Fault.BAD_PREFACE),
    },
    "answers": {Fault.BAD_FRAME, Fault.TOO_LONG},
    "links": {Fault.BAD_FRAME, Fault.TOO_LONG},
}


def suffer(
    conversation: ServerConversation | ClientConversation, pieces: Iterator[bytes]
) -> set[Fault]:
    """Feed it all, and see that it keeps its promises."""
    seen = set()
    limit = (
        max(LIMITS.frame_bytes, LIMITS.line_bytes)
        if isinstance(conversation, ServerConversation)
        else LINE_BYTES_MAX
    )
    for piece in pieces:
        was_closed = conversation.closed
        events = conversation.feed(piece)
        assert not (was_closed and events)
        assert conversation.pending <= limit + 4
        for at, event in enumerate(events):
            if isinstance(event, ProtocolError):
                seen.add(event.fault)
                if event.fault.closes:
                    assert conversation.closed
                    assert at == len(events) - 1
                if isinstance(conversation, ServerConversation):
                    said = conversation.refuse(event)
                    assert (said[0] == ord("{")) == conversation.talks_in_lines
            elif isinstance(event, Tell):
                understood(event)
    return seen


def understood(tell: Tell) -> bool:
    try:
        decode(tell)
    except ProtocolError:
        return False
    return True


def test_a_long_frame_byte_by_byte_is_not_copied_again_and_again() -> None:
    """If it were, half a terabyte would be copied, and the test would not end."""
    splitter = Splitter()
    stream = pack(Op.PUB, bytes(1_000_000))
    found = [f for at in range(len(stream)) for f in splitter.feed(stream[at : at + 1])]
    assert [len(frame.body) for frame in found] == [1_000_000]
    assert splitter.pending == 0


def test_a_long_line_byte_by_byte_is_not_copied_again_and_again() -> None:
    splitter = LineSplitter()
    stream = b"x" * 1_000_000 + b"\n"
    found = [x for at in range(len(stream)) for x in splitter.feed(stream[at : at + 1])]
    assert [len(line) for line in found] == [1_000_000]
    assert splitter.pending == 0
