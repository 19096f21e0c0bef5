"""Lines as frames say what lines say as events."""

import random

from protocol.streams import LIMITS, LINES, chopped, heard
from siena.protocol.control_frames import Connect
from siena.protocol.handshake import PREFACE, Limits
from siena.protocol.server import ServerConversation
from siena.protocol.text.mode import Asked, LineMode
from siena.protocol.text.requests import Quit, Reply

WIDE = Limits(line_bytes=LIMITS.line_bytes)


def test_frames_and_events_are_the_same_requests() -> None:
    rng = random.Random(3)
    for _ in range(200):
        data = b"".join(rng.choices(LINES, k=20))
        expected = heard(ServerConversation(WIDE), iter([data]))
        plain = [e for e in expected if not isinstance(e, (Reply, Quit, tuple))]
        person = LineMode(LIMITS.line_bytes)
        pieces = [heard_ for part in chopped(rng, data) for heard_ in person.hear(part)]
        frames = b"".join(p.frames for p in pieces if isinstance(p, Asked))
        asked = heard(ServerConversation(WIDE), iter([PREFACE + frames]))
        assert [e for e in asked if not isinstance(e, tuple)] == plain
        refused = [e for e in expected if type(e) is tuple]
        replies = [p for p in pieces if isinstance(p, Reply)]
        helped = [e for e in expected if isinstance(e, Reply)]
        assert len(replies) == len(refused) + len(helped)


def test_requests_and_replies_stay_in_order() -> None:
    connect, first, reply, second = LineMode().hear(b"ping a\nhelp\nping b\n")
    assert connect == Asked(Connect(1).pack())
    assert isinstance(first, Asked)
    assert first.frames.endswith(b"a")
    assert isinstance(reply, Reply)
    assert isinstance(second, Asked)


def test_what_closes_ends_it() -> None:
    for data in (b"GET / HTTP/1.1\n", b"x" * 2_000_000):
        reply, end = LineMode().hear(data)
        assert isinstance(reply, Reply)
        assert b'"closes":true' in reply.data
        assert end == Quit()
