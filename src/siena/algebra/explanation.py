"""Reasons: why a relation holds or does not, constraint by constraint.

The verdicts of :mod:`siena.algebra.relations` say what is true; these say why, in
words for a person.  Both come from the same procedures.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from siena.algebra.covering import implies, refutation
from siena.algebra.disjunction import SEARCH_STEPS_MAX, decide_covers_predicate
from siena.algebra.points import ABSENT, NotShownError, Point
from siena.algebra.relations import covers
from siena.algebra.sat import is_satisfiable, may_be_absent, sat
from siena.algebra.text.allowance import asked
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Kind,
    Operator,
    Predicate,
    Value,
)
from siena.model.expression import spell_expression
from siena.model.expression.residual import ResidualPredicate
from siena.model.spelling import spell, spell_string


@dataclass(frozen=True, slots=True)
class Reason:
    """One part of the question, its answer, and why."""

    holds: bool
    subject: str
    because: str


def explain_matches(
    interest: Filter | Predicate, notification: Mapping[str, Value]
) -> list[Reason]:
    """Each constraint against the attribute that it is about."""
    if isinstance(interest, Predicate):
        reasons = [
            _summary(f, explain_matches(f, notification), "matches") for f in interest
        ]
        return [*reasons, *_explain_residual(interest, notification)]
    reasons = [_explain_constraint(c, notification.get(c.name)) for c in interest]
    return reasons or [_matches_everything()]


def explain_admits(
    advertisement: Advertisement, notification: Mapping[str, Value]
) -> list[Reason]:
    """Each attribute against what the advertisement says of it."""
    return [
        _explain_attribute(name, value, advertisement.by_name.get(name, ()))
        for name, value in notification.items()
    ]


@asked
def explain_covers(
    general: Filter | Predicate, specific: Filter | Predicate
) -> list[Reason]:
    """Each constraint that is wanted, against what the specific side guarantees."""
    if isinstance(general, Filter) and isinstance(specific, Filter):
        return _explain_covers_filter(general, specific)
    wide = Predicate(_filters(general))
    parts = _filters(specific)
    steps_max = SEARCH_STEPS_MAX // max(1, len(parts))
    return [_explain_contained(wide, f, steps_max) for f in parts]


@asked
def explain_covers_advertisement(
    general: Advertisement, specific: Advertisement
) -> list[Reason]:
    """Each constraint of the specific side, against what the general one admits."""
    reasons = []
    for constraint in specific:
        allowed = general.by_name.get(constraint.name, ())
        try:
            point = sat((constraint,), allowed)
        except NotShownError as error:
            reasons.append(Reason(False, str(constraint), _undecided(error.limit)))
            continue
        if not allowed:
            because = f"{spell_string(constraint.name)} is not advertised at all"
        elif point is None:
            because = f"within {_listed(allowed, 'or')}"
        else:
            because = f"{_shown(constraint.name, point)} is not admitted"
        reasons.append(Reason(point is None, str(constraint), because))
    return reasons


@asked
def explain_overlaps(
    advertisement: Advertisement, interest: Filter | Predicate
) -> list[Reason]:
    """Each attribute that is wanted, against what may be published of it."""
    if isinstance(interest, Predicate):
        return [
            _summary(f, explain_overlaps(advertisement, f), "overlaps")
            for f in interest
        ]
    return [
        _explain_overlap(name, wanted, advertisement.by_name.get(name, ()))
        for name, wanted in interest.by_name.items()
    ] or [_matches_everything()]


@asked
def explain_satisfiable(interest: Filter | Predicate) -> list[Reason]:
    """Each attribute that is wanted: a value for it, or the contradiction."""
    if isinstance(interest, Predicate):
        return [
            _summary(f, explain_satisfiable(f), "can be satisfied") for f in interest
        ]
    reasons = []
    for name, wanted in interest.by_name.items():
        try:
            point = sat(wanted)
        except NotShownError as error:
            reasons.append(Reason(False, _listed(wanted), _undecided(error.limit)))
            continue
        because = "no value satisfies this" if point is None else _shown(name, point)
        reasons.append(Reason(point is not None, _listed(wanted), because))
    return reasons or [_matches_everything()]


def _explain_residual(
    interest: Predicate, notification: Mapping[str, Value]
) -> list[Reason]:
    if not isinstance(interest, ResidualPredicate):
        return []
    holds = interest.lets_through(notification)
    because = "the residual holds" if holds else "the residual does not hold"
    return [Reason(holds, f"if {spell_expression(interest.residual)}", because)]


def _undecided(limit: str) -> str:
    return f"could not be decided within the allowed work, {limit}"


def _summary(f: Filter, reasons: list[Reason], verb: str) -> Reason:
    """One of several filters: that it holds, or the first thing that is against it."""
    against = next((r for r in reasons if not r.holds), None)
    if against is None:
        return Reason(True, str(f), verb)
    return Reason(False, str(f), f"{against.subject}: {against.because}")


def _explain_constraint(constraint: Constraint, value: Value | None) -> Reason:
    if value is None:
        is_wanted = constraint.operator is Operator.ABSENT
        return Reason(is_wanted, str(constraint), "there is no such attribute")
    holds = constraint.matches(value)
    because = _shown(constraint.name, value)
    if Kind.of(value) not in constraint.kinds and constraint.kinds:
        found = _with_article(Kind.of(value))
        is_of_others = constraint.operator is Operator.OTHER
        wanted = "" if is_of_others else f"; not {_with_article(constraint.kind)}"
        because += f", {found}{wanted}"
    return Reason(holds, str(constraint), because)


def _matches_everything() -> Reason:
    return Reason(True, "[]", "the empty filter matches everything")


def _explain_attribute(
    name: str, value: Value, allowed: Iterable[Constraint]
) -> Reason:
    by = next((c for c in allowed if c.matches(value)), None)
    if by is not None:
        return Reason(True, _shown(name, value), f"by {by}")
    listed = _listed(allowed, "or")
    because = f"outside {listed}" if listed else "not advertised at all"
    return Reason(False, _shown(name, value), because)


def _explain_covers_filter(general: Filter, specific: Filter) -> list[Reason]:
    for constraints in specific.by_name.values():
        if not is_satisfiable(constraints):
            because = "nothing satisfies this, so nothing is left to cover"
            return [Reason(True, _listed(constraints), because)]
    reasons = []
    for constraint in general:
        given = specific.by_name.get(constraint.name)
        if given is None:
            because = "the other filter does not ask for this attribute"
            reasons.append(Reason(False, str(constraint), because))
        elif implies(given, (constraint,)):
            because = f"implied by {_listed(given)}"
            reasons.append(Reason(True, str(constraint), because))
        else:
            reasons.append(_explain_refuted(given, constraint))
    return reasons or [_matches_everything()]


def _explain_refuted(given: Iterable[Constraint], constraint: Constraint) -> Reason:
    try:
        point = refutation(tuple(given), (constraint,))
    except NotShownError as error:
        return Reason(False, str(constraint), _undecided(error.limit))
    assert point is not None
    because = f"{_shown(constraint.name, point)} satisfies {_listed(given)}"
    return Reason(False, str(constraint), f"{because}, and not this")


def _explain_contained(wide: Predicate, f: Filter, steps_max: int) -> Reason:
    by = next((g for g in wide if covers(g, f)), None)
    if by is not None:
        return Reason(True, str(f), f"within {by}")
    verdict = decide_covers_predicate(wide, Predicate([f]), steps_max=steps_max)
    if verdict.holds:
        return Reason(True, str(f), "within the union, though within no single filter")
    if verdict.witness is None:
        return Reason(False, str(f), _undecided(verdict.limit))
    return Reason(False, str(f), f"{verdict.witness} is outside")


def _explain_overlap(
    name: str, wanted: tuple[Constraint, ...], offered: tuple[Constraint, ...]
) -> Reason:
    subject = _listed(wanted)
    if may_be_absent(wanted):
        return Reason(True, subject, "an attribute may always be left out")
    if not offered:
        return Reason(False, subject, f"{spell_string(name)} is not advertised")
    undecided = ""
    for offer in offered:
        try:
            point = sat((*wanted, offer))
        except NotShownError as error:
            undecided = error.limit
            continue
        if point is not None:
            return Reason(True, subject, f"{_shown(name, point)}, by {offer}")
    if undecided:
        return Reason(False, subject, _undecided(undecided))
    return Reason(False, subject, f"nothing in common with {_listed(offered, 'or')}")


def _filters(interest: Filter | Predicate) -> tuple[Filter, ...]:
    return (interest,) if isinstance(interest, Filter) else interest.filters


def _shown(name: str, point: Point) -> str:
    if point is ABSENT:
        return f"no {spell_string(name)}"
    return f"{spell_string(name)} = {spell(point)}"


def _listed(constraints: Iterable[Constraint], joint: str = "and") -> str:
    return f" {joint} ".join(map(str, constraints))


def _with_article(kind: Kind) -> str:
    return f"{'an' if kind in {Kind.INTEGER, Kind.ANY} else 'a'} {kind.word}"
