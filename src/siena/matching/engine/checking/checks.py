"""Checks: tests of a filter that are made once all its other constraints hold.

What an attribute is not finds no filter: nearly every notification would lead there.
So a filter is stored under what is left of it without such constraints, and under a
number of its own; where the kernel has found it, it makes the tests that were left out,
and reports the filter that the number stands for.  What a negation implies stays: that
the attribute is there, and is a string.  A filter of which nothing is left is tested
for every notification.

Taking something away from a predicate makes many filters that differ only in what they
are not.  Those of one owner of which the same is left are one check, with several
*ways* to pass it.  Ways stand in order, such that neighbours begin alike: what they
begin with is tested once.
"""

from collections import Counter
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
    Check ``k`` has the ways ``starts[k]`` to ``starts[k + 1]``, and way ``w`` the tests
    from ``ways[w][0]`` to those of the next, of each a constraint; of these the first
    ``ways[w][1]`` are those of the way before it.
    """

    base: int
    found: int
    owners: Ints
    starts: Ints
    ways: Ints
    tests: Ints


def separate(snapshot: Snapshot) -> tuple[Snapshot, Checks]:
    """The rows without what is only to be tested, and the tests."""
    s = snapshot
    code = _CODES[np.where(s.kind >= BEYOND, s.kind, BEYOND + Operator.EQ)]
    is_tested = (code >= 0)[s.members]
    base = int(s.owners.max(initial=-1)) + 1
    if not is_tested.any():
        empty = np.zeros(0, np.int32)
        none = np.zeros((1, 2), np.int32)
        return s, Checks(base, 0, empty, np.zeros(1, np.int32), none, empty)
    row = np.repeat(np.arange(len(s.owners)), np.diff(s.offsets))
    tests = s.members[is_tested]
    s, members, stays = _with_covers(s, code, row, is_tested)
    sizes = np.bincount(row[stays], minlength=len(s.owners))
    counts = np.bincount(row[is_tested], minlength=len(s.owners))
    has_tests = counts > 0
    left = np.concatenate([[0], np.cumsum(sizes)])
    first = _grouped(s.owners, has_tests, left, members)
    heads = np.flatnonzero(has_tests & (first == np.arange(len(first))))
    # Those that are found have the first numbers.
    heads = heads[np.argsort(sizes[heads] == 0, kind="stable")]
    if base + len(heads) > NUMBERS_MAX:
        raise LimitError("NUMBERS_MAX", NUMBERS_MAX, "filters in a table")
    number = np.full(len(s.owners), -1, np.int64)
    number[heads] = np.arange(len(heads))
    owners = np.where(has_tests, base + number, s.owners).astype(np.int32)
    is_stored = (sizes > 0) & (~has_tests | (number >= 0))
    offsets = np.concatenate([[0], np.cumsum(sizes[is_stored])]).astype(np.int64)
    checks = Checks(
        base=base,
        found=int((has_tests & is_stored).sum()),
        owners=s.owners[heads],
        **_ways(number[first], has_tests, counts, tests),
    )
    of_members = np.repeat(is_stored, sizes)
    return s._replace(
        offsets=offsets, members=members[of_members], owners=owners[is_stored]
    ), checks


def _grouped(owners: Ints, has_tests: Bools, left: Longs, members: Ints) -> Longs:
    """Of each row the first of the same owner of which the same is left."""
    first = np.arange(len(owners))
    tested = np.flatnonzero(has_tests)
    often = np.bincount(owners[tested])[owners[tested]] > 1
    seen: dict[tuple[int, bytes], int] = {}
    for row in tested[often].tolist():
        what = np.sort(members[left[row] : left[row + 1]]).tobytes()
        first[row] = seen.setdefault((int(owners[row]), what), row)
    return first


def _ways(
    number: Longs, has_tests: Bools, counts: Longs, tests: Ints
) -> dict[str, Ints]:
    """The tests of each check: ways that begin alike stand side by side.

    ``number`` is the check of each row, and ``counts`` says how many of the tests,
    which are in the order of the rows, are its.
    """
    ends = np.cumsum(counts)
    ways_of: dict[int, list[tuple[int, ...]]] = {}
    for row in np.flatnonzero(has_tests).tolist():
        way = tuple(tests[ends[row] - counts[row] : ends[row]].tolist())
        ways_of.setdefault(int(number[row]), []).append(way)
    starts, ways, ordered = [0], [], list[int]()
    for check in range(len(ways_of)):
        before: tuple[int, ...] = ()
        for way in _in_order(ways_of[check]):
            same = 0
            while same < min(len(way), len(before)) and way[same] == before[same]:
                same += 1
            ways.append((len(ordered), same))
            ordered += way
            before = way
        starts.append(len(ways))
    ways.append((len(ordered), 0))
    return {
        "starts": np.array(starts, np.int32),
        "ways": np.array(ways, np.int32),
        "tests": np.array(ordered, np.int32),
    }


def _in_order(ways: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The ways, each beginning with what most of them have."""
    if len(ways) == 1:
        return ways
    often = Counter(test for way in ways for test in way)
    return sorted(
        tuple(sorted(way, key=lambda test: (-often[test], test))) for way in ways
    )


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
        "check_ways": checks.ways.ravel(),
        "check_tests": _padded(words.astype(np.int32).ravel()),
    }


def _padded(column: Ints) -> Ints:
    """The column, or one zero: a kernel wants something to point at."""
    return column if len(column) else np.zeros(1, np.int32)
