"""Notifications of the log by offset: what was written last is still at hand."""

from bisect import bisect_right
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.broker.durable.limits import RECENT_BYTES_MAX
from siena.broker.durable.page import Pages
from siena.broker.log.stores.log_store import LogStore


class _Piece(NamedTuple):
    first: int
    end: int
    time: int
    blocks: bytes | memoryview
    bounds: npt.NDArray[np.int64]


class Blocks:
    """Reads blocks, one by one."""

    def __init__(self, store: LogStore) -> None:
        self._pages = Pages(store, 1)
        self._firsts: list[int] = []
        self._recent: list[_Piece] = []
        self._bytes = 0
        # What was read last; cursors read on from there.
        self._read: _Piece | None = None

    def appended(
        self, first: int, time: int, blocks: bytes, bounds: npt.NDArray[np.int64]
    ) -> None:
        """Keep what was written at hand."""
        piece = _Piece(first, first + len(bounds) - 1, time, blocks, bounds)
        self._firsts.append(first)
        self._recent.append(piece)
        self._bytes += len(blocks)
        if self._bytes > RECENT_BYTES_MAX:
            self._forget_half()

    def _forget_half(self) -> None:
        """Forget the older half, and so not a few each time."""
        size = 0
        keep = len(self._recent)
        while keep and size < RECENT_BYTES_MAX // 2:
            keep -= 1
            size += len(self._recent[keep].blocks)
        del self._recent[:keep], self._firsts[:keep]
        self._bytes = size

    def get(self, offset: int) -> tuple[bytes, int] | None:
        """The block at an offset, and when it came; none if the log has lost it.

        Raises:
            OSError: if it cannot be read now.
        """
        piece = self._read
        if piece is None or not piece.first <= offset < piece.end:
            piece = self._find(offset)
        if piece is None:
            return None
        start, end = piece.bounds[offset - piece.first : offset - piece.first + 2]
        return bytes(piece.blocks[start:end]), piece.time

    def _find(self, offset: int) -> _Piece | None:
        place = bisect_right(self._firsts, offset) - 1
        if place >= 0 and offset < self._recent[place].end:
            return self._recent[place]
        record = next(iter(self._pages.read(offset).records), None)
        if record is None or not record.first <= offset < record.end:
            return None
        bounds = record.offsets()
        piece = _Piece(record.first, record.end, record.time, record.blocks, bounds)
        self._read = piece
        return piece
