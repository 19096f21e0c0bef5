"""Intake: what came over a connection, cut into publications and other frames.

Publications that follow each other stay together as a run, which is matched in one call
later; every other frame is for itself.
"""

import struct
from array import array
from collections.abc import Sequence
from typing import NamedTuple

from siena.matching.kernels import wiring
from siena.protocol.faults import ProtocolError
from siena.protocol.frames import HEAD_BYTES, Frame, Op, check_length
from siena.protocol.limits import BLOCK_BYTES_MAX

_LENGTH = struct.Struct("<I")
# Why a row of publications ended; the kernel has the same number.
OTHER_FRAME = 1
# Below this many bytes a loop is done before the kernel has been set up.
SHORT_BYTES = 1_024
# What is looked at at once: with its copies it fits into the cache of a processor.
AT_ONCE_BYTES = 262_144


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
    is_all: bool = True
    """Whether nothing behind the end is complete, for all that is known."""


def cut(data: bytes, limit: int, start: int = 0) -> Cut:
    """Cut a buffer; what is wrong with it comes after what was right.

    Of a long one, the beginning: what it is cut into is then routed and written while
    the processor still has it at hand.

    >>> from siena.protocol.frames import pack
    >>> data = pack(Op.PUB, b"a") + pack(Op.PUB, b"bc") + pack(Op.PING, b"d") + b"123"
    >>> found = cut(data, 100)
    >>> found.pieces
    [Run(blocks=b'abc', lengths=array('q', [1, 2])), Frame(op=7, body=b'd')]
    >>> data[found.end :], found.needed
    (b'123', 5)
    """
    if len(data) - start < SHORT_BYTES:
        return cut_one_by_one(data, limit, start)
    pieces: list[Run | Frame] = []
    at, size, needed = start, len(data), HEAD_BYTES
    bound = min(size, start + AT_ONCE_BYTES)
    is_all = True
    while True:
        blocks, lengths, at, why = wiring.cut(data, at, bound, limit, BLOCK_BYTES_MAX)
        if lengths:
            pieces.append(Run(blocks, lengths))
        if size - at < 4:
            break
        (length,) = _LENGTH.unpack_from(data, at)
        try:
            check_length(length, limit)
        except ProtocolError as error:
            return Cut(pieces, at, needed, error)
        end = at + 4 + length
        if end > size:
            needed = 4 + length
            break
        if why == OTHER_FRAME:
            pieces.append(Frame(data[at + 4], data[at + 5 : end]))
            at = end
        elif at > start:
            is_all = False
            break
        else:
            bound = end  # one that is longer than what is looked at at once
    return Cut(pieces, at, needed, None, is_all)


def cut_one_by_one(data: bytes, limit: int, start: int = 0) -> Cut:
    """The same, frame by frame: for few of them, and what the other must equal."""
    pieces: list[Run | Frame] = []
    blocks: list[bytes] = []
    at, size, needed = start, len(data), HEAD_BYTES
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
