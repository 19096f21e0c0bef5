"""Columns: the filters of a table as numbers, from which engines are made.

Each distinct constraint has a number, and each row, a filter, is a list of them.
Rows are only ever added; those that are gone are left out when an engine is made.
Nothing here is an object that a layout would have to look at: a table of a million
filters is laid out anew from these arrays alone, while others go on with Python.
"""

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.algebra.keys import key_of
from siena.lang.parser import parse_filter
from siena.matching.engine.checking.codes import BEYOND, NO_INTERVALS, kind_bits
from siena.matching.engine.operands import (
    Strings,
    Texts,
    extend,
    gathered,
    numbered_anew,
    some,
    split,
    successor,
    texts_of,
)
from siena.model import Constraint, Filter, Kind, Operator

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# The coordinates of an attribute, and the classes of constraints, as in the kernel.
PRESENT, STRING, REVERSED, CONTAINED, NUMBER, INTEGER, FLOAT, TIME = range(8)
EQ, PREFIX, SUFFIX, SUBSTRING, LT, GT, NE, ANY = range(8)
# What bounds of one filter become together; columns never have it.
BAND = 8
# Above every rank; and a rank that no value has, for what nothing satisfies.
RANK_MAX = 2**30
RANK_NONE = RANK_MAX + 1

_DIMENSION = {
    Kind.ANY: PRESENT,
    Kind.STRING: STRING,
    Kind.NUMBER: NUMBER,
    Kind.INTEGER: INTEGER,
    Kind.FLOAT: FLOAT,
    Kind.TIME: TIME,
}
# What a value on a coordinate is, in the order of the coordinates.
_FAMILY = (
    *(None, Kind.STRING, Kind.STRING, Kind.STRING),
    *(Kind.NUMBER, Kind.NUMBER, Kind.NUMBER, Kind.TIME),
)
_CLASS = {
    Operator.EQ: EQ,
    Operator.NE: NE,
    Operator.LT: LT,
    Operator.LE: LT,
    Operator.GT: GT,
    Operator.GE: GT,
    Operator.PREFIX: PREFIX,
    Operator.SUFFIX: SUFFIX,
    Operator.SUBSTRING: SUBSTRING,
    Operator.ANY: ANY,
}
_OF_CONSTRAINTS = (
    "_name", "_dimension", "_kind", "_closed", "_whole", "_rest", "_upper"
)  # fmt: skip
_CLOSED = {Operator.LE, Operator.GE}
# So many constraints that no row has, beside as many as are in use, are not worth it.
UNUSED_MAX = 4_096


class Snapshot(NamedTuple):
    """Rows as they are at one time, and the constraints that they use.

    Row ``r`` has the constraints ``members[offsets[r]:offsets[r + 1]]``.  Of constraint
    ``c``, ``whole[c]`` and ``rest[c]`` are its operand: a number in two parts, a time,
    the number of a string, or a rank; ``upper[c]`` is the string that ends a prefix.
    """

    offsets: Longs
    members: Ints
    owners: Ints
    numbers: Ints
    name: Ints
    dimension: Ints
    kind: Ints
    closed: Ints
    whole: Longs
    rest: npt.NDArray[np.float64]
    upper: Ints
    names: Texts
    strings: Texts


class Columns:
    """Filters, row by row, each with the owner that a match of it reports.

    Owners ascend.  What comes from a file is copied only when it is needed; its
    constraints are in no dictionary, so one of them may be entered once more, which
    costs a few bytes and changes nothing.
    """

    def __init__(
        self, stored: Snapshot | None = None, spellings: Texts | None = None
    ) -> None:
        self._stored = stored
        # The number of each distinct constraint, but those that came from a file: of
        # these there are the spellings, and they have the first numbers.
        self.numbers: dict[Constraint, int] = {}
        self._constraints: list[Constraint] = []
        self._spellings = spellings or Texts(
            np.zeros(1, np.uint8), np.zeros(1, np.int64)
        )
        self.names = Strings()
        self.strings = Strings()
        # Row r has the constraints members[offsets[r] : offsets[r + 1]].
        self.offsets = array("q", [0])
        self.members = array("i")
        self.owners = array("i")
        # Of each distinct constraint; see Snapshot.
        self._name = array("i")
        self._dimension = array("i")
        self._kind = array("i")
        self._closed = array("i")
        self._whole = array("q")
        self._rest = array("d")
        self._upper = array("i")
        self.has_checks = stored is not None and bool((stored.kind >= BEYOND).any())
        self.is_compact = False
        """Whether constraints have other numbers than in what this is a copy of."""

    def __len__(self) -> int:
        return len(self.owners if self._stored is None else self._stored.owners)

    def add(self, f: Filter, owner: int) -> None:
        """Add a row; a filter without constraints is nothing for an engine."""
        assert f.constraints
        self._thaw()
        known = self.numbers
        for constraint in f.constraints:
            number = known.get(constraint)
            self.members.append(self._enter(constraint) if number is None else number)
        self.offsets.append(len(self.members))
        self.owners.append(owner)

    def attributes(self) -> list[str]:
        """The names that constraints are about."""
        if self._stored is not None:
            return [name.decode() for name in texts_of(self._stored.names)]
        return [name.decode() for name in self.names]

    def compared(self) -> dict[str, frozenset[Kind]]:
        """Of each name, with strings, numbers or times constraints compare it.

        What is about presence alone, and booleans, which share its coordinate, is none
        of these.
        """
        if self._stored is not None:
            name, dimension = self._stored.name, self._stored.dimension
        else:
            name = np.array(self._name, np.int32)
            dimension = np.array(self._dimension, np.int32)
        names = self.attributes()
        found: dict[str, set[Kind]] = {one: set() for one in names}
        for code in np.unique(
            name.astype(np.int64) * len(_FAMILY) + dimension
        ).tolist():
            family = _FAMILY[code % len(_FAMILY)]
            if family is not None:
                found[names[code // len(_FAMILY)]].add(family)
        return {one: frozenset(kinds) for one, kinds in found.items()}

    def snapshot(
        self,
        first: int = 0,
        last: int | None = None,
        gone: npt.NDArray[np.uint8] | None = None,
    ) -> Snapshot:
        """Rows ``first`` to ``last`` as copies, but those of owners that are gone."""
        self._thaw()
        last = len(self) if last is None else last
        offsets = np.array(self.offsets[first : last + 1], np.int64)
        members = np.array(self.members[offsets[0] : offsets[-1]], np.int32)
        owners = np.array(self.owners[first:last], np.int32)
        offsets -= offsets[0]
        if gone is not None:
            stays = gone[owners] == 0
            sizes = np.diff(offsets)
            members = members[np.repeat(stays, sizes)]
            owners = owners[stays]
            offsets = np.concatenate([[0], np.cumsum(sizes[stays])]).astype(np.int64)
        # Constraints that none of the rows has would only make the ranks longer.
        numbers, members = numbered_anew(members, len(self._name))
        name, names = numbered_anew(some(self._name, numbers), len(self.names))
        dimension = some(self._dimension, numbers)
        whole = some(self._whole, numbers)
        upper = some(self._upper, numbers)
        # Strings are numbered anew as well; operands of other kinds stay as they are.
        texts = (dimension >= STRING) & (dimension <= CONTAINED)
        texts &= some(self._kind, numbers) != ANY
        used = np.concatenate([whole[texts], upper[texts & (upper >= 0)]])
        strings, renumbered = numbered_anew(used.astype(np.int32), len(self.strings))
        count = int(texts.sum())
        whole[texts] = renumbered[:count]
        upper[texts & (upper >= 0)] = renumbered[count:]
        return Snapshot(
            offsets=offsets,
            members=members,
            owners=owners,
            numbers=numbers,
            name=names,
            dimension=dimension,
            kind=some(self._kind, numbers),
            closed=some(self._closed, numbers),
            whole=whole,
            rest=some(self._rest, numbers),
            upper=upper,
            names=self.names.some(name),
            strings=self.strings.some(strings),
        )

    def _thaw(self) -> None:
        """Copy what came from a file, so that it can grow."""
        if self._stored is None:
            return
        s, self._stored = self._stored, None
        self.offsets = array("q", s.offsets.tobytes())
        self.members = array("i", s.members.tobytes())
        self.owners = array("i", s.owners.tobytes())
        self.names, self.strings = Strings(s.names), Strings(s.strings)
        self._name = array("i", s.name.tobytes())
        self._dimension = array("i", s.dimension.tobytes())
        self._kind = array("i", s.kind.tobytes())
        self._closed = array("i", s.closed.tobytes())
        self._whole = array("q", s.whole.tobytes())
        self._rest = array("d", s.rest.tobytes())
        self._upper = array("i", s.upper.tobytes())

    def rows(self, owner: int) -> range:
        """The rows of an owner."""
        self._thaw()
        return range(bisect_left(self.owners, owner), bisect_right(self.owners, owner))

    def filter(self, row: int) -> Filter:
        """The filter of a row."""
        members = self.members[self.offsets[row] : self.offsets[row + 1]]
        return Filter(self._constraint(number) for number in members)

    def spelled(self, numbers: Ints) -> Texts:
        """Some constraints as texts, from which they can be read again."""
        stored = len(self._spellings.starts) - 1
        if stored and int(numbers.max(initial=0)) < stored:
            return gathered(self._spellings, numbers)
        texts = [str(self._constraint(n)).encode() for n in numbers.tolist()]
        starts = np.zeros(len(texts) + 1, np.int64)
        np.cumsum([len(text) for text in texts], out=starts[1:])
        return Texts(np.frombuffer(b"".join(texts) or b"\0", np.uint8), starts)

    def _constraint(self, number: int) -> Constraint:
        pool, starts = self._spellings
        stored = len(starts) - 1
        if number >= stored:
            return self._constraints[number - stored]
        text = pool[starts[number] : starts[number + 1]].tobytes().decode()
        (constraint,) = parse_filter(text).constraints
        return constraint

    def copy(self, last: int) -> Callable[[], "Columns"]:
        """What copies the first rows, piece by piece, while others add rows.

        Columns only grow, or are replaced by others, and each piece is one step for all
        threads: what is handed out here needs no lock.
        """
        self._thaw()
        parts: list[tuple[str, Any, int]] = [
            ("offsets", self.offsets, last + 1),
            ("members", self.members, self.offsets[last]),
            ("owners", self.owners, last),
        ]
        known = len(self._name)
        parts += [(name, getattr(self, name), known) for name in _OF_CONSTRAINTS]
        names = self.names.copy(), self.strings.copy()
        constraints, spellings = self._constraints, self._spellings
        entered = known - (len(spellings.starts) - 1)

        def make() -> Columns:
            made = Columns(spellings=spellings)
            made._constraints = constraints[:entered]
            made.has_checks = self.has_checks
            made.offsets.pop()  # the first is copied as well
            made.names, made.strings = (copied() for copied in names)
            for name, column, end in parts:
                extend(getattr(made, name), column, end)
            return made

        return make

    def compact(self) -> "Columns":
        """The same rows; without constraints that no row has, if these are many.

        Interests that come and go, each with another constraint, leave them behind.
        """
        members = np.array(self.members, np.int32)
        used, _ = numbered_anew(members, len(self._name))
        if len(self._name) <= 2 * len(used) + UNUSED_MAX:
            return self
        rows = self.snapshot()
        made = Columns(rows)
        made._thaw()
        made.names.know()
        made.strings.know()
        made._constraints = [self._constraint(n) for n in rows.numbers.tolist()]
        made.numbers = {c: number for number, c in enumerate(made._constraints)}
        made.is_compact = True
        return made

    def take_rows(self, first: int, others: "Columns") -> None:
        """Add the rows of others from one on."""
        for row in range(first, len(others)):
            self.add(others.filter(row), others.owners[row])

    def replace(self, last: int, others: "Columns") -> None:
        """Put other rows in the place of the first rows."""
        start, end = self.offsets[last], others.offsets[-1]
        others.members.extend(self.members[start:])
        others.owners.extend(self.owners[last:])
        rest = np.array(self.offsets[last + 1 :], np.int64) + (end - start)
        others.offsets.frombytes(rest.tobytes())
        self.members, self.owners = others.members, others.owners
        self.offsets = others.offsets

    def drop(self, gone: npt.NDArray[np.uint8]) -> None:
        """Drop the rows of owners that are gone."""
        self._thaw()
        offsets = np.array(self.offsets, np.int64)
        members = np.array(self.members, np.int32)
        owners = np.array(self.owners, np.int32)
        stays = gone[owners] == 0
        sizes = np.diff(offsets)
        self.members = array("i", members[np.repeat(stays, sizes)].tobytes())
        self.owners = array("i", owners[stays].tobytes())
        self.offsets = array("q", [0])
        self.offsets.frombytes(np.cumsum(sizes[stays]).tobytes())

    def _enter(self, constraint: Constraint) -> int:
        name, operator, kind, value = constraint
        number = self.numbers[constraint] = len(self._name)
        self._constraints.append(constraint)
        rest, upper = 0.0, -1
        if operator in NO_INTERVALS:
            self.has_checks = True
            dimension, class_, whole = PRESENT, BEYOND + operator, kind_bits(kind)
            if isinstance(value, str):
                dimension, whole = CONTAINED, self.strings.number(value.encode())
        elif kind is Kind.BOOLEAN:
            dimension, class_, whole = _boolean(constraint)
        elif operator is Operator.ANY:
            dimension, class_, whole = _DIMENSION[kind], ANY, 0
        elif isinstance(value, str):
            dimension, class_ = STRING, _CLASS[operator]
            text = value.encode()
            if operator is Operator.SUFFIX:
                dimension, text = REVERSED, text[::-1]
            elif operator is Operator.SUBSTRING:
                dimension = CONTAINED
            whole = self.strings.number(text)
            if class_ in {PREFIX, SUFFIX}:
                upper = self.strings.number(successor(text))
        else:
            assert value is not None
            dimension, class_ = _DIMENSION[kind], _CLASS[operator]
            if kind is Kind.TIME:
                whole = key_of(value, Kind.TIME)
            else:
                assert isinstance(value, (int, float))
                whole, rest = split(value)
        self._name.append(self.names.number(name.encode()))
        self._dimension.append(dimension)
        self._kind.append(class_)
        self._closed.append(kind is not Kind.BOOLEAN and operator in _CLOSED)
        self._whole.append(whole)
        self._rest.append(rest)
        self._upper.append(upper)
        return number


def _boolean(constraint: Constraint) -> tuple[int, int, int]:
    """Booleans share the coordinate of presence: 1 is false, 3 is true."""
    admitted = [v for v in (False, True) if constraint.matches(v)]
    if len(admitted) == 2:
        return PRESENT, GT, 0  # above 0, the rank of everything else
    if admitted:
        return PRESENT, EQ, 3 if admitted[0] else 1
    return PRESENT, EQ, RANK_NONE
