"""Overlaps: the rules that have an event in common with one of them."""

from collections.abc import Iterator

from siena.algebra.points import NotShownError
from siena.algebra.text.allowance import asked
from siena.errors import LimitError
from siena.model import Filter, Notification
from siena.rules.review.index import RuleIndex, example_of

# Pairs of filters that are tried for two rules.
PAIRS_MAX = 4_096


def overlapping(index: RuleIndex, number: int) -> Iterator[tuple[int, Notification]]:
    """The other rules that fire at some event of a rule, each with such an event.

    Rules with a residual are named only if the event satisfies it.
    """
    for other in range(len(index.rules)):
        if other != number:
            event = common_event(index, number, other)
            if event is not None:
                yield other, event


@asked
def common_event(index: RuleIndex, one: int, other: int) -> Notification | None:
    """An event at which two rules fire, if one is found."""
    tried = 0
    for f in index.rules[one].rule.predicate:
        for g in index.rules[other].rule.predicate:
            tried += 1
            if tried > PAIRS_MAX:
                return None
            event = _common(f, g)
            if (
                event is not None
                and index.fires(one, event)
                and index.fires(other, event)
            ):
                return event
    return None


def _common(f: Filter, g: Filter) -> Notification | None:
    try:
        return example_of(Filter((*f, *g)))
    except (LimitError, NotShownError):
        return None
