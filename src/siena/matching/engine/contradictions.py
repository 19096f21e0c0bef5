"""Contradictions: rows that nothing can match have no place in an arena.

What ranks can tell, and that is most: constraints on one name that no kind of values
satisfies, intervals that have no rank in common, and a single rank that is excluded.
Strings that must contain what they cannot, and intervals between whose ends there is
no value, are left: they cost what any filter does, and match nothing.
"""

import numpy as np
import numpy.typing as npt

from siena.matching.engine.columns import (
    ANY,
    CONTAINED,
    EQ,
    FLOAT,
    INTEGER,
    NUMBER,
    PRESENT,
    RANK_MAX,
    RANK_NONE,
    REVERSED,
    STRING,
    TIME,
)
from siena.matching.engine.intervals import Rows, Table
from siena.matching.engine.ranks import Ints, Longs

# The kinds of values on each coordinate, as bits.
_BOOLEANS, _STRINGS, _INTEGERS, _FLOATS, _TIMES = 1, 2, 4, 8, 16
_ALL = _BOOLEANS | _STRINGS | _INTEGERS | _FLOATS | _TIMES
_KINDS = np.zeros(8, np.int32)
_KINDS[PRESENT] = _BOOLEANS
_KINDS[[STRING, REVERSED, CONTAINED]] = _STRINGS
_KINDS[NUMBER] = _INTEGERS | _FLOATS
_KINDS[[INTEGER, FLOAT, TIME]] = _INTEGERS, _FLOATS, _TIMES


def without_contradictions(table: Table, rows: Rows) -> Rows:
    """The rows that something may match.

    Constraints on one name stand side by side in a row, as in every filter.
    """
    never = (table.kind == EQ) & (table.first == RANK_NONE)
    impossible = rows.of_members[never[rows.members]]
    together, starts = _on_one_name(table, rows)
    if len(starts):
        contradicted = _contradicted(table, rows.members[together], starts)
        of_runs = rows.of_members[together][starts]
        impossible = np.append(impossible, of_runs[contradicted])
    if not len(impossible):
        return rows
    return rows.without(impossible, impossible[:0])


def _on_one_name(table: Table, rows: Rows) -> tuple[Longs, Longs]:
    """The members that are not alone on their name, and where among them runs begin."""
    name, row = table.name[rows.members], rows.of_members
    is_new = np.ones(len(name), np.bool_)
    is_new[1:] = (np.diff(name) != 0) | (np.diff(row) != 0)
    sizes = np.diff(np.append(np.flatnonzero(is_new), len(name)))
    several = sizes > 1
    together = np.flatnonzero(np.repeat(several, sizes))
    starts = np.cumsum(sizes[several]) - sizes[several]
    return together, starts


def _contradicted(table: Table, members: Ints, starts: Longs) -> npt.NDArray[np.bool_]:
    """Of each run of members on one name, whether nothing satisfies all of them."""
    coordinate = table.dimension[members] & 7
    kinds = _KINDS[coordinate]
    # Any value is present; whatever else is said of presence is about booleans.
    kinds[(coordinate == PRESENT) & (table.kind[members] == ANY)] = _ALL
    found: npt.NDArray[np.bool_] = np.bitwise_and.reduceat(kinds, starts) == 0
    # What shares a kind shares an axis of ranks, but for ends and parts of strings.
    for is_on_axis in (
        (coordinate != REVERSED) & (coordinate != CONTAINED),
        coordinate == REVERSED,
    ):
        found |= _is_empty(table, members, starts, is_on_axis)
    return found


def _is_empty(
    table: Table, members: Ints, starts: Longs, is_on_axis: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Of each run, whether its intervals on an axis have no rank in common."""
    excludes = is_on_axis & (table.negated[members] == 1)
    bounds = is_on_axis & ~excludes
    low = np.where(bounds, table.first[members], 0)
    high = np.where(bounds, table.last[members], RANK_MAX)
    first = np.maximum.reduceat(low, starts)
    last = np.minimum.reduceat(high, starts)
    run = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(members))))
    alone = excludes & (first == last)[run] & (table.first[members] == first[run])
    found: npt.NDArray[np.bool_] = first > last
    return found | np.logical_or.reduceat(alone, starts)
