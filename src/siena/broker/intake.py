"""Intake: what came over a connection, cut into publications and other frames.

Publications that follow each other stay together as a run, which is matched in one call
later; every other frame is for itself.
"""

import struct
from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from siena.protocol.faults import ProtocolError
from siena.protocol.frames import HEAD_BYTES, Frame, Op, check_length
from siena.protocol.gathering import Gathering, Pause
from siena.protocol.limits import BLOCK_BYTES_MAX

_LENGTH = struct.Struct("<I")
# Below this many bytes a loop is done before the kernel has been set up.
SHORT_BYTES = 1_024


class Run(NamedTuple):
    """Publications that follow each other: their blocks, back to back."""

    blocks: bytes
    lengths: "array[int]"


class Cut(NamedTuple):
    """What was complete; where the rest begins, and how much there must be of it."""

    pieces: list[Run | Frame]
    end: int
    needed: int
    error: ProtocolError | None


def cut(data: bytes, limit: int) -> Cut:
    """Cut a buffer; what is wrong with it comes after what was right.

    >>> from siena.protocol.frames import pack
    >>> data = pack(Op.PUB, b"a") + pack(Op.PUB, b"bc") + pack(Op.PING, b"d") + b"123"
    >>> found = cut(data, 100)
    >>> found.pieces
    [Run(blocks=b'abc', lengths=array('q', [1, 2])), Frame(op=7, body=b'd')]
    >>> data[found.end :], found.needed
    (b'123', 5)
    """
    if len(data) < SHORT_BYTES:
        return cut_one_by_one(data, limit)
    pieces: list[Run | Frame] = []
    gathering = Gathering(limit)
    at, size, needed = 0, len(data), HEAD_BYTES
    error = None
    try:
        while True:
            at, why = gathering.take(data, at)
            _collect(gathering, pieces)
            if size - at < 4:
                break
            (length,) = _LENGTH.unpack_from(data, at)
            check_length(length, limit)
            end = at + 4 + length
            if end > size:
                needed = 4 + length
                break
            assert why is Pause.OTHER_FRAME
            pieces.append(Frame(data[at + 4], data[at + 5 : end]))
            at = end
    except ProtocolError as caught:
        error = caught
        at += int(gathering.offsets[-1]) + HEAD_BYTES * len(gathering)
        _collect(gathering, pieces)
    return Cut(pieces, at, needed, error)


def _collect(gathering: Gathering, pieces: list[Run | Frame]) -> None:
    if len(gathering):
        lengths = array("q", np.diff(gathering.offsets).tobytes())
        pieces.append(Run(bytes(gathering.blocks), lengths))
        gathering.clear()


def cut_one_by_one(data: bytes, limit: int) -> Cut:
    """The same, frame by frame: for few of them, and what the other must equal."""
    pieces: list[Run | Frame] = []
    blocks: list[bytes] = []
    at, size, needed = 0, len(data), HEAD_BYTES
    error = None
    try:
        while size - at >= 4:
            (length,) = _LENGTH.unpack_from(data, at)
            check_length(length, limit)
            end = at + 4 + length
            if end > size:
                needed = 4 + length
                break
            op = data[at + 4]
            # One that is too long is for itself, and will be refused.
            if op == Op.PUB and length - 1 <= BLOCK_BYTES_MAX:
                blocks.append(data[at + 5 : end])
            else:
                _close(blocks, pieces)
                pieces.append(Frame(op, data[at + 5 : end]))
            at = end
    except ProtocolError as caught:
        error = caught
    _close(blocks, pieces)
    return Cut(pieces, at, needed, error)


def _close(blocks: list[bytes], pieces: list[Run | Frame]) -> None:
    if blocks:
        pieces.append(run_of(blocks))
        blocks.clear()


def run_of(blocks: Sequence[bytes]) -> Run:
    """A run of some blocks.

    >>> run_of([b"a", b"bc"])
    Run(blocks=b'abc', lengths=array('q', [1, 2]))
    """
    if len(blocks) == 1:
        return Run(blocks[0], array("q", (len(blocks[0]),)))
    return Run(b"".join(blocks), array("q", map(len, blocks)))
