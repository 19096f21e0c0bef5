"""The engine: a compiled table of filters, for any number of threads.

An engine never changes.  :class:`~siena.matching.table.ForwardingTable` makes a new one
when filters have come or gone, and puts it in the place of the old.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.engine.ranks import Arrays, power_of_two
from siena.matching.input.arrow import Batch
from siena.matching.input.flat import flatten
from siena.matching.kernels.match import Kernel, are_within
from siena.model import Value
from siena.model.limits import ATTRIBUTES_MAX

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Masks = npt.NDArray[np.uint64]

# Names of a notification that are expected where they stood in the one before.
KEYS_REMEMBERED = 64
# What is queued before it is read: its memory is fetched meanwhile.
QUEUE_ITEMS = 8_192
# String values that a thread remembers; when they are too many it begins anew.
VALUES_REMEMBERED = 65_536
VALUE_BYTES_REMEMBERED = 1_048_576
OPERANDS_LISTED = 1_048_576
# What batches have room for at first: matches, beside one for each filter, and blocks.
MATCHES_AT_FIRST = 1_024
BLOCKS_AT_FIRST = 2_048

_ROOM_FOR_MATCHES = 1


class Matches(NamedTuple):
    """What matches each block of a batch.

    ``counts[i]`` filters match block ``i``, and stand behind those of the blocks before
    it in ``filters``; a count below zero is the reason why a block is bad.
    """

    counts: Ints
    filters: Ints


class Recorded(NamedTuple):
    """The coordinates of notifications; see :meth:`Engine.record`.

    ``memory`` and ``lists`` are those of the kernel: what it knows of string values.
    """

    tape: Ints
    starts: Longs
    memory: Ints
    lists: Ints


class Encoded(NamedTuple):
    """Notifications as numbers that mean something to one kernel.

    Attributes of notification ``m`` are ``starts[m]`` to ``starts[m + 1]``.
    """

    worker: "_Worker"
    names: Ints
    kinds: Ints
    values: Longs
    starts: Longs

    def batches(self, size: int) -> "list[Encoded]":
        """The same notifications, so many at a time."""
        return [
            self._replace(starts=self.starts[first : first + size + 1])
            for first in range(0, len(self.starts) - 1, size)
        ]


class _Worker:
    """A kernel, and what only one thread may use at a time."""

    def __init__(self, arrays: Arrays, make: Callable[..., Any], scale: int) -> None:
        self.scale = scale
        self.scratch = _scratch(arrays, scale)
        self.kernel = make(arrays, self.scratch)
        # How many matches to make room for: a little more than the last time.
        self.expected = MATCHES_AT_FIRST


class Engine:
    """The arrays of a table, and a kernel for each thread that matches right now.

    Threads may match at the same time; the kernels release the GIL.
    """

    def __init__(self, arrays: Arrays, kernel: Callable[..., Any] = Kernel) -> None:
        self.arrays = arrays
        # The tests put the kernel's plain twin here.
        self._make = kernel
        # Workers that no thread is using; a list, because its append and pop are whole
        # steps for all threads.
        self._idle: list[_Worker] = []

    @property
    def filters(self) -> int:
        """How many filters there are."""
        return int(self.arrays["header"][1])

    @property
    def nbytes(self) -> int:
        """The size of the arena: what grows with the filters."""
        return int(self.arrays["arena"].nbytes)

    @property
    def vocabulary_nbytes(self) -> int:
        """The size of all that finds names and ranks values."""
        return sum(int(array.nbytes) for array in self.arrays.values()) - self.nbytes

    def match(
        self, blocks: bytes | memoryview, offsets: Longs, out: Ints | None = None
    ) -> Matches:
        """Match blocks ``blocks[offsets[i]:offsets[i + 1]]``.

        With ``out``, the matches are written there, as long as it has room for one more
        than there are filters; so a caller in a loop can use the same array.

        Raises:
            ValueError: if the offsets do not ascend within the blocks, or ``out`` is
                read-only.
        """
        total = len(offsets) - 1
        _check(len(blocks), offsets)
        if out is not None and not out.flags.writeable:
            raise ValueError("out is read-only")
        data = blocks or b"\0"
        return self._run(
            lambda kernel, first, out, counts, state: kernel.match(
                data, offsets, first, total, out, counts, _NO_MASKS, 0, state
            ),
            total,
            out,
        )

    def match_arrow(self, batch: Batch) -> Matches:
        """Match the rows of an Arrow batch."""
        worker = self._borrow()
        # Seeds differ between tables, not between the kernels of one: asked once.
        numbers = worker.kernel.find_names(batch.names)
        self._idle.append(worker)
        names = np.array([*numbers, -1], np.int32)
        return self._run(
            lambda kernel, first, out, counts, state: kernel.match_rows(
                batch, names, first, batch.rows, out, counts, state
            ),
            batch.rows,
            None,
        )

    def _run(
        self,
        step: Callable[[Any, int, Ints, Ints, Longs], int],
        total: int,
        out: Ints | None,
    ) -> Matches:
        """Match from the first to the last, and make room whenever a step wants some.

        A step gets a kernel, where to go on, the matches, the counts and the state.
        """
        counts = np.zeros(max(1, total), np.int32)
        state = np.zeros(2, np.int64)
        worker = self._borrow()
        if out is None:
            out = np.empty(self.filters + worker.expected, np.int32)
        while True:
            why = step(worker.kernel, int(state[0]), out, counts, state)
            if not why:
                worker.expected = int(state[1]) * 9 // 8 + MATCHES_AT_FIRST
                self._idle.append(worker)
                return Matches(counts[:total], out[: state[1]])
            if why == _ROOM_FOR_MATCHES:
                more = np.empty(len(out) + self.filters + MATCHES_AT_FIRST, np.int32)
                out = np.concatenate([out, more])
            else:
                # A single notification filled the memory of values.
                worker = _Worker(self.arrays, self._make, 2 * worker.scale)

    def match_masks(
        self, blocks: bytes | memoryview, offsets: Longs, wanted: int
    ) -> tuple[Ints, Masks]:
        """Of each block 0 or why it is bad, and the bits of the owners that match.

        For engines whose owners are bits
        (:func:`siena.matching.engine.layout.lay_out`); ``wanted`` has the bits that
        matter.
        """
        total = len(offsets) - 1
        _check(len(blocks), offsets)
        counts = np.zeros(max(1, total), np.int32)
        masks = np.zeros(max(1, total), np.uint64)
        state = np.zeros(2, np.int64)
        data = blocks or b"\0"
        worker = self._borrow()
        while worker.kernel.match(
            data, offsets, int(state[0]), total, _NO_MATCHES, counts, masks, wanted,
            state,
        ):  # fmt: skip
            worker = _Worker(self.arrays, self._make, 2 * worker.scale)
        self._idle.append(worker)
        return counts[:total], masks[:total]

    def cursor(self) -> "Cursor":
        """For one thread that matches block after block."""
        return Cursor(self)

    def record(self, blocks: bytes, offsets: Longs) -> Recorded:
        """Read good blocks; the coordinates of all their attributes.

        Raises:
            ValueError: if a block is bad, or there are too many distinct values.
        """
        worker = _Worker(self.arrays, self._make, 1)
        tape = np.zeros(64 * len(blocks) + 64, np.int32)
        starts = np.zeros(len(offsets), np.int64)
        if worker.kernel.record(blocks, offsets, tape, starts) < len(offsets) - 1:
            raise ValueError("a block is bad, or there are too many values to remember")
        scratch = worker.scratch
        return Recorded(tape, starts, scratch["memory"], scratch["lists"])

    def encode(self, notifications: Iterable[Mapping[str, Value]]) -> Encoded:
        """Find names and strings beforehand, so that matching alone can be measured.

        Values remain to be ranked: that is a part of matching.

        Raises:
            ValueError: if there are too many distinct strings.
        """
        worker = _Worker(self.arrays, self._make, 1)
        plain, offsets, text = flatten(notifications, worker.kernel.find_names)
        done = worker.kernel.remember(
            plain.names, plain.kinds, plain.values, text, offsets
        )
        if done < plain.starts[-1]:
            raise ValueError("there are too many strings to remember")
        return Encoded(worker, *plain)

    def match_encoded(self, batch: Encoded, out: Ints | None = None) -> Matches:
        """Match what was encoded for this engine; for one thread at a time."""
        worker = batch.worker
        total = len(batch.starts) - 1
        counts = np.zeros(max(1, total), np.int32)
        if out is None:
            out = np.empty(self.filters + worker.expected, np.int32)
        parts = []
        done = 0
        while True:
            done, found = worker.kernel.match_encoded(
                *batch[1:], done, total, out, counts, _NO_MASKS, 0
            )
            parts.append(out[:found])
            if done == total:
                break
            out = np.empty(2 * len(out), np.int32)
        worker.expected = sum(map(len, parts)) * 9 // 8 + MATCHES_AT_FIRST
        return Matches(
            counts[:total], parts[0] if len(parts) == 1 else np.concatenate(parts)
        )

    def match_encoded_masks(self, batch: Encoded, wanted: int) -> Masks:
        """As :meth:`match_masks`, of what was encoded for this engine."""
        total = len(batch.starts) - 1
        counts = np.zeros(max(1, total), np.int32)
        masks = np.zeros(max(1, total), np.uint64)
        batch.worker.kernel.match_encoded(
            *batch[1:], 0, total, _NO_MATCHES, counts, masks, wanted
        )
        return masks[:total]

    def _borrow(self) -> _Worker:
        """A kernel for one thread, with the scale of its memory."""
        try:
            return self._idle.pop()
        except IndexError:
            return _Worker(self.arrays, self._make, 1)


class Cursor:
    """Matches one block at a time, into an array that it uses again and again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._worker = engine._borrow()  # noqa: SLF001 -- the other half of the engine
        self.out = np.empty(engine.filters + 64, np.int32)
        """The matches of the last block, as many as :meth:`match` said."""
        self._worker.kernel.use(self.out)
        self._match = self._worker.kernel.match_one

    def match(self, block: bytes) -> int:
        """How many filters match; below zero, why the block is bad."""
        count = self._match(block)
        if count is None:  # only a larger memory can help
            offsets = np.array([0, len(block)], np.int64)
            matches = self._engine.match(block, offsets)
            count = int(matches.counts[0])
            self.out[: max(0, count)] = matches.filters
        return int(count)


class Batches:
    """Matches batch after batch, into arrays that it uses again and again.

    For one thread.  After :meth:`match`, ``offsets``, ``counts`` and ``filters`` say of
    the last batch where its blocks are and what they match; behind each block there are
    ``head_bytes``: the head of the next frame, or room for one.
    """

    def __init__(self, engine: Engine, head_bytes: int) -> None:
        if head_bytes < 5:  # a length and an operation, which are read
            raise ValueError(f"heads of {head_bytes} bytes have no operation")
        self._engine = engine
        self._head_bytes = head_bytes
        self._worker = engine._borrow()  # noqa: SLF001 -- the other half of the engine
        self._match = self._worker.kernel.match_held
        self._make_room(BLOCKS_AT_FIRST)
        self._make_room_for_matches(engine.filters + MATCHES_AT_FIRST)

    def _make_room(self, blocks: int) -> None:
        offsets, counts = np.zeros(blocks + 1, np.int64), np.zeros(blocks, np.int32)
        state = np.zeros(2, np.int64)
        self._worker.kernel.hold(offsets, counts, state, _NO_MASKS, self._head_bytes)
        # Last: should there be no memory, those that are held are still these.
        self.offsets, self.counts = offsets, counts

    def _make_room_for_matches(self, matches: int) -> None:
        filters = np.empty(matches, np.int32)
        self._worker.kernel.use(filters)
        self.filters = filters

    def match(
        self, frames: bytes | memoryview, start: int, end: int, op: int, longest: int
    ) -> tuple[int, int, int] | None:
        """Match the blocks of the first frames of this operation, from start to end.

        A frame is a head, and a block that is no longer than ``longest``.  Of the head
        four bytes say how much follows them, and the next one is the operation.

        Returns how many frames there are, where they end and how many matches they
        have.  ``None`` if the engine itself must be asked.
        """
        while True:
            found: tuple[int, int, int] = self._match(frames, start, end, op, longest)
            if found[0] == len(self.counts):  # there may be more
                self._make_room(2 * len(self.counts))
            elif found[2] >= 0:
                return found
            elif found[2] != -_ROOM_FOR_MATCHES:
                return None  # only a larger memory of values can help
            else:
                # What was found is found again; it is rare that more is than ever.
                self._make_room_for_matches(2 * len(self.filters))


def _scratch(arrays: Arrays, scale: int) -> Arrays:
    names = int(arrays["header"][2])
    # The memory of values is not cleared, which would take longer than to lay out a
    # small table: nothing of it is read that the kernel has not written.
    return {
        "x": np.full(8 * names, -1, np.int32),
        "attributes": np.zeros(ATTRIBUTES_MAX, np.int32),
        "visits": np.zeros(2 * 3 * ATTRIBUTES_MAX, np.int32),
        "found_lists": np.zeros(ATTRIBUTES_MAX, np.int32),
        "key_hashes": np.zeros(ATTRIBUTES_MAX, np.uint64),
        "key_starts": np.zeros(ATTRIBUTES_MAX, np.int64),
        "key_ends": np.zeros(ATTRIBUTES_MAX, np.int64),
        "shape": np.zeros(4 * KEYS_REMEMBERED, np.uint64),
        "shape_sizes": np.zeros(KEYS_REMEMBERED, np.int32),
        "shape_names": np.zeros(KEYS_REMEMBERED, np.int32),
        "queue": np.zeros(4 * QUEUE_ITEMS + 64, np.int32),
        "memory_slots": np.empty(power_of_two(2 * VALUES_REMEMBERED), np.int32),
        "memory": np.empty(16 * VALUES_REMEMBERED, np.int32),
        "pool": np.empty(VALUE_BYTES_REMEMBERED * scale, np.uint8),
        "lists": np.empty(OPERANDS_LISTED * scale, np.int32),
        "node_seen": np.zeros(
            len(arrays["node_ends"]) + len(arrays["fold_atoms"]), np.int32
        ),
    }


def _check(size: int, offsets: Longs) -> None:
    """The kernel trusts the offsets; no caller should have to."""
    if offsets.dtype != np.int64 or offsets.ndim != 1 or len(offsets) == 0:
        raise ValueError("offsets are a row of 64-bit integers, one more than blocks")
    if not are_within(np.ascontiguousarray(offsets), size):
        raise ValueError("offsets ascend, and end within the blocks")


_NO_MASKS = np.zeros(1, np.uint64)
_NO_MATCHES = np.zeros(1, np.int32)
