"""Satisfiability: whether some value, or some notification, satisfies constraints.

Everything else in the algebra rests on one question about one attribute: is
there a value that satisfies these constraints and none of those?  The answer is
exact, and it is a value, so that every claim made from it can be checked.

Values are of five kinds that have nothing in common, so the question is asked
for each kind alone.  A typed constraint is about one kind, an untyped number
about two, and an untyped ``any`` about all.  That there is no value at all is one more
point, which satisfies ``absent`` and nothing else.
"""

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial

from siena.algebra.ordered import sat_ordered
from siena.algebra.points import (
    ABSENT,
    NotShownError,
    Point,
    Search,
    all_found,
    first_found,
    notification_of,
)
from siena.algebra.text.allowance import Allowance, allowed
from siena.algebra.text.strings import sat_string
from siena.model import (
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Predicate,
    Value,
)
from siena.model.values import INTEGER_MAX, INTEGER_MIN

# How many filters are known to be satisfiable, or not to be.
REMEMBERED_MAX = 16_384
# What nothing satisfies if the operand is the first or last of its domain.
_ENDED = frozenset({Operator.LT, Operator.GT})
# Those that say of a value no more than its kind.
_OF_KINDS = frozenset({Operator.ANY, Operator.OTHER})
# In the order in which a person would like to see a witness.
_KINDS = (Kind.INTEGER, Kind.FLOAT, Kind.STRING, Kind.BOOLEAN, Kind.TIME)


def sat(
    positive: Sequence[Constraint], negative: Sequence[Constraint] = ()
) -> Point | None:
    """A point that satisfies every positive and no negative constraint, if any does.

    All constraints are taken to be on the same attribute.

    >>> from siena.lang.parser import parse_filter as parse
    >>> sat(parse("x > 3, x < 5").constraints)
    4
    >>> sat(parse("x > 3, x < 5").constraints, parse("integer x = 4").constraints)
    4.0
    >>> sat(parse('s >* "ab", s *< "ba"').constraints, parse('s = "aba"').constraints)
    'ab!aba'

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.

    Reference:
        CU-CS-888-99 asks for covering without saying how it is decided when
        several constraints are on one attribute; this procedure is ours.
    """
    if may_be_absent(positive, negative):
        return ABSENT
    possible = Kind.ANY.parts.intersection(*(c.kinds for c in positive))
    # What is about kinds alone has been said.
    wanted = [c for c in positive if c.operator not in _OF_KINDS]
    searches: Iterable[Search] = (
        partial(_sat_kind, kind, wanted, negative)
        for kind in _KINDS
        if kind in possible
    )
    return first_found(searches)


def may_be_absent(
    positive: Sequence[Constraint], negative: Sequence[Constraint] = ()
) -> bool:
    """Whether no value at all satisfies the positive and no negative constraint."""
    return all(c.operator is Operator.ABSENT for c in positive) and not any(
        c.operator is Operator.ABSENT for c in negative
    )


def _sat_kind(
    kind: Kind, positive: Sequence[Constraint], negative: Sequence[Constraint]
) -> Value | None:
    # A constraint on another kind is never satisfied by a value of this.
    relevant = [c for c in negative if kind in c.kinds]
    if any(c.operator in _OF_KINDS for c in relevant):
        return None
    if kind is Kind.STRING:
        return sat_string(positive, relevant)
    return sat_ordered(kind, positive, relevant)


def is_satisfiable(condition: Sequence[Constraint]) -> bool:
    """Whether some point satisfies all the constraints, all on one attribute.

    A no is shown; a yes may be one that could not be decided.
    """
    # A single constraint is satisfied by its own operand, or by a neighbour of it,
    # except at the ends of a domain.
    if len(condition) == 1 and condition[0].operator not in _ENDED:
        return True
    if _is_plain(condition):
        return True
    try:
        return sat(condition) is not None
    except NotShownError:
        return True  # it may be, and what may be matched is not to be dropped


def _is_plain(condition: Sequence[Constraint]) -> bool:
    """Whether a value at hand satisfies them: between two bounds, the middle.

    Of brokers' questions nearly all are answered so, without a search.
    """
    operands = [c.value for c in condition if c.value is not None]
    numbers = [v for v in operands if type(v) is int or type(v) is float]
    if len(numbers) > 1:
        middle = sum(numbers) / len(numbers)
        if INTEGER_MIN <= middle < INTEGER_MAX:
            operands += middle, math.floor(middle)
    return any(all(c.matches(v) for c in condition) for v in operands)


def witness(interest: Filter | Predicate) -> Notification | None:
    """A notification that matches, or None if nothing can.

    >>> from siena.lang.parser import parse_filter as parse
    >>> witness(parse("x > 5, x < 3"))
    >>> print(witness(parse("what = alarm, level > 3")))
    level = 4 and what = alarm

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    filters: Iterable[Filter] = (
        interest if isinstance(interest, Predicate) else (interest,)
    )
    points = first_found(partial(witness_points, f) for f in filters)
    return None if points is None else notification_of(points)


def witness_points(f: Filter) -> dict[str, Point] | None:
    """What :func:`witness` has at each name of the filter.

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    return all_found({name: partial(sat, cs) for name, cs in f.by_name.items()})


def satisfiable(interest: Filter | Predicate) -> bool:
    """Whether some notification matches; a no is shown, a yes may be undecided.

    >>> from siena.lang.parser import parse_filter as parse
    >>> satisfiable(parse("integer x = 1, float x = 1.0"))  # names are unique
    False
    """
    filters = interest if isinstance(interest, Predicate) else (interest,)
    return any(map(is_filter_satisfiable, filters))


def is_filter_satisfiable(f: Filter) -> bool:
    """Whether some notification matches this filter."""
    return _is_filter_satisfiable(f, allowed())


# Every broker on the way of a filter asks, and in a simulation they are one process.
@lru_cache(maxsize=REMEMBERED_MAX)
def _is_filter_satisfiable(f: Filter, _allowance: Allowance) -> bool:
    return all(map(is_satisfiable, f.by_name.values()))
