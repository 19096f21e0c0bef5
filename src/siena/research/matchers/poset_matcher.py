"""Matching from the general to the special: a filter that fails hides all below it.

This is how the servers of Siena matched.  The order is
:class:`~siena.algebra.poset.poset.Poset`; here is only who asked for which of its
filters.
"""

from collections.abc import Mapping

from siena.algebra.poset.poset import Poset
from siena.matching.matcher import filters_of
from siena.matching.registry import Registry
from siena.model import Filter, Predicate, Value


class PosetMatcher:
    """Searches the poset of all filters, from its roots downward.

    >>> from siena.lang.parser import parse_filter as parse
    >>> matcher = PosetMatcher()
    >>> matcher.add(1, parse("integer x = 4")), matcher.add(2, parse("x > 0"))
    (0, 1)
    >>> matcher.add(3, parse("integer x > 3 and integer x < 5"))
    2
    >>> matcher.match_filters({"x": 4}), matcher.match_filters({"x": 4.0})
    ([0, 1, 2], [1])

    Filters that select the same are one filter with several users, however they are
    written.  The two with interfaces 1 and 3 are tested once, and only where
    ``x > 0`` matches.

    Cost: the filters that match, and those immediately below them.  An addition
    compares with the filters that share conditions with the new one.

    Reference:
        CU-CS-888-99, sections 5.1 and 5.2.2.
    """

    __slots__ = ("_poset", "_registry", "_standing", "_users")

    def __init__(self) -> None:
        self._registry = Registry()
        self._poset = Poset.of_filters()
        # The filters of the poset that stand for an interest, and the way back.
        self._standing: dict[int, frozenset[Filter]] = {}
        self._users: dict[Filter, set[int]] = {}

    def add(self, interface: int, interest: Filter | Predicate) -> int:
        """Hold an interest; see :class:`~siena.matching.matcher.Matcher`."""
        number = self._registry.enter(interface, interest)
        # A set: two filters of one predicate may select the same.
        standing = frozenset(self._poset.add(f).filter for f in filters_of(interest))
        for f in standing:
            self._users.setdefault(f, set()).add(number)
        self._standing[number] = standing
        return number

    def remove(self, number: int) -> None:
        """Hold it no longer; a filter leaves the poset with its last user."""
        self._registry.leave(number)
        for f in self._standing.pop(number):
            self._users[f].remove(number)
            if not self._users[f]:
                del self._users[f]
                self._poset.remove(f)

    def match(self, notification: Mapping[str, Value]) -> frozenset[int]:
        """The interfaces that want the notification."""
        return self._registry.interfaces(self.match_filters(notification))

    def match_filters(self, notification: Mapping[str, Value]) -> list[int]:
        """The interests that match, in ascending order."""
        found: set[int] = set()
        for f in self._poset.match(notification):
            found |= self._users[f]
        return sorted(found)

    def __len__(self) -> int:
        return len(self._registry)

    def check(self) -> None:
        """Verify that poset and users tell the same; the poset has its own check."""
        assert set(self._poset) == self._users.keys()
        assert self._standing.keys() == {number for number, _ in self._registry}
        for f, users in self._users.items():
            assert users, f
            assert all(f in self._standing[number] for number in users)
