"""Dispatch: publications of a batch, laid out as the bytes that each connection gets.

One call matches a batch and writes all deliveries; what it writes is, byte for byte,
what :mod:`siena.protocol.deliveries` writes one by one.
"""

from types import ModuleType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.kernels import wiring
from siena.matching.labels import with_room
from siena.matching.table import ForwardingTable
from siena.model import Filter, Predicate

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# The slot of interests that belong to no connection.
NO_SLOT = -1
_SERIAL_MAX = 2**31 - 1
# Room for deliveries that is kept from one batch to the next; what needs more is rare.
OUT_BYTES_KEPT = 16_777_216


# The bytes of one connection: its slot, frames back to back, how many deliveries.
Batch = tuple[int, bytes, int]


class Dispatched(NamedTuple):
    """What became of a batch of publications."""

    batches: list[Batch]
    # Of each message how many interests it has, or below zero why it is bad.
    counts: Ints
    # Messages that interests of no connection want, and these interests; good until
    # the next batch.
    other_messages: Ints
    other_interests: Ints


class Dispatcher:
    """Interests of connections, and of others, in one table.

    A connection is a *slot*: a small number that is given again when it is free.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.matching.blocks import encode_all
    >>> dispatcher = Dispatcher()
    >>> _ = dispatcher.add(parse("x > 3"), slot=0, number=7)
    >>> [(slot, data, count)] = dispatcher.dispatch(*encode_all([{"x": 5}])).batches
    >>> slot, data.hex(" "), count
    (0, '0b 00 00 00 12 01 00 07 00 00 00 81 a1 78 05', 1)
    """

    def __init__(self, kernel: ModuleType = wiring) -> None:
        self.table = ForwardingTable()
        # The tests put the kernel's plain twin here.
        self._kernel = kernel
        self._slots = np.zeros(64, np.int32)
        self._numbers = np.zeros(64, np.uint32)
        # For each slot; all zero between two batches, but for the stamps.
        self._stamps = np.zeros(64, np.int32)
        self._sizes = np.zeros(64, np.int64)
        self._frames = np.zeros(64, np.int32)
        self._serial = 1
        # Scratch, which grows with what has been found at once.
        self._touched = np.empty(64, np.int32)
        self._others = np.empty((2, 64), np.int32)
        self._begun = np.empty(128, np.int64)
        self._out = np.empty(4096, np.uint8)

    def add(
        self, interest: Filter | Predicate, *, slot: int = NO_SLOT, number: int = 0
    ) -> int:
        """Hold an interest, which its connection knows by a number; its own number."""
        added = self.table.add(slot, interest)
        self._slots = with_room(self._slots, added)
        self._numbers = with_room(self._numbers, added)
        self._slots[added] = slot
        self._numbers[added] = number
        while slot >= len(self._stamps):
            self._stamps = with_room(self._stamps, len(self._stamps))
            self._sizes = with_room(self._sizes, len(self._sizes))
            self._frames = with_room(self._frames, len(self._frames))
        return added

    def remove(self, added: int) -> None:
        """Hold it no longer."""
        self.table.remove(added)

    def dispatch(self, blocks: bytes | memoryview, offsets: Longs) -> Dispatched:
        """Match blocks that stand back to back, and write what follows."""
        counts, filters = self.table.match_buffer(blocks, offsets)
        if not len(filters):
            return Dispatched([], counts, filters, filters)
        if len(filters) > len(self._touched):
            self._touched = np.empty(2 * len(filters), np.int32)
            self._others = np.empty((2, 2 * len(filters)), np.int32)
        found, strangers, size = self._kernel.measure(
            offsets, counts, filters, self._slots, self._stamps,
            self._next(len(counts)), self._sizes, self._frames, self._touched,
            self._others,
        )  # fmt: skip
        batches = self._lay_out(blocks, offsets, counts, filters, found, size)
        messages, interests = self._others
        return Dispatched(batches, counts, messages[:strangers], interests[:strangers])

    def _lay_out(
        self,
        blocks: bytes | memoryview,
        offsets: Longs,
        counts: Ints,
        filters: Ints,
        found: int,
        size: int,
    ) -> list[Batch]:
        """Write what was measured; whatever happens, nothing of it is left over."""
        if not found:
            return []
        try:
            out = self._out
            if size > len(out):
                out = np.empty(size, np.uint8)
                if size <= OUT_BYTES_KEPT:
                    self._out = out
            if 2 * len(self._sizes) > len(self._begun):
                self._begun = np.empty(2 * len(self._sizes), np.int64)
            batches: list[Batch] = self._kernel.lay_out(
                blocks, offsets, counts, filters, self._slots, self._numbers,
                self._stamps, self._next(len(counts)), self._sizes, self._frames,
                self._touched, found, self._begun, out,
            )  # fmt: skip
        except BaseException:
            # There may be no memory for so much; the next batch must not suffer.
            self._sizes[:] = 0
            self._frames[:] = 0
            raise
        return batches

    def _next(self, messages: int) -> int:
        """The first of so many serials that no stamp has."""
        if self._serial + messages > _SERIAL_MAX:
            self._stamps[:] = 0
            self._serial = 1
        first = self._serial
        self._serial += messages
        return first
