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


class Batch(NamedTuple):
    """The bytes of one connection, and how many deliveries they are."""

    slot: int
    frames: bytes
    deliveries: int


class Dispatched(NamedTuple):
    """What became of a batch of publications."""

    batches: list[Batch]
    # Of each message how many interests it has, or below zero why it is bad.
    counts: Ints
    # Messages that interests of no connection want, and these interests.
    other_messages: Ints
    other_interests: Ints


class Dispatcher:
    """Interests of connections, and of others, in one table.

    A connection is a *slot*: a small number that is given again when it is free.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.matching.blocks import encode_all
    >>> dispatcher = Dispatcher()
    >>> _ = dispatcher.add(parse("x > 3"), slot=0, number=7)
    >>> batch = dispatcher.dispatch(*encode_all([{"x": 5}])).batches[0]
    >>> batch.slot, batch.deliveries, batch.frames.hex(" ")
    (0, 1, '0b 00 00 00 12 01 00 07 00 00 00 81 a1 78 05')
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
        others = np.empty((2, len(filters) + 1), np.int32)
        touched = np.empty(min(len(self._stamps), len(filters)) + 1, np.int32)
        found = filters if len(filters) else _NOTHING
        found_count, stranger_count = self._kernel.measure(
            offsets, counts, found, self._slots, self._stamps, self._next(len(counts)),
            self._sizes, self._frames, touched, others,
        )  # fmt: skip
        slots = touched[:found_count]
        batches = (
            self._lay_out(blocks, offsets, counts, found, slots) if len(slots) else []
        )
        return Dispatched(
            batches, counts, others[0, :stranger_count], others[1, :stranger_count]
        )

    def _lay_out(
        self,
        blocks: bytes | memoryview,
        offsets: Longs,
        counts: Ints,
        filters: Ints,
        slots: Ints,
    ) -> list[Batch]:
        ends = np.cumsum(self._sizes[slots])
        places = self._sizes  # where each begins, from here on
        frames = self._frames[slots].tolist()
        begins = ends - self._sizes[slots]
        places[slots] = begins
        out = np.empty(int(ends[-1]), np.uint8)
        begun = np.empty(len(places) + len(slots), np.int64)
        self._kernel.lay_out(
            blocks, offsets, counts, filters, self._slots, self._numbers,
            self._stamps, self._next(len(counts)), places, begun, out,
        )  # fmt: skip
        places[slots] = 0
        self._frames[slots] = 0
        data = out.data
        # Bytes of their own: they may wait in a queue while others are written.
        return [
            Batch(slot, bytes(data[begin:end]), count)
            for slot, begin, end, count in zip(
                slots.tolist(), begins.tolist(), ends.tolist(), frames, strict=True
            )
        ]

    def _next(self, messages: int) -> int:
        """The first of so many serials that no stamp has."""
        if self._serial + messages > _SERIAL_MAX:
            self._stamps[:] = 0
            self._serial = 1
        first = self._serial
        self._serial += messages
        return first


_NOTHING = np.zeros(1, np.int32)
