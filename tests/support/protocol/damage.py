"""Streams as they may really come: drawn at random, damaged, or nonsense."""

import random

from protocol.streams import KINDS
from siena.protocol.frames import Op, pack

Rng = random.Random


def drawn(rng: Rng, kind: str) -> bytes:
    _, hello, pieces = KINDS[kind]
    return hello + b"".join(rng.choices(pieces, k=rng.choice((0, 1, 3, 10, 30))))


def damaged(rng: Rng, data: bytes) -> bytes:
    """The data with some of its bytes changed, lost, doubled or replaced."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        at = rng.randrange(len(data) + 1)
        end = at + rng.choice((1, 1, 2, 4, 9))
        match rng.randrange(6):
            case 0:
                data = data[:at] + rng.randbytes(1) + data[at + 1 :]
            case 1:
                data = data[:at] + data[end:]
            case 2:
                data = data[:end] + data[at:]
            case 3:
                data = data[:at] + rng.randbytes(rng.randrange(9)) + data[at:]
            case 4:
                data = (
                    data[:at] + rng.choice((b"\0", b"\xff", b"\n", b"{")) + data[end:]
                )
            case _:
                op = rng.choice([*Op, rng.randrange(256)])
                data = data[:at] + pack(op, data[at:end]) + data[at:]
    return data


def nonsense(rng: Rng, _: str) -> bytes:
    return rng.choice((b"", b"\0", b"\0SIENA\r\n", b"{", b"sub ")) + rng.randbytes(
        rng.choice((1, 5, 50, 500))
    )


def after_hello(rng: Rng, kind: str) -> bytes:
    """Frames that are whole, with anything inside."""
    frames = [
        pack(rng.choice([*Op]), rng.randbytes(rng.randrange(12))) for _ in range(5)
    ]
    return KINDS[kind][1] + b"".join(frames)


def damaged_stream(rng: Rng, kind: str) -> bytes:
    return damaged(rng, drawn(rng, kind))
