"""The arena: where every filter is stored, and the rows that lead there.

What the words mean is written above :mod:`siena.matching.kernels.match`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.errors import LimitError
from siena.matching.engine.columns import (
    ANY,
    BAND,
    EQ,
    GT,
    LT,
    NE,
    PRESENT,
    STRING,
    TIME,
)
from siena.matching.engine.intervals import Table
from siena.matching.engine.parts import Parts
from siena.matching.engine.ranks import Arrays, Ints, Longs, power_of_two
from siena.matching.kernels.build import (
    enter_lists,
    fill_groups,
    fill_lists,
    fill_masks,
)

# Directories of up to so many names are read from end to end, and not searched.
NAMES_SCANNED = 16
# Lists up to this many filters are read as they are, without a directory.
SHORT = 24
# The words of the arena's header, and of a row.
HEADER, ROW = 16, 8
# Places in the arena are words of it, of 32 bits.
ARENA_WORDS_MAX = 2**31 - 1
# Above every rank, to sort by dimension and rank at once.
_STRIDE = np.int64(2**32)

Bools = npt.NDArray[np.bool_]


class Places(NamedTuple):
    """Rows of the arena: which dimensions have them, from where on, and how many."""

    dimension: Ints
    start: Ints  # the first row of each, counted in rows
    rows: int


class Arena:
    """One arena in the making."""

    def __init__(
        self,
        table: Table,
        offsets: Longs,
        members: Ints,
        owners: Ints,
        names: int,
        *,
        as_masks: bool,
    ) -> None:
        self.table = table
        self.offsets = offsets
        self.members = members
        self.owners = owners
        self.names = names
        sizes = np.diff(offsets)
        self.access = members[offsets[:-1]]
        kind = table.kind[self.access]
        self.is_single = sizes == 1
        in_rows = self.is_single & (kind != BAND)
        in_rows &= (kind >= LT) | (as_masks & (kind == EQ))
        self.stretched = np.flatnonzero(in_rows)
        self.listed = np.flatnonzero((kind < LT) & ~in_rows)
        self.grouped = np.flatnonzero((kind >= LT) & ~in_rows)
        self.as_masks = as_masks
        # Of each constraint its rank on the rows of its dimension.
        self.row_rank = table.rank
        self.local: Arrays = {}
        # Whether some name is in so many pairs that its directory is searched.
        self.has_wide_pairs = False

    def arrays(self) -> Arrays:
        """The arena, and what leads into it.

        Raises:
            LimitError: if it would be too large for its own words.
        """
        t = self.table
        places = self._rows()
        words = np.stack([2 * t.dimension + t.negated, t.first, t.last], 1)
        parts = Parts(t, offsets=self.offsets, members=self.members)
        order, spans, tags, keys = self._lists(parts)
        heads = self.access[order[spans[:-1]]]
        hashed = t.kind[heads] != EQ
        slots = power_of_two(2 * int(hashed.sum()) + 2)
        rows = _aligned(HEADER + 4 * slots)
        pairs = rows + ROW * places.rows
        stretches = pairs + self.names
        lists = stretches + (0 if self.as_masks else len(self.stretched))
        if lists + self._room() > ARENA_WORDS_MAX:
            raise LimitError("ARENA_WORDS_MAX", ARENA_WORDS_MAX, "words in a table")
        arena = np.zeros(lists + self._room(), np.int32)
        arena[:4] = HEADER, slots - 1, rows, pairs
        masks = np.zeros(2 * places.rows + 1, np.uint64)
        if self.as_masks:
            self._fill_masks(masks, places)
        else:
            self._fill_rows(arena, places, rows, stretches)
        at = np.empty(len(heads), np.int32)
        end = fill_lists(
            arena,
            lists,
            spans,
            order,
            self._seconds(),
            tags,
            keys,
            self.offsets,
            self.members,
            words,
            self.owners,
            SHORT,
            at,
        )
        equal = ~hashed
        enter_lists(
            arena,
            HEADER,
            slots - 1,
            t.rank[heads[hashed]],
            (8 * t.dimension + t.kind)[heads[hashed]],
            at[hashed],
        )
        row = self._row_of(heads[equal], places)
        arena[rows + ROW * row + 6] = at[equal]
        end = self._fill_groups(arena, end, words, pairs, parts)
        row_places = np.zeros(8 * self.names, np.int32)
        row_places[places.dimension] = rows + ROW * places.start[:-1]
        return {
            # The kernel looks a little ahead of what it reads.
            "arena": arena[: end + 64].copy(),
            "row_places": row_places,
            "row_masks": masks if self.as_masks else masks[:1],
            **self.local,
        }

    def _room(self) -> int:
        """How many words the lists and groups take at most."""
        # Entries, parts with at least one, and runs or lists likewise: 3 + 5 + 3 words.
        entries = 3 * len(self.members) + 11 * len(self.owners)
        directories = 16 * (len(self.listed) + len(self.grouped) + self.names)
        return entries + directories + 64

    def _seconds(self) -> Ints:
        """Of each filter the name of its second constraint, or -1.

        A band alone stands with its own name: a group has two.
        """
        seconds = np.full(len(self.owners), -1, np.int32)
        grouped = self.access[self.grouped]
        seconds[self.grouped] = self.table.name[grouped]
        several = ~self.is_single
        seconds[several] = self.table.name[self.members[self.offsets[:-1][several] + 1]]
        return seconds

    def _lists(self, parts: Parts) -> tuple[Ints, Longs, Longs, Ints]:
        """The filters of lists, sorted; where each list begins; their tags and keys."""
        t, which = self.table, self.listed
        access = self.access[which]
        kind = 8 * t.dimension[access] + t.kind[access]
        operand = t.rank[access]
        second = self._seconds()[which]
        order = np.lexsort((second, operand, kind))
        is_new = _changes(kind[order], operand[order])
        spans = np.append(np.flatnonzero(is_new), len(order)).astype(np.int64)
        several = np.append(0, np.cumsum(second[order] >= 0))
        size = np.diff(several[spans])
        # Which have parts: those of several constraints, in lists that are long.
        run = np.full(len(order), -1, np.int64)
        run[order] = np.where(
            np.repeat(size > SHORT, np.diff(spans)) & (second[order] >= 0),
            np.cumsum(is_new | _changes(second[order])),
            -1,
        )
        tag, key = parts.of(which, run, skipped=1)
        order = np.lexsort((key[:, 0], tag, second, operand, kind))
        return which[order].astype(np.int32), spans, tag[order], key[order]

    def _rows(self) -> Places:
        """Which dimensions have rows, after local ranks were given to strings."""
        t = self.table
        access = self.access[
            np.concatenate([self.stretched, self.listed]).astype(np.int64)
        ]
        access = np.unique(access[(t.kind[access] == EQ) | (t.kind[access] >= LT)])
        texts = access[(t.dimension[access] & 7 == STRING) & (t.kind[access] != ANY)]
        keys, inverse = np.unique(
            t.name[texts] * _STRIDE + t.rank[texts], return_inverse=True
        )
        name = (keys // _STRIDE).astype(np.int32)
        starts = np.zeros(self.names + 1, np.int32)
        np.cumsum(np.bincount(name, minlength=self.names), out=starts[1:])
        self.row_rank = t.rank.copy()
        self.row_rank[texts] = 2 * (inverse - starts[t.name[texts]]) + 1
        self.local = {
            "local_starts": starts,
            "local_ranks": np.append(keys % _STRIDE, 0).astype(np.int32),
        }
        dimension = np.unique(t.dimension[access])
        sizes = self._operands(dimension) + 1
        start = np.concatenate([[0], np.cumsum(sizes)])
        return Places(dimension, start.astype(np.int32), int(start[-1]))

    def _operands(self, dimension: Ints) -> Ints:
        """How many operands the values of each dimension are ranked among."""
        name, coordinate = dimension >> 3, dimension & 7
        t = self.table
        highest = np.zeros(8 * self.names, np.int32)
        with_operand = t.kind >= LT
        with_operand |= t.kind == EQ
        with_operand &= t.kind != ANY
        found = np.flatnonzero(with_operand)
        # Numbers of all three kinds are ranked together.
        group = t.dimension[found]
        numeric = (group & 7 >= 4) & (group & 7 < TIME)
        group = np.where(numeric, (group & ~7) | 4, group)
        np.maximum.at(highest, group, (t.rank[found] + 1) // 2)
        numeric = (coordinate >= 4) & (coordinate < TIME)
        count = highest[np.where(numeric, (dimension & ~7) | 4, dimension)]
        starts = self.local["local_starts"]
        count = np.where(coordinate == STRING, starts[name + 1] - starts[name], count)
        return np.where(coordinate == PRESENT, 2, count)

    def _row_of(self, constraints: Ints, places: Places) -> Ints:
        """The row of the operand of each constraint."""
        at = np.searchsorted(places.dimension, self.table.dimension[constraints])
        return places.start[at] + (self.row_rank[constraints] >> 1)

    def _fill_rows(
        self, arena: Ints, places: Places, rows: int, stretches: int
    ) -> None:
        """Write the filters of one constraint, and rows that say which hold."""
        t, access = self.table, self.access[self.stretched]
        at = np.searchsorted(places.dimension, t.dimension[access]).astype(np.int64)
        kind, threshold = t.kind[access], self._thresholds(access)
        # The order inside a stretch: `>`, any, `!=`, `<`.
        section = np.array([0, 0, 0, 0, 3, 0, 2, 1])[kind]
        falls = (kind == GT) | (kind == LT)
        order = np.lexsort((np.where(falls, -threshold, threshold), section, at))
        arena[stretches : stretches + len(order)] = self.owners[self.stretched[order]]
        count = len(places.dimension)
        sizes = np.bincount(at * 4 + section, minlength=4 * count).reshape(-1, 4)
        begins = stretches + np.concatenate([[0], np.cumsum(sizes.sum(1))])[:-1]
        ends = begins[:, None] + np.cumsum(sizes, 1)
        own = np.repeat(np.arange(count), np.diff(places.start))
        index = np.arange(places.rows) - places.start[:-1][own]
        above = _Counter(at[kind == GT], threshold[kind == GT])
        below = _Counter(at[kind == LT], threshold[kind == LT])
        unequal = _Counter(at[kind == NE], threshold[kind == NE])
        row = np.zeros((places.rows, ROW), np.int32)
        for column, value in ((0, 2 * index), (2, 2 * index + 1)):
            row[:, column] = ends[own, 0] - above.at_most(own, value)
        for column, value in ((1, 2 * index), (5, 2 * index + 1)):
            row[:, column] = ends[own, 2] + (
                sizes[own, 3] - below.at_most(own, value - 1)
            )
        row[:, 3] = ends[own, 1] + unequal.at_most(own, 2 * index)
        row[:, 4] = ends[own, 1] + unequal.at_most(own, 2 * index + 1)
        arena[rows : rows + ROW * places.rows] = row.ravel()

    def _fill_masks(self, masks: npt.NDArray[np.uint64], places: Places) -> None:
        """The same as bits of owners, for each rank of each dimension."""
        access = self.access[self.stretched]
        at = np.searchsorted(places.dimension, self.table.dimension[access])
        fill_masks(
            2 * places.start.astype(np.int64),
            self.table.kind[access],
            2 * places.start[at].astype(np.int64) + self._thresholds(access),
            self.owners[self.stretched],
            masks,
            np.zeros((3, len(masks)), np.uint64),
        )

    def _thresholds(self, constraints: Ints) -> Longs:
        """Of each constraint the rank of its row dimension where it begins or ends."""
        kind = self.table.kind[constraints]
        closed = self.table.closed[constraints]
        operand = self.row_rank[constraints]
        return np.select(
            [kind == GT, kind == LT, kind == ANY],
            [operand + 1 - closed, operand - 1 + closed, 0],
            operand,
        ).astype(np.int64)

    def _fill_groups(
        self, arena: Ints, at: int, words: Ints, pairs: int, parts: Parts
    ) -> int:
        which = self.grouped
        name = self.table.name[self.access[which]]
        second = self._seconds()[which]
        larger, smaller = np.maximum(name, second), np.minimum(name, second)
        pair = larger * _STRIDE + smaller
        tag, key = parts.of(which, pair, skipped=0)
        degrees = np.bincount((np.unique(pair) // _STRIDE).astype(np.int64))
        self.has_wide_pairs = bool(degrees.max(initial=0) > NAMES_SCANNED)
        order = np.lexsort((key[:, 0], tag, smaller, larger))
        return int(
            fill_groups(
                arena,
                at,
                which[order].astype(np.int32),
                larger[order],
                smaller[order],
                tag[order],
                key[order],
                self.offsets,
                self.members,
                words,
                self.owners,
                pairs,
            )
        )


class _Counter:
    """How many thresholds of a dimension are at most a rank."""

    def __init__(self, at: Longs, threshold: Longs) -> None:
        self._keys = np.sort(at * _STRIDE + threshold + 1)

    def at_most(self, at: Longs, value: Longs) -> Longs:
        low = np.searchsorted(self._keys, at * _STRIDE, "left")
        return np.searchsorted(self._keys, at * _STRIDE + value + 1, "right") - low


def _changes(*columns: npt.NDArray[Any]) -> Bools:
    """Where a row differs from the one before it."""
    changed = np.zeros(len(columns[0]), np.bool_)
    changed[:1] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def _aligned(words: int) -> int:
    """At a multiple of 64 bytes, so that a row is never on two lines of the cache."""
    return (words + 15) // 16 * 16
