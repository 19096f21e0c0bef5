"""Relating: how a text that is being written relates to what is wanted here.

What it covers, what covers it, which interests it has something in common with; each
with an example.  A filter that covers another asks about no name that the other does
not, which leaves few to be compared; the rest is bounded by time, and the answer says
so.
"""

from time import perf_counter
from typing import Any

import numpy as np

from siena.algebra.overlap import overlaps
from siena.algebra.points import NotShownError
from siena.algebra.relations import counterexample, covers
from siena.algebra.sat import witness
from siena.broker.questions.interest_index import Bools, InterestIndex
from siena.broker.questions.standing import Standing, among
from siena.broker.questions.viewing import Viewer, cut
from siena.lang.notification_form import notification_to_json
from siena.messages import Interest
from siena.messages.requests import filters_of
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate
from siena.model.expression.residual import ResidualPredicate

# How long filters are compared for one answer, and how many of them are shown.
SECONDS_MAX = 0.25
SHOWN_MAX = 50

Form = dict[str, Any]
NOTHING = Standing({})


def describe(interest: Interest | Advertisement) -> Form:
    """What a text is, in our own words, with an example of what it selects.

    >>> from siena.lang.parser import parse_interest
    >>> describe(parse_interest("level > 3 and what = alarm"))
    {'kind': 'filter', 'text': 'level > 3 and what = alarm', 'satisfiable': True,
     'witness': {'level': 4, 'what': 'alarm'}, 'example': 'level = 4 and what = alarm'}
    >>> describe(parse_interest("x > 3 and x < 2"))["satisfiable"]
    False
    """
    if isinstance(interest, Advertisement):
        example = _offered_example(interest)
        return {"kind": "advertisement", "text": str(interest), **example}
    if isinstance(interest, Pattern):
        steps = [_example(step) for step in interest]
        return {
            "kind": "pattern",
            "text": str(interest),
            "satisfiable": all(step["satisfiable"] for step in steps),
            "steps": [
                {"text": str(step), **example}
                for step, example in zip(interest, steps, strict=True)
            ],
        }
    kind = "filter" if isinstance(interest, Filter) else "predicate"
    if isinstance(interest, ResidualPredicate):
        kind = "rule"
    return {"kind": kind, "text": str(interest), **_example(interest)}


def _example(interest: Filter | Predicate) -> Form:
    try:
        found = witness(interest)
    except NotShownError:
        return {"satisfiable": True, "witness": None}
    if found is None:
        return {"satisfiable": False, "witness": None}
    if not interest.matches(found):  # a residual has something against it
        return {"satisfiable": True, "witness": None}
    form = notification_to_json(found)
    return {"satisfiable": True, "witness": form, "example": str(found)}


def _offered_example(offer: Advertisement) -> Form:
    """A notification with all that is offered, as far as something satisfies it."""
    constraints = [
        next((c for c in several if witness(Filter([c])) is not None), None)
        for several in offer.by_name.values()
    ]
    found = witness(Filter([c for c in constraints if c is not None]))
    if found is None or not offer.admits(found):
        return {}
    return {"witness": notification_to_json(found), "example": str(found)}


def relate(
    interest: Interest | Advertisement,
    index: InterestIndex,
    viewer: Viewer,
    there: Standing = NOTHING,
) -> Form:
    """How a text relates to what is wanted here, and may be seen.

    A pattern to other patterns, an advertisement to others and to what is wanted.
    """
    end = perf_counter() + SECONDS_MAX
    seen = viewer.seen(index)
    if isinstance(interest, Advertisement):
        found = _overlapping(interest, index, seen, end)
        said = among(interest, there, viewer)
        is_complete = said["complete"] and found.is_whole and viewer.is_complete
        overlapping = _shown(found.numbers, index, viewer)
        return {**said, "overlaps": overlapping, "complete": is_complete}
    if isinstance(interest, Pattern):
        return among(interest, there, viewer)
    below, example = _below(interest, index, seen, end)
    above = _above(interest, index, seen, end)
    return {
        "covers": _shown(below.numbers, index, viewer),
        "covered_by": _shown(above.numbers, index, viewer),
        "outside": example,
        "wanted": int(np.count_nonzero(seen)),
        "complete": below.is_whole and above.is_whole and viewer.is_complete,
    }


class _Found:
    """Filters that were found, and whether all were looked at."""

    def __init__(self) -> None:
        self.numbers: list[int] = []
        self.is_whole = True


def _below(
    interest: Filter | Predicate, index: InterestIndex, seen: Bools, end: float
) -> tuple[_Found, Form | None]:
    """What it covers; and of the first that it does not, what is outside of it."""
    found, example = _Found(), None
    if isinstance(interest, ResidualPredicate):  # what it leaves out is not known
        return found, None
    names = {c.name for c in interest} if isinstance(interest, Filter) else set()
    has_all = index.distinct_names(names) == len(names)
    for number in np.flatnonzero(seen & has_all).tolist():
        if perf_counter() > end:
            found.is_whole = False
            break
        other = index.filters[number]
        if covers(interest, other):
            found.numbers.append(number)
        elif example is None:
            example = _outside(interest, other)
    return found, example


def _outside(interest: Filter | Predicate, other: Filter) -> Form | None:
    against = counterexample(interest, other)
    if against is None:
        return None
    return {
        "text": cut(other),
        "notification": notification_to_json(against),
        "example": str(against),
    }


def _above(
    interest: Filter | Predicate, index: InterestIndex, seen: Bools, end: float
) -> _Found:
    """What covers it: filters that ask about nothing that it does not ask about."""
    found = _Found()
    if isinstance(interest, ResidualPredicate):  # it selects less, and so do we
        interest = interest.cover
    names = {c.name for f in filters_of(interest) for c in f}
    only = index.named(names) == index.sizes()
    for number in np.flatnonzero(seen & only).tolist():
        if perf_counter() > end:
            found.is_whole = False
            break
        if covers(index.filters[number], interest):
            found.numbers.append(number)
    return found


def _overlapping(
    offer: Advertisement, index: InterestIndex, seen: Bools, end: float
) -> _Found:
    found = _Found()
    for number in np.flatnonzero(seen).tolist():
        if perf_counter() > end:
            found.is_whole = False
            break
        if overlaps(offer, index.filters[number]):
            found.numbers.append(number)
    return found


def _shown(numbers: list[int], index: InterestIndex, viewer: Viewer) -> Form:
    shown = [viewer.shown(index, number) for number in numbers[:SHOWN_MAX]]
    return {"count": len(numbers), "shown": shown}


def matching(
    interest: Interest | Advertisement, notifications: list[Notification | None]
) -> list[int]:
    """Which of some notifications it selects; of a pattern, any of its steps."""
    if isinstance(interest, Advertisement):
        selects = interest.admits
    elif isinstance(interest, Pattern):
        selects = Predicate(filters_of(interest)).matches
    else:
        selects = interest.matches
    return [
        place
        for place, each in enumerate(notifications)
        if each is not None and selects(each)
    ]
