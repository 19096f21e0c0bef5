"""The bytes of every frame, written down: whoever changes one breaks clients."""

import numpy as np
import pytest

from siena.block import encode
from siena.messages import Stamp
from siena.protocol.control_frames import (
    Advertise,
    Body,
    Connect,
    Digest,
    Done,
    Ended,
    Error,
    Gap,
    GrantChanged,
    Hop,
    Look,
    Lost,
    Move,
    Peer,
    Quench,
    Resume,
    Seen,
    Settled,
    Subscribe,
    Suspend,
    Tell,
    Trace,
    Unadvertise,
    UnadvertiseCovered,
    Unsubscribe,
    UnsubscribeCovered,
    Welcome,
    unpack,
)
from siena.protocol.data_frames import (
    Forwarded,
    pack_forward,
    pack_found,
    pack_msg,
    pack_traced,
)
from siena.protocol.durable.reading import (
    Ack,
    DurableDelivery,
    DurableSubscribe,
    Forget,
    Nak,
    Seek,
    pack_deliver,
)
from siena.protocol.durable.receipts import (
    Publisher,
    PublisherIs,
    Relayed,
    Stored,
    Unassured,
    pack_acked,
)
from siena.protocol.fast.forward_runs import ForwardRun, RunHead
from siena.protocol.fast.relay_runs import RelayRun
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import HEAD_BYTES, Op, Splitter, pack
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

X1 = encode({"x": 1})
PART = bytes(range(16))
PART_HEX = "c410 000102030405060708090a0b0c0d0e0f"

BODIES: list[tuple[Body, str]] = [
    (Connect(1), "0c000000 01 96 01 c0 c0 a464726f70 c0 c0"),
    (
        Connect(1, "me", "id", "block", Peer(2, 3, "mesh", 1.5, ["u"], ["f"]), "t"),
        (
            "28000000 01 96 01 a26d65 a26964 a5626c6f636b"
            "96 02 03 a46d657368 cb3ff8000000000000 91a175 91a166 a174"
        ),
    ),
    (
        Connect(1, features=("grants",)),
        "14000000 01 97 01 c0 c0 a464726f70 c0 c0 91 a66772616e7473",
    ),
    (Welcome(1, 2, 3, 4), "07000000 11 95 01 02 03 04 c2"),
    (Subscribe(7, "x > 3"), "09000000 03 92 07 a578203e2033"),
    (Unsubscribe(7), "03000000 04 91 07"),
    (Advertise(7, "x any"), "09000000 05 92 07 a57820616e79"),
    (Unadvertise(4294967295), "07000000 06 91 ceffffffff"),
    (UnsubscribeCovered("x any"), "08000000 0e 91 a57820616e79"),
    (UnadvertiseCovered("x any"), "08000000 0f 91 a57820616e79"),
    (Ended(Op.UNSUB_COVERED, [1, 7]), "06000000 1b 92 0e 92 01 07"),
    (Suspend(), "05000000 09 91 cd03e8"),
    (Resume(), "02000000 0a 90"),
    (Move("siena://b"), "0c000000 0b 91 a97369656e613a2f2f62"),
    (Look("links", 3), "09000000 0d 92 a56c696e6b73 03"),
    (
        Look("wanting", 3, bytes.fromhex("81a17801")),
        "11000000 0d 93 a777616e74696e67 03 c40481a17801",
    ),
    (Seen("a", {"x": 1}), "08000000 1a 92 a161 81a17801"),
    (Done(Op.UNSUB, 7), "04000000 19 92 04 07"),
    (Lost(3), "04000000 14 92 03 c0"),
    (Gap(1, 2, "why", 3, 4, 5), "0b000000 1d 96 01 02 a3776879 03 04 05"),
    (Quench(7, quenched=True), "04000000 15 92 07 c3"),
    (Settled(7), "03000000 16 91 07"),
    (Settled(7, "x = 1"), "09000000 16 92 07 a578203d2031"),
    (Settled(7, silent=("b2",)), "08000000 16 93 07 c0 91 a26232"),
    (GrantChanged(7, "x = 1"), "09000000 1c 92 07 a578203d2031"),
    (Error(101, "no", False, Op.SUB, 7, 2), "0a000000 17 96 65 a26e6f c2 03 07 02"),
    (
        Trace(7, Hop("b", 0.5, 0.25, "a", ["c"], ["x"])),
        (
            "20000000 18 92 07 96 a162 cb3fe0000000000000 cb3fd0000000000000"
            "a161 91a163 91a178"
        ),
    ),
    (Tell("settled", [7]), "0c000000 22 92 a7736574746c6564 91 07"),
    (Digest(3, b"ab"), "07000000 23 92 03 c4026162"),
    (Log("r"), "04000000 31 91 a172"),
    (Extent(3, 9), "05000000 39 93 03 09 c0"),
    (Read("x > 3", 5, 9, 100), "0b000000 32 94 a578203e2033 05 09 64"),
    (
        Entries(8, 9, [Entry(5, 2, X1)]),
        "0e000000 3a 93 08 09 91 93 05 02 c40481a17801",
    ),
    (Commit("r", 8), "05000000 33 92 a172 08"),
    (Stage(PART, 0, [X1]), f"1c000000 34 93 {PART_HEX} 00 91 c40481a17801"),
    (Unstage([PART]), f"15000000 35 91 91 {PART_HEX}"),
    (Batch("q", 7, [Part(PART, 1)]), f"1a000000 36 93 a171 07 91 92 {PART_HEX} 01"),
    (Taken("q", 7, is_new=True, count=1), "07000000 3b 94 a171 07 c3 01"),
    (Publisher("me"), "05000000 41 91 a26d65"),
    (
        DurableSubscribe(7, "x", "b", "offset", 9, 3, 0.5, 2, "k"),
        "1c000000 42 99 07 a178 a162 a66f6666736574 09 03 cb3fe0000000000000 02 a16b",
    ),
    (Ack(7, [1, 2], 3), "07000000 43 93 07 920102 03"),
    (Nak(7, [1], 0.5), "0e000000 44 93 07 9101 cb3fe0000000000000"),
    (Seek("b", "all"), "09000000 45 93 a162 a3616c6c 00"),
    (Forget("b"), "04000000 46 91 a162"),
    (PublisherIs("me", 1, 5), "07000000 48 93 a26d65 01 05"),
    (Relayed(300), "05000000 26 91 cd012c"),
    (Unassured(["x > 5"], "b2"), "0c000000 27 92 91a578203e2035 a26232"),
    (Stored(1, 5, 2, 100), "08000000 49 96 01 05 02 64 00 a0"),
    (Stored(1, 7, 1, None, 100, "no"), "0a000000 49 96 01 07 01 c0 64 a26e6f"),
]
RUN = ForwardRun(
    RunHead(1, 2, 3, 4, 0.5, 6, 0),
    np.array([0, 7], np.uint32),
    np.array([0, 1], np.uint32),
    run_of([X1, X1]),
)
RELAY = RelayRun(1, 2, 3, 4, 5, np.array([0, 7], np.uint32), run_of([X1, X1]))
OTHERS: list[tuple[bytes, str]] = [
    (pack(Op.PUB, X1), "05000000 02 81a17801"),
    (
        pack_deliver(DurableDelivery(7, 100, 2, 1, X1)),
        "1d000000 4a 07000000 6400000000000000 0200000000000000 01000000 81a17801",
    ),
    (
        pack_acked(1, 5, 1, pack(Op.PUB, X1)),
        "1a000000 40 01000000 0500000000000000 01000000 05000000 02 81a17801",
    ),
    (
        RELAY.pack(),
        (
            "47000000 25 0100000000000000 0200000000000000 0300000000000000"
            "0400000000000000 0500000000000000 02000000 00000000 07000000"
            + "05000000 02 81a17801"
            * 2
        ),
    ),
    (pack_traced(7, X1), "09000000 0c 07000000 81a17801"),
    (Ping(b"a").pack(), "02000000 07 61"),
    (Pong(b"a").pack(), "02000000 08 61"),
    (pack_msg([7, 9], X1), "0f000000 12 0200 07000000 09000000 81a17801"),
    (pack_found(7, [X1, X1]), "17000000 13 07000000 0200" + "04000000 81a17801" * 2),
    (
        pack_forward(Forwarded(Stamp(1, 2, 3), 4, 0.5, 6, 1, X1)),
        (
            "30000000 21 0100000000000000 0200000000000000 0300000000000000"
            "0400000000000000 000000000000e03f 0600 01 81a17801"
        ),
    ),
    (
        RUN.pack(RunHead(1, 2, 3, 4, 0.5, 6, 0)),
        (
            "52000000 24 0100000000000000 0200000000000000 0300000000000000"
            "0400000000000000 000000000000e03f 0600 00 02000000"
            "00000000 07000000 00000000 01000000" + "05000000 02 81a17801" * 2
        ),
    ),
]


@pytest.mark.parametrize(("body", "golden"), BODIES, ids=lambda it: type(it).__name__)
def test_bodies(body: Body, golden: str) -> None:
    frame = bytes.fromhex(golden)
    assert body.pack().hex(" ") == frame.hex(" ")
    assert unpack(frame[4], frame[HEAD_BYTES:]) == body


@pytest.mark.parametrize(("frame", "golden"), OTHERS)
def test_other_frames(frame: bytes, golden: str) -> None:
    assert frame.hex(" ") == bytes.fromhex(golden).hex(" ")


def test_every_operation_is_here() -> None:
    frames = [*(body.pack() for body, _ in BODIES), *(frame for frame, _ in OTHERS)]
    found = {frame.op for frame in Splitter().feed(b"".join(frames))}
    assert found == set(Op)


def test_the_greeting() -> None:
    assert PREFACE.hex() == "005349454e410d0a"
    limits = Limits(1, 2, 3, 4, 5)
    info = Info("b", 6, 7, "siena 0", (1, 1), limits, ("lines",))
    assert info.line() == (
        b'{"broker":"b","number":6,"epoch":7,"software":"siena 0","versions":[1,1],'
        b'"limits":{"frame_bytes":1,"block_bytes":2,"line_bytes":3,"subscriptions":4,'
        b'"advertisements":5},"features":["lines"],"siena":"INFO"}\n'
    )
