"""Intervals: the constraints of a table as the kernel sees them.

Bounds of one filter on one dimension, as in `price > 10 and price < 20`, are one
constraint here, a *band*: alone each of them is met by far more than both together.
"""

from typing import NamedTuple

import numpy as np

from siena.matching.engine.columns import BAND, GT, LT
from siena.matching.engine.ranks import Ints, Longs

# Above every dimension, to sort by row and dimension at once.
_STRIDE = np.int64(2**28)


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


class Rows(NamedTuple):
    """Filters: row ``i`` has the constraints ``members[offsets[i]:offsets[i + 1]]``."""

    offsets: Longs
    members: Ints
    owners: Ints

    @property
    def of_members(self) -> Longs:
        """The row of each member."""
        return np.repeat(np.arange(len(self.owners)), np.diff(self.offsets))

    def without(self, rows: Longs, members: Longs) -> "Rows":
        """The others, where these rows and these members are left out."""
        stays = np.ones(len(self.owners), np.bool_)
        stays[rows] = False
        of_members = self.of_members
        is_member = stays[of_members]
        is_member[members] = False
        sizes = np.bincount(of_members[is_member], minlength=len(stays))[stays]
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return Rows(offsets, self.members[is_member], self.owners[stays])


def with_bands(table: Table, rows: Rows) -> tuple[Table, Rows]:
    """The same, with bands for bounds; without rows that nothing can be within."""
    kind = table.kind[rows.members]
    bounds = np.flatnonzero((kind == LT) | (kind == GT))
    which = rows.members[bounds]
    key = rows.of_members[bounds] * _STRIDE + table.dimension[which]
    order = np.argsort(key, kind="stable")
    bounds, which, key = bounds[order], which[order], key[order]
    starts = np.flatnonzero(np.diff(key, prepend=-1))
    sizes = np.diff(np.append(starts, len(key)))
    several = sizes > 1
    if not several.any():
        return table, rows
    first = np.maximum.reduceat(table.first[which], starts)[several]
    last = np.minimum.reduceat(table.last[which], starts)[several]
    dimension = table.dimension[which[starts[several]]]
    # The first of the bounds becomes the band, and the others go.
    becomes = bounds[starts[several]]
    goes = np.ones(len(bounds), np.bool_)
    goes[starts] = False
    members = rows.members.copy()
    found = np.lexsort((last, first, dimension))
    columns = np.stack([dimension, first, last])[:, found]
    is_new = np.ones(len(found), np.bool_)
    is_new[1:] = (np.diff(columns) != 0).any(0)
    members[becomes[found]] = len(table.name) + np.cumsum(is_new) - 1
    empty = rows.of_members[becomes[first > last]]
    rows = rows._replace(members=members).without(empty, bounds[goes])
    return _extended(table, *columns[:, is_new]), rows


def _extended(table: Table, dimension: Ints, first: Ints, last: Ints) -> Table:
    """The table with bands behind its constraints."""
    zero = np.zeros(len(dimension), np.int32)
    bands = Table(
        name=dimension >> 3,
        dimension=dimension,
        kind=zero + np.int32(BAND),
        rank=zero,
        first=first,
        last=last,
        negated=zero,
        closed=zero,
    )
    return Table(*(np.concatenate(pair) for pair in zip(table, bands, strict=True)))
