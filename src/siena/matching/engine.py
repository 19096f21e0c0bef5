"""The engine: a compiled table of filters, for any number of threads.

An engine never changes.  :class:`~siena.matching.table.ForwardingTable` makes a new one
when filters have come or gone, and puts it in the place of the old.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.kernels.engine import Kernel
from siena.matching.vocabulary import Arrays, power_of_two
from siena.model.limits import ATTRIBUTES_MAX

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Runs that are queued before they are read: their memory is fetched meanwhile.
QUEUE_RUNS = 8_192
# String values that a thread remembers; when they are too many it begins anew.
VALUES_REMEMBERED = 16_384
VALUE_BYTES_REMEMBERED = 1_048_576
OPERANDS_LISTED = 1_048_576
# Matches that a batch has room for at first, beside one for each filter.
MATCHES_AT_FIRST = 4_096

_ROOM_FOR_MATCHES = 1


class Matches(NamedTuple):
    """What matches each block of a batch.

    ``counts[i]`` filters match block ``i``, and stand behind those of the blocks before
    it in ``filters``; a count below zero is the reason why a block is bad.
    """

    counts: Ints
    filters: Ints


class Engine:
    """The arrays of a table, and a kernel for each thread that matches right now.

    Threads may match at the same time; the kernels release the GIL.
    """

    def __init__(self, arrays: Arrays, kernel: Callable[..., Any] = Kernel) -> None:
        self.arrays = arrays
        # The tests put the kernel's plain twin here.
        self._new_kernel = kernel
        # Kernels that no thread is using, each with its scratch; a list, because its
        # append and pop are whole steps for all threads.
        self._idle: list[tuple[Any, int]] = []

    @property
    def nbytes(self) -> int:
        """The size of the arena: what grows with the filters."""
        return int(self.arrays["arena"].nbytes)

    def match(self, blocks: bytes | memoryview, offsets: Longs) -> Matches:
        """Match blocks ``blocks[offsets[i]:offsets[i + 1]]``.

        Raises:
            ValueError: if the offsets do not ascend within the blocks.
        """
        total = len(offsets) - 1
        _check(len(blocks), offsets)
        counts = np.zeros(max(1, total), np.int32)
        out = np.empty(self.arrays["filters"] + MATCHES_AT_FIRST, np.int32)
        state = np.zeros(2, np.int64)
        data = blocks or b"\0"
        kernel, scale = self._borrow()
        while True:
            why = kernel.match(data, offsets, int(state[0]), total, out, counts, state)
            if not why:
                self._idle.append((kernel, scale))
                return Matches(counts[:total], out[: state[1]])
            if why == _ROOM_FOR_MATCHES:
                out = np.concatenate([out, np.empty_like(out)])
            else:
                # A single notification filled the memory of values.
                scale *= 2
                kernel = self._new_kernel(self.arrays, self._scratch(scale))

    def _borrow(self) -> tuple[Any, int]:
        """A kernel for one thread, with the scale of its memory."""
        try:
            return self._idle.pop()
        except IndexError:
            return self._new_kernel(self.arrays, self._scratch(1)), 1

    def _scratch(self, scale: int) -> Arrays:
        values = VALUES_REMEMBERED
        return {
            "x": np.full(8 * self.arrays["names"], -1, np.int32),
            "attributes": np.zeros(ATTRIBUTES_MAX, np.int32),
            "key_hashes": np.zeros(ATTRIBUTES_MAX, np.uint64),
            "key_starts": np.zeros(ATTRIBUTES_MAX, np.int64),
            "key_ends": np.zeros(ATTRIBUTES_MAX, np.int64),
            "queue": np.zeros(5 * QUEUE_RUNS + 64, np.int32),
            "memory_slots": np.full(power_of_two(2 * values), -1, np.int32),
            "memory_hashes": np.zeros(values, np.uint64),
            "memory_starts": np.zeros(values, np.int64),
            "memory_sizes": np.zeros(values, np.int32),
            "memory_ranks": np.zeros(values, np.int32),
            "memory_reverses": np.zeros(values, np.int32),
            "memory_lists": np.zeros(values, np.int32),
            "pool": np.zeros(VALUE_BYTES_REMEMBERED * scale, np.uint8),
            "lists": np.zeros(OPERANDS_LISTED * scale, np.int32),
            "node_seen": np.zeros(len(self.arrays["node_ends"]), np.int32),
        }


def _check(size: int, offsets: Longs) -> None:
    """The kernel trusts the offsets; nobody else should have to."""
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError("offsets are a row of 64-bit integers, one more than blocks")
    if offsets[0] < 0 or offsets[-1] > size or bool(np.any(np.diff(offsets) < 0)):
        raise ValueError("offsets ascend, and end within the blocks")
