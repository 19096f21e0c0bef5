"""Events in which attributes have several values, matched by an engine of single ones.

Where there are few choices of one value of each, the engine is asked about all.  Where
there are many, the values of names that are declared multi-valued are looked at apart:
a second table, of filters that are about one such name at most, finds candidates, as
many blocks as a name has values; and what the filters themselves say is asked of these.
The second table is made when it is needed first.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.block import encode
from siena.errors import SienaError
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
        few: list[bytes] = []
        owners: list[int] = []
        found: list[tuple[int, int]] = []
        reasons: dict[int, str] = {}
        for row, event in enumerate(events):
            try:
                if isinstance(event, SienaError):
                    raise event
                asked = self._asked(event)
                if self._are_few(asked):
                    blocks = [encode(Notification(each)) for each in choices_of(asked)]
                    few += blocks
                    owners += [row] * len(blocks)
                else:
                    found += zip(repeat(row), self._apart(asked), strict=False)
            except SienaError as error:
                reasons[row] = error.message
        matches = self._table.match_buffer(*join(few))
        rows = np.repeat(np.array(owners, np.int64), np.maximum(matches.counts, 0))
        numbers = matches.filters[: len(rows)].astype(np.int64)
        more = np.array(found, np.int64).reshape(-1, 2).T
        pairs = np.unique(
            np.concatenate([np.stack([rows, numbers]), more], axis=1), axis=1
        )
        return FoundSeveral(pairs[0], pairs[1], reasons)

    def _asked(self, event: Event) -> Event:
        """The event without values that no filter asks for."""
        if tuple not in map(type, event.values()):
            return event
        return {
            name: value
            for name, value in event.items()
            if type(value) is not tuple or name in self._names
        }

    def _are_few(self, event: Event) -> bool:
        several = distinct_values(event)
        count = math.prod(map(len, several.values()))
        return count < APART_MIN or self._many.isdisjoint(several)

    def _apart(self, event: Event) -> Iterator[int]:
        """The numbers of what matches an event with many choices."""
        if self._wider is None:
            self._wider = self._of_one_name()
        declared = {n: v for n, v in event.items() if n in self._many}
        others = {n: v for n, v in event.items() if n not in self._many}
        values = distinct_values(declared)
        choices = math.prod(map(len, distinct_values(others).values()))
        if choices > 1:
            require_few(choices * max(map(len, values.values()), default=1))
        for choice in choices_of(others):
            whole = {**choice, **declared}
            blocks = [
                encode(Notification(each)) for each in values_apart(whole, self._many)
            ]
            matches = self._wider.match_buffer(*join(blocks))
            count = int(np.maximum(matches.counts, 0).sum())
            for number in np.unique(matches.filters[:count]).tolist():
                if self._holds(number, whole):
                    yield number

    def _holds(self, number: int, event: Event) -> bool:
        if number not in self._filters:
            self._filters[number] = self._table.filters(number)
        return any(
            all(satisfies(constraint, event) for constraint in filter_)
            for filter_ in self._filters[number]
        )

    def _of_one_name(self) -> ForwardingTable:
        """The table of wider filters, under the same numbers."""
        numbers = range(len(self._table))
        wider = (
            Predicate([about_one(f, self._many) for f in self._table.filters(number)])
            for number in numbers
        )
        return ForwardingTable.of_piece(make_piece(wider))


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
