"""The layout: from constraints to the arrays that the engine's kernel reads.

Every constraint becomes an interval of ranks on one dimension; every filter is put
under its least probable constraint; lists are cut into runs by the name of the second.
What each array means is written above :mod:`siena.matching.kernels.engine`; this is the
only module that fills them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.algebra.keys import key_of
from siena.matching.kernels.engine import fill
from siena.matching.vocabulary import (
    Arrays,
    Names,
    Numbers,
    Strings,
    power_of_two,
    split,
    successor,
)
from siena.model import Constraint, Kind, Operator

Ints = npt.NDArray[np.int32]

# The classes of access constraints, as in the kernel.
EQ, PREFIX, SUFFIX, SUBSTRING, LT, GT, NE, ANY = range(8)
# The coordinates of an attribute, as in the kernel.
PRESENT, STRING, REVERSED, CONTAINED, NUMBER, INTEGER, FLOAT, TIME = range(8)

RANK_MAX = 2**30
# No value has this rank: for constraints that nothing satisfies.
RANK_NONE = RANK_MAX + 1
# Lists up to this many filters are read as they are, without a directory.
SHORT = 24

_DIMENSION = {
    Kind.STRING: STRING,
    Kind.NUMBER: NUMBER,
    Kind.INTEGER: INTEGER,
    Kind.FLOAT: FLOAT,
    Kind.TIME: TIME,
}


class Interval(NamedTuple):
    """A constraint as the kernel sees it."""

    dimension: int  # of its name: 0 to 7
    kind: int  # its class, if it is the access constraint
    operand: int  # what its list is found by, for classes up to SUBSTRING
    first: int
    last: int
    negated: int


def lay_out(
    distinct: Sequence[Constraint],
    offsets: npt.NDArray[np.int64],
    members: Ints,
    owners: Ints,
    seed: int,
) -> Arrays:
    """The arrays of an engine.

    Filter ``f`` has the constraints ``members[offsets[f]:offsets[f + 1]]``, at least
    one, which are numbers of ``distinct`` ones; a match of it reports ``owners[f]``.
    """
    names = Names(distinct, seed)
    strings = Strings(distinct)
    numbers = Numbers(distinct, names.numbers)
    table = np.array(
        [
            (
                names.numbers[c.name],
                *_interval(c, names.numbers[c.name], strings, numbers),
            )
            for c in distinct
        ]
        or np.empty((0, 7)),
        np.int32,
    ).reshape(-1, 7)
    flags, arena = _arena(table, offsets, members, owners, max(1, len(names.numbers)))
    return {
        **names.arrays(),
        **strings.arrays(),
        **numbers.arrays(),
        "flags": flags,
        "arena": arena,
        "filters": len(owners),
        "names": max(1, len(names.numbers)),
    }


def _interval(
    constraint: Constraint, name: int, strings: Strings, numbers: Numbers
) -> Interval:
    _, operator, kind, value = constraint
    if kind is Kind.BOOLEAN:
        return _boolean_interval(constraint)
    if operator is Operator.ANY:
        dimension = PRESENT if kind is Kind.ANY else _DIMENSION[kind]
        return Interval(dimension, ANY, 0, 0, RANK_MAX, 0)
    if isinstance(value, str):
        return _string_interval(operator, value.encode(), strings)
    assert value is not None
    if kind is Kind.TIME:
        rank = numbers.time_rank[name][key_of(value, Kind.TIME)]
    else:
        assert isinstance(value, (int, float))
        rank = numbers.rank[name][split(value)]
    return _ordered_interval(_DIMENSION[kind], operator, rank)


def _boolean_interval(constraint: Constraint) -> Interval:
    """Booleans share the coordinate of presence: 1 is false, 3 is true."""
    admitted = [v for v in (False, True) if constraint.matches(v)]
    if len(admitted) == 2:
        return Interval(PRESENT, GT, 0, 1, RANK_MAX, 0)
    rank = (3 if admitted[0] else 1) if admitted else RANK_NONE
    return Interval(PRESENT, EQ, rank, rank, rank, 0)


def _string_interval(operator: Operator, operand: bytes, strings: Strings) -> Interval:
    if operator is Operator.PREFIX:
        first, end = strings.rank[operand], strings.rank[successor(operand)]
        node = strings.node(operand, operator)
        return Interval(STRING, PREFIX, node, first, end - 1, 0)
    if operator is Operator.SUFFIX:
        backward = operand[::-1]
        first = strings.backward_rank[backward]
        end = strings.backward_rank[successor(backward)]
        node = strings.node(operand, operator)
        return Interval(REVERSED, SUFFIX, node, first, end - 1, 0)
    if operator is Operator.SUBSTRING:
        node = strings.node(operand, operator)
        return Interval(CONTAINED, SUBSTRING, node, node, node, 0)
    return _ordered_interval(STRING, operator, strings.rank[operand])


def _ordered_interval(dimension: int, operator: Operator, rank: int) -> Interval:
    match operator:
        case Operator.EQ:
            return Interval(dimension, EQ, rank, rank, rank, 0)
        case Operator.NE:
            return Interval(dimension, NE, 0, rank, rank, 1)
        case Operator.LT:
            return Interval(dimension, LT, 0, 0, rank - 1, 0)
        case Operator.LE:
            return Interval(dimension, LT, 0, 0, rank, 0)
        case Operator.GT:
            return Interval(dimension, GT, 0, rank + 1, RANK_MAX, 0)
        case _:
            assert operator is Operator.GE
            return Interval(dimension, GT, 0, rank, RANK_MAX, 0)


def _probabilities(table: Ints, members: Ints) -> npt.NDArray[np.float64]:
    """How likely each distinct constraint is to hold: a guess, good enough to choose.

    What filters often name and compare with, notifications are taken to contain often.
    A wrong guess costs time, never an answer.
    """
    name, kind = table[:, 0], table[:, 2]
    uses = np.bincount(members, minlength=len(table)).astype(np.float64)
    uses_of_name = np.bincount(name, weights=uses)[name]
    presence = uses_of_name / max(1.0, uses_of_name.max(initial=0.0))
    # An operand is as likely to be the value as its share among the operands.
    share = (uses + 1.0) / (uses_of_name + 20.0)
    reach = np.clip(table[:, 5] / np.maximum(2, _highest(table)), 0.05, 1.0)
    start = np.clip(1.0 - table[:, 4] / np.maximum(2, _highest(table)), 0.05, 1.0)
    guess = np.select(
        [kind == EQ, kind <= SUBSTRING, kind == LT, kind == GT, kind == NE],
        [share, 2.0 * share, reach, start, np.full(len(table), 0.97)],
        1.0,
    )
    return np.asarray(presence * np.minimum(guess, 1.0))


def _highest(table: Ints) -> Ints:
    """The highest rank that occurs on the dimension of each constraint."""
    dimension = table[:, 0] * 8 + table[:, 1]
    ranks = np.where(table[:, 5] < RANK_MAX, table[:, 5], table[:, 4])
    highest = np.zeros(dimension.max(initial=0) + 1, np.int32)
    np.maximum.at(highest, dimension, ranks)
    return np.asarray(highest[dimension])


def _arena(
    table: Ints,
    offsets: npt.NDArray[np.int64],
    members: Ints,
    owners: Ints,
    names: int,
) -> tuple[npt.NDArray[np.uint8], Ints]:
    flags = np.zeros(8 * names, np.uint8)
    sizes = np.diff(offsets).astype(np.int32)
    if not len(owners):
        return flags, np.array([4, 0, 8, 0, 0, 0, 0, 0, *([0] * 32 * names)], np.int32)
    # The constraints of each filter, the least probable first.
    filter_of = np.repeat(np.arange(len(owners), dtype=np.int32), sizes)
    order = np.lexsort((_probabilities(table, members)[members], filter_of))
    chosen = members[order]
    heads = offsets[:-1]
    access = table[chosen[heads]]
    second = np.zeros(len(owners), np.int32)
    several = sizes > 1
    second[several] = table[chosen[heads[several] + 1], 0] + 1
    kind = access[:, 2]
    tag = (access[:, 0] * 8 + access[:, 1]) * 8 + kind
    operand = np.where(kind < LT, access[:, 3], 0)
    threshold = np.where(kind == LT, -access[:, 5], access[:, 4])
    # Entries: by list, then by second name, then by threshold.
    entry = np.lexsort((threshold, second, operand, tag))
    tag, operand, second = tag[entry], operand[entry], second[entry]
    rest, starts = _rest(table, chosen, heads[entry], sizes[entry])
    new_list = _changes(tag, operand)
    new_run = new_list | _changes(second)
    run_at = np.flatnonzero(new_run)
    list_at = np.flatnonzero(new_list)
    run_end = np.append(run_at[1:], len(entry))
    runs = np.stack([second[run_at], run_at, run_end], 1).astype(np.int32)
    first_run = np.searchsorted(run_at, list_at)
    end_run = np.append(first_run[1:], len(run_at))
    lists = np.stack([tag[list_at], operand[list_at], first_run, end_run], 1).astype(
        np.int32
    )
    dimension, kinds = lists[:, 0] >> 3, lists[:, 0] & 7
    np.bitwise_or.at(flags, dimension, (1 << kinds).astype(np.uint8))
    places, size = _places(lists, runs, len(rest), len(entry), names)
    arena = np.zeros(size, np.int32)
    arena[:3] = places[:3]
    end = fill(
        arena,
        places,
        np.ascontiguousarray(lists),
        np.ascontiguousarray(runs),
        starts,
        rest,
        np.ascontiguousarray(threshold[entry], np.int32),
        np.ascontiguousarray(owners[entry], np.int32),
        SHORT,
    )
    assert end <= size
    # The kernel looks a little ahead of what it reads.
    return flags, np.ascontiguousarray(arena[: end + 64])


def _rest(
    table: Ints, chosen: Ints, heads: npt.NDArray[np.int64], sizes: Ints
) -> tuple[Ints, Ints]:
    """The constraints of each entry but the first, three words each; their starts."""
    left = sizes - 1
    starts = np.zeros(len(left) + 1, np.int32)
    np.cumsum(left, out=starts[1:])
    within = np.arange(starts[-1]) - np.repeat(starts[:-1], left)
    rows = table[chosen[np.repeat(heads + 1, left) + within]]
    words = np.empty((len(rows), 3), np.int32)
    words[:, 0] = (rows[:, 0] * 8 + rows[:, 1]) * 2 + rows[:, 6]
    words[:, 1] = rows[:, 4]
    words[:, 2] = rows[:, 5]
    return np.append(words.ravel(), np.int32(0)), starts


def _changes(*columns: Ints) -> npt.NDArray[np.bool_]:
    """Where a row differs from the one before it."""
    changed = np.zeros(len(columns[0]), np.bool_)
    changed[0] = True
    for column in columns:
        changed[1:] |= column[1:] != column[:-1]
    return changed


def _places(
    lists: Ints, runs: Ints, words: int, entries: int, names: int
) -> tuple[Ints, int]:
    """Where the parts of the arena begin, and how large it must be."""
    kinds = lists[:, 0] & 7
    slots = power_of_two(2 * int((kinds < LT).sum()) + 2)
    hashed = 8
    directories_of_dimensions = hashed + 4 * slots
    directories = directories_of_dimensions + 4 * 8 * names
    spans = runs[lists[:, 3] - 1, 2] - runs[lists[:, 2], 1]
    is_long = (kinds >= LT) | (spans > SHORT)
    needed = (lists[:, 3] - lists[:, 2])[is_long] * 3 // 2 + 1
    room = sum(4 + 4 * max(2, power_of_two(int(n))) for n in needed)
    streams = directories + room
    places = [hashed, slots - 1, directories_of_dimensions, directories, streams]
    return np.array(places, np.int32), streams + 3 * entries + words + 64


# What the kernel says of a bad block, in words.
BLOCK_ERRORS: dict[int, str] = {
    1: "it ends too early",
    2: "something stands behind its end",
    3: "it is not a map",
    4: "it has a value with values inside",
    5: "it has a value of another type",
    6: "a name occurs twice",
    7: "a string is not UTF-8",
    8: "a float is not finite",
    9: "a number or time is out of range",
    10: "it has too many attributes",
}
