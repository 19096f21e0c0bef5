"""Checks: tests of a filter that are made once all its other constraints hold.

What an attribute is not finds no filter: nearly every notification would lead there.
So a filter is stored under what is left of it without such constraints, and under a
number of its own; where the kernel has found it, it makes the tests that were left out,
and reports the filter that the number stands for.  What a negation implies stays: that
the attribute is there, and is a string.  A filter of which nothing is left is tested
for every notification.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.errors import LimitError
from siena.matching.engine.checking.codes import (
    ABSENT,
    BEYOND,
    CHECKED,
    OTHER,
    WITHOUT,
)
from siena.matching.engine.columns import ANY, CONTAINED, PRESENT, STRING, Snapshot
from siena.matching.engine.ranks import Arrays, Ints, Longs
from siena.model import Operator

# Numbers of filters, with those that stand for others: kernels keep them in 32 bits.
NUMBERS_MAX = 2**31 - 1

_CODES = np.full(BEYOND + len(Operator), -1, np.int32)
for _operator in CHECKED:
    _CODES[BEYOND + _operator] = WITHOUT
_CODES[BEYOND + Operator.ABSENT] = ABSENT
_CODES[BEYOND + Operator.OTHER] = OTHER

Bools = npt.NDArray[np.bool_]


class Checks(NamedTuple):
    """The filters that need tests, in the order of their numbers from ``base`` on.

    The first ``found`` of them are found by the kernel, the others are tested always.
    Check ``k`` has the tests ``starts[k]`` to ``starts[k + 1]``: of each a constraint.
    """

    base: int
    found: int
    owners: Ints
    starts: Ints
    tests: Ints


def separate(snapshot: Snapshot) -> tuple[Snapshot, Checks]:
    """The rows without what is only to be tested, and the tests."""
    s = snapshot
    code = _CODES[np.where(s.kind >= BEYOND, s.kind, BEYOND + Operator.EQ)]
    is_tested = (code >= 0)[s.members]
    base = int(s.owners.max(initial=-1)) + 1
    if not is_tested.any():
        empty = np.zeros(0, np.int32)
        return s, Checks(base, 0, empty, np.zeros(1, np.int32), empty)
    row = np.repeat(np.arange(len(s.owners)), np.diff(s.offsets))
    s, members, stays = _with_covers(s, code, row, is_tested)
    sizes = np.bincount(row[stays], minlength=len(s.owners))
    has_tests = np.bincount(row[is_tested], minlength=len(s.owners)) > 0
    # Those that are found have the first numbers.
    order = np.lexsort((sizes == 0, ~has_tests))[: int(has_tests.sum())]
    if base + len(order) > NUMBERS_MAX:
        raise LimitError("NUMBERS_MAX", NUMBERS_MAX, "filters in a table")
    number = np.full(len(s.owners), -1, np.int64)
    number[order] = np.arange(len(order))
    owners = np.where(has_tests, base + number, s.owners).astype(np.int32)
    by_check = np.argsort(number[row[is_tested]], kind="stable")
    counts = np.bincount(number[row[is_tested]], minlength=len(order))
    is_stored = sizes > 0
    offsets = np.concatenate([[0], np.cumsum(sizes[is_stored])]).astype(np.int64)
    checks = Checks(
        base=base,
        found=int((has_tests & is_stored).sum()),
        owners=s.owners[order],
        starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        tests=s.members[is_tested][by_check],
    )
    stored = s._replace(offsets=offsets, members=members, owners=owners[is_stored])
    return stored, checks


def _with_covers(
    s: Snapshot, code: Ints, row: Longs, is_tested: Bools
) -> tuple[Snapshot, Ints, Bools]:
    """Put what each test implies in its place, unless it is said already.

    The constraints, with those that are new; the members; and which of them stay.
    """
    tested = s.members[is_tested]
    # Absence implies nothing; another kind, presence; a negation, a string.
    dimension = np.where(code == OTHER, PRESENT, STRING)
    key = 8 * s.name.astype(np.int64) + dimension
    wanted = np.unique(key[tested[code[tested] != ABSENT]])
    count, new = len(s.name), len(wanted)
    members = s.members.copy()
    cover = count + np.searchsorted(wanted, key[tested])
    members[is_tested] = np.where(code[tested] == ABSENT, tested, cover)
    s = s._replace(
        name=np.append(s.name, (wanted >> 3).astype(np.int32)),
        dimension=np.append(s.dimension, (wanted & 7).astype(np.int32)),
        kind=np.append(s.kind, np.full(new, ANY, np.int32)),
        closed=np.append(s.closed, np.zeros(new, np.int32)),
        whole=np.append(s.whole, np.zeros(new, np.int64)),
        rest=np.append(s.rest, np.zeros(new, np.float64)),
        upper=np.append(s.upper, np.full(new, -1, np.int32)),
    )
    stays = ~is_tested
    # Said already, by a constraint on the same name: of a string, or of anything.
    names = len(s.names.starts)
    place = row * names + s.name[members]
    coordinate = s.dimension[members]
    texts = stays & (coordinate >= STRING) & (coordinate <= CONTAINED)
    is_cover = is_tested & (members >= count)
    said = np.where(
        coordinate == STRING,
        np.isin(place, place[texts]),
        np.isin(place, place[stays]),
    )
    stays |= is_cover & ~said & _are_first(row * len(s.name) + members, is_cover)
    return s, members[stays], stays


def _are_first(keys: Longs, among: Bools) -> Bools:
    """Whether an item is the first of those with its key."""
    found = np.zeros(len(keys), np.bool_)
    places = np.flatnonzero(among)
    _, first = np.unique(keys[places], return_index=True)
    found[places[first]] = True
    return found


def lay_out_checks(snapshot: Snapshot, checks: Checks, operands: Ints) -> Arrays:
    """The kernel's arrays: of each test its dimension, code and operand.

    ``operands`` has of each constraint the number that the kernel knows it by.
    """
    s, tests = snapshot, checks.tests
    words = np.stack([8 * s.name[tests], _CODES[s.kind[tests]], operands[tests]], 1)
    return {
        "check_owners": _padded(checks.owners),
        "check_starts": checks.starts,
        "check_tests": _padded(words.astype(np.int32).ravel()),
    }


def _padded(column: Ints) -> Ints:
    """The column, or one zero: a kernel wants something to point at."""
    return column if len(column) else np.zeros(1, np.int32)
