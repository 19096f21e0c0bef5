"""Satisfiability: whether some value, or some notification, satisfies constraints.

Everything else in the algebra rests on one question about one attribute: is
there a value that satisfies these constraints and none of those?  The answer is
exact, and it is a value, so that every claim made from it can be checked.

Values are of five kinds that have nothing in common, so the question is asked
for each kind alone.  A typed constraint is about one kind, an untyped number
about two, and an untyped ``any`` about all.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from siena.algebra.ordered import sat_ordered
from siena.algebra.strings import sat_string
from siena.model import (
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Predicate,
    Value,
)

# How many filters are known to be satisfiable, or not to be.
REMEMBERED_MAX = 16_384
# What nothing satisfies if the operand is the first or last of its domain.
_ENDED = frozenset({Operator.LT, Operator.GT})
# In the order in which a person would like to see a witness.
_KINDS = (Kind.INTEGER, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN, Kind.TIME)


def sat(
    positive: Sequence[Constraint], negative: Sequence[Constraint] = ()
) -> Value | None:
    """A value that satisfies every positive and no negative constraint, if any does.

    All constraints are taken to be on the same attribute.

    >>> from siena.lang.parser import parse_filter as parse
    >>> sat(parse("x > 3, x < 5").constraints)
    4
    >>> sat(parse("x > 3, x < 5").constraints, parse("integer x = 4").constraints)
    4.0
    >>> sat(parse('s >* "ab", s *< "ba"').constraints, parse('s = "aba"').constraints)
    'ab!aba'

    Reference:
        CU-CS-888-99 asks for covering without saying how it is decided when
        several constraints are on one attribute; this procedure is ours.
    """
    possible = Kind.ANY.parts.intersection(*(c.kind.parts for c in positive))
    for kind in _KINDS:
        if kind in possible:
            # A constraint on another kind is never satisfied by a value of this.
            relevant = [c for c in negative if kind in c.kind.parts]
            if kind is Kind.STRING:
                value: Value | None = sat_string(positive, relevant)
            else:
                value = sat_ordered(kind, positive, relevant)
            if value is not None:
                return value
    return None


def is_satisfiable(condition: Sequence[Constraint]) -> bool:
    """Whether some value satisfies all the constraints, all on one attribute."""
    # A single constraint is satisfied by its own operand, or by a neighbour of it,
    # except at the ends of a domain.
    if len(condition) == 1 and condition[0].operator not in _ENDED:
        return True
    return sat(condition) is not None


def witness(interest: Filter | Predicate) -> Notification | None:
    """A notification that matches, or None if nothing can.

    >>> from siena.lang.parser import parse_filter as parse
    >>> witness(parse("x > 5, x < 3"))
    >>> print(witness(parse("what = alarm, level > 3")))
    level = 4 and what = alarm
    """
    filters: Iterable[Filter] = (
        interest if isinstance(interest, Predicate) else (interest,)
    )
    for f in filters:
        values = witness_values(f)
        if values is not None:
            return Notification(values)
    return None


def witness_values(f: Filter) -> dict[str, Value] | None:
    """The attributes of :func:`witness`, one for each name that the filter has."""
    values: dict[str, Value] = {}
    for name, constraints in f.by_name.items():
        value = sat(constraints)
        if value is None:
            return None
        values[name] = value
    return values


def satisfiable(interest: Filter | Predicate) -> bool:
    """Whether some notification matches.

    >>> from siena.lang.parser import parse_filter as parse
    >>> satisfiable(parse("integer x = 1, float x = 1.0"))  # names are unique
    False
    """
    filters = interest if isinstance(interest, Predicate) else (interest,)
    return any(map(is_filter_satisfiable, filters))


# Every broker on the way of a filter asks, and in a simulation they are one process.
@lru_cache(maxsize=REMEMBERED_MAX)
def is_filter_satisfiable(f: Filter) -> bool:
    """Whether some notification matches this filter."""
    return all(map(is_satisfiable, f.by_name.values()))
