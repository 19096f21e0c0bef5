"""The matcher of Gryphon: one search for all filters, attribute by attribute.

Unlike the poset it knows nothing of covering, and shares only tests that are the same.
The tree itself is :mod:`siena.research.matchers.search_tree`; here is when it is built.
"""

from collections.abc import Iterable, Iterator, Mapping

from siena.matching.matcher import filters_of
from siena.matching.registry import Registry
from siena.model import Filter, Predicate, Value
from siena.research.matchers.attribute_order import AttributeOrder, fewest_open_first
from siena.research.matchers.factoring import Shape, Tree
from siena.research.matchers.papers_only import require_papers_operators
from siena.research.matchers.tree_node import Entry


class TreeMatcher:
    """Searches a parallel search tree.

    >>> from siena.lang.parser import parse_filter as parse
    >>> matcher = TreeMatcher(["a1", "a2", "a3"])
    >>> for link, text in enumerate(["a1 = 1, a3 = 3", "a2 = 2", "a1 = 2", "a3 > 3"]):
    ...     _ = matcher.add(link, parse(text))
    >>> matcher.match_filters({"a1": 1, "a2": 2, "a3": 3})
    [0, 1]
    >>> matcher.visits
    6

    Without an ``order`` those attributes come first that the fewest filters leave open.
    They are counted when the tree is built: at the first match, and again after more
    changes than it had filters then.  In between, filters come and go one by one.

    Each optimisation can be switched; none changes an answer, and whichever are on,
    a tree just built visits no more nodes than with none.  ``factoring`` is a number
    of attributes, and is off at first because it multiplies filters.

    ``visits`` counts the nodes that all searches have visited so far.

    Cost: sublinear in the number of filters where most of them test the same few
    attributes by equality.  Where each tests other attributes, a node for every name.

    Reference:
        Aguilera et al., PODC 1999; our specification, D.1.
    """

    __slots__ = (
        "_changes_left",
        "_delays",
        "_eliminates",
        "_factoring",
        "_order",
        "_registry",
        "_shape",
        "_tree",
        "visits",
    )

    def __init__(
        self,
        order: Iterable[str] | None = None,
        *,
        factoring: int = 0,
        trivial_test_elimination: bool = True,
        delayed_branching: bool = True,
    ) -> None:
        self.visits = 0
        self._order = None if order is None else list(order)
        self._factoring = factoring
        self._eliminates = trivial_test_elimination
        self._delays = delayed_branching
        self._registry = Registry()
        self._shape = self._new_shape()
        # None until the next match: who adds many filters builds one tree.
        self._tree: Tree | None = None
        self._changes_left = 0

    def add(self, interface: int, interest: Filter | Predicate) -> int:
        """Hold an interest; see :class:`~siena.matching.matcher.Matcher`."""
        require_papers_operators(interest)
        number = self._registry.enter(interface, interest)
        tree = self._tree_to_change()
        if tree is not None:
            for entry, f in _entries(number, interest):
                tree.add(self._shape.order.path(f), entry)
        return number

    def remove(self, number: int) -> None:
        """Hold it no longer."""
        held = self._registry.leave(number)
        tree = self._tree_to_change()
        if tree is not None:
            for entry, f in _entries(number, held.interest):
                tree.remove(self._shape.order.path(f), entry)

    def match(self, notification: Mapping[str, Value]) -> frozenset[int]:
        """The interfaces that want the notification."""
        return self._registry.interfaces(self.match_filters(notification))

    def match_filters(self, notification: Mapping[str, Value]) -> list[int]:
        """The interests that match, in ascending order."""
        found: set[Entry] = set()
        self.visits += self.tree.find(notification, found)
        return sorted({number for number, _ in found})

    def __len__(self) -> int:
        return len(self._registry)

    def interface(self, number: int) -> int:
        """The interface that an interest was added for."""
        return self._registry.interface(number)

    @property
    def tree(self) -> Tree:
        """The tree, built first if there is none that fits."""
        if self._tree is None:
            self._shape = self._new_shape()
            self._tree = self._shape.plant()
            self._tree.build(
                (self._shape.order.path(f), entry) for entry, f in self._all_entries()
            )
            self._changes_left = len(self)
        return self._tree

    def _tree_to_change(self) -> Tree | None:
        """The tree, unless so much has changed that the next one should be built."""
        self._changes_left -= 1
        if self._changes_left < 0:
            self._tree = None
        return self._tree

    def _new_shape(self) -> Shape:
        names = self._order
        if names is None:
            names = list(fewest_open_first(f for _, f in self._all_entries()))
        # All names have their level before the tree grows: without elimination it
        # has a node for each of them.
        order = AttributeOrder(names)
        for _, f in self._all_entries():
            order.path(f)
        return Shape(
            order,
            factoring=self._factoring,
            eliminates=self._eliminates,
            delays=self._delays,
        )

    def _all_entries(self) -> Iterator[tuple[Entry, Filter]]:
        for number, held in self._registry:
            yield from _entries(number, held.interest)


def _entries(
    number: int, interest: Filter | Predicate
) -> Iterator[tuple[Entry, Filter]]:
    """The filters of an interest, and under which names a tree holds them."""
    for at, f in enumerate(filters_of(interest)):
        yield (number, at), f
