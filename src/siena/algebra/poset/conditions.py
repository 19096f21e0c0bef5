"""Conditions: what one filter, or one advertisement, says about one attribute.

A condition is the tuple of constraints on one name.  It is read as a conjunction
in filters and as a disjunction in advertisements, and covered exactly or by the
papers' pairwise rule: a :class:`Reading` holds these choices.
"""

import operator as python
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from siena.algebra.covering import implies, is_admitted
from siena.algebra.pairwise import covers_constraint
from siena.algebra.points import ABSENT, NotShownError
from siena.algebra.sat import is_filter_satisfiable, is_satisfiable, sat
from siena.model import Constraint, Filter, Kind, Operator, Value
from siena.model.filter import ConstraintSet
from siena.model.values import CHARACTER_MAX, INTEGER_MAX, INTEGER_MIN

Condition = tuple[Constraint, ...]
Covering = Literal["exact", "pairwise"]
Test = Callable[[Any], bool]


@dataclass(frozen=True, slots=True)
class Reading:
    """How conditions are read, and how one covers another.

    ``names_grow``: whether a more specific side has more names, as a filter has,
    or fewer, as an advertisement has.
    """

    matches: Callable[[Condition, Value], bool]
    covers: Callable[[Condition, Condition], bool]
    names_grow: bool
    conditions: Callable[[ConstraintSet], Mapping[str, Condition] | None]
    """The conditions of a filter, or None if nothing can ever match it."""


def subscription_reading(covering: Covering) -> Reading:
    """Filters: all constraints hold at once."""
    return Reading(
        matches=_all_match,
        covers=_covers_exactly if covering == "exact" else _covers_pairwise,
        names_grow=True,
        conditions=_of_satisfiable if covering == "exact" else _of_any,
    )


def advertisement_reading(covering: Covering) -> Reading:
    """Advertisements: one of the constraints holds."""
    return Reading(
        matches=_any_matches,
        covers=_admits_exactly if covering == "exact" else _admits_pairwise,
        names_grow=False,
        conditions=_of_possible if covering == "exact" else _of_any,
    )


def quick_tests(condition: Condition, reading: Reading) -> dict[Kind, Test]:
    """Whether a value satisfies the condition, for each kind that it may be of.

    A test may only be asked about values of its kind.  For a single constraint it
    is one call into Python's own code: axes ask by the million.
    """
    if len(condition) == 1:
        (constraint,) = condition
        quick = _QUICK.get(constraint.operator)
        test = constraint.matches if quick is None else quick(constraint.value)
        return dict.fromkeys(constraint.kinds, test)
    kinds = {kind for c in condition for kind in c.kinds}
    return dict.fromkeys(kinds, partial(reading.matches, condition))


def samples(condition: Condition, reading: Reading) -> tuple[Value, ...]:
    """A few values that satisfy the condition, near its edges.

    A sample that another condition rejects refutes that it covers this one: the
    cheapest test there is, and nearly always enough.
    """
    candidates: list[Value] = []
    for constraint in condition:
        if constraint.value is not None:
            candidates += _neighbours(constraint.value)
        if Kind.STRING in constraint.kinds:
            candidates += ["", "~", CHARACTER_MAX]
    # Kept by kind and value: 1, 1.0 and True would be one key.
    kept = {(type(v), v): v for v in candidates if reading.matches(condition, v)}
    if kept:
        return tuple(kept.values())
    try:
        found = sat(condition)
    except NotShownError:
        return ()
    return () if found is None or found is ABSENT else (found,)


# Where there is a call that is quicker than the constraint's own.
# `x < v` asks whether v is greater than x: the operand comes first in all of these.
_QUICK: dict[Operator, Callable[[Any], Test]] = {
    Operator.EQ: lambda v: partial(python.eq, v),
    Operator.NE: lambda v: partial(python.ne, v),
    Operator.LT: lambda v: partial(python.gt, v),
    Operator.LE: lambda v: partial(python.ge, v),
    Operator.GT: lambda v: partial(python.lt, v),
    Operator.GE: lambda v: partial(python.le, v),
    Operator.PREFIX: lambda v: python.methodcaller("startswith", v),
    Operator.SUFFIX: lambda v: python.methodcaller("endswith", v),
    Operator.SUBSTRING: lambda v: python.methodcaller("__contains__", v),
    Operator.ANY: lambda _: lambda _: True,
}


def _neighbours(operand: Value) -> list[Value]:
    if isinstance(operand, str):
        shorter = operand[:-1]
        return [operand + "~", "\0" + operand, "~" + operand, operand, shorter]
    if isinstance(operand, bool):
        return [False, True]
    if isinstance(operand, int):
        near = (operand, operand - 1, operand + 1, 2**62, -(2**62))
        # What is no value satisfies constraints that no value satisfies.
        exists = [n for n in near if INTEGER_MIN <= n <= INTEGER_MAX]
        return [*exists, float(operand), 0.5]
    if isinstance(operand, float):
        return [operand, operand - 1, operand + 1, 1e300, -1e300, 2**62, -(2**62)]
    return [operand]


def _of_any(f: ConstraintSet) -> Mapping[str, Condition]:
    # The pairwise rule never sees a contradiction, so none is looked for.
    return f.by_name


def _of_satisfiable(f: ConstraintSet) -> Mapping[str, Condition] | None:
    assert isinstance(f, Filter)
    return f.by_name if is_filter_satisfiable(f) else None


def _of_possible(f: ConstraintSet) -> Mapping[str, Condition]:
    # A constraint that nothing satisfies (s < "") admits nothing, not even the name.
    possible = {
        name: tuple(c for c in constraints if is_satisfiable((c,)))
        for name, constraints in f.by_name.items()
    }
    return {name: condition for name, condition in possible.items() if condition}


def _all_match(condition: Condition, value: Value) -> bool:
    return all(c.matches(value) for c in condition)


def _any_matches(condition: Condition, value: Value) -> bool:
    return any(c.matches(value) for c in condition)


def _covers_exactly(general: Condition, specific: Condition) -> bool:
    return implies(specific, general)


def _covers_pairwise(general: Condition, specific: Condition) -> bool:
    return all(any(covers_constraint(g, s) for s in specific) for g in general)


def _admits_exactly(general: Condition, specific: Condition) -> bool:
    return all(is_admitted(s, general) for s in specific)


def _admits_pairwise(general: Condition, specific: Condition) -> bool:
    return all(any(covers_constraint(g, s) for g in general) for s in specific)
