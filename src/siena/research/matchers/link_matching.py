"""Link matching: which links need a notification, not which filters match it.

*Theory of operation.*  Every broker has the search tree of all filters, and each filter
belongs to the link that leads towards its subscriber.  Each node of the tree is
annotated with a *trit* per link: ``Yes``, everything that comes here goes over the
link; ``No``, nothing does; ``Maybe``, it depends on what follows.  A search carries the
links that are still undecided and stops as soon as there are none, usually long before
it has found all filters.

Annotations are combined from the leaves upwards, with two operations:

====================  ==========================  ====================================
alternative combine   one of the branches is       all ``Yes`` → ``Yes``, all ``No`` →
                      taken, or none               ``No``, otherwise ``Maybe``
parallel combine      the ``*`` branch is taken    a ``Yes`` → ``Yes``, both ``No`` →
                      as well                      ``No``, otherwise ``Maybe``
====================  ==========================  ====================================

"Or none" counts as a branch that is all ``No``, unless the domain of the attribute is
known and every value of it has a branch.

Sets of links are integers with one bit per link; a node has two of them, the links with
``Yes`` and the links with ``Maybe``, and both operations are a few bit operations for
all links at once.

Reference:
    US patent 6,091,724; Banavar et al., ICDCS 1999; our specification, D.2.
"""

import enum
from collections.abc import Collection, Iterable, Iterator, Mapping

from siena.model import Filter, Predicate, Value
from siena.research.matchers.search_tree import SearchTree
from siena.research.matchers.tree import TreeMatcher
from siena.research.matchers.tree_node import Node

Path = tuple[str, ...]
"""A way down a tree, in words: ``("a1 = 1", "a2 = *")``."""


class Trit(enum.Enum):
    """Whether what comes to a node goes over a link."""

    NO = "N"
    MAYBE = "M"
    YES = "Y"


class LinkMatcher:
    """From a notification to the links it must be sent on.

    >>> from siena.lang.parser import parse_filter as parse
    >>> matcher = LinkMatcher(["a1", "a2"])
    >>> for link, text in [(1, "a1 = 1"), (2, "a1 = 1, a2 = 2"), (3, "a2 = 2")]:
    ...     _ = matcher.add(link, parse(text))
    >>> sorted(matcher.match({"a1": 1, "a2": 2})), sorted(matcher.match({"a1": 1}))
    ([1, 2, 3], [1])

    Notifications travel on the spanning tree of the broker where they were published.
    Tell which links lead away from it, and the others are never asked for:

    >>> matcher.lead(source=7, links=[2, 3])
    >>> sorted(matcher.match({"a1": 1, "a2": 2}, source=7))
    [2, 3]

    If two spanning trees reach one subscriber over different links, count each pair of
    links as a link of its own, a *virtual* one.

    ``domains`` are the values that an attribute always has, and no others: what they
    promise is not tested.  ``visits`` counts the nodes that were visited.

    Cost: at most the visits of a :class:`~siena.research.matchers.tree.TreeMatcher`.
    """

    __slots__ = ("_bits", "_domains", "_leading", "_matcher", "visits")

    def __init__(
        self,
        order: Iterable[str] | None = None,
        *,
        domains: Mapping[str, Collection[Value]] | None = None,
        trivial_test_elimination: bool = True,
        delayed_branching: bool = True,
    ) -> None:
        self.visits = 0
        # Not factored: an annotated tree has one root.
        self._matcher = TreeMatcher(
            order,
            trivial_test_elimination=trivial_test_elimination,
            delayed_branching=delayed_branching,
        )
        self._domains = domains or {}
        self._bits: dict[int, int] = {}
        self._leading: dict[int, frozenset[int]] = {}

    def add(self, link: int, interest: Filter | Predicate) -> int:
        """Hold an interest of a client behind a link."""
        self._bits.setdefault(link, 1 << len(self._bits))
        return self._matcher.add(link, interest)

    def remove(self, number: int) -> None:
        """Hold it no longer."""
        self._matcher.remove(number)

    def lead(self, source: int, links: Iterable[int]) -> None:
        """On the spanning tree of ``source``, only these links lead downstream."""
        self._leading[source] = frozenset(links)

    def match(
        self, notification: Mapping[str, Value], source: int | None = None
    ) -> frozenset[int]:
        """The links over which clients want the notification.

        Without a ``source``, or with one of which nothing was told, all links are
        asked for.
        """
        root = self._annotated_root()
        links = self._bits if source is None else self._leading.get(source, self._bits)
        asked = sum(self._bits.get(link, 0) for link in links)
        found = 0 if root is None else self._search(root, notification, asked)
        return frozenset(link for link, bit in self._bits.items() if found & bit)

    def match_filters(self, notification: Mapping[str, Value]) -> list[int]:
        """The interests that match, in ascending order; here no link is saved."""
        return self._matcher.match_filters(notification)

    def __len__(self) -> int:
        return len(self._matcher)

    def annotations(self) -> dict[Path, dict[int, Trit]]:
        """The trit of each link at each node, by the way from the root to it.

        >>> from siena.lang.parser import parse_filter as parse
        >>> matcher = LinkMatcher(["a1", "a2"])
        >>> matcher.add(1, parse("a1 = 1")), matcher.add(2, parse("a1 = 1, a2 = 2"))
        (0, 1)
        >>> for path, trits in matcher.annotations().items():
        ...     print(path, *(trit.value for trit in trits.values()))
        () M M
        ('a1 = 1',) Y M
        ('a1 = 1', 'a2 = *') Y N
        ('a1 = 1', 'a2 = 2') N Y
        """
        root = self._annotated_root()
        if root is None:
            return {}
        return {path: self._trits(node) for path, node in _nodes_below(root)}

    def _search(
        self, node: Node | None, notification: Mapping[str, Value], asked: int
    ) -> int:
        """The links among those asked for that want the notification.

        Only branches recurse, as deep as a filter has tests.  The ``*`` branch is
        searched last, by the loop: there may be one for every name.
        """
        found = 0
        while node is not None:
            self.visits += 1
            assert node.trits is not None
            yes, maybe = node.trits
            found |= asked & yes
            # A link with No is out of the question below this node, and only there:
            # the caller goes on asking for it elsewhere.
            asked &= maybe
            value = notification.get(node.name) if asked else None
            for child in [] if value is None else node.followed(value):
                below = self._search(child, notification, asked)
                found |= below
                asked &= ~below
                if not asked:
                    break
            if not asked:
                break
            node = node.star
        return found

    def _annotated_root(self) -> Node | None:
        """The root, after every node that lost its trits has got new ones."""
        tree = self._matcher.tree
        assert isinstance(tree, SearchTree)
        waiting = [] if tree.root is None else [tree.root]
        while waiting:
            node = waiting[-1]
            children = _children(node) if node.trits is None else []
            stale = [child for child in children if child.trits is None]
            if stale:
                waiting += stale
                continue
            if node.trits is None:
                node.trits = self._combined(node)
            waiting.pop()
        return tree.root

    def _combined(self, node: Node) -> tuple[int, int]:
        """The links with Yes and the links with Maybe, from those of the children."""
        if node.is_leaf:
            links = {self._matcher.interface(number) for number, _ in node.entries}
            return sum(self._bits[link] for link in links), 0
        yes, maybe = self._alternatives(node)
        if node.star is not None:
            assert node.star.trits is not None
            # Parallel combine.
            yes |= node.star.trits[0]
            maybe = (maybe | node.star.trits[1]) & ~yes
        return yes, maybe

    def _alternatives(self, node: Node) -> tuple[int, int]:
        """Alternative combine over the branches of a node."""
        always = -1 if self._has_branch_for_all(node) else 0
        sometimes = 0
        for child in node.branches():
            assert child.trits is not None
            yes, maybe = child.trits
            always &= yes
            sometimes |= yes | maybe
        return always, sometimes & ~always

    def _has_branch_for_all(self, node: Node) -> bool:
        domain = self._domains.get(node.name, ())
        # An empty domain is none that is known.
        return bool(domain) and all(node.followed(value) for value in domain)

    def _trits(self, node: Node) -> dict[int, Trit]:
        assert node.trits is not None
        yes, maybe = node.trits
        return {
            link: Trit.YES if bit & yes else Trit.MAYBE if bit & maybe else Trit.NO
            for link, bit in sorted(self._bits.items())
        }


def _children(node: Node) -> Iterator[Node]:
    yield from node.branches()
    if node.star is not None:
        yield node.star


def _nodes_below(root: Node) -> Iterator[tuple[Path, Node]]:
    """All nodes, each with the way to it; parents before children."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        yield path, node
        for test, child in node.tests():
            waiting.append(((*path, " and ".join(map(str, test))), child))
        if node.star is not None:
            waiting.append(((*path, f"{node.name} = *"), node.star))
