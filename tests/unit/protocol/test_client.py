"""The client's end, event by event."""

import pytest

from siena.protocol.client import ClientConversation, State
from siena.protocol.control_frames import (
    Body,
    Connect,
    Digest,
    Done,
    Error,
    Hop,
    Lost,
    Peer,
    Quench,
    Settled,
    Tell,
    Trace,
    Welcome,
)
from siena.protocol.data_frames import (
    Delivery,
    FoundSequence,
    pack_found,
    pack_msg,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE, Info
from siena.protocol.pings import Ping, Pong
from siena.protocol.server import ServerConversation

INFO = Info(broker="b1", number=1, epoch=2, software="siena 0")
WELCOME = Welcome(1, session=3, broker=1, epoch=2)
AS_BROKER = Connect(1, peer=Peer(7, 8, "peer"))


def opened(connect: Connect = Connect(1)) -> ClientConversation:  # noqa: B008 -- frozen
    conversation = ClientConversation(connect)
    assert conversation.feed(INFO.line() + WELCOME.pack()) == [INFO, WELCOME]
    return conversation


def test_a_broker_greets_welcomes_and_tells() -> None:
    conversation = ClientConversation(Connect(0, name="me"))
    assert conversation.handshaking
    assert conversation.feed(INFO.line()) == [INFO]
    assert conversation.hello() == PREFACE + Connect(1, name="me").pack()
    assert conversation.handshaking
    said: list[Body] = [
        WELCOME,
        Lost(3),
        Lost(3, 1),
        Quench(1, quenched=True),
        Settled(1),
        Done(Op.UNSUB, 1),
        Error(101, "what?"),
        Trace(1, Hop("b1", 0.5, 0.1, "a", ["b"], ["x any"])),
    ]
    assert conversation.feed(b"".join(body.pack() for body in said)) == said
    assert conversation.state is State.OPEN
    frames = pack_msg([1, 2], b"X") + pack_found(3, [b"X", b"Y"])
    frames += Ping(b"p").pack() + Pong(b"q").pack()
    assert conversation.feed(frames) == [
        Delivery((1, 2), b"X"),
        FoundSequence(3, (b"X", b"Y")),
        Ping(b"p"),
        Pong(b"q"),
    ]


def test_brokers_tell_each_other() -> None:
    conversation = opened(AS_BROKER)
    told: list[Body] = [Tell("settled", [1]), Digest(3, b"abc")]
    assert conversation.feed(b"".join(body.pack() for body in told)) == told


def test_both_ends_understand_each_other() -> None:
    server, client = ServerConversation(), ClientConversation(Connect(0, name="me"))
    client.feed(INFO.line())
    assert server.feed(client.hello()) == [Connect(1, name="me")]
    error = ProtocolError(Fault.DRAINING, "we close")
    assert client.feed(server.speak(WELCOME.pack()) + server.refuse(error)) == [
        WELCOME,
        Error.of(error),
    ]
    assert server.closed
    assert client.closed


@pytest.mark.parametrize("ours", [(1, 1), (1, 3)])
def test_both_talk_the_highest_version_that_both_know(ours: tuple[int, int]) -> None:
    conversation = ClientConversation(Connect(0), versions=ours)
    info = Info("b1", 1, 2, "siena 9", versions=(1, 2))
    conversation.feed(info.line())
    version = min(ours[1], 2)
    assert conversation.hello() == PREFACE + Connect(version).pack()


def test_a_broker_of_another_time_is_refused() -> None:
    conversation = ClientConversation(Connect(0))
    _, error = conversation.feed(Info("b1", 1, 2, "siena 9", versions=(4, 5)).line())
    assert isinstance(error, ProtocolError)
    assert error.fault is Fault.BAD_VERSION
    assert conversation.closed


@pytest.mark.parametrize("greeted", [False, True])
def test_a_broker_may_refuse_before_it_knows_how_we_talk(*, greeted: bool) -> None:
    server, client = ServerConversation(), ClientConversation(Connect(0))
    if greeted:
        client.feed(INFO.line())
    line = server.refuse(ProtocolError(Fault.TOO_MANY_CONNECTIONS, "no more"))
    found = [
        event for at in range(len(line)) for event in client.feed(line[at : at + 1])
    ]
    assert found == [Error(208, "no more", closes=True)]
    assert client.closed


def test_a_refusal_may_come_together_with_the_greeting() -> None:
    server, client = ServerConversation(), ClientConversation(Connect(0))
    line = server.refuse(ProtocolError(Fault.TOO_MANY_CONNECTIONS, "no more"))
    assert client.feed(INFO.line() + line) == [
        INFO,
        Error(208, "no more", closes=True),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n",
        b"HTTP/1.1 400 Bad Request\r\n",
        b"{}\n",
        b"{\n",
        b'{"broker":"\xff"}\n',
        b"{" + b"x" * 2_000_000,
        b"{" + b"[" * 100_000 + b"\n",
        INFO.line() + b"\0\0\0\0",
        INFO.line() + Settled(1).pack(),
        INFO.line() + b'{"si\n',
        INFO.line() + b'{"siena":"MSG"}\n',
        INFO.line() + b'{"siena":"INFO",' + INFO.line()[1:],
        INFO.line() + WELCOME.pack() + WELCOME.pack(),
        INFO.line() + WELCOME.pack() + Tell("settled", [1]).pack(),
        INFO.line() + WELCOME.pack() + pack(0x7F, b""),
        INFO.line() + WELCOME.pack() + pack(Op.MSG, b"\x01"),
        INFO.line() + WELCOME.pack() + pack(Op.MSG, b"\x01\0\0\0\0"),
        INFO.line() + WELCOME.pack() + pack(Op.FOUND, b"\x01\0\0\0\x01\0\x09\0\0\0"),
        INFO.line() + WELCOME.pack() + b"\0\0\0\x40",
    ],
)
def test_what_is_no_broker_is_left(data: bytes) -> None:
    conversation = ClientConversation(Connect(0))
    error = conversation.feed(data)[-1]
    assert isinstance(error, ProtocolError)
    assert error.fault.closes
    assert conversation.closed
    assert (conversation.feed(INFO.line()), conversation.pending) == ([], 0)
