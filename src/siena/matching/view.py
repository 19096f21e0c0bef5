"""A table at one time: engines, and what they find together.

Changes of the table meanwhile make other views, and do not disturb this one.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.block import Refusal
from siena.matching.answers import Delivery, Wanted, restricted, without
from siena.matching.engine.engine import Engine, Matches
from siena.matching.engine.linear_tier import LinearTier, match_all
from siena.matching.input.arrow import Batch
from siena.matching.kernels.join import join, spread, turn

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Instead of labels: every filter is its own.
ONLY_ONE_LABEL = np.zeros(1, np.int32)
# Serials begin anew before they leave 32 bits.
_SERIAL_MAX = 2**31 - 1


class Joiner:
    """Joins matches, for one thread at a time."""

    def __init__(self) -> None:
        self._stamps = np.zeros(0, np.int32)
        self._serial = 1

    def join(
        self,
        parts: Sequence[Matches],
        always: Ints,
        gone: npt.NDArray[np.uint8],
        labels: Ints,
    ) -> Matches:
        """The matches of all parts and ``always``, each once, but what is gone.

        Instead of filters, their labels; see :data:`ONLY_ONE_LABEL`.
        """
        messages = len(parts[0].counts)
        if len(self._stamps) < len(gone) or self._serial + messages > _SERIAL_MAX:
            self._stamps = np.zeros(len(gone), np.int32)
            self._serial = 1
        filters = np.concatenate([*(part.filters for part in parts), [0]])
        sizes = [len(part.filters) for part in parts]
        starts = np.concatenate([[0], np.cumsum(sizes[:-1])]).astype(np.int64)
        out = np.empty(len(filters) + len(always) * messages + 1, np.int32)
        counts = np.zeros(messages, np.int32)
        found = join(
            np.stack([part.counts for part in parts]),
            starts,
            filters.astype(np.int32),
            np.append(always, np.int32(0)),
            gone,
            labels,
            self._stamps,
            self._serial,
            out,
            counts,
        )
        self._serial += messages
        return Matches(counts, out[:found])


class Lone(NamedTuple):
    """The one engine that has everything, but for the interests in everything."""

    engine: Engine
    always: Ints


class View(NamedTuple):
    """What a table knows, for those who ask it now."""

    engines: list[Engine]
    fresh: LinearTier | None
    as_masks: bool
    # Interests in everything, which no engine has.
    always: Ints
    # Whether engines find each interest of theirs that matches once, and no other.
    is_plain: bool
    interfaces: Longs
    labels: Ints
    # Of each interest whether it was removed.
    gone: npt.NDArray[np.uint8]
    # How many there are, those that were removed too.
    interests: int
    # Whether there would be fewer engines, or less that was removed, after a rebuild.
    is_scattered: bool
    # For threads to borrow, one at a time.
    joiners: list[Joiner]

    @property
    def lone_engine(self) -> Lone | None:
        """The one engine that has what engines have, if there is one."""
        if len(self.engines) == 1 and self.fresh is None and self.is_plain:
            return Lone(self.engines[0], self.always)
        return None

    def match(
        self, blocks: bytes | memoryview, offsets: Longs, out: Ints | None = None
    ) -> Matches:
        """The interests that match each block."""
        lone = self.lone_engine
        if lone is not None and not len(lone.always):
            return lone.engine.match(blocks, offsets, out)
        return self.join(self._parts(blocks, offsets))

    def join(self, parts: list[Matches]) -> Matches:
        """The interests that match each block, each once, of what all engines found."""
        return self._join(parts, ONLY_ONE_LABEL)

    def match_labels(
        self, blocks: bytes | memoryview, offsets: Longs, labels: Ints
    ) -> Matches:
        """The labels of the interests that match each block, each once.

        Raises:
            ValueError: if there are fewer labels than interests, or one is too high.
        """
        labels = self._joinable(labels)
        return self._join(self._parts(blocks, offsets), labels)

    def match_rows(self, rows: Batch, labels: Ints | None) -> Matches:
        """The interests that match each row of an Arrow batch, or their labels.

        Raises:
            ValueError: if there are fewer labels than interests, or one is too high.
        """
        joinable = ONLY_ONE_LABEL if labels is None else self._joinable(labels)
        matched = [engine.match_arrow(rows) for engine in self.engines]
        parts = [without(m, rows.too_long, Refusal.TOO_LONG) for m in matched]
        is_all = len(parts) == 1 and self.is_plain and not len(self.always)
        if labels is None and is_all:
            return parts[0]
        return self._join(parts, joinable)

    def match_interfaces(
        self,
        blocks: bytes | memoryview,
        offsets: Longs,
        allowed: Collection[int] | None,
    ) -> Wanted:
        """The interfaces that want each block, each once, of those that are allowed."""
        is_open = np.ones(len(self.interfaces), np.bool_)
        if allowed is not None:
            is_open = np.isin(self.interfaces, np.fromiter(allowed, np.int64))
        if self.as_masks:
            found = self._match_masks(blocks, offsets, is_open)
        else:
            found = self._join(self._parts(blocks, offsets), self.labels)
            found = restricted(found, is_open)
        return Wanted(found.counts, self.interfaces[found.filters])

    def by_interface(self, matches: Matches) -> list[Delivery]:
        """What was found, together for each interface that wants something."""
        sizes = np.bincount(
            self.labels[matches.filters], minlength=len(self.interfaces)
        )
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        messages, numbers = np.empty((2, len(matches.filters)), np.int32)
        starts = ends[:-1].copy()
        turn(matches.counts, matches.filters, self.labels, starts, messages, numbers)
        return [
            Delivery(interface, messages[start:end], numbers[start:end])
            for interface, start, end in zip(
                self.interfaces.tolist(),
                ends[:-1].tolist(),
                ends[1:].tolist(),
                strict=True,
            )
            if start < end
        ]

    def _parts(self, blocks: bytes | memoryview, offsets: Longs) -> list[Matches]:
        return match_all(self.engines, self.fresh, blocks, offsets)

    def _joinable(self, labels: Ints) -> Ints:
        """Labels as the joiner wants them, which trusts them.

        It takes a single one for none at all.
        """
        labels = np.ascontiguousarray(labels, np.int32)
        if len(labels) < self.interests:
            raise ValueError(f"{len(labels)} labels for {self.interests} interests")
        if labels.min(initial=0) < 0 or labels.max(initial=0) >= len(self.gone):
            raise ValueError(
                "labels are below the number of interests, and not negative"
            )
        return labels if len(labels) > 1 else np.append(labels, labels)

    def _join(self, parts: list[Matches], labels: Ints) -> Matches:
        try:
            joiner = self.joiners.pop()
        except IndexError:
            joiner = Joiner()
        joined = joiner.join(parts, self.always, self.gone, labels)
        self.joiners.append(joiner)
        return joined

    def _match_masks(
        self, blocks: bytes | memoryview, offsets: Longs, is_open: Bools
    ) -> Matches:
        """Labels that are open and match each block, found as the bits of a word."""
        wanted = sum(1 << label for label in np.flatnonzero(is_open).tolist())
        always = set(self.labels[self.always].tolist())
        mask = np.uint64(sum(1 << label for label in always) & wanted)
        found = np.full(len(offsets) - 1, mask, np.uint64)
        bad = np.zeros(len(offsets) - 1, np.int32)
        for engine in self.engines:
            bad, masks = engine.match_masks(blocks, offsets, wanted)
            found |= masks
        if self.fresh is not None:
            is_good = (bad >= 0).tolist()
            masks = self.fresh.match_masks(blocks, offsets, is_good, self.labels)
            found |= masks & np.uint64(wanted)
        out = np.empty(len(found) * len(is_open) + 1, np.int32)
        counts = np.empty_like(bad)
        count = spread(found, bad, len(is_open), out, counts)
        return Matches(counts, out[:count])
