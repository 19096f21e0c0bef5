"""Covering between single filters, and between advertisements: exact, with witnesses.

The service scales by this relation.  A broker that has already asked its
neighbours for a general filter has nothing new to ask when a specific one comes.
Predicates and patterns are covered in :mod:`siena.algebra.disjunction`; the
papers' own, weaker test is :mod:`siena.algebra.pairwise`.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from siena.algebra.pairwise import covers_constraint
from siena.algebra.points import (
    ABSENT,
    NotShownError,
    Point,
    Search,
    first_found,
    notification_of,
)
from siena.algebra.sat import sat, satisfiable, witness_points
from siena.model import Advertisement, Constraint, Filter, Notification, Operator

Condition = tuple[Constraint, ...]


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

    Exact, unless the work that is allowed does not suffice: then the answer is no.

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

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    points = witness_points(specific)
    if points is None:
        return None
    found = first_found(
        partial(_refuting, name, specific.by_name.get(name), wanted)
        for name, wanted in general.by_name.items()
    )
    return None if found is None else notification_of(points | found)


def _refuting(
    name: str, given: Condition | None, wanted: Condition
) -> dict[str, Point] | None:
    """A point at a name that the general side does not select there."""
    if given is not None:
        point = refutation(given, wanted)
        return None if point is None else {name: point}
    # The name is free, and no condition holds of all points.
    asks_for_absence = any(c.operator is Operator.ABSENT for c in wanted)
    return {name: 0 if asks_for_absence else ABSENT}


def implies(given: Sequence[Constraint], wanted: Sequence[Constraint]) -> bool:
    """Whether the points that satisfy all of ``given`` satisfy all of ``wanted``.

    A yes is shown; a no may be one that could not be decided.
    """
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
    return not is_refuted and _is_shown_empty(given, (constraint,))


def _is_shown_empty(
    positive: Sequence[Constraint], negative: Sequence[Constraint]
) -> bool:
    try:
        return sat(positive, negative) is None
    except NotShownError:
        return False


def refutation(
    given: Sequence[Constraint], wanted: Sequence[Constraint]
) -> Point | None:
    """A point that satisfies all of ``given`` and not all of ``wanted``.

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    searches: Iterable[Search] = (partial(sat, given, (c,)) for c in wanted)
    return first_found(searches)


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
    return _is_shown_empty((constraint,), allowed)


def advertisement_counterexample(
    general: Advertisement, specific: Advertisement
) -> Notification | None:
    """A notification that ``specific`` admits and ``general`` does not.

    Every attribute may appear alone, so one is enough.

    Raises:
        NotShownError: if the work that is allowed does not suffice to tell.
    """
    found = first_found(
        partial(_not_admitted, c, general.by_name.get(c.name, ())) for c in specific
    )
    return None if found is None else notification_of(found)


def _not_admitted(
    constraint: Constraint, allowed: Condition
) -> dict[str, Point] | None:
    point = sat((constraint,), allowed)
    return None if point is None else {constraint.name: point}
