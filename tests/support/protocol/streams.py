"""Conversations to be chopped and damaged: whole ones, with what they mean."""

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from siena.block import encode
from siena.messages import Stamp
from siena.protocol.client import ClientConversation
from siena.protocol.control_frames import (
    Advertise,
    Connect,
    Digest,
    Done,
    Error,
    Lost,
    Peer,
    Quench,
    Resume,
    Settled,
    Subscribe,
    SubscribeRun,
    Suspend,
    Tell,
    Unadvertise,
    Unsubscribe,
    Welcome,
)
from siena.protocol.data_frames import (
    Forwarded,
    pack_forward,
    pack_found,
    pack_msg,
    pack_traced,
)
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.forward_runs import ForwardRun, RunHead
from siena.protocol.fast.split_frames import PublishRun, run_of
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE, Info, Limits
from siena.protocol.log_frames import (
    Batch,
    Commit,
    Entries,
    Entry,
    Extent,
    Log,
    Part,
    Read,
    Stage,
    Taken,
    Unstage,
)
from siena.protocol.pings import Ping, Pong
from siena.protocol.server import ServerConversation

Conversation = ServerConversation | ClientConversation
BLOCKS = [encode({"x": 1}), encode({"s": "y" * 40, "x": 2.5}), b"\x80", b""]
PART = bytes(range(16))
# Small, so that they are met.
LIMITS = Limits(frame_bytes=100, block_bytes=60, line_bytes=80)

REQUESTS = [
    *(pack(Op.PUB, block) for block in BLOCKS),
    *(pack(Op.PUB, block) for block in BLOCKS),
    pack(Op.PUB, bytes(61)),
    pack_traced(7, BLOCKS[0]),
    *(Ping(b"p").pack(), Pong(b"q").pack(), pack(Op.PING, bytes(65))),
    *(Subscribe(1, "x > 3").pack(), Unsubscribe(1).pack()),
    *(Advertise(1, "x any").pack(), Unadvertise(1).pack()),
    *(Suspend(5).pack(), Resume().pack()),
    *(Log("me").pack(), Read("x > 3", 5, 9).pack(), Commit("me", 7).pack()),
    *(Stage(PART, 0, BLOCKS[:2]).pack(), Unstage([PART]).pack()),
    Batch("q", 3, [Part(PART, 2)]).pack(),
]
BETWEEN_BROKERS = [
    pack_forward(Forwarded(Stamp(1, 2, 3), 4, 5.0, 6, 0, BLOCKS[0])),
    pack_forward(Forwarded(Stamp(1, 2, 3), 4, 5.0, 6, 0, bytes(59))),
    *(Tell("subscribe", ["x > 3", 7]).pack(), Tell("settled", [1]).pack()),
    *(Digest(3, b"abc").pack(), Ping(b"p").pack()),
]
RUN = ForwardRun(
    RunHead(1, 2, 3, 4, 5.0, 6, 0),
    np.array([0, 7], np.uint32),
    np.array([0, 1], np.uint32),
    run_of(BLOCKS[:1] * 2),
)
IN_RUNS = [*BETWEEN_BROKERS, RUN.pack(RUN.head), RUN.pack(RUN.head._replace(flags=1))]
ANSWERS = [
    *(pack_msg([1, 2], block) for block in BLOCKS),
    pack_found(3, BLOCKS[:2]),
    *(Lost(3).pack(), Quench(1, quenched=True).pack(), Settled(1).pack()),
    *(Done(Op.UNSUB, 1).pack(), Error(101, "what?").pack(), Pong(b"p").pack()),
    *(Extent(3, 9, 5).pack(), Taken("q", 3, is_new=True, count=2).pack()),
    Entries(9, 12, [Entry(4, 1_000_000, BLOCKS[0]), Entry(7, 2, BLOCKS[1])]).pack(),
]
LINES = [
    *(b"pub x=1\n", b'pub {"x": 1}\r\n', b"sub x > 3\n", b"sub 7 x >> 3\n"),
    *(b"unsub 7\n", b"adv x any\n", b"unadv 1\n", b"ping a\n", b"help\n", b"\n"),
    *(b"dance\n", b"\xff\n", b"pub s=" + b"y" * 70 + b"\n"),
]
INFO = Info(broker="b1", number=1, epoch=2, software="siena 0").line()
AS_BROKER = Connect(1, peer=Peer(7, 8, "peer"))

# Of each kind: who listens, how it begins, and what may follow.
KINDS: dict[str, tuple[Callable[[], Conversation], bytes, list[bytes]]] = {
    "requests": (
        lambda: ServerConversation(LIMITS),
        PREFACE + Connect(1, name="me").pack(),
        REQUESTS,
    ),
    "brokers": (
        lambda: ServerConversation(LIMITS),
        PREFACE + AS_BROKER.pack(),
        IN_RUNS,
    ),
    "lines": (lambda: ServerConversation(LIMITS), b"", LINES),
    "answers": (
        lambda: ClientConversation(Connect(1)),
        INFO + Welcome(1, 3, 1, 2).pack(),
        ANSWERS,
    ),
    "links": (
        lambda: ClientConversation(AS_BROKER),
        INFO + Welcome(1, 3, 1, 2).pack(),
        BETWEEN_BROKERS,
    ),
}


def chopped(rng: random.Random, data: bytes) -> Iterator[bytes]:
    """The data in pieces, some of them empty, some of one byte."""
    at = 0
    while at < len(data):
        size = rng.choice((0, 1, 1, 2, 3, 5, 8, 40, 200, len(data)))
        yield data[at : at + size]
        at += size


def heard(conversation: Conversation, data: Iterator[bytes]) -> list[Any]:
    """What a conversation hears, with publications and mistakes as plain values."""
    return plain(event for piece in data for event in conversation.feed(piece))


def plain(events: Iterable[object]) -> list[Any]:
    """Events with the blocks of publications, and what is told of mistakes."""
    found: list[Any] = []
    for event in events:
        if isinstance(event, PublishRun):
            found += event.blocks()
        elif isinstance(event, SubscribeRun):
            found += event.bodies
        elif isinstance(event, ForwardRun):
            found.append([*event.forwarded()])
        elif isinstance(event, ProtocolError):
            found.append((event.fault, event.message, event.request, event.number))
        else:
            found.append(event)
    return found
