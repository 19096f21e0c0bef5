"""The arena: where every filter is stored, and the rows that lead there.

What the words mean is written above :mod:`siena.matching.kernels.engine`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.errors import LimitError
from siena.matching.columns import ANY, EQ, GT, LT, NE, PRESENT, STRING, TIME
from siena.matching.kernels.building import (
    enter_lists,
    fill_groups,
    fill_lists,
    fill_masks,
)
from siena.matching.vocabulary import Arrays, Ints, Longs, power_of_two

# Directories of up to so many names are read from end to end, and not searched.
NAMES_SCANNED = 16
# Lists up to this many filters are read as they are, without a directory.
SHORT = 24
# Up to this many filters of a group are tested one by one, rather than by threshold.
FEW = 16
# The words of the arena's header, and of a row.
HEADER, ROW = 16, 8
# Places in the arena are words of it, of 32 bits.
ARENA_WORDS_MAX = 2**31 - 1
# Above every rank, to sort by dimension and rank at once.
_STRIDE = np.int64(2**32)

Bools = npt.NDArray[np.bool_]


class Table(NamedTuple):
    """The constraints as the kernel sees them, one column each."""

    name: Ints
    dimension: Ints  # 8 * name + coordinate
    kind: Ints
    rank: Ints  # of the operand; or its node in a trie
    first: Ints
    last: Ints
    negated: Ints
    closed: Ints


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
        in_rows = self.is_single & ((kind >= LT) | (as_masks & (kind == EQ)))
        self.stretched = np.flatnonzero(in_rows)
        self.listed = np.flatnonzero((kind < LT) & ~in_rows)
        self.as_masks = as_masks
        self.grouped = np.flatnonzero(~self.is_single & (kind >= LT))
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
        order, spans = self._lists()
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
        words = np.stack([2 * t.dimension + t.negated, t.first, t.last], 1)
        at = np.empty(len(heads), np.int32)
        end = fill_lists(
            arena,
            lists,
            spans,
            order,
            self._seconds(),
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
        end = self._fill_groups(arena, end, words, pairs)
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
        entries = 3 * len(self.members) + 9 * len(self.owners)
        directories = 16 * (len(self.listed) + len(self.grouped) + self.names)
        return entries + directories + 64

    def _seconds(self) -> Ints:
        """Of each filter the name of its second constraint, or -1."""
        seconds = np.full(len(self.owners), -1, np.int32)
        several = ~self.is_single
        seconds[several] = self.table.name[self.members[self.offsets[:-1][several] + 1]]
        return seconds

    def _lists(self) -> tuple[Ints, Longs]:
        """The filters of lists, sorted, and where each list begins."""
        t, which = self.table, self.listed
        access = self.access[which]
        tag = 8 * t.dimension[access] + t.kind[access]
        order = np.lexsort((self._seconds()[which], t.rank[access], tag))
        is_new = _changes(tag[order], t.rank[access][order])
        spans = np.append(np.flatnonzero(is_new), len(order)).astype(np.int64)
        return which[order].astype(np.int32), spans

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

    def _fill_groups(self, arena: Ints, at: int, words: Ints, pairs: int) -> int:
        t, which = self.table, self.grouped
        access = self.access[which]
        second = self._seconds()[which]
        larger = np.maximum(t.name[access], second)
        smaller = np.minimum(t.name[access], second)
        tag = 8 * t.dimension[access] + t.kind[access]
        is_below = t.kind[access] == LT
        threshold = np.where(is_below, -t.last[access], t.first[access])
        pair = larger * _STRIDE + smaller
        tag = _common(tag, pair)
        degrees = np.bincount((np.unique(pair) // _STRIDE).astype(np.int64))
        self.has_wide_pairs = bool(degrees.max(initial=0) > NAMES_SCANNED)
        order = np.lexsort((threshold, tag, smaller, larger))
        return int(
            fill_groups(
                arena,
                at,
                which[order].astype(np.int32),
                larger[order],
                smaller[order],
                tag[order],
                threshold[order],
                self.offsets,
                self.members,
                words,
                self.owners,
                pairs,
            )
        )


def _common(tags: Ints, groups: Longs) -> Ints:
    """The tags, or -1 where few filters of the group have it."""
    order = np.lexsort((tags, groups))
    starts = np.flatnonzero(_changes(groups[order], tags[order]))
    sizes = np.diff(np.append(starts, len(order)))
    common = np.empty(len(tags), np.int32)
    common[order] = np.where(np.repeat(sizes, sizes) > FEW, tags[order], -1)
    return common


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
