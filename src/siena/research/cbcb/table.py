"""The table of a CBCB broker: what is wanted behind each interface.

Only filters that no other one of the interface covers are kept, in a frontier, which
finds what covers a new filter, and whether one matches, without looking at all.  A
matcher may be asked for notifications instead; both must find the same interfaces.
"""

from collections.abc import Callable, Iterable, Mapping

from siena.matching.matcher import Matcher
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

    Args:
        matcher: what to look notifications up in; None for the frontiers themselves,
            which is quicker where tables change as often as they are asked.
    """

    def __init__(self, matcher: Callable[[], Matcher] | None = None) -> None:
        self._frontiers: dict[Broker, Frontier] = {}
        self._matcher = None if matcher is None else matcher()
        # Of the filters that the matcher holds.
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
        wanted = tuple(wanted)
        held = self._frontiers.get(interface)
        if held is not None and held.is_just(wanted):
            return  # most answers say what the last one said
        for f in self._frontiers.pop(interface, ()):
            self._drop(interface, f)
        self.widen(interface, wanted)

    def match(self, notification: Mapping[str, Value]) -> frozenset[Broker]:
        """The interfaces behind which a notification is wanted."""
        if self._matcher is not None:
            return self._matcher.match(notification)
        return frozenset(
            interface
            for interface, frontier in self._frontiers.items()
            if frontier.matches(notification)
        )

    @property
    def filters(self) -> int:
        """How many filters there are."""
        return sum(map(len, self._frontiers.values()))

    @property
    def bytes(self) -> int:
        """How long all filters are, as text."""
        return sum(frontier.bytes for frontier in self._frontiers.values())

    def check(self) -> None:
        """Verify that frontiers, numbers and matcher hold the same."""
        if self._matcher is not None:
            held = {(i, f) for i, frontier in self._frontiers.items() for f in frontier}
            assert held == self._numbers.keys()
            assert len(self._matcher) == len(held)

    def _enter(self, interface: Broker, frontier: Frontier, f: Filter) -> bool:
        gone = frontier.add(f)
        if gone is None:
            return False
        for covered in gone:
            self._drop(interface, covered)
        if self._matcher is not None:
            self._numbers[interface, f] = self._matcher.add(interface, f)
        return True

    def _drop(self, interface: Broker, f: Filter) -> None:
        if self._matcher is not None:
            self._matcher.remove(self._numbers.pop((interface, f)))
