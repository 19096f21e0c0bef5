"""Matching by counting: the forwarding algorithm of SIGCOMM 2003.

Every attribute of a notification finds the constraints that it satisfies, each of them
is credited to the filters that contain it, and a filter with all of its constraints
credited matches.  The inner loops are :mod:`siena.research.matchers.kernels.counting`.
"""

import warnings
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import ClassVar, NamedTuple

from siena.matching.registry import Registry
from siena.model import Filter, Predicate, Value
from siena.research.matchers.constraint_index import Encoded
from siena.research.matchers.counting_table import CountingTable, Options
from siena.research.matchers.kernels import COMPILED, counting, strings
from siena.research.matchers.papers_only import require_papers_operators
from siena.research.matchers.string_index import Ints, Longs

# Rounds of the selectivity table, as in the authors' library.
ROUNDS = 10

if not COMPILED:
    warnings.warn(
        "the matching kernels are not compiled: matching is slow",
        RuntimeWarning,
        stacklevel=2,
    )


class Sizes(NamedTuple):
    """How large a table is."""

    filters: int
    occurrences: int  # constraints, each counted in every filter that contains it
    constraints: int  # distinct ones
    bytes: int  # the arrays of the index


class CountingMatcher:
    """Counts, for each filter, the constraints that a notification satisfies.

    >>> from siena.lang.parser import parse_filter as parse
    >>> matcher = CountingMatcher()
    >>> for interface, text in enumerate(["price < 500", "airline = UA", "price any"]):
    ...     _ = matcher.add(interface, parse(text))
    >>> sorted(matcher.match({"airline": "UA", "price": 700}))
    [1, 2]

    Only some interfaces may be open to a notification, as its broadcast tree has it:

    >>> sorted(matcher.match({"airline": "UA", "price": 700}, allowed={0, 1}))
    [1]

    Many notifications are matched faster together.  What the first one matches is in
    the first part of the numbers, and so on:

    >>> offsets, numbers = matcher.match_batch([{"price": 1}, {}, {"airline": "UA"}])
    >>> offsets.tolist(), numbers.tolist()
    ([0, 2, 2, 3], [0, 2, 1])

    The first match after a change makes the whole index anew, so this is a matcher for
    tables that rest.  Several threads may match at once, and hold no lock.

    Cost: for each notification, all filters that contain a constraint which it
    satisfies; to make the index, six or seven microseconds for each filter.

    Args:
        rounds: how many names are looked for before counting, each to exclude the
            interfaces that cannot match without it; 0 for none.
        bloom: whether to look, before a filter is credited, if the notification can
            have all of its names.
        early_exit: whether to stop when every interface is known to match or not.

    Reference:
        A. Carzaniga, A. L. Wolf: Forwarding in a content-based network.  SIGCOMM
        2003; our specification, C.3.
    """

    # The inner loops; tests put their uncompiled twins here.
    counting_kernel: ClassVar[ModuleType] = counting
    string_kernel: ClassVar[ModuleType] = strings

    def __init__(
        self, *, rounds: int = ROUNDS, bloom: bool = False, early_exit: bool = True
    ) -> None:
        self._options = Options(rounds, bloom=bloom, early_exit=early_exit)
        self._registry = Registry()
        self._table: CountingTable | None = None

    def add(self, interface: int, interest: Filter | Predicate) -> int:
        """Hold an interest; see :class:`~siena.matching.matcher.Matcher`."""
        require_papers_operators(interest)
        self._table = None
        return self._registry.enter(interface, interest)

    def remove(self, number: int) -> None:
        """Hold it no longer."""
        self._registry.leave(number)
        self._table = None

    def __len__(self) -> int:
        return len(self._registry)

    def match(
        self, notification: Mapping[str, Value], allowed: Iterable[int] | None = None
    ) -> frozenset[int]:
        """The interfaces that want the notification, of those that are allowed."""
        table = self._consolidated()
        batch = table.index.encode([notification])
        _, found = table.by_interface.match(batch, table.closed(allowed))
        return frozenset(table.interfaces[t] for t in found.tolist())

    def match_filters(self, notification: Mapping[str, Value]) -> list[int]:
        """The interests that match, in ascending order."""
        _, numbers = self.match_batch([notification])
        return sorted(numbers.tolist())

    def match_batch(
        self, notifications: Iterable[Mapping[str, Value]]
    ) -> tuple[Longs, Ints]:
        """The interests that match each notification, in no particular order.

        Those of notification ``n`` are ``numbers[offsets[n] : offsets[n + 1]]``.
        """
        return self.match_encoded(self.encode(notifications))

    def encode(self, notifications: Iterable[Mapping[str, Value]]) -> Encoded:
        """The notifications as arrays, for this table until it changes."""
        return self._consolidated().index.encode(notifications)

    def match_encoded(
        self, batch: Encoded, out: Ints | None = None
    ) -> tuple[Longs, Ints]:
        """As :meth:`match_batch`, of notifications that have been encoded.

        With ``out``, numbers are written there while there is room; so a caller in a
        loop can use the same array.

        Raises:
            ValueError: if the table has changed since then.
        """
        table = self._table_of(batch)
        return table.by_filter.match(batch, out=out)

    def match_interfaces(
        self, batch: Encoded, allowed: Iterable[int] | None = None
    ) -> tuple[Longs, Longs]:
        """The interfaces that want each notification, in no particular order.

        Raises:
            ValueError: if the table has changed since the batch was encoded.
        """
        table = self._table_of(batch)
        offsets, found = table.by_interface.match(batch, table.closed(allowed))
        return offsets, table.interface_numbers[found]

    @property
    def selectivity(self) -> list[tuple[str, frozenset[int]]]:
        """Names, and the interfaces that cannot match without them; most first."""
        table = self._consolidated()
        return [
            (name, frozenset(table.interfaces[t] for t in targets))
            for name, targets in table.selectivity()
        ]

    @property
    def sizes(self) -> Sizes:
        """How large the table is."""
        index = self._consolidated().index
        return Sizes(
            len(index.arrays["size"]),
            index.occurrences,
            len(index.constraints),
            index.nbytes,
        )

    def _consolidated(self) -> CountingTable:
        table = self._table
        if table is None:
            kernels = self.counting_kernel, self.string_kernel
            table = CountingTable(self._registry, self._options, kernels)
            self._table = table
        return table

    def _table_of(self, batch: Encoded) -> CountingTable:
        table = self._consolidated()
        if batch.index is not table.index:
            raise ValueError("the table has changed since the batch was encoded")
        return table
