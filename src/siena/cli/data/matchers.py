"""Sieves: each matcher, asked who wants each of several notifications.

A broker hands notifications to a matcher as they come in, many in one buffer.  So does
a command, with as many lines as are there; a matcher that gains nothing from that gets
them one by one.  A matcher is imported when it is asked for.
"""

from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

import numpy as np

from siena.matching.matcher import Matcher
from siena.model import Filter, Predicate, Value

if TYPE_CHECKING:
    from siena.matching.input.several import SeveralValues

Notifications = Sequence[Mapping[str, Value]]

# Lines that are matched in one call.  From a few dozen on nothing is gained, and the
# first answer of a batch waits for the last.
BATCH = 256


class Sieve(Protocol):
    """Subscribers, each a number with any number of interests."""

    # How many notifications it wants to be asked about at a time.
    batch: int

    def add(self, subscriber: int, interest: Filter | Predicate, /) -> None:
        """Hold an interest of a subscriber."""

    def who_wants(self, notifications: Notifications, /) -> Iterator[Collection[int]]:
        """For each notification the subscribers that want it, each once."""


class OneByOne:
    """Any matcher."""

    batch = 1

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher

    def add(self, subscriber: int, interest: Filter | Predicate) -> None:
        """Hold an interest of a subscriber."""
        self._matcher.add(subscriber, interest)

    def who_wants(self, notifications: Notifications) -> Iterator[Collection[int]]:
        """For each notification the subscribers that want it, each once."""
        return map(self._matcher.match, notifications)


class EngineSieve:
    """The engine, which says for many notifications at once which interests match."""

    batch = BATCH

    def __init__(self) -> None:
        from siena.matching.table import ForwardingTable

        self._table = ForwardingTable()
        # Whose interest it is, by its number.
        self._subscribers = array("q")

    def add(self, subscriber: int, interest: Filter | Predicate) -> None:
        """Hold an interest of a subscriber."""
        number = self._table.add(subscriber, interest)
        assert number == len(self._subscribers), "numbers are given in order"
        self._subscribers.append(subscriber)

    def who_wants(self, notifications: Notifications) -> Iterator[Collection[int]]:
        """For each notification the subscribers that want it, each once."""
        counts, interests = self._table.match_batch(notifications)
        assert counts.min(initial=0) >= 0, "a notification makes a good block"
        found = np.asarray(self._subscribers)[interests].tolist()
        ends = np.cumsum(counts).tolist()
        return (set(found[a:b]) for a, b in pairwise([0, *ends]))


class SeveralSieve:
    """The engine, where attributes may have several values."""

    batch = BATCH

    def __init__(self, many: frozenset[str]) -> None:
        from siena.matching.table import ForwardingTable

        self._table = ForwardingTable()
        self._many = many
        self._subscribers = array("q")
        self._several: SeveralValues | None = None
        # Of those it was asked about last, what is bad, and why.
        self.reasons: dict[int, str] = {}

    def add(self, subscriber: int, interest: Filter | Predicate) -> None:
        """Hold an interest of a subscriber."""
        self._table.add(subscriber, interest)
        self._subscribers.append(subscriber)
        self._several = None

    def who_wants(self, notifications: Notifications) -> Iterator[Collection[int]]:
        """For each notification the subscribers that want it, each once."""
        from siena.matching.input.several import SeveralValues

        self._several = self._several or SeveralValues(self._table, self._many)
        rows, interests, self.reasons = self._several.match(notifications)
        ends = np.searchsorted(rows, np.arange(len(notifications) + 1)).tolist()
        found = np.asarray(self._subscribers)[interests].tolist()
        return (set(found[a:b]) for a, b in pairwise(ends))


class CountingSieve:
    """Counting, which is asked for interfaces at once: it stops when all are known."""

    batch = BATCH

    def __init__(self) -> None:
        from siena.research.matchers.counting import CountingMatcher

        self._matcher = CountingMatcher()

    def add(self, subscriber: int, interest: Filter | Predicate) -> None:
        """Hold an interest of a subscriber."""
        self._matcher.add(subscriber, interest)

    def who_wants(self, notifications: Notifications) -> Iterator[Collection[int]]:
        """For each notification the subscribers that want it, each once."""
        encoded = self._matcher.encode(notifications)
        offsets, subscribers = self._matcher.match_interfaces(encoded)
        found = subscribers.tolist()
        return (found[a:b] for a, b in pairwise(offsets.tolist()))


def _tree() -> Sieve:
    from siena.research.matchers.tree import TreeMatcher

    return OneByOne(TreeMatcher())


def _poset() -> Sieve:
    from siena.research.matchers.poset_matcher import PosetMatcher

    return OneByOne(PosetMatcher())


def _reference() -> Sieve:
    from siena.matching.reference import ReferenceMatcher

    return OneByOne(ReferenceMatcher())


SIEVES: dict[str, Callable[[], Sieve]] = {
    "engine": EngineSieve,
    "counting": CountingSieve,
    "tree": _tree,
    "poset": _poset,
    "reference": _reference,
}
