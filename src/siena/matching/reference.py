"""The matcher that is a loop: what every other matcher must agree with."""

from collections.abc import Mapping

from siena.matching.registry import Registry
from siena.model import Filter, Predicate, Value


class ReferenceMatcher:
    """Asks every interest, one after the other.

    >>> from siena.lang.parser import parse_filter as parse
    >>> matcher = ReferenceMatcher()
    >>> for interface, text in enumerate(["price < 500", "airline = UA", "price any"]):
    ...     _ = matcher.add(interface, parse(text))
    >>> sorted(matcher.match({"airline": "UA", "price": 700}))
    [1, 2]
    >>> matcher.remove(1)
    >>> matcher.match_filters({"airline": "UA", "price": 700})
    [2]

    It is right because there is nothing in it that could be wrong.

    Cost: all interests, for each notification.

    Reference:
        CU-CS-888-99, section 3.3; ``CBF`` of our specification, C.2.
    """

    __slots__ = ("_registry",)

    def __init__(self) -> None:
        self._registry = Registry()

    def add(self, interface: int, interest: Filter | Predicate) -> int:
        """Hold an interest; see :class:`~siena.matching.matcher.Matcher`."""
        return self._registry.enter(interface, interest)

    def remove(self, number: int) -> None:
        """Hold it no longer."""
        self._registry.leave(number)

    def match(self, notification: Mapping[str, Value]) -> frozenset[int]:
        """The interfaces that want the notification."""
        return self._registry.interfaces(self.match_filters(notification))

    def match_filters(self, notification: Mapping[str, Value]) -> list[int]:
        """The interests that match, in ascending order."""
        return [n for n, held in self._registry if held.interest.matches(notification)]

    def __len__(self) -> int:
        return len(self._registry)
