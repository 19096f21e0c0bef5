"""Deliveries: publications of a batch, as the bytes that each connection gets.

One call matches a batch and writes all deliveries; what it writes is, byte for byte,
what :mod:`siena.protocol.data_frames` writes one by one.
"""

from types import ModuleType

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from siena.matching.engine.engine import Batches, Engine, Matches
from siena.matching.kernels.join import prepend
from siena.matching.labels import with_room
from siena.matching.table import ForwardingTable
from siena.matching.view import View
from siena.model import Filter, Predicate
from siena.protocol.fast.kernels import framing
from siena.protocol.fast.split_frames import PUB, Octets
from siena.protocol.frames import HEAD_BYTES

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

# The slot of interests that belong to no connection, and of licences.
NO_SLOT = -1
LICENCE_SLOT = framing.LICENCE_SLOT
# A frame of usual size, to guess how many there are.
USUAL_BYTES = 128
_SERIAL_MAX = 2**31 - 1
# With no more engines than this, frames are matched where they are.
ENGINES_MAX = 4
# Of so many batches one block is noted, for which the table is laid out one day.
NOTED_EVERY = 8
_NOBODY = np.empty(0, np.int32), np.empty(0, np.int32)

# The bytes of one connection: its slot, frames back to back, how many deliveries.
Batch = tuple[int, bytes, int]


class Dispatched(Struct, frozen=True):
    """What became of a batch of publications: how many, and where they ended."""

    total: int
    end: int
    batches: list[Batch]
    # Which messages are bad, and why.
    bad: list[tuple[int, int]]
    # Messages that interests of no connection want, and these interests; good until
    # the next batch.
    other_messages: Ints
    other_interests: Ints
    # How many licences were matched, and by how many messages one that is marked.
    licensed: int
    within: int


class Dispatcher:
    """Interests of connections, and of others, in one table.

    A connection is a *slot*: a small number that is given again when it is free.

    >>> from siena.lang.parser import parse_filter as parse
    >>> dispatcher = Dispatcher()
    >>> _ = dispatcher.add(parse("x > 3"), slot=0, number=7)
    >>> frame = bytes.fromhex("05 00 00 00 02 81 a1 78 05")  # x=5, published
    >>> found = dispatcher.dispatch(frame, 0, len(frame), longest=100)
    >>> [(slot, data, count)] = found.batches
    >>> slot, data.hex(" "), count
    (0, '0b 00 00 00 12 01 00 07 00 00 00 81 a1 78 05', 1)
    """

    def __init__(self, kernel: ModuleType = framing) -> None:
        self.table = ForwardingTable()
        self.table.leave_to_rebuilds()
        # The tests put the kernel's plain twin here.
        self._kernel = kernel
        self._writer = kernel.DeliveryWriter()
        self._slots = np.zeros(64, np.int32)
        self._numbers = np.zeros(64, np.uint32)
        # Of each licence when it was marked last; those with the last mark count.
        self._marks = np.zeros(64, np.int32)
        self._mark = 1
        self._writer.know_interests(self._slots, self._numbers, self._marks)
        self._writer.count_marked(self._mark)
        self._make_room(64)
        self._serial = 1
        # The engines, of one view of the table, and what matches batches by them; and
        # the arrays that the writer has.
        self._engines: list[Engine] = []
        self._batches: list[Batches] = []
        self._arrays: tuple[Longs, Ints, Ints] | None = None
        self._turn = 0
        # Scratch, which grows with what has been found at once.
        self._others = np.empty((2, 64), np.int32)
        self._all = np.empty(64, np.int32)

    def _make_room(self, slots: int) -> None:
        # All zero between two batches, but for the stamps, which may begin anew too.
        self._stamps = np.zeros(slots, np.int32)
        self._sizes = np.zeros(slots, np.int64)
        self._frames = np.zeros(slots, np.int32)
        self._writer.know_connections(
            self._stamps,
            self._sizes,
            self._frames,
            np.empty(slots, np.int32),
            np.empty(2 * slots, np.int64),
            np.empty(slots, np.int64),
        )

    def add(
        self, interest: Filter | Predicate, *, slot: int = NO_SLOT, number: int = 0
    ) -> int:
        """Hold an interest, which its connection knows by a number; its own number."""
        # The table need not know whose an interest is: that stands in the slots.
        added = self.table.add(0, interest)
        if added >= len(self._slots):
            self._slots = with_room(self._slots, added)
            self._numbers = with_room(self._numbers, added)
            self._marks = with_room(self._marks, added)
            self._writer.know_interests(self._slots, self._numbers, self._marks)
        self._slots[added] = slot
        self._numbers[added] = number
        if slot >= len(self._stamps):
            self._make_room(2 * slot)
        return added

    def assign(self, added: Ints, slot: int) -> None:
        """Let these interests belong to another slot, or to none."""
        self._slots[added] = slot

    def numbers_of(self, added: Ints) -> npt.NDArray[np.uint32]:
        """By which numbers connections know these interests."""
        return self._numbers[added]

    def slots_of(self, added: Ints) -> Ints:
        """To which slots these interests belong."""
        return self._slots[added]

    def remove(self, added: int) -> None:
        """Hold it no longer."""
        self.table.remove(added)

    def dispatch(
        self, frames: Octets, start: int, end: int, longest: int
    ) -> Dispatched:
        """Match the blocks of PUB frames that stand back to back; write what follows.

        They go from ``start`` to before the first that is no PUB, is not complete
        before ``end``, or has a block that is longer than ``longest`` bytes.
        """
        blocks, count, at = self._match(frames, start, end, longest)
        serial = self._next(2 * count)
        try:
            found, strangers, bad, licensed, within = self._writer.measure(
                count, serial
            )
            batches: list[Batch] = []
            if found:
                batches = self._writer.lay_out(blocks, count, serial + count, found)
        except BaseException:
            # There may be no memory for so much; the next batch must not suffer.
            self._sizes[:] = 0
            self._frames[:] = 0
            raise
        others = self._others[:, :strangers] if strangers else _NOBODY
        return Dispatched(
            count,
            at,
            batches,
            self._bad(count) if bad else [],
            others[0],
            others[1],
            licensed,
            within,
        )

    def mark(self, licences: Ints) -> None:
        """Count in batches from now on what matches one of these licences."""
        self._mark = self._next_mark(1)
        self._marks[licences] = self._mark
        self._writer.count_marked(self._mark)

    def judge(self, messages: int, choices: Ints, licences: list[Ints]) -> Flags:
        """Of each message of the last batch whether it matches a licence of its own.

        ``choices`` say which of the ``licences`` these are, and below 0 that it needs
        none; what is bad needs none either.  None are marked afterwards.
        """
        starts = np.zeros(len(licences) + 1, np.int64)
        np.cumsum([len(some) for some in licences], out=starts[1:])
        members = np.concatenate([*licences, _NOBODY[0]])
        first = self._next_mark(messages + 2)
        self._mark = first + messages + 1
        allowed = np.zeros(messages, np.uint8)
        self._writer.judge(messages, choices, starts, members, first, allowed)
        self._writer.count_marked(self._mark)
        return allowed.view(np.bool_)

    def _next_mark(self, marks: int) -> int:
        """The first of so many marks that no licence has."""
        if self._mark + marks > _SERIAL_MAX:
            self._marks[:] = 0
            self._mark = 0
        return self._mark + 1

    def _match(
        self, frames: Octets, start: int, end: int, longest: int
    ) -> tuple[Octets, int, int]:
        """Match, such that the writer knows what was found.

        Returns where the blocks are, how many, and where their frames end.
        """
        view = self.table.view(1 + (end - start) // USUAL_BYTES)
        lone = view.lone_engine
        if lone is None:
            found = self._match_several(view, frames, start, end, longest)
            return found or self._match_blocks(frames, start, end, longest)
        if view.engines is not self._engines:  # seldom
            self._batches_of(view.engines)
        batches = self._batches[0]
        matched = batches.match(frames, start, end, PUB, longest)
        if matched is None:
            return self._match_blocks(frames, start, end, longest)
        count, at, matches = matched
        filters = batches.filters
        if len(lone.always):
            filters, matches = self._with_always(batches, matched, lone.always)
        self._know(batches.offsets, HEAD_BYTES, batches.counts, filters, matches)
        self._note(frames, count, batches)
        return frames, count, at

    def _match_several(
        self, view: View, frames: Octets, start: int, end: int, longest: int
    ) -> tuple[Octets, int, int] | None:
        """Match with several engines, or one that finds some twice, or what has gone.

        None if it cannot be done where the frames are.
        """
        if view.fresh is not None or len(view.engines) > ENGINES_MAX:
            return None
        count = at = 0
        parts: list[Matches] = []
        for batches in self._batches_of(view.engines):
            matched = batches.match(frames, start, end, PUB, longest)
            if matched is None:
                return None
            count, at, matches = matched
            parts.append(Matches(batches.counts[:count], batches.filters[:matches]))
        if not count:
            return None
        joined = view.join(parts)
        self._know(
            batches.offsets,
            HEAD_BYTES,
            joined.counts,
            joined.filters,
            len(joined.filters),
        )
        self._note(frames, count, batches)
        return frames, count, at

    def _match_blocks(
        self, frames: Octets, start: int, end: int, longest: int
    ) -> tuple[Octets, int, int]:
        """Match blocks that are copied out of their frames, by whatever there is."""
        count, at, _ = self._kernel.cut(frames, start, end, longest + 1, longest)
        offsets = np.zeros(count + 1, np.int64)
        blocks: bytes = self._kernel.unframe(frames, start, offsets)
        counts, filters = self.table.match_buffer(blocks, offsets)
        self._know(offsets, 0, counts, filters, len(filters))
        return blocks, count, at

    def _batches_of(self, engines: list[Engine]) -> list[Batches]:
        """What matches batches, by these engines; made where there is none yet."""
        if engines is not self._engines:
            known = dict(zip(map(id, self._engines), self._batches, strict=True))
            # First: should there be no memory, the old ones still belong together.
            self._batches = [
                known.get(id(each)) or Batches(each, HEAD_BYTES) for each in engines
            ]
            self._engines = engines
        return self._batches

    def _with_always(
        self, batches: Batches, found: tuple[int, int, int], always: Ints
    ) -> tuple[Ints, int]:
        """What was found, and the interests in everything; and how much that is.

        An engine does not have them: they would be looked for in every notification.
        """
        count, _, matches = found
        room = matches + count * len(always)
        if room > len(self._all):
            self._all = np.empty(2 * room, np.int32)
        total: int = prepend(batches.counts, batches.filters, count, always, self._all)
        return self._all, total

    def _note(self, frames: Octets, count: int, batches: Batches) -> None:
        """Remember one of the blocks now and then, if it is good."""
        self._turn += 1
        if not count or self._turn % NOTED_EVERY:
            return
        index = self._turn // NOTED_EVERY % count
        if batches.counts[index] >= 0:
            start, end = batches.offsets[index : index + 2].tolist()
            self.table.see(bytes(frames[start : end - HEAD_BYTES]))

    def _know(
        self, offsets: Longs, gap: int, counts: Ints, filters: Ints, found: int
    ) -> None:
        """Let the writer have the arrays, if it has others."""
        has_room = found <= self._others.shape[1]
        known = self._arrays
        if (
            has_room
            and known is not None
            and known[0] is offsets
            and known[1] is counts
            and known[2] is filters
        ):
            return
        if not has_room:
            self._others = np.empty((2, 2 * found), np.int32)
        self._arrays = offsets, counts, filters
        self._writer.know_matches(offsets, gap, counts, filters, self._others)

    def _bad(self, messages: int) -> list[tuple[int, int]]:
        assert self._arrays is not None
        counts = self._arrays[1][:messages]
        indices = np.flatnonzero(counts < 0)
        return list(zip(indices.tolist(), (-counts[indices]).tolist(), strict=True))

    def _next(self, messages: int) -> int:
        """The first of so many serials that no stamp has."""
        if self._serial + messages > _SERIAL_MAX:
            self._stamps[:] = 0
            self._serial = 1
        first = self._serial
        self._serial += messages
        return first
