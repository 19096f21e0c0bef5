"""Simplifying: the same meaning in fewer constraints."""

from siena.algebra.covering import implies
from siena.model import Constraint, Filter


def simplify(f: Filter) -> Filter:
    """The filter without the constraints that the others imply.

    >>> from siena.lang.parser import parse_filter as parse
    >>> print(simplify(parse('x > 3, x > 5, s >* "ab", s >* "a", y any, y = 1')))
    s >* ab and x > 5 and y = 1

    A filter that nothing matches keeps its contradiction:

    >>> print(simplify(parse("x > 5, x > 6, x < 3")))
    x < 3 and x > 6
    """
    kept: list[Constraint] = []
    for constraints in f.by_name.values():
        kept += needed(list(constraints))
    return f if len(kept) == len(f) else Filter(kept)


def needed(constraints: list[Constraint]) -> list[Constraint]:
    """The constraints, all on one name, without those that the others imply."""
    # One at a time, each against what is still there: of two that imply each
    # other exactly one stays.
    for constraint in tuple(constraints):
        others = [c for c in constraints if c is not constraint]
        if others and implies(others, (constraint,)):
            constraints = others
    return constraints
