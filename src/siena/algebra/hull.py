"""The hull: a condition that holds wherever one of two conditions holds.

The least among those that are proposed here.  There may be values in it that neither
condition admits, and :mod:`siena.algebra.merging` asks whether there are.
"""

from collections.abc import Iterable, Iterator

from siena.algebra.covering import implies
from siena.algebra.poset.conditions import Condition
from siena.algebra.simplify import simplify
from siena.algebra.text.strings import common_length
from siena.model import Constraint, Filter, Kind, Operator
from siena.model.limits import CONSTRAINTS_MAX
from siena.model.values import CONCRETE_KINDS, INTEGER_MAX, INTEGER_MIN, after_prefix

# What is about absence, and about other kinds than its own.
_OF_OTHERS = frozenset({Operator.ABSENT, Operator.OTHER})


def hull(one: Condition, other: Condition) -> Condition:
    """The conjunction of everything that both conditions imply.

    >>> from siena.lang.parser import parse_filter as parse
    >>> one, other = parse("integer x = 3"), parse("integer x > 8")
    >>> print(*hull(one.constraints, other.constraints))
    integer x > 2

    Candidates are proposed freely and kept only if both conditions imply them, so
    that a bad proposal costs time and nothing else.
    """
    if implies(one, other):
        return other
    if implies(other, one):
        return one
    proposed = dict.fromkeys((*_proposals(one, other), *_proposals(other, one)))
    kept = [c for c in proposed if implies(one, (c,)) and implies(other, (c,))]
    # Two sides may exclude more values than one filter can hold: a wider hull is one.
    kept = kept if len(kept) <= CONSTRAINTS_MAX else _without_holes(kept)
    return simplify(Filter(kept)).constraints


def _without_holes(condition: list[Constraint]) -> list[Constraint]:
    return [c for c in condition if c.operator is not Operator.NE]


def kind_of_condition(*conditions: Condition) -> Kind:
    """The least kind that has all the values that one of the conditions can admit."""
    parts = frozenset().union(
        *(Kind.ANY.parts.intersection(*(c.kinds for c in each)) for each in conditions)
    )
    kinds = (*CONCRETE_KINDS, Kind.NUMBER, Kind.ANY)
    return next(kind for kind in kinds if parts <= kind.parts)


def _proposals(one: Condition, other: Condition) -> Iterator[Constraint]:
    kind = kind_of_condition(one, other)
    yield Constraint(one[0].name, Operator.ANY, None, kind)
    for constraint in one:
        about = _about(kind, constraint)
        if about is not None:
            yield about
            yield from _weaker(about)
    yield from _shared_ends(_texts(one), _texts(other), one[0].name)


def _about(kind: Kind, constraint: Constraint) -> Constraint | None:
    """The constraint, about values of the wider kind, where that can be said."""
    if constraint.operator in _OF_OTHERS or constraint.kind.admits(kind):
        return constraint
    if kind is not Kind.NUMBER or constraint.operator is Operator.ANY:
        return None
    return Constraint(constraint.name, constraint.operator, constraint.value, kind)


def _weaker(constraint: Constraint) -> Iterator[Constraint]:
    """The bounds that an equality or a prefix implies."""
    name, operator, kind, value = constraint
    if operator is Operator.EQ and kind is Kind.INTEGER and isinstance(value, int):
        # In the papers' own way: 1 and more is "> 0".
        if value > INTEGER_MIN:
            yield Constraint(name, Operator.GT, value - 1, kind)
        if value < INTEGER_MAX:
            yield Constraint(name, Operator.LT, value + 1, kind)
    elif operator is Operator.EQ:
        yield Constraint(name, Operator.GE, value, kind)
        yield Constraint(name, Operator.LE, value, kind)
    elif operator is Operator.PREFIX and isinstance(value, str):
        yield Constraint(name, Operator.GE, value, kind)
        end = after_prefix(value)
        if end is not None:
            yield Constraint(name, Operator.LT, end, kind)


def _shared_ends(ones: list[str], others: list[str], name: str) -> Iterator[Constraint]:
    for one in ones:
        for other in others:
            start = one[: common_length(one, other)]
            end = one[len(one) - common_length(one[::-1], other[::-1]) :]
            yield Constraint(name, Operator.PREFIX, start)
            yield Constraint(name, Operator.SUFFIX, end)


def _texts(condition: Iterable[Constraint]) -> list[str]:
    return [c.value for c in condition if isinstance(c.value, str)]
