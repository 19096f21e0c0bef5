"""The server's end, event by event."""

from collections.abc import Iterable

import pytest

from protocol.refused import AS_BROKER, CONNECT, FORWARD, HELLO, REFUSED, X1
from siena.block import encode
from siena.protocol.control_frames import (
    Advertise,
    Body,
    Connect,
    Digest,
    Error,
    Move,
    Resume,
    Settled,
    Subscribe,
    SubscribeRun,
    Suspend,
    Tell,
    Unadvertise,
    Unsubscribe,
    unpack,
)
from siena.protocol.data_frames import (
    TracedPublication,
    pack_msg,
    pack_traced,
    unpack_forward,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.frames import HEAD_BYTES, Op, pack
from siena.protocol.handshake import PREFACE, Limits
from siena.protocol.limits import CONNECT_BYTES_MAX, PING_BYTES_MAX
from siena.protocol.pings import Ping, Pong
from siena.protocol.server import (
    SUBSCRIPTION_BYTES,
    SUBSCRIPTIONS_AT_ONCE,
    ServerConversation,
)
from siena.protocol.states import Event, ServerState

X2 = encode({"x": 2, "y": "z"})


def opened(hello: bytes = HELLO, limits: Limits | None = None) -> ServerConversation:
    conversation = ServerConversation(limits or Limits())
    (connect,) = conversation.feed(hello)
    assert isinstance(connect, Connect)
    return conversation


def publications(events: Iterable[Event]) -> list[list[bytes]]:
    return [event.blocks() for event in events if isinstance(event, PublishRun)]


def fault_of(events: list[Event]) -> Fault:
    """The fault at the end of events."""
    error = events[-1]
    assert isinstance(error, ProtocolError)
    return error.fault


def test_a_client_connects_and_asks() -> None:
    conversation = ServerConversation()
    assert (conversation.state, conversation.handshaking) == (
        ServerState.GREETING,
        True,
    )
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
    assert (conversation.state, conversation.handshaking) == (ServerState.CLIENT, False)
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
    assert conversation.state is ServerState.PEER
    forward = pack(Op.FORWARD, FORWARD + X1)
    told = [Tell("settled", [1]), Digest(3, b"abc")]
    data = forward + b"".join(body.pack() for body in told)
    assert conversation.feed(data) == [unpack_forward(FORWARD + X1), *told]


@pytest.mark.parametrize(("data", "fault"), REFUSED)
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


def test_subscriptions_in_a_row_are_one_event_up_to_a_bound() -> None:
    some = [Subscribe(number, "x any") for number in range(1, 41)]
    frames = [each.pack() for each in some]
    frames[-1:] = [Unsubscribe(1).pack(), *frames[-1:]]
    *runs, unsubscribe, last = opened().feed(b"".join(frames))
    assert (unsubscribe, last) == (Unsubscribe(1), some[-1])  # one is no run
    found = [run.bodies for run in runs if isinstance(run, SubscribeRun)]
    assert [each for bodies in found for each in bodies] == some[:-1]
    assert max(map(len, found)) == SUBSCRIPTIONS_AT_ONCE


def test_subscriptions_that_are_taken_out_of_a_run_come_again() -> None:
    some = [Subscribe(number, "x any") for number in range(1, 41)]
    conversation = opened()
    conversation.received.put(b"".join(each.pack() for each in some))
    done: list[Subscribe] = []
    for event in conversation.read():
        assert isinstance(event, SubscribeRun)
        del event.bodies[5:]
        done += event.bodies
    assert done == some


def test_subscriptions_before_a_mistake_hold() -> None:
    some = [Subscribe(number, "x any") for number in (1, 2, 3)]
    frames = [*(each.pack() for each in some), pack(Op.SUB, b"\x91\x01")]
    run, mistake = opened().feed(b"".join(frames))
    assert run == SubscribeRun(some)
    assert isinstance(mistake, ProtocolError)
    assert mistake.request == Op.SUB


def test_a_long_subscription_is_an_event_of_its_own() -> None:
    long = Subscribe(2, "x = " + "a" * SUBSCRIPTION_BYTES)
    some = [Subscribe(1, "x any"), long, Subscribe(3, "x any")]
    assert opened().feed(b"".join(each.pack() for each in some)) == some


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
