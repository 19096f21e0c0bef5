"""Fresh filters: the last few that came, tested one by one.

To make an engine for a few filters takes milliseconds, however few they are, and the
next filter that comes makes it useless.  So they are tested in a loop first, and an
engine is made once the loop has cost about as much: whatever comes next, the two
together cost at most about twice what would have been best.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from siena.block import decode_named
from siena.matching.engine.engine import Engine, Matches
from siena.model import Filter, Value

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Filters times notifications that are tested in a loop before an engine is made: at
# one to two microseconds each, about as long as that takes.
TESTED_MAX = 2_048


class LinearTier:
    """Filters, each with its owner; never changed, but for what has been tested."""

    def __init__(self, filters: Iterable[tuple[int, Filter]] = ()) -> None:
        self.filters = tuple(filters)
        self._names = {c.name for _, f in self.filters for c in f.constraints}
        self._tested = 0

    def extended(self, filters: Iterable[tuple[int, Filter]]) -> "LinearTier":
        """These filters and more, as if nothing had been tested yet."""
        return LinearTier((*self.filters, *filters))

    def is_worth_it(self, messages: int) -> bool:
        """Whether to go on with a loop, rather than to make an engine."""
        tested = self._tested + messages * len(self.filters)
        return tested <= TESTED_MAX

    def match(
        self, blocks: bytes | memoryview, offsets: Longs, good: Iterable[bool]
    ) -> Matches:
        """As an engine does it; of the blocks an engine has said which are good."""
        counts: list[int] = []
        found: list[int] = []
        for values in self._read(blocks, offsets, good):
            before = len(found)
            found += [owner for owner, f in self.filters if f.matches(values)]
            counts.append(len(found) - before)
        self._tested += len(counts) * len(self.filters)
        return Matches(np.array(counts, np.int32), np.array(found, np.int32))

    def match_masks(
        self,
        blocks: bytes | memoryview,
        offsets: Longs,
        good: Iterable[bool],
        labels: Ints,
    ) -> npt.NDArray[np.uint64]:
        """Of each block the bits of the labels that match."""
        matches = self.match(blocks, offsets, good)
        bits = np.uint64(1) << labels[matches.filters].astype(np.uint64)
        masks = np.zeros(len(matches.counts), np.uint64)
        rows = np.repeat(np.arange(len(masks)), matches.counts)
        np.bitwise_or.at(masks, rows, bits)
        return masks

    def _read(
        self, blocks: bytes | memoryview, offsets: Longs, good: Iterable[bool]
    ) -> Iterator[Mapping[str, Value]]:
        """Of each block the attributes that filters name; of a bad one none."""
        view, start = memoryview(blocks), int(offsets[0])
        for end, is_good in zip(offsets[1:].tolist(), good, strict=True):
            yield decode_named(view[start:end], self._names) if is_good else {}
            start = end


def match_all(
    engines: Sequence[Engine],
    fresh: LinearTier | None,
    blocks: bytes | memoryview,
    offsets: Longs,
) -> list[Matches]:
    """What each engine finds, and last what the loop does."""
    parts = [engine.match(blocks, offsets) for engine in engines]
    if fresh is not None:
        parts.append(fresh.match(blocks, offsets, (parts[0].counts >= 0).tolist()))
    return parts
