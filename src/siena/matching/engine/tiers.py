"""Tiers: which rows of a table are compiled together, while rows come and go.

*Theory of operation.*  Engines never change, and to make one takes as long as it has
rows.  So rows are kept in tiers, each a stretch of neighbours, from many old rows to a
few new ones; a new row only makes the last tier anew, and even that only if it is worth
it (:mod:`siena.matching.engine.linear_tier`).  A tier that has become large
beside the one before it is merged with it, so that a table of n rows has about log n
tiers, and each row is compiled about as often.  The first tiers can be compiled
elsewhere: from :meth:`Tiers.seal` to :meth:`Tiers.adopt` nothing touches their rows,
and then one engine takes their place.
"""

import secrets
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from siena.matching.engine.columns import Columns
from siena.matching.engine.engine import Engine
from siena.matching.engine.layout import lay_out
from siena.matching.engine.linear_tier import LinearTier
from siena.matching.sample import Sample

Ints = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint8]

# The last tier takes this many rows before it counts as one of the others.
FRESH_ROWS = 64
# A tier is merged with the one before it if that is not this many times larger.
GROWTH = 8
# Tiers of this many rows and more are laid out for the traffic that was seen.
LEARNING_ROWS = 1_024


@dataclass(slots=True)
class Tier:
    """Rows ``first`` to ``last``, and their engines once they are needed."""

    first: int
    last: int
    engine: Engine | None = None
    masks: Engine | None = None
    fresh: LinearTier = field(default_factory=LinearTier)

    def __len__(self) -> int:
        return self.last - self.first


class Tiers:
    """The tiers of a table, in the order of their rows; the last may be empty."""

    def __init__(
        self, columns: Columns | None = None, engine: Engine | None = None
    ) -> None:
        self.columns = columns or Columns()
        # What the traffic is like.
        self.sample = Sample()
        self.merged_max = sys.maxsize
        """Tiers are not merged to more rows than this."""
        end = len(self.columns)
        self._tiers = [Tier(0, end, engine)]
        if end:
            self._tiers.append(Tier(end, end))
        # Rows below are being compiled elsewhere; no tier is merged across this.
        self._sealed = 0

    def __iter__(self) -> Iterator[Tier]:
        return iter(self._tiers)

    @property
    def is_one(self) -> bool:
        """Whether all rows are in one tier."""
        return len(self.columns) == len(self._tiers[0])

    @property
    def is_scattered(self) -> bool:
        """Whether there are several engines where one would do."""
        return sum(len(tier) > 0 for tier in self._tiers) > 1

    @property
    def fresh_rows(self) -> int:
        """How many rows the last tier has, which may be left to a loop."""
        return len(self._tiers[-1])

    def settle(self) -> None:
        """Assign the rows that have come since to tiers."""
        end = len(self.columns)
        last = self._tiers[-1]
        if last.last == end:
            return
        if end - last.first <= FRESH_ROWS:
            known = len(last.fresh.filters)
            rows = range(last.first + known, end)
            added = [(self.columns.owners[r], self.columns.filter(r)) for r in rows]
            self._tiers[-1] = Tier(last.first, end, fresh=last.fresh.extended(added))
            return
        first = last.first
        tiers = self._tiers[:-1]
        while tiers and tiers[-1].first >= self._sealed:
            if len(tiers[-1]) >= GROWTH * (end - first):
                break
            if end - tiers[-1].first > self.merged_max:
                break
            first = tiers.pop().first
        self._tiers = [*tiers, Tier(first, end), Tier(end, end)]

    def engines(
        self, gone: Marks, messages: int | None = None
    ) -> tuple[list[Engine], LinearTier | None]:
        """The engines of all rows but those that are gone, made where there are none.

        Of a table without rows there is an engine too: it says which blocks are bad.
        With a number of messages, the last rows may be left to a loop.
        """
        tiers = self._with_rows()
        last, fresh = tiers[-1], None
        if last.engine is None and self._is_left_to_a_loop(last, tiers, messages):
            fresh = tiers.pop().fresh
        for tier in tiers:
            if tier.engine is None:
                tier.engine = self.compile(tier.first, tier.last, gone)
        return [tier.engine for tier in tiers if tier.engine is not None], fresh

    def mask_engines(
        self, gone: Marks, labels: Ints, messages: int | None = None
    ) -> tuple[list[Engine], LinearTier | None]:
        """The same with labels, all below 64, in the place of owners."""
        tiers = self._with_rows()
        last, fresh = tiers[-1], None
        if last.masks is None and self._is_left_to_a_loop(last, tiers, messages):
            fresh = tiers.pop().fresh
        for tier in tiers:
            if tier.masks is None:
                snapshot = self.columns.snapshot(tier.first, tier.last, gone)
                snapshot = snapshot._replace(owners=labels[snapshot.owners])
                tier.masks = Engine(
                    lay_out(snapshot, secrets.randbits(62), as_masks=True)
                )
        return [tier.masks for tier in tiers if tier.masks is not None], fresh

    def _with_rows(self) -> list[Tier]:
        self.settle()
        return [tier for tier in self._tiers if len(tier)] or self._tiers[:1]

    def _is_left_to_a_loop(
        self, tier: Tier, tiers: list[Tier], messages: int | None
    ) -> bool:
        # Somebody must say which blocks are bad: the loop is never alone.
        if messages is None or len(tiers) == 1 or tier is not self._tiers[-1]:
            return False
        return tier.fresh.is_worth_it(messages)

    def compile(self, first: int, last: int, gone: Marks) -> Engine:
        """An engine for some rows.

        Each has a seed of its own: names that collide cannot be prepared.
        """
        snapshot = self.columns.snapshot(first, last, gone)
        # To learn takes longer than to lay out a few rows.
        sample = self.sample if last - first >= LEARNING_ROWS else None
        return Engine(lay_out(snapshot, secrets.randbits(62), sample=sample))

    def seal(self) -> int:
        """Begin a new tier; where: the rows before it are to be compiled elsewhere."""
        self.settle()
        self._sealed = len(self.columns)
        if len(self._tiers[-1]):
            self._tiers = [*self._tiers, Tier(self._sealed, self._sealed)]
        return self._sealed

    def adopt(self, engine: Engine, columns: Columns) -> None:
        """Take an engine and its rows for all rows that are sealed."""
        end = len(columns)
        less = self._sealed - end
        if columns.is_compact:
            columns.take_rows(self._sealed, self.columns)
            columns.is_compact = False
            self.columns = columns
        else:
            self.columns.replace(self._sealed, columns)
        rest = [
            Tier(t.first - less, t.last - less, t.engine, t.masks, t.fresh)
            for t in self._tiers
            if t.first >= self._sealed
        ]
        self._tiers = [Tier(0, end, engine), *(rest or [Tier(end, end)])]
        self._sealed = 0

    def merge(self, gone: Marks) -> None:
        """Put all rows but those that are gone into one tier."""
        self.columns.drop(gone)
        end = len(self.columns)
        self._tiers = [Tier(0, end), Tier(end, end)] if end else [Tier(0, 0)]
        self._sealed = 0
