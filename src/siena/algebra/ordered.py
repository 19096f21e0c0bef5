"""Satisfiability for the ordered kinds: bounds, and single holes between them.

Every literal about an integer, float, boolean or time, negated or not, is a
lower bound, an upper bound, an equality or a hole.  Their conjunction is
therefore one interval of keys with finitely many holes, and a value exists if
the interval holds more keys than holes.
"""

import math
from collections.abc import Iterable

from siena.algebra.keys import FIRST_KEY, LAST_KEY, key_around, key_of, value_of
from siena.model import Constraint, Kind, Operator, Value
from siena.model.operators import NEGATIONS

# Larger floats have no digits to spare.
_READABLE_MAX = 1e6


def sat_ordered(
    kind: Kind, positive: Iterable[Constraint], negative: Iterable[Constraint]
) -> Value | None:
    """A value of the kind that satisfies every positive and no negative constraint.

    The value nearest zero, where there is a choice: it is the easiest to read.
    For times, the one nearest to some operand.
    """
    span = Span(kind)
    for constraint in positive:
        span.require(constraint.operator, constraint.value)
    for constraint in negative:
        if constraint.operator is Operator.ANY:
            return None
        span.require(NEGATIONS[constraint.operator], constraint.value)
    key = span.key_near(span.anchor)
    if key is not None and kind is Kind.FLOAT:
        key = span.readable_key(key)
    return None if key is None else value_of(key, kind)


def span_of(kind: Kind, positive: Iterable[Constraint]) -> "Span | None":
    """What the constraints select of a kind, with ends that are no holes.

    >>> from siena.lang.parser import parse_filter as parse
    >>> span = span_of(Kind.INTEGER, parse("x > 3, x != 4, x < 9, x != 7"))
    >>> span.first, span.last, span.holes
    (5, 8, {7})
    """
    span = Span(kind)
    for constraint in positive:
        span.require(constraint.operator, constraint.value)
    span.trim()
    return span if span.first <= span.last else None


class Span:
    """The keys from ``first`` to ``last``, without the holes."""

    __slots__ = ("anchor", "first", "holes", "kind", "last")

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.first = FIRST_KEY[kind]
        self.last = LAST_KEY[kind]
        self.holes: set[int] = set()
        self.anchor = 0

    def require(self, operator: Operator, operand: Value | None) -> None:
        """Keep only the keys that satisfy the operator."""
        if operand is None:
            return
        below, above = key_around(operand, self.kind)
        if self.kind is Kind.TIME:
            self.anchor = below
        if operator is Operator.LT:
            self.last = min(self.last, above - 1)
        elif operator is Operator.LE:
            self.last = min(self.last, below)
        elif operator is Operator.GT:
            self.first = max(self.first, below + 1)
        elif operator is Operator.GE:
            self.first = max(self.first, above)
        elif operator is Operator.EQ:
            # An operand between two keys is no key: above > below empties the span.
            self.first = max(self.first, above)
            self.last = min(self.last, below)
        elif below == above:
            assert operator is Operator.NE
            self.holes.add(below)

    @property
    def is_whole(self) -> bool:
        """Whether nothing but holes is missing of the kind."""
        return self.first == FIRST_KEY[self.kind] and self.last == LAST_KEY[self.kind]

    def trim(self) -> None:
        """Move the ends to keys that are in the span, and forget other holes."""
        while self.first in self.holes:
            self.first += 1
        while self.last in self.holes:
            self.last -= 1
        self.holes = {key for key in self.holes if self.first < key < self.last}

    def key_near(self, anchor: int) -> int | None:
        """The key nearest to the anchor that is in the span, if any is."""
        if self.first > self.last:
            return None
        start = min(max(anchor, self.first), self.last)
        # Among one candidate more than there are holes, one is no hole.
        for distance in range(len(self.holes) + 1):
            for key in (start + distance, start - distance):
                if self.first <= key <= self.last and key not in self.holes:
                    return key
        return None

    def readable_key(self, key: int) -> int:
        """The key of a float with few digits close above, if that is in the span.

        3.5 shows a person as much as 3.0000000000000004, and sooner.
        """
        value = value_of(key, Kind.FLOAT)
        assert isinstance(value, float)
        if abs(value) < _READABLE_MAX:
            for scale in (1.0, 2.0, 10.0, 100.0):
                short = key_of(math.ceil(value * scale) / scale, Kind.FLOAT)
                if self.first <= short <= self.last and short not in self.holes:
                    return short
        return key
