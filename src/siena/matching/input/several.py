"""Events in which attributes have several values, matched by an engine of single ones.

Where there are few choices of one value of each, the engine is asked about all.  Where
there are many, the values of names that are declared multi-valued are looked at apart:
a second table, of filters that are about one such name at most, finds candidates, as
many blocks as a name has values; and what the filters themselves say is asked of these.
The second table is made when it is needed first.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.block import encode
from siena.errors import LimitError, SienaError
from siena.matching.input.buffers import join
from siena.matching.input.choices import (
    choices_of,
    distinct_values,
    require_few,
    values_apart,
)
from siena.matching.pieces import make_piece
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Kind, Notification, Operator, Predicate
from siena.model.expression.evaluation import satisfies

Event = Mapping[str, Any]
Longs = npt.NDArray[np.int64]

# Choices from which on values are looked at apart: so many blocks cost more than to ask
# the filters of some candidates.
APART_MIN = 256
# Blocks, and their bytes, about which a table is asked at once.
GATHERED_BLOCKS_MAX = 4_096
GATHERED_BYTES_MAX = 4_194_304
# Bytes of the single values of an event, once for each choice: all are read.
COPIED_BYTES_MAX = 268_435_456
# Values that filters look at for one event, where choices are many: some seconds.
LOOKS_MAX = 2_097_152


class FoundSeveral(NamedTuple):
    """The rows and the numbers of what matches them, ascending; and what is bad."""

    rows: Longs
    numbers: Longs
    reasons: dict[int, str]


class SeveralValues:
    """A table, asked about events in which attributes may have several values.

    >>> from siena.lang.parser import parse_predicate
    >>> table = ForwardingTable()
    >>> table.add(0, parse_predicate("tags = web and ports = 80"))
    0
    >>> several = SeveralValues(table, frozenset({"tags", "ports"}))
    >>> several.match([{"tags": ("db", "web"), "ports": (80, 443)}]).numbers.tolist()
    [0]

    An attribute that is not among the names ``many`` may have several values, too: a
    filter matches if there is a choice of one of each that it matches.
    """

    def __init__(self, table: ForwardingTable, many: frozenset[str]) -> None:
        self._table = table
        self._many = many
        self._names = frozenset(table.attributes())
        self._wider: ForwardingTable | None = None
        self._filters: dict[int, tuple[Filter, ...]] = {}

    def match(self, events: Sequence[Event | SienaError]) -> FoundSeveral:
        """What matches each of many events; an error is a row that is bad."""
        answers = _Answers(self._table)
        reasons: dict[int, str] = {}
        for row, event in enumerate(events):
            try:
                if isinstance(event, SienaError):
                    raise event
                asked = self._asked(event)
                if self._are_few(asked):
                    answers.ask(row, choices_of(asked))
                else:
                    answers.add(row, self._apart(asked))
            except SienaError as error:
                reasons[row] = error.message
        rows, numbers = answers.pairs()
        # Some of a row may have been found before the rest of it was seen to be bad.
        is_good = ~np.isin(rows, np.array([*reasons], np.int64))
        return FoundSeveral(rows[is_good], numbers[is_good], reasons)

    def _asked(self, event: Event) -> Event:
        """The event without values that no filter asks for, if it has choices.

        Raises:
            SienaError: if a value is none, or what is left is too long for its choices.
        """
        if tuple not in map(type, event.values()):
            return event
        plain = {n: v for n, v in event.items() if type(v) is not tuple}
        Notification(plain)  # all of it is looked at here, and copied nowhere
        asked = {n: v for n, v in event.items() if n in self._names}
        copied = {n: v for n, v in plain.items() if n in self._names}
        if len(encode(copied)) * self._copies(asked) > COPIED_BYTES_MAX:
            what = "bytes of an event, once for each choice of its values"
            raise LimitError("COPIED_BYTES_MAX", COPIED_BYTES_MAX, what)
        return asked

    def _copies(self, event: Event) -> int:
        """About how often the single values of an event are copied."""
        several = distinct_values(event)
        if self._are_few(event):
            return math.prod(map(len, several.values()))
        declared = [len(v) for n, v in several.items() if n in self._many]
        others = [len(v) for n, v in several.items() if n not in self._many]
        return math.prod(others) * max(declared, default=1)

    def _are_few(self, event: Event) -> bool:
        several = distinct_values(event)
        count = math.prod(map(len, several.values()))
        return count < APART_MIN or self._many.isdisjoint(several)

    def _apart(self, event: Event) -> list[int]:
        """The numbers of what matches an event with many choices."""
        if self._wider is None:
            self._wider = self._of_one_name()
        declared = {n: v for n, v in event.items() if n in self._many}
        others = {n: v for n, v in event.items() if n not in self._many}
        values = distinct_values(declared)
        declared |= {name: tuple(different) for name, different in values.items()}
        choices = math.prod(map(len, distinct_values(others).values()))
        if choices > 1:
            require_few(choices * max(map(len, values.values()), default=1))
        sizes = {name: len(different) for name, different in values.items()}
        looks = 0
        found = []
        for choice in choices_of(others):
            whole = {**choice, **declared}
            wider = _Answers(self._wider)
            wider.ask(0, values_apart(whole, self._many))
            for number in wider.pairs()[1].tolist():
                filters = self._filters_of(number)
                looks += sum(sizes.get(c.name, 1) for f in filters for c in f)
                if looks > LOOKS_MAX:
                    what = "looks at values of an event, by filters that it may match"
                    raise LimitError("LOOKS_MAX", LOOKS_MAX, what)
                if any(all(satisfies(c, whole) for c in f) for f in filters):
                    found.append(number)
        return found

    def _filters_of(self, number: int) -> tuple[Filter, ...]:
        if number not in self._filters:
            self._filters[number] = self._table.filters(number)
        return self._filters[number]

    def _of_one_name(self) -> ForwardingTable:
        """The table of wider filters, under the same numbers."""
        numbers = range(len(self._table))
        wider = (
            Predicate([about_one(f, self._many) for f in self._table.filters(number)])
            for number in numbers
        )
        return ForwardingTable.of_piece(make_piece(wider))


class AskedTable:
    """A table, and what it is asked through where names have several values.

    >>> asked = AskedTable(ForwardingTable())
    >>> asked.several(frozenset({"x"})) is asked.several(frozenset({"x"}))
    True
    """

    def __init__(self, table: ForwardingTable) -> None:
        self.table = table
        self._several: dict[frozenset[str], SeveralValues] = {}

    def several(self, many: frozenset[str]) -> SeveralValues:
        """What answers for several values of these names; made once."""
        if many not in self._several:
            self._several[many] = SeveralValues(self.table, many)
        return self._several[many]


class _Answers:
    """What a table says of the choices of rows, asked about some blocks at once."""

    def __init__(self, table: ForwardingTable) -> None:
        self._table = table
        self._blocks: list[bytes] = []
        self._owners: list[int] = []
        self._bytes = 0
        self._pairs: list[Longs] = []

    def add(self, row: int, numbers: Sequence[int]) -> None:
        """What is known to match a row."""
        each = np.array(numbers, np.int64)
        self._pairs.append(np.stack([np.full_like(each, row), each]))

    def ask(self, row: int, choices: Iterable[Mapping[str, Any]]) -> None:
        """Gather the choices of a row, and ask when they are enough."""
        for choice in choices:
            block = encode(Notification(choice))
            self._blocks.append(block)
            self._owners.append(row)
            self._bytes += len(block)
            is_enough = len(self._blocks) >= GATHERED_BLOCKS_MAX
            if is_enough or self._bytes >= GATHERED_BYTES_MAX:
                self._ask()

    def pairs(self) -> tuple[Longs, Longs]:
        """Rows and numbers of what matches them, ascending, each pair once."""
        self._ask()
        none = np.empty((2, 0), np.int64)
        found = np.unique(np.concatenate([none, *self._pairs], axis=1), axis=1)
        return found[0], found[1]

    def _ask(self) -> None:
        if not self._blocks:
            return
        matches = self._table.match_buffer(*join(self._blocks))
        owners = np.array(self._owners, np.int64)
        rows = np.repeat(owners, np.maximum(matches.counts, 0))
        numbers = matches.filters[: len(rows)].astype(np.int64)
        self._pairs.append(np.unique(np.stack([rows, numbers]), axis=1))
        self._blocks, self._owners, self._bytes = [], [], 0


def about_one(filter_: Filter, many: frozenset[str]) -> Filter:
    """The filter without constraints on all names of some but one.

    >>> from siena.lang.parser import parse_filter
    >>> about_one(parse_filter("x > 3 and y = a and z = 5"), frozenset({"x", "y"}))
    <Filter y = a and z = 5>
    """
    about = [c for c in filter_ if c.name in many and not is_about_presence(c)]
    kept = min(about, key=_breadth, default=None)
    return Filter(
        c for c in filter_ if c.name not in many or is_about_presence(c) or c is kept
    )


def _breadth(constraint: Constraint) -> int:
    """How much a constraint lets through, by what is usual."""
    if constraint.operator.exact is Operator.EQ:
        return 0
    return 1 if constraint.kind is Kind.STRING else 2


def is_about_presence(constraint: Constraint) -> bool:
    """Whether a constraint asks only whether there is any value."""
    return constraint.operator is Operator.ABSENT or (
        constraint.operator is Operator.ANY and constraint.kind is Kind.ANY
    )
