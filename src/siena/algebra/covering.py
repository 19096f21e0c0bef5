"""Covering between single filters, and between advertisements: exact, with witnesses.

The service scales by this relation.  A broker that has already asked its
neighbours for a general filter has nothing new to ask when a specific one comes.
Predicates and patterns are covered in :mod:`siena.algebra.disjunction`; the
papers' own, weaker test is :mod:`siena.algebra.pairwise`.
"""

from collections.abc import Sequence

from siena.algebra.pairwise import covers_constraint
from siena.algebra.sat import sat, satisfiable, witness_values
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Notification,
    Operator,
    Value,
)


def covers_filter(general: Filter, specific: Filter) -> bool:
    """Whether ``general`` selects every notification that ``specific`` selects.

    >>> from siena.lang.parser import parse_filter as parse
    >>> alarm = parse("what = alarm")
    >>> severe = parse("what = alarm and level > 3")
    >>> covers_filter(alarm, severe), covers_filter(severe, alarm)
    (True, False)

    Several constraints on one attribute are taken together:

    >>> covers_filter(parse("integer x = 4"), parse("integer x > 3, integer x < 5"))
    True

    Cost: ``len(general) * len(specific)`` comparisons of constraints; only what
    they leave open reaches :func:`siena.algebra.sat.sat`.

    Reference:
        Carzaniga, Rosenblum and Wolf, CU-CS-888-99, section 3.7.
    """
    for name, wanted in general.by_name.items():
        given = specific.by_name.get(name)
        if given is None or not implies(given, wanted):
            # A filter that nothing matches is covered by everything.
            return not satisfiable(specific)
    return True


def counterexample_filter(general: Filter, specific: Filter) -> Notification | None:
    """A notification that ``specific`` selects and ``general`` does not.

    >>> from siena.lang.parser import parse_filter as parse
    >>> print(counterexample_filter(parse("x < 9"), parse("x > 3, y = 1")))
    x = 9 and y = 1
    """
    values = witness_values(specific)
    if values is None:
        return None
    for name, wanted in general.by_name.items():
        given = specific.by_name.get(name)
        if given is None:
            return Notification(values)  # it has no such attribute
        value = refutation(given, wanted)
        if value is not None:
            return Notification(values | {name: value})
    return None


def implies(given: Sequence[Constraint], wanted: Sequence[Constraint]) -> bool:
    """Whether the values that satisfy all of ``given`` satisfy all of ``wanted``."""
    return all(_implies_one(given, constraint) for constraint in wanted)


def _implies_one(given: Sequence[Constraint], constraint: Constraint) -> bool:
    if any(covers_constraint(constraint, g) for g in given):
        return True
    # The pairwise test is sound: only its "no" needs a closer look.  What `!=`
    # excludes is the likeliest value to refute it, and costs nothing to try.
    value = constraint.value
    is_refuted = (
        constraint.operator is Operator.NE
        and value is not None
        and all(g.matches(value) for g in given)
    )
    return not is_refuted and sat(given, (constraint,)) is None


def refutation(
    given: Sequence[Constraint], wanted: Sequence[Constraint]
) -> Value | None:
    """A value that satisfies all of ``given`` and not all of ``wanted``."""
    for constraint in wanted:
        value = sat(given, (constraint,))
        if value is not None:
            return value
    return None


def covers_advertisement(general: Advertisement, specific: Advertisement) -> bool:
    """Whether ``general`` admits every notification that ``specific`` admits.

    >>> from siena.lang.parser import parse_advertisement as parse
    >>> covers_advertisement(parse("x < 5, x >= 5"), parse("integer x any"))
    True
    """
    return all(
        is_admitted(c, general.by_name.get(c.name, ())) for c in specific.constraints
    )


def is_admitted(constraint: Constraint, allowed: Sequence[Constraint]) -> bool:
    """Whether what satisfies the constraint always satisfies one of ``allowed``."""
    if any(covers_constraint(a, constraint) for a in allowed):
        return True
    return sat((constraint,), allowed) is None


def advertisement_counterexample(
    general: Advertisement, specific: Advertisement
) -> Notification | None:
    """A notification that ``specific`` admits and ``general`` does not.

    Every attribute may appear alone, so one is enough.
    """
    for constraint in specific:
        value = sat((constraint,), general.by_name.get(constraint.name, ()))
        if value is not None:
            return Notification({constraint.name: value})
    return None
