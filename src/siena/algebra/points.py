"""Points: what one attribute of a notification may be, a value or nothing at all.

A name has a domain: *absent*, and the values of each kind.  Every constraint is a set
of points of this domain, and a filter picks one set for each name.
"""

import enum
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from siena.model import Notification, Value

T = TypeVar("T")


class Absent(enum.Enum):
    """The one point that is no value."""

    ABSENT = "absent"


ABSENT = Absent.ABSENT
Point = Value | Absent
Search = Callable[[], Point | None]


class NotShownError(Exception):
    """The work that is allowed does not suffice to tell whether there is a point."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit
        """The name of the limit."""


def first_found(searches: Iterable[Callable[[], T]]) -> T | None:
    """What the first search finds that finds anything.

    Raises:
        NotShownError: if none does, and one of them could not tell.
    """
    unknown: NotShownError | None = None
    for search in searches:
        try:
            found = search()
        except NotShownError as error:
            unknown = error
            continue
        if found is not None:
            return found
    if unknown is not None:
        raise unknown
    return None


def all_found(searches: Mapping[str, Callable[[], T | None]]) -> dict[str, T] | None:
    """What every search finds, or None if one of them finds nothing.

    Raises:
        NotShownError: if each may find something, and one of them could not tell.
    """
    found: dict[str, T] = {}
    unknown: NotShownError | None = None
    for name, search in searches.items():
        try:
            one = search()
        except NotShownError as error:
            unknown = error
            continue
        if one is None:
            return None
        found[name] = one
    if unknown is not None:
        raise unknown
    return found


def notification_of(points: Mapping[str, Point]) -> Notification:
    """The notification with these points.

    >>> print(notification_of({"x": 3, "y": ABSENT}))
    x = 3
    """
    return Notification(values_of(points))


def values_of(points: Mapping[str, Point]) -> dict[str, Value]:
    """The points that are values."""
    return {name: point for name, point in points.items() if point is not ABSENT}
