"""Conjunctions of predicates: what matches both, as one predicate."""

from siena.algebra.covering import covers_filter
from siena.algebra.sat import is_filter_satisfiable
from siena.algebra.simplify import simplify
from siena.errors import LimitError
from siena.model import Filter, Predicate

# Filters that are compared with each other, to leave out what another covers.
COMPARED_MAX = 64


def conjoin(left: Predicate, right: Predicate, filters_max: int) -> Predicate:
    """What matches both, multiplied out; without what nothing can match.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(conjoin(parse("x > 3 or y = 1"), parse("x > 5 or y = 2"), 100))
    x > 3 and y = 2 or x > 5
    >>> print(conjoin(parse("x > 3"), parse("x < 2"), 100))
    not []

    Raises:
        LimitError: if there are more pairs of filters than may be looked at, or a
            filter would have too many constraints.
    """
    if len(left) * len(right) > filters_max:
        raise LimitError("FILTERS_MAX", filters_max, "filters in a conjunction")
    found: dict[Filter, None] = {}
    for f in left:
        for g in right:
            both = _both(f, g)
            if is_filter_satisfiable(both):
                found[both] = None
    if len(found) > COMPARED_MAX:
        return Predicate(found)
    return Predicate(f for f in found if not _is_superfluous(f, found))


def _both(f: Filter, g: Filter) -> Filter:
    if covers_filter(g, f):
        return f
    if covers_filter(f, g):
        return g
    return simplify(Filter((*f.constraints, *g.constraints)))


def _is_superfluous(f: Filter, among: dict[Filter, None]) -> bool:
    """Whether another covers it; of two that cover each other, the first stays."""
    is_behind = False
    for g in among:
        if g is f:
            is_behind = True
        elif covers_filter(g, f) and not (is_behind and covers_filter(f, g)):
            return True
    return False
