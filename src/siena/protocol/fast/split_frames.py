"""Frames split: what came over a connection, as publications and other frames.

Publications that follow each other stay together as a run, which is matched in one call
later; every other frame is for itself.
"""

from collections.abc import Sequence
from typing import NamedTuple

from siena.block import BLOCK_BYTES_MAX
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.kernels import framing
from siena.protocol.frames import (
    HEAD_BYTES,
    LENGTH,
    LENGTH_BYTES,
    Frame,
    Op,
    check_length,
    pack,
)

Octets = bytes | memoryview

# A plain integer: to look an operation up takes longer than to compare it.
PUB = int(Op.PUB)

# Why a row of publications ended, as the kernel says it; a test compares.
OTHER_FRAME = 1
# Below this many bytes a loop is done before the kernel has been set up.
SHORT_BYTES = 1_024
# What is routed at once of what was put aside: with its copies it fits into a cache.
AT_ONCE_BYTES = 262_144


class PublishRun(NamedTuple):
    """Publications that follow each other: PUB frames, where they came.

    They are ``frames[start:end]``, as many as ``total`` says, and every length in them
    has been checked.  Where they came something else may come later: what is to be kept
    is copied.
    """

    frames: Octets
    start: int
    end: int
    total: int

    def blocks(self) -> list[bytes]:
        """Their blocks, one by one."""
        found, at = [], self.start
        for _ in range(self.total):
            (length,) = LENGTH.unpack_from(self.frames, at)
            found.append(
                bytes(self.frames[at + HEAD_BYTES : at + LENGTH_BYTES + length])
            )
            at += LENGTH_BYTES + length
        return found


class Cut(NamedTuple):
    """What was complete; where the rest begins, and how much there must be of it."""

    pieces: list[PublishRun | Frame]
    end: int
    needed: int
    error: ProtocolError | None
    is_all: bool = True
    """Whether nothing behind the end is complete, for all that is known."""


def cut(
    data: Octets, limit: int, start: int = 0, block_bytes: int = BLOCK_BYTES_MAX
) -> Cut:
    """Cut a buffer; what is wrong with it comes after what was right.

    Of a long one, the beginning: what it is cut into is then routed and written while
    the processor still has it at hand.

    >>> from siena.protocol.frames import pack
    >>> data = pack(Op.PUB, b"a") + pack(Op.PUB, b"bc") + pack(Op.PING, b"d") + b"123"
    >>> found = cut(data, 100)
    >>> run, ping = found.pieces
    >>> run.blocks(), ping
    ([b'a', b'bc'], Frame(op=7, body=b'd'))
    >>> data[found.end :], found.needed
    (b'123', 4)
    """
    if len(data) - start < SHORT_BYTES:
        return cut_one_by_one(data, limit, start, block_bytes)
    pieces: list[PublishRun | Frame] = []
    at, size, needed = start, len(data), LENGTH_BYTES
    bound = min(size, start + AT_ONCE_BYTES)
    is_all = True
    while True:
        begun = at
        count, at, why = framing.cut(data, begun, bound, limit, block_bytes)
        if count:
            pieces.append(PublishRun(data, begun, at, count))
        if size - at < LENGTH_BYTES:
            break
        (length,) = LENGTH.unpack_from(data, at)
        try:
            check_length(length, limit)
        except ProtocolError as error:
            return Cut(pieces, at, needed, error)
        end = at + LENGTH_BYTES + length
        if end > size:
            needed = LENGTH_BYTES + length
            break
        if why == OTHER_FRAME:
            pieces.append(
                Frame(data[at + LENGTH_BYTES], bytes(data[at + HEAD_BYTES : end]))
            )
            at = end
        elif at > start:
            is_all = False
            break
        else:
            bound = end  # one that is longer than what is looked at at once
    return Cut(pieces, at, needed, None, is_all)


def cut_one_by_one(
    data: Octets, limit: int, start: int = 0, block_bytes: int = BLOCK_BYTES_MAX
) -> Cut:
    """The same, frame by frame: for few of them, and what the other must equal."""
    pieces: list[PublishRun | Frame] = []
    begun = at = start
    count, size, needed = 0, len(data), LENGTH_BYTES
    error = None
    try:
        while size - at >= LENGTH_BYTES:
            (length,) = LENGTH.unpack_from(data, at)
            check_length(length, limit)
            end = at + LENGTH_BYTES + length
            if end > size:
                needed = LENGTH_BYTES + length
                break
            op = data[at + LENGTH_BYTES]
            # One that is too long is for itself, and will be refused.
            if op == Op.PUB and length - 1 <= block_bytes:
                count += 1
            else:
                if count:
                    pieces.append(PublishRun(data, begun, at, count))
                pieces.append(Frame(op, bytes(data[at + HEAD_BYTES : end])))
                begun, count = end, 0
            at = end
    except ProtocolError as caught:
        error = caught
    if count:
        pieces.append(PublishRun(data, begun, at, count))
    return Cut(pieces, at, needed, error)


def run_of(blocks: Sequence[bytes]) -> PublishRun:
    """A run of some blocks.

    >>> run_of([b"a", b"bc"]).blocks()
    [b'a', b'bc']
    """
    frames = b"".join(pack(Op.PUB, block) for block in blocks)
    return PublishRun(frames, 0, len(frames), len(blocks))


def joined(runs: Sequence[PublishRun]) -> PublishRun:
    """Runs as one: frames that stand back to back are a run again.

    >>> joined([run_of([b"a"]), run_of([b"bc", b"d"])]).blocks()
    [b'a', b'bc', b'd']
    """
    if len(runs) == 1:
        return runs[0]
    frames = b"".join([run.frames[run.start : run.end] for run in runs])
    return PublishRun(frames, 0, len(frames), sum(run.total for run in runs))
