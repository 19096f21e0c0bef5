"""Who gets what: the slow twin of every table of deliveries."""

from collections.abc import Iterable, Sequence
from typing import Any

from siena.lang import parse_interest
from siena.matching.reference import ReferenceMatcher
from siena.model import Filter, Notification, Predicate

Pairs = set[tuple[Any, Any]]


def expected(
    notifications: Iterable[tuple[Any, Notification]], rows: Sequence[tuple[Any, str]]
) -> Pairs:
    """Who gets what, after asking every filter about every notification."""
    matcher = ReferenceMatcher()
    for number, (_, text) in enumerate(rows):
        interest = parse_interest(text)
        assert isinstance(interest, (Filter, Predicate))
        matcher.add(number, interest)
    return {
        (key, rows[number][0])
        for key, notification in notifications
        for number in matcher.match_filters(notification)
    }
