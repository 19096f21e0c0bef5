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
    # How many are bad.
    bad: int
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
        self._courier = kernel.Courier()
        self._slots = np.zeros(64, np.int32)
        self._numbers = np.zeros(64, np.uint32)
        self._courier.know_interests(self._slots, self._numbers)
        self._make_room(64)
        self._serial = 1
        # Scratch, which grows with what has been found at once.
        self._others = np.empty((2, 64), np.int32)
        self._out = np.empty(4096, np.uint8)

    def _make_room(self, slots: int) -> None:
        # All zero between two batches, but for the stamps, which may begin anew too.
        self._stamps = np.zeros(slots, np.int32)
        self._sizes = np.zeros(slots, np.int64)
        self._frames = np.zeros(slots, np.int32)
        self._courier.know_connections(
            self._stamps,
            self._sizes,
            self._frames,
            np.empty(slots, np.int32),
            np.empty(2 * slots, np.int64),
        )

    def add(
        self, interest: Filter | Predicate, *, slot: int = NO_SLOT, number: int = 0
    ) -> int:
        """Hold an interest, which its connection knows by a number; its own number."""
        added = self.table.add(slot, interest)
        if added >= len(self._slots):
            self._slots = with_room(self._slots, added)
            self._numbers = with_room(self._numbers, added)
            self._courier.know_interests(self._slots, self._numbers)
        self._slots[added] = slot
        self._numbers[added] = number
        if slot >= len(self._stamps):
            self._make_room(2 * slot)
        return added

    def remove(self, added: int) -> None:
        """Hold it no longer."""
        self.table.remove(added)

    def dispatch(self, blocks: bytes | memoryview, offsets: Longs) -> Dispatched:
        """Match blocks that stand back to back, and write what follows."""
        counts, filters = self.table.match_buffer(blocks, offsets)
        if len(filters) > self._others.shape[1]:
            self._others = np.empty((2, 2 * len(filters)), np.int32)
        try:
            found, strangers, size, bad = self._courier.measure(
                offsets, counts, filters, self._next(len(counts)), self._others
            )
            batches: list[Batch] = []
            if found:
                batches = self._courier.lay_out(
                    blocks, offsets, counts, filters,
                    self._next(len(counts)), found, self._room_for(size),
                )  # fmt: skip
        except BaseException:
            # There may be no memory for so much; the next batch must not suffer.
            self._sizes[:] = 0
            self._frames[:] = 0
            raise
        messages, interests = self._others[:, :strangers]
        return Dispatched(batches, counts, bad, messages, interests)

    def _room_for(self, size: int) -> npt.NDArray[np.uint8]:
        out = self._out
        if size > len(out):
            out = np.empty(size, np.uint8)
            if size <= OUT_BYTES_KEPT:
                self._out = out
        return out

    def _next(self, messages: int) -> int:
        """The first of so many serials that no stamp has."""
        if self._serial + messages > _SERIAL_MAX:
            self._stamps[:] = 0
            self._serial = 1
        first = self._serial
        self._serial += messages
        return first
