"""A sample of the traffic: recent notifications, a few of very many."""

from collections import deque

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# How many notifications are kept, and how long one may be.
SAMPLE_BLOCKS = 512
SAMPLE_BLOCK_BYTES = 4_096


class Sample:
    """Keeps one block of every batch; the oldest go.

    From batches of one it keeps them all, and of large ones few; which block of a
    batch it is goes round, so that no place in a batch is preferred.
    """

    def __init__(self) -> None:
        self._blocks: deque[bytes] = deque(maxlen=SAMPLE_BLOCKS)
        self._turn = 0

    def __len__(self) -> int:
        return len(self._blocks)

    def note(self, blocks: bytes | memoryview, offsets: Longs, counts: Ints) -> None:
        """Keep one of the blocks, if it is good and not too long."""
        total = len(offsets) - 1
        if total:
            self._turn = (self._turn + 1) % total
            start, end = int(offsets[self._turn]), int(offsets[self._turn + 1])
            if counts[self._turn] >= 0:
                self.keep(bytes(blocks[start:end]))

    def keep(self, block: bytes) -> None:
        """Keep a good block, if it is not too long."""
        if len(block) <= SAMPLE_BLOCK_BYTES:
            self._blocks.append(block)

    def blocks(self) -> tuple[bytes, Longs]:
        """What was kept, back to back, with offsets."""
        kept = list(self._blocks)
        offsets = np.cumsum([0, *map(len, kept)]).astype(np.int64)
        return b"".join(kept), offsets
