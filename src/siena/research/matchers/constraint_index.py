"""The constraint index: every distinct constraint of all filters, by attribute.

The left side of the forwarding table of SIGCOMM 2003 and its arrows to the right, as
the arrays that :mod:`siena.research.matchers.kernels.counting` reads and describes.  It
is made in one go from all filters, and does not change.

Three things are simpler than in the paper.  ``<=`` and ``>=`` need no structure of
their own, because kinds are discrete: at most 3 is below 4, also among doubles.  The
equality map is a search in the sorted array that the other operators need anyway.  And
a constraint on numbers is two, one for integers and one for floats, each with the
operand moved to where it makes the same difference: ``x < 2.5`` is ``x < 3`` among
integers, so that all comparisons are exact and between 64-bit integers.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siena.algebra.keys import key_around, key_of
from siena.model import Constraint, Filter, Kind, Operator, Value
from siena.model.limits import CONSTRAINTS_MAX
from siena.model.values import CONCRETE_KINDS, INTEGER_MAX, INTEGER_MIN
from siena.research.matchers.kernels import strings
from siena.research.matchers.string_index import Ints, Longs, StringIndex, Texts

Arrays = dict[str, NDArray[Any]]

# The columns of a row: where the owners of a constraint stand.
EQ, NE, LT, GT, PREFIX, SUFFIX, SUBSTRING, ANY = range(8)
COLUMNS = 8
# The stretches of owners that one attribute can satisfy, apart from operands inside a
# text, and those that one such operand can satisfy.
STRETCHES = 5
STRETCHES_PER_PART = 3

_KINDS = len(CONCRETE_KINDS)


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A batch of notifications, as the kernel reads it."""

    arrays: Arrays
    # The most stretches of owners that one of them can satisfy.
    stretches: int
    # The index that encoded it; to others it means nothing.
    index: "ConstraintIndex"

    def __len__(self) -> int:
        return len(self.arrays["first"]) - 1


class ConstraintIndex:
    """Which filters contain which constraints.

    >>> from siena.lang.parser import parse_filter as parse
    >>> index = ConstraintIndex([parse("x > 1 and y any"), parse("x > 1")])
    >>> index.occurrences, len(index.constraints), sorted(index.names)
    (3, 2, ['x', 'y'])
    """

    def __init__(
        self, filters: Sequence[Filter], string_kernel: ModuleType = strings
    ) -> None:
        numbers: dict[Constraint, int] = {}
        flat = array("i")
        for f in filters:
            flat.extend([numbers.setdefault(c, len(numbers)) for c in f.constraints])
        self.constraints = list(numbers)
        self.occurrences = len(flat)
        self.names: dict[str, int] = {}
        for constraint in self.constraints:
            self.names.setdefault(constraint.name, len(self.names))
        self._strings = StringIndex(_operands(self.constraints), string_kernel)
        self.sizes = np.array([len(f.constraints) for f in filters], np.int64)
        assert self.sizes.max(initial=0) <= CONSTRAINTS_MAX == 256  # a byte counts them
        # Constraint by constraint, the filters that contain it.
        self.constraint_of = np.frombuffer(flat, np.int32) if flat else _NOTHING
        self.filter_of = np.repeat(np.arange(len(filters), dtype=np.int32), self.sizes)
        self.arrays = self._fill()
        self.arrays["size"] = self.sizes.astype(np.uint8)
        self._encoders = self._make_encoders()

    @property
    def nbytes(self) -> int:
        """The size of all tables, names aside."""
        return sum(a.nbytes for a in self.arrays.values()) + self._strings.nbytes

    def name_numbers(self) -> Ints:
        """The name of each constraint."""
        names = (self.names[c.name] for c in self.constraints)
        return np.fromiter(names, np.int32, len(self.constraints))

    # --- Making it ----------------------------------------------------------------

    def _fill(self) -> Arrays:
        number, code, column, key = self._places()
        self._groups, group = np.unique(code, return_inverse=True)
        groups = len(self._groups)

        # Rows: the distinct keys of each group, and one more at its end.
        keyed = np.flatnonzero(column != ANY)
        keyed = keyed[np.lexsort((key[keyed], group[keyed]))]
        new = _changes(group[keyed]) | _changes(key[keyed])
        group_row = _starts(np.bincount(group[keyed[new]], minlength=groups) + 1)
        rows = int(group_row[-1])
        row_of = group_row[group + 1] - 1
        row_of[keyed] = np.cumsum(new) - 1 + group[keyed]
        keys = np.full(rows + 1, INTEGER_MAX, np.int64)
        keys[row_of[keyed]] = key[keyed]

        # Owners: by group, then by column, then by row.
        rank = (group * COLUMNS + column) * (rows + 1) + row_of
        order = np.argsort(rank, kind="stable")
        owner, first = self._owners(number[order])
        group_of_row = np.repeat(np.arange(groups + 1), [*np.diff(group_row), 1])
        asked = group_of_row[:, None] * COLUMNS + np.arange(COLUMNS)
        asked = asked * (rows + 1) + np.arange(rows + 1)[:, None]
        place = np.searchsorted(rank[order], asked.ravel())
        return {
            "group_row": group_row.astype(np.int32),
            "key": keys,
            "row": first[place].astype(np.int32),
            "owner": owner,
        }

    def _places(self) -> tuple[Longs, Longs, Longs, Longs]:
        """Where each constraint stands: number, name and kind, column, key."""
        places = [
            (number, self.names[constraint.name] * _KINDS + kind, column, key)
            for number, constraint in enumerate(self.constraints)
            for kind, column, key in _places_of(constraint, self._strings)
        ]
        table = np.array(places, np.int64).reshape(-1, 4)
        return table[:, 0], table[:, 1], table[:, 2], table[:, 3]

    def _owners(self, numbers: Longs) -> tuple[Ints, Longs]:
        """The filters of these constraints in a row, and where each one's begin."""
        by_constraint = np.argsort(self.constraint_of, kind="stable")
        count = np.bincount(self.constraint_of, minlength=len(self.constraints))
        begin = _starts(count)
        lengths = count[numbers]
        first = _starts(lengths)
        assert first[-1] <= np.iinfo(np.int32).max, "too many constraints for one table"
        picked = np.repeat(begin[numbers] - first[:-1], lengths) + np.arange(first[-1])
        return self.filter_of[by_constraint[picked]], first

    # --- Asking it ----------------------------------------------------------------

    def _make_encoders(self) -> dict[str, tuple[int, dict[type, int]]]:
        """For each name its number, and its group for each type of value."""
        encoders: dict[str, tuple[int, dict[type, int]]] = {
            name: (number, {}) for name, number in self.names.items()
        }
        names = list(self.names)
        for group, code in enumerate(self._groups.tolist()):
            (value_type,) = Kind(code % _KINDS).types
            encoders[names[code // _KINDS]][1][value_type] = group
        return encoders

    def encode(self, notifications: Iterable[Mapping[str, Value]]) -> Encoded:
        """The notifications as flat arrays, without what no filter asks for."""
        encoders = self._encoders
        texts: dict[str, int] = {}
        ends, names, groups = array("i", [0]), array("i"), array("i")
        values, text = array("q"), array("i")
        for notification in notifications:
            for name, value in notification.items():
                encoder = encoders.get(name)
                if encoder is None:
                    continue
                names.append(encoder[0])
                groups.append(encoder[1].get(type(value), -1))
                if isinstance(value, str):
                    text.append(texts.setdefault(value, len(texts)))
                    values.append(0)
                    continue
                text.append(-1)
                # Integers and booleans are their own keys.
                if isinstance(value, int):
                    values.append(value)
                else:
                    values.append(key_of(value, Kind.of(value)))
            ends.append(len(names))
        known = self._strings.look_up(list(texts))
        first = np.frombuffer(ends, np.int32)
        text_of = _view(text, np.int32)
        value_of = _view(values, np.int64)
        is_text = text_of >= 0
        value_of[is_text] = known.key[text_of[is_text]]
        return Encoded(
            {
                "first": first,
                "name": _view(names, np.int32),
                "group": _view(groups, np.int32),
                "value": value_of,
                "text": text_of,
                "part_first": known.part_first,
                "part": known.part,
            },
            _stretches(first, text_of, known),
            self,
        )


_NOTHING = np.zeros(0, np.int32)


def _operands(constraints: Iterable[Constraint]) -> Iterable[str]:
    return (c.value for c in constraints if isinstance(c.value, str))


def _places_of(
    constraint: Constraint, known: StringIndex
) -> Iterable[tuple[Kind, int, int]]:
    """For each kind of value the column and the key that select the same.

    >>> number = Constraint("x", Operator.LE, 2.5)
    >>> sorted(_places_of(number, StringIndex([])))[0] == (Kind.INTEGER, LT, 3)
    True
    """
    _, operator, _, operand = constraint
    for kind in constraint.kind.parts:
        if operator is Operator.ANY:
            yield kind, ANY, 0
            continue
        assert operand is not None
        if isinstance(operand, str):
            low = high = known.key(operand)
        else:
            low, high = key_around(operand, kind)
        place = _place(operator, low, high)
        if place is not None:
            yield kind, *place


def _place(operator: Operator, low: int, high: int) -> tuple[int, int] | None:
    """The column and the key of a constraint, or ``None`` if nothing satisfies it.

    The operand lies at one key, or between two neighbours.
    """
    if operator in _OF_STRINGS:
        return _OF_STRINGS[operator], low
    match operator:
        case Operator.EQ | Operator.NE:
            if low == high and INTEGER_MIN <= low <= INTEGER_MAX:
                return (EQ if operator is Operator.EQ else NE), low
            return None if operator is Operator.EQ else (ANY, 0)
        case Operator.LT | Operator.LE:
            bound = high if operator is Operator.LT else low + 1
            never, always = bound <= INTEGER_MIN, bound > INTEGER_MAX
            column = LT
        case _:
            bound = low if operator is Operator.GT else high - 1
            never, always = bound >= INTEGER_MAX, bound < INTEGER_MIN
            column = GT
    if never:
        return None
    return (ANY, 0) if always else (column, bound)


_OF_STRINGS = {
    Operator.PREFIX: PREFIX,
    Operator.SUFFIX: SUFFIX,
    Operator.SUBSTRING: SUBSTRING,
}


def _stretches(first: Ints, text: Ints, known: Texts) -> int:
    """The most stretches that one message can put into the kernel's queue."""
    parts = np.append(np.diff(known.part_first), 0)  # the last one for -1
    each = STRETCHES + STRETCHES_PER_PART * parts[text].astype(np.int64)
    total = _starts(each)
    # One more place: the kernel writes before it knows whether a stretch is empty.
    return int((total[first[1:]] - total[first[:-1]]).max(initial=0)) + 1


def _view(values: "array[int]", dtype: type[Any]) -> NDArray[Any]:
    return np.frombuffer(values, dtype) if values else np.zeros(0, dtype)


def _changes(values: Longs) -> NDArray[np.bool_]:
    """Where a value differs from the one before it."""
    return np.append(True, values[1:] != values[:-1])[: len(values)]


def _starts(lengths: NDArray[Any]) -> Longs:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
