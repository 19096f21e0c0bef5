"""The server's end, event by event."""

import math
from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest

from siena.block import encode
from siena.protocol.control_frames import (
    Advertise,
    Body,
    Connect,
    Digest,
    Error,
    Move,
    Peer,
    Resume,
    Settled,
    Subscribe,
    Suspend,
    Tell,
    Unadvertise,
    Unsubscribe,
    Welcome,
    unpack,
)
from siena.protocol.data_frames import (
    TracedPublication,
    pack_msg,
    pack_traced,
    unpack_forward,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import HEAD_BYTES, Op, pack
from siena.protocol.handshake import PREFACE, Limits
from siena.protocol.limits import CONNECT_BYTES_MAX, PING_BYTES_MAX
from siena.protocol.pings import Ping, Pong
from siena.protocol.runs import Publications
from siena.protocol.server import Event, ServerConversation, State

CONNECT = Connect(1, name="me")
HELLO = PREFACE + CONNECT.pack()
AS_BROKER = PREFACE + Connect(1, peer=Peer(7, 8, "peer")).pack()
X1 = encode({"x": 1})
X2 = encode({"x": 2, "y": "z"})
FORWARD = bytes.fromhex(
    "0100000000000000 0200000000000000 0300000000000000 0400000000000000"
    "0000000000000840 0500 00"
)


def opened(hello: bytes = HELLO, limits: Limits | None = None) -> ServerConversation:
    conversation = ServerConversation(limits or Limits())
    (connect,) = conversation.feed(hello)
    assert isinstance(connect, Connect)
    return conversation


def publications(events: Iterable[Event]) -> list[list[bytes]]:
    runs = []
    for event in events:
        if isinstance(event, Publications):
            bounds = event.offsets.tolist()
            assert event.offsets.dtype == np.int64
            assert len(event) == len(bounds) - 1
            assert (bounds[0], bounds[-1]) == (0, len(event.blocks))
            runs.append([event.blocks[a:b] for a, b in pairwise(bounds)])
    return runs


def fault_of(events: list[Event]) -> Fault:
    """The fault at the end of events."""
    error = events[-1]
    assert isinstance(error, ProtocolError)
    return error.fault


def test_a_client_connects_and_asks() -> None:
    conversation = ServerConversation()
    assert (conversation.state, conversation.handshaking) == (State.GREETED, True)
    asked: list[Body] = [
        Subscribe(1, "x > 3"),
        Unsubscribe(1),
        Advertise(2, "x any"),
        Unadvertise(2),
        Suspend(10),
        Resume(),
        Move("siena://elsewhere"),
    ]
    data = HELLO + b"".join(body.pack() for body in asked)
    assert conversation.feed(data) == [CONNECT, *asked]
    assert (conversation.state, conversation.handshaking) == (State.OPEN, False)
    assert not conversation.talks_in_lines


def test_publications_in_a_row_are_one_event() -> None:
    conversation = opened()
    one, two = pack(Op.PUB, X1), pack(Op.PUB, X2)
    events = conversation.feed(one + two + Ping(b"p").pack() + two + Pong(b"q").pack())
    assert publications(events) == [[X1, X2], [X2]]
    assert (events[1], events[3]) == (Ping(b"p"), Pong(b"q"))
    assert conversation.feed(pack_traced(9, X1)) == [TracedPublication(9, X1)]


def test_a_broker_is_linked() -> None:
    conversation = opened(AS_BROKER)
    assert conversation.state is State.LINKED
    forward = pack(Op.FORWARD, FORWARD + X1)
    told = [Tell("settled", [1]), Digest(3, b"abc")]
    data = forward + b"".join(body.pack() for body in told)
    assert conversation.feed(data) == [unpack_forward(FORWARD + X1), *told]


@pytest.mark.parametrize(
    ("data", "fault"),
    [
        (b"\0SIENA\n", Fault.BAD_PREFACE),
        (b"\0\0", Fault.BAD_PREFACE),
        (PREFACE + Ping().pack(), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.CONNECT, b""), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.CONNECT, b"\x91\xa1x"), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.CONNECT, b"\x92\x01\xa0"), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.CONNECT, b"\x92\x01\xa1\xff"), Fault.BAD_CONNECT),
        (PREFACE + pack(Op.CONNECT, b"\x91\x00"), Fault.BAD_VERSION),
        # Version 2 may have other fields, and is refused for its number.
        (PREFACE + pack(Op.CONNECT, b"\x92\x02\x90"), Fault.BAD_VERSION),
        (PREFACE + pack(Op.CONNECT, bytes(CONNECT_BYTES_MAX)), Fault.TOO_LONG),
        *(
            (PREFACE + Connect(1, peer=Peer(7, 8, "peer", w)).pack(), Fault.BAD_CONNECT)
            for w in (0.0, -1.0, math.nan, math.inf)
        ),
        (PREFACE + b"\0\0\0\0", Fault.BAD_FRAME),
        (HELLO + CONNECT.pack(), Fault.BAD_CONNECT),
        (HELLO + pack(0x7F, b""), Fault.BAD_FRAME),
        (HELLO + pack_msg([1], X1), Fault.BAD_FRAME),
        (HELLO + Welcome(1, 1, 1, 1).pack(), Fault.BAD_FRAME),
        (HELLO + pack(Op.SUB, b"\x91\x01"), Fault.BAD_FRAME),
        (HELLO + pack(Op.SUB, b"\x92\x01\xa1\xff"), Fault.BAD_FRAME),
        (HELLO + pack(Op.SUB, b"\x92\xff\xa1x"), Fault.BAD_FRAME),
        (HELLO + pack(Op.SUB, b"\x91" * 5_000), Fault.BAD_FRAME),
        (HELLO + pack(Op.TRACED_PUB, b"abc"), Fault.BAD_FRAME),
        (HELLO + b"\0\0\x21\0", Fault.TOO_LONG),
        (HELLO + Tell("settled", [1]).pack(), Fault.PEER_REFUSED),
        (HELLO + pack(Op.FORWARD, FORWARD + X1), Fault.PEER_REFUSED),
        (AS_BROKER + Subscribe(1, "x > 3").pack(), Fault.BAD_FRAME),
        (AS_BROKER + pack(Op.PUB, X1), Fault.BAD_FRAME),
        (AS_BROKER + pack(Op.FORWARD, FORWARD[:-1]), Fault.BAD_FRAME),
        (AS_BROKER + pack(Op.FORWARD, FORWARD[:-2] + b"\xff\xff"), Fault.BAD_FRAME),
        (
            AS_BROKER + pack(Op.FORWARD, FORWARD[:32] + b"\xff" * 8 + FORWARD[40:]),
            Fault.BAD_FRAME,
        ),
    ],
)
def test_what_cannot_be_understood_closes(data: bytes, fault: Fault) -> None:
    conversation = ServerConversation()
    events = conversation.feed(data)
    assert fault_of(events) is fault
    assert fault.closes
    assert conversation.closed
    assert (conversation.feed(HELLO), conversation.pending) == ([], 0)


@pytest.mark.parametrize(
    ("frame", "fault", "request_"),
    [
        (pack(Op.PUB, b"\x81" * 21), Fault.BAD_NOTIFICATION, Op.PUB),
        (pack_traced(1, b"\x81" * 21), Fault.BAD_NOTIFICATION, Op.TRACED_PUB),
        (pack(Op.PING, bytes(PING_BYTES_MAX + 1)), Fault.BAD_REQUEST, Op.PING),
    ],
)
def test_what_can_be_left_out_does_not_close(
    frame: bytes, fault: Fault, request_: Op
) -> None:
    conversation = opened(limits=Limits(block_bytes=20))
    pub = pack(Op.PUB, X1)
    before, error, after = conversation.feed(pub + frame + pub)
    assert publications([before, after]) == [[X1], [X1]]
    assert isinstance(error, ProtocolError)
    assert (error.fault, error.request) == (fault, request_)
    said = conversation.refuse(error)
    assert not conversation.closed
    told = unpack(said[4], said[HEAD_BYTES:])
    assert isinstance(told, Error)
    assert "at most" in told.text


def test_all_that_came_before_a_mistake_holds() -> None:
    conversation = opened()
    good = pack(Op.PUB, X1) + Subscribe(1, "x any").pack() + pack(Op.PUB, X2)
    events = conversation.feed(good + b"\0\0\0\0" + good)
    assert publications(events) == [[X1], [X2]]
    assert len(events) == 4
    assert fault_of(events) is Fault.BAD_FRAME


def test_the_limits_are_those_of_the_greeting() -> None:
    conversation = opened(limits=Limits(frame_bytes=100))
    assert len(conversation.feed(pack(Op.PUB, bytes(99)))) == 1
    # The length alone is enough to know.
    assert fault_of(conversation.feed(b"\x65\0\0\0")) is Fault.TOO_LONG


def test_a_long_frame_may_follow_connect_in_one_go() -> None:
    conversation = ServerConversation()
    block = bytes(2 * CONNECT_BYTES_MAX)
    _, event = conversation.feed(HELLO + pack(Op.PUB, block))
    assert publications([event]) == [[block]]


def test_whoever_said_nothing_is_refused_in_a_line() -> None:
    conversation = ServerConversation()
    error = ProtocolError(Fault.TIMED_OUT, "nothing came")
    line = conversation.refuse(error)
    assert line.startswith(b'{"siena":"ERR","error":210,')
    assert conversation.closed

    conversation = ServerConversation()
    conversation.feed(PREFACE[:1])
    assert conversation.refuse(error)[4] == Op.ERR


def test_frames_are_spoken_as_they_are() -> None:
    frames = Settled(1).pack() + pack_msg([1], X1)
    assert opened().speak(frames) == frames
