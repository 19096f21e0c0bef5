"""What a person types means what a program would have sent."""

import random

from protocol.streams import LIMITS, LINES, chopped, heard
from siena.protocol.control_frames import Body, Connect
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import GRANTS, PREFACE, Limits
from siena.protocol.pings import Ping
from siena.protocol.server import ServerConversation
from siena.protocol.text.requests import Quit, Reply

WIDE = Limits(line_bytes=LIMITS.line_bytes)


def test_frames_and_events_are_the_same_requests() -> None:
    rng = random.Random(3)
    for _ in range(200):
        data = b"".join(rng.choices(LINES, k=20))
        typed = heard(ServerConversation(WIDE), chopped(rng, data))
        asked = [e for e in typed if not isinstance(e, Reply) and type(e) is not tuple]
        frames = b"".join(framed(event) for event in asked)
        assert heard(ServerConversation(WIDE), iter([PREFACE + frames])) == asked


def framed(event: Body | Ping | bytes) -> bytes:
    """What a program would have sent; of a publication, the block is known."""
    return pack(Op.PUB, event) if isinstance(event, bytes) else event.pack()


def test_requests_and_replies_stay_in_order() -> None:
    connect, first, reply, second = ServerConversation().feed(b"ping a\nhelp\nping b\n")
    assert connect == Connect(1, features=(GRANTS,))
    assert (first, second) == (Ping(b"a"), Ping(b"b"))
    assert isinstance(reply, Reply)


def test_what_closes_ends_it() -> None:
    for data, fault in (
        (b"GET / HTTP/1.1\n", Fault.BAD_PREFACE),
        (b"x" * 2_000_000, Fault.TOO_LONG),
    ):
        conversation = ServerConversation()
        (error,) = conversation.feed(data + b"\nping\n")
        assert isinstance(error, ProtocolError)
        assert error.fault is fault
        assert b'"closes":true' in conversation.refuse(error)
        assert conversation.closed
    conversation = ServerConversation()
    assert conversation.feed(b"ping\nquit\nping\n")[-1] == Quit()
    assert conversation.closed
