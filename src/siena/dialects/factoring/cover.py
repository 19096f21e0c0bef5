"""Covers: alternatives that are never too few, and what is left to be asked of them.

A cover of an expression is a list of alternatives, each a conjunction of constraints,
and a *rest*: the expression is true of exactly those notifications that satisfy an
alternative and of which the rest is true.  Without a rest the alternatives say it all.

Where a product of alternatives would be too large, a part of it is made wider or left
to the rest; where a union would be, its alternatives are made wider until they are few.
So every expression has a cover within the limits of a predicate.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from siena.errors import LimitError
from siena.model import Constraint, Kind, Operator
from siena.model.difference import without
from siena.model.expression import Expression, all_of
from siena.model.limits import CONSTRAINTS_MAX, FILTERS_MAX
from siena.model.operators import NEGATED

Conjunction = tuple[Constraint, ...]
Alternatives = list[Conjunction]

# How many alternatives may be left after something was taken away: beyond that it is
# cheaper to ask the rest than to index what is not wanted.
REMOVED_ALTERNATIVES_MAX = 128


_PARTS = {Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING, Operator.LIKE}


class Cover(NamedTuple):
    """Alternatives, and what else must be true of what satisfies one of them."""

    alternatives: Alternatives
    rest: Expression | None = None


EVERYTHING: Alternatives = [()]
NOTHING = Cover([])


def product(parts: Iterable[tuple[Cover, Expression]]) -> Cover:
    """The cover of a conjunction, given each part's cover and the part itself.

    The parts with the fewest alternatives come first.  What no longer fits is left to
    the rest, and so is what has been multiplied before it, if that says less: a
    thousand texts select fewer notifications than the log that they are looked for in.
    """
    found = EVERYTHING
    rests: list[Expression] = []
    multiplied: list[Expression] = []
    for cover, whole in sorted(parts, key=lambda part: len(part[0].alternatives)):
        longer = _multiplied(found, cover.alternatives)
        if longer is not None:
            found = longer
            multiplied.append(whole)
            if cover.rest is not None:
                rests.append(cover.rest)
            continue
        rests.append(whole)
        fewer = least(map(_best, cover.alternatives))
        longer = _multiplied(found, fewer)
        if longer is not None:
            found = longer
        elif len(fewer) <= FILTERS_MAX and _is_telling(fewer) > _is_telling(found):
            found = fewer
            rests += multiplied
    return Cover(found, all_of(dict.fromkeys(rests)) if rests else None)


def union(covers: Sequence[Cover], whole: Expression) -> Cover:
    """The cover of a disjunction: of all it asks, if any part asks for more."""
    found = [a for cover in covers for a in cover.alternatives]
    is_exact = all(cover.rest is None for cover in covers)
    fewer = least(found)
    if len(fewer) > FILTERS_MAX:
        return Cover(_widened(fewer), whole)
    return Cover(fewer, None if is_exact else whole)


def removed(left: Alternatives, right: Alternatives) -> Alternatives | None:
    """What satisfies the left and not the right, or None if that is too much to say."""
    if len(left) > REMOVED_ALTERNATIVES_MAX:
        return None
    try:
        found = without(left, right)
    except LimitError:
        return None
    return None if len(found) > REMOVED_ALTERNATIVES_MAX else found


def least(alternatives: Iterable[Conjunction]) -> Alternatives:
    """The alternatives without contradictions, and those plainly inside another."""
    kept: Alternatives = []
    singles: set[Constraint] = set()
    tidy = {found for a in alternatives if (found := _tidy(a)) is not None}
    for found in sorted(tidy, key=lambda a: (len(a), a)):
        if not found:
            return [()]
        if not singles.isdisjoint(found):
            continue
        if len(found) == 1:
            singles.add(found[0])
        kept.append(found)
    return kept


def _tidy(conjunction: Conjunction) -> Conjunction | None:
    """The constraints, each once, without those that only repeat what others need.

    None if an equality contradicts another constraint.
    """
    found = sorted(set(conjunction))
    if len(found) < 2:
        return tuple(found)
    for equal in [c for c in found if c.operator is Operator.EQ]:
        if equal not in found:
            continue  # it was dropped, for an equality of fewer kinds
        name, kinds, value = equal.name, equal.kinds, equal.value
        assert value is not None
        known = [c for c in found if c.name == name and c != equal and kinds <= c.kinds]
        if not all(c.matches(value) for c in known):
            return None
        found = [c for c in found if c not in known]
    return tuple(
        c
        for c in found
        if c.operator is not Operator.ANY
        or not any(
            other is not c and other.name == c.name and other.kinds <= c.kinds
            for other in found
            if other.operator is not Operator.ABSENT
        )
    )


def _multiplied(left: Alternatives, right: Alternatives) -> Alternatives | None:
    """Each of the left with each of the right, or None if these are too many."""
    if len(left) * len(right) > FILTERS_MAX:
        return None
    found = [tuple(dict.fromkeys((*one, *other))) for one in left for other in right]
    if max(map(len, found), default=0) > CONSTRAINTS_MAX:
        return None
    # Taking nothing away leaves what does not plainly contradict itself.
    return least(without(found, ())) if left is not EVERYTHING else found


def _widened(alternatives: Alternatives) -> Alternatives:
    """Wider alternatives, few enough: one constraint each, then none but kinds."""
    ways: tuple[Callable[[Conjunction], Conjunction], ...] = (_best, _kind_of_best)
    for way in ways:
        fewer = least(map(way, alternatives))
        if len(fewer) <= FILTERS_MAX:
            return fewer
    return EVERYTHING


def _best(conjunction: Conjunction) -> Conjunction:
    """The constraint that is likely to be satisfied least often, if there is any."""
    return (min(conjunction, key=_breadth),) if conjunction else ()


def _is_telling(alternatives: Alternatives) -> bool:
    """Whether each alternative asks for a part of a text."""
    return all(any(c.operator.exact in _PARTS for c in a) for a in alternatives)


def _kind_of_best(conjunction: Conjunction) -> Conjunction:
    if not conjunction:
        return ()
    (constraint,) = _best(conjunction)
    if constraint.operator in {Operator.ABSENT, Operator.OTHER}:
        return (constraint,)
    return (Constraint(constraint.name, Operator.ANY, None, constraint.kind),)


def _breadth(constraint: Constraint) -> tuple[int, int]:
    operator = constraint.operator
    if operator.exact is Operator.EQ:
        rank = 0
    elif operator.exact in {Operator.PREFIX, Operator.SUFFIX, Operator.LIKE}:
        rank = 1
    elif operator.exact is Operator.SUBSTRING:
        rank = 2
    else:
        rank = 4 if operator in NEGATED or constraint.value is None else 3
    text = constraint.value
    return rank, -len(text) if isinstance(text, str) else 0


def any_value(name: str, kinds: frozenset[Kind] = Kind.ANY.parts) -> Alternatives:
    """The alternatives that say: a value of one of these kinds is there."""
    for kind in (Kind.ANY, Kind.NUMBER, *Kind.ANY.parts):
        if kind.parts == kinds:
            return [(Constraint(name, Operator.ANY, None, kind),)]
    return [(Constraint(name, Operator.ANY, None, kind),) for kind in sorted(kinds)]
