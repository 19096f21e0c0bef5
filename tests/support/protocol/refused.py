"""Streams that end with an error that closes, and which."""

import math

from siena.block import encode
from siena.protocol.control_frames import (
    Connect,
    Peer,
    Subscribe,
    Tell,
    Welcome,
)
from siena.protocol.data_frames import pack_msg
from siena.protocol.error_codes import Fault
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE
from siena.protocol.limits import CONNECT_BYTES_MAX
from siena.protocol.pings import Ping

CONNECT = Connect(1, name="me")
HELLO = PREFACE + CONNECT.pack()
AS_BROKER = PREFACE + Connect(1, peer=Peer(7, 8, "peer")).pack()
X1 = encode({"x": 1})
FORWARD = bytes.fromhex(
    "0100000000000000 0200000000000000 0300000000000000 0400000000000000"
    "0000000000000840 0500 00"
)

REFUSED: list[tuple[bytes, Fault]] = [
    (b"\0SIENA\n", Fault.BAD_PREFACE),
    (b"\0\0", Fault.BAD_PREFACE),
    (PREFACE + Ping().pack(), Fault.BAD_CONNECT),
    (PREFACE + pack(Op.CONNECT, b""), Fault.BAD_CONNECT),
    (PREFACE + pack(Op.CONNECT, b"\x91\xa1x"), Fault.BAD_CONNECT),
    (PREFACE + pack(Op.CONNECT, b"\x92\x01\xa0"), Fault.BAD_CONNECT),
    (PREFACE + pack(Op.CONNECT, b"\x92\x01\xa1\xff"), Fault.BAD_CONNECT),
    (PREFACE + pack(Op.CONNECT, b"\x91\x00"), Fault.BAD_VERSION),
    # Another version may have other fields, and is refused for its number.
    (PREFACE + pack(Op.CONNECT, b"\x92\x09\x90"), Fault.BAD_VERSION),
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
]
