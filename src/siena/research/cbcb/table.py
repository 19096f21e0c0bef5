"""The table of a CBCB broker: what is wanted behind each interface.

Only filters that no other one of the interface covers are kept: in a frontier, which
finds what covers a new filter without looking at all, and in a matcher, which finds the
interfaces that want a notification.
"""

from collections.abc import Callable, Iterable, Mapping

from siena.matching.matcher import Matcher
from siena.matching.reference import ReferenceMatcher
from siena.model import Filter, Value
from siena.research.cbcb.frontier import Frontier
from siena.research.cbcb.messages import Wanted, join
from siena.routing.topology.topology import Broker


class InterfaceTable:
    """A predicate for each interface.

    >>> from siena.lang.parser import parse_filter as parse
    >>> table = InterfaceTable()
    >>> table.widen(2, [parse("x > 3"), parse("x > 5")])
    True
    >>> table.widen(2, [parse("x = 7")])
    False
    >>> [str(f) for f in table.wanted(2)], sorted(table.match({"x": 4}))
    (['x > 3'], [2])

    One predicate covers another if each filter of the other is covered by a filter of
    its own, which is the papers' test.  Filters that cover another only together are
    not noticed; that costs a message and some memory, and never a notification.
    """

    def __init__(self, matcher: Callable[[], Matcher] = ReferenceMatcher) -> None:
        self._frontiers: dict[Broker, Frontier] = {}
        self._matcher = matcher()
        self._numbers: dict[tuple[Broker, Filter], int] = {}

    def wanted(self, interface: Broker) -> Wanted:
        """What is wanted behind an interface; nothing, if nothing was said."""
        return join(self._frontiers.get(interface, ()))

    def is_empty(self, interface: Broker) -> bool:
        """Whether nothing is wanted behind an interface."""
        return not self._frontiers.get(interface)

    def covers(self, interface: Broker, wanted: Iterable[Filter]) -> bool:
        """Whether everything that is wanted here is wanted there already."""
        frontier = self._frontiers.get(interface, Frontier())
        return all(map(frontier.covers, wanted))

    def widen(self, interface: Broker, wanted: Iterable[Filter]) -> bool:
        """Add to what is wanted behind an interface; whether that changed anything."""
        frontier = self._frontiers.setdefault(interface, Frontier())
        return sum(self._enter(interface, frontier, f) for f in wanted) > 0

    def replace(self, interface: Broker, wanted: Iterable[Filter]) -> None:
        """Forget what was wanted behind an interface; this is wanted now."""
        for f in self._frontiers.pop(interface, ()):
            self._matcher.remove(self._numbers.pop((interface, f)))
        self.widen(interface, wanted)

    def match(self, notification: Mapping[str, Value]) -> frozenset[Broker]:
        """The interfaces behind which a notification is wanted."""
        return self._matcher.match(notification)

    @property
    def filters(self) -> int:
        """How many filters there are."""
        return len(self._numbers)

    @property
    def bytes(self) -> int:
        """How long all filters are, as text."""
        return sum(len(str(f).encode()) for _, f in self._numbers)

    def check(self) -> None:
        """Verify that frontiers, numbers and matcher hold the same."""
        held = {(i, f) for i, frontier in self._frontiers.items() for f in frontier}
        assert held == self._numbers.keys()
        assert len(self._matcher) == len(held)

    def _enter(self, interface: Broker, frontier: Frontier, f: Filter) -> bool:
        gone = frontier.add(f)
        if gone is None:
            return False
        for covered in gone:
            self._matcher.remove(self._numbers.pop((interface, covered)))
        self._numbers[interface, f] = self._matcher.add(interface, f)
        return True
