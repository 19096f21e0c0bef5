"""Differences: what matches one predicate and does not match another.

``not`` in the language asks for an attribute that is present and of the same kind.  A
difference asks for nothing: what is taken away is whatever the other predicate matches,
and all else stays, for whatever reason it does not match.  So every predicate has a
complement, and the complement is a predicate::

    [] except x = 5      is      x absent   or   not number x any   or   x != 5

*Theory of operation.*  To take away a filter is to violate one of its constraints; to
take away several is to violate one of each, multiplied out.  What contradicts itself
name by name is dropped at once, and so is what another alternative implies: of ten
values that are taken away from one attribute, one alternative is left and not a
thousand.
"""

from collections.abc import Iterable, Sequence

from siena.errors import LimitError
from siena.model.constraint import Constraint
from siena.model.filter import Filter, Predicate
from siena.model.limits import CONSTRAINTS_MAX, DIFFERENCE_STEPS_MAX, FILTERS_MAX
from siena.model.operators import NEGATIONS, Operator
from siena.model.values import CONCRETE_KINDS, Kind

Conjunction = frozenset[Constraint]

# What says of a value no more than its kind.
_KINDS_ONLY = frozenset({Operator.ANY, Operator.OTHER})


def difference(left: Predicate, right: Predicate) -> Predicate:
    """What matches ``left`` and not ``right``.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(difference(parse("x > 3"), parse("x > 9 or y any")))
    x <= 9 and x > 3 and y absent

    Raises:
        LimitError: if that is more filters than one predicate may have.
    """
    found = without((f.constraints for f in left), (f.constraints for f in right))
    return Predicate(map(Filter, found))


def without(
    left: Iterable[Iterable[Constraint]], right: Iterable[Sequence[Constraint]]
) -> list[tuple[Constraint, ...]]:
    """:func:`difference` of conjunctions that are no filters yet.

    Raises:
        LimitError: as above, or if a conjunction has more constraints than a filter,
            or if it takes too long to tell.
    """
    remaining = [found for given in left if (found := _together(given)) is not None]
    steps = 0
    for filter_ in right:
        violations = [v for c in filter_ for v in complement(c)]
        steps += len(remaining) * len(violations)
        _check_steps(steps)
        longer = {
            longer
            for conjunction in remaining
            for violation in violations
            if (longer := _extended(conjunction, violation)) is not None
        }
        steps += len(longer) * min(len(longer), FILTERS_MAX)
        _check_steps(steps)
        remaining = _least(longer)
    return [tuple(sorted(conjunction)) for conjunction in remaining]


def complement(constraint: Constraint) -> tuple[Constraint, ...]:
    """Constraints of which one holds wherever this one does not.

    >>> from siena.lang.parser import parse_filter as parse
    >>> print(*map(str, complement(*parse("x contains a"))), sep="; ")
    x absent; not string x any; x does not contain a
    """
    name, operator, kind, _ = constraint
    absent = Constraint.trusted(name, Operator.ABSENT, None, Kind.ANY)
    any_ = Constraint.trusted(name, Operator.ANY, None, kind)
    if operator is Operator.ABSENT:
        return (any_,)
    if operator is Operator.OTHER:
        return absent, any_
    if kind is Kind.ANY:
        return (absent,)
    other = Constraint.trusted(name, Operator.OTHER, None, kind)
    if operator is Operator.ANY:
        return absent, other
    negated = _negated(constraint)
    assert negated is not None
    return absent, other, negated


def _together(constraints: Iterable[Constraint]) -> Conjunction | None:
    """The constraints as one conjunction, unless they plainly contradict each other."""
    found: Conjunction = frozenset()
    for constraint in constraints:
        longer = _extended(found, constraint)
        if longer is None:
            return None
        found = longer
    return found


def _extended(conjunction: Conjunction, constraint: Constraint) -> Conjunction | None:
    """One more constraint, unless it plainly contradicts another, or adds nothing."""
    same_name = [c for c in conjunction if c.name == constraint.name]
    if not same_name:
        return conjunction | {constraint}
    is_absent = same_name[0].operator is Operator.ABSENT
    if is_absent or constraint.operator is Operator.ABSENT:
        both = is_absent and constraint.operator is Operator.ABSENT
        return conjunction if both else None
    before = _kinds_of(same_name)
    kinds = before & constraint.kinds
    if not kinds:
        return None
    if constraint.operator in _KINDS_ONLY and kinds == before:
        return conjunction
    if _negated(constraint) in conjunction:
        return None
    for known in same_name:
        # Of a single value it is plain what it satisfies, if it is of one kind.
        if known.operator is Operator.EQ and len(known.kinds) == 1:
            assert known.value is not None
            return conjunction if constraint.matches(known.value) else None
    implied = {
        c
        for c in same_name
        if c.operator in _KINDS_ONLY and constraint.kinds <= c.kinds
    }
    return (conjunction - implied) | {constraint}


def _kinds_of(constraints: list[Constraint]) -> frozenset[Kind]:
    """The kinds of value that may satisfy all; mostly they are about one kind."""
    # A hot loop: rules of others multiply out to hundreds of thousands of these.
    kinds = {(c.kind, c.operator is Operator.OTHER) for c in constraints}
    if len(kinds) == 1:
        return constraints[0].kinds
    return frozenset(CONCRETE_KINDS).intersection(*(c.kinds for c in constraints))


def _negated(constraint: Constraint) -> Constraint | None:
    name, operator, kind, value = constraint
    if operator not in NEGATIONS:
        return None
    return Constraint.trusted(name, NEGATIONS[operator], value, kind)


def _check_steps(steps: int) -> None:
    if steps > DIFFERENCE_STEPS_MAX:
        what = "steps to find what is left of a predicate"
        raise LimitError("DIFFERENCE_STEPS_MAX", DIFFERENCE_STEPS_MAX, what)


def _least(conjunctions: Iterable[Conjunction]) -> list[Conjunction]:
    """The conjunctions that imply no other one of them, in a fixed order."""
    kept: list[Conjunction] = []
    for new in sorted(conjunctions, key=lambda c: (len(c), sorted(c))):
        if not any(known <= new for known in kept):
            kept.append(new)
            if len(kept) > FILTERS_MAX:
                raise LimitError("FILTERS_MAX", FILTERS_MAX, "filters in a predicate")
            if len(new) > CONSTRAINTS_MAX:
                what = "constraints in a filter"
                raise LimitError("CONSTRAINTS_MAX", CONSTRAINTS_MAX, what)
    return kept
