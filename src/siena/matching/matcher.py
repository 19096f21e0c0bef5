"""What all matchers have in common: from a notification to those who want it.

A matcher holds *interests*, filters and predicates, each added for an interface and
known by a number from then on.  All matchers give the same answers as
:class:`~siena.matching.reference.ReferenceMatcher`, and differ in what they cost.
"""

from collections.abc import Mapping
from typing import Protocol

from siena.errors import SienaError
from siena.model import Filter, Predicate, Value


class UnknownFilterError(SienaError):
    """A number under which a matcher holds nothing, or nothing any more.

    >>> raise UnknownFilterError(7)
    Traceback (most recent call last):
    siena.matching.matcher.UnknownFilterError: nothing is held under number 7
    """

    def __init__(self, filter_id: int) -> None:
        super().__init__(f"nothing is held under number {filter_id}")
        self.filter_id = filter_id


class Matcher(Protocol):
    """Interests that come and go, and who wants a notification.

    >>> from siena.lang.parser import parse_filter, parse_predicate
    >>> from siena.matching.reference import ReferenceMatcher
    >>> matcher: Matcher = ReferenceMatcher()
    >>> matcher.add(3, parse_filter("what = alarm"))
    0
    >>> matcher.add(5, parse_predicate("level > 3 or what = alarm"))
    1
    >>> matcher.match_filters({"what": "alarm"}), sorted(matcher.match({"level": 4}))
    ([0, 1], [5])
    """

    # Positional only: each matcher may call its arguments as it reads best.

    def add(self, interface: int, interest: Filter | Predicate, /) -> int:
        """Hold an interest; its number is 0, 1, 2, …, and is never given again."""

    def remove(self, filter_id: int, /) -> None:
        """Hold it no longer.

        Raises:
            UnknownFilterError: if nothing is held under this number.
        """

    def match(self, notification: Mapping[str, Value], /) -> frozenset[int]:
        """The interfaces that want the notification."""

    def match_filters(self, notification: Mapping[str, Value], /) -> list[int]:
        """The numbers of the interests that match, each once and in ascending order."""

    def __len__(self) -> int:
        """How many interests are held."""


def filters_of(interest: Filter | Predicate) -> tuple[Filter, ...]:
    """The filters of which one must match."""
    return interest.filters if isinstance(interest, Predicate) else (interest,)
