"""Gathering: publications of many connections, copied into one place to be matched.

Most frames that a broker gets are publications.  A compiled loop takes those that
stand in a row out of a stream; whatever else comes is left to who asked.
"""

from enum import IntEnum
from types import ModuleType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.kernels import wiring
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.frames import HEAD_BYTES, check_length
from siena.protocol.limits import BLOCK_BYTES_MAX, FRAME_BYTES_MAX

# Room to begin with; it grows with what has come at once.
BYTES_AT_FIRST = 65_536
BLOCKS_AT_FIRST = 1_024


class Pause(IntEnum):
    """Why gathering paused."""

    NEEDS_MORE = 0  # what follows is not complete
    OTHER_FRAME = 1  # what follows is no publication, or too long for one
    BAD_LENGTH = 2
    NO_ROOM = 3


class Gathered(NamedTuple):
    """The position up to which all was read, and why no further."""

    position: int
    why: Pause


class Gathering:
    """Publications that have come, in the order of coming.

    >>> from siena.protocol.frames import Op, pack
    >>> gathering = Gathering()
    >>> stream = pack(Op.PUB, b"abc") + pack(Op.PUB, b"de") + pack(Op.PING, b"")
    >>> gathering.take(stream)
    Gathered(position=15, why=<Pause.OTHER_FRAME: 1>)
    >>> bytes(gathering.blocks), gathering.offsets.tolist()
    (b'abcde', [0, 3, 5])
    """

    def __init__(
        self, limit: int = FRAME_BYTES_MAX, kernel: ModuleType = wiring
    ) -> None:
        self._limit = limit
        # The tests put the kernel's plain twin here.
        self._kernel = kernel
        self._blocks = np.empty(BYTES_AT_FIRST, np.uint8)
        self._offsets = np.zeros(BLOCKS_AT_FIRST + 1, np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def blocks(self) -> memoryview:
        """All blocks, back to back; good until more is taken or all cleared."""
        return self._blocks.data[: int(self._offsets[self._count])]

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each block begins, and the last one ends."""
        return self._offsets[: self._count + 1]

    def take(
        self,
        data: bytes | bytearray | memoryview,
        start: int = 0,
        end: int | None = None,
    ) -> Gathered:
        """Take publications while nothing else comes.

        Raises:
            ProtocolError: if a frame cannot have the length that it claims; what came
                before it is taken.
        """
        last = len(data) if end is None else end
        if last - start < HEAD_BYTES:
            return Gathered(start, Pause.NEEDS_MORE)
        while True:
            start, self._count, why = self._kernel.cut(
                data, start, last, self._limit, BLOCK_BYTES_MAX, self._blocks,
                self._offsets, self._count,
            )  # fmt: skip
            if why == Pause.NO_ROOM:
                self._grow(last - start)
                continue
            if why == Pause.BAD_LENGTH:
                length = int.from_bytes(data[start : start + 4], "little")
                check_length(length, self._limit)
                raise ProtocolError(Fault.BAD_FRAME, f"a frame of {length} bytes")
            return Gathered(start, Pause(why))

    def add(self, block: bytes) -> None:
        """Take one block that came in another way."""
        at = int(self._offsets[self._count])
        if len(self._blocks) - at < len(block) or self._count + 1 == len(self._offsets):
            self._grow(len(block))
        self._blocks[at : at + len(block)] = np.frombuffer(block, np.uint8)
        self._count += 1
        self._offsets[self._count] = at + len(block)

    def clear(self) -> None:
        """Forget all; its room is used again."""
        self._count = 0

    def _grow(self, more: int) -> None:
        used = int(self._offsets[self._count])
        if len(self._blocks) - used < more:
            blocks = np.empty(2 * (used + more), np.uint8)
            blocks[:used] = self._blocks[:used]
            self._blocks = blocks
        if self._count + 1 >= len(self._offsets):
            extra = np.zeros(len(self._offsets), np.int64)
            self._offsets = np.concatenate([self._offsets, extra])
