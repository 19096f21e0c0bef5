r"""A parallel search tree: filters that begin with the same tests share a path.

*Theory of operation.*  Level ``i`` tests the ``i``-th attribute of an order.  A node
has a branch for each test that some filter makes, and a ``*`` branch for filters that
leave the attribute open; a leaf holds the filters whose tests are all done.  A search
follows every branch whose test succeeds, *and* the ``*`` branch; so it is in several
places at once, and what it costs is the number of nodes that it visits.  Two
optimisations make that number smaller, and never larger:

*trivial test elimination*
    A node with nothing but a ``*`` branch is left out.

*delayed branching*
    Where some filters leave an attribute open, a search forks.  If the next attribute
    is tested by *all* filters of the subtree, and by equalities of which a value passes
    one at most, it is tested first; the fork comes after it, or not at all::

             a1                  a2
           1/  \*                |2
          a2    a2      →        a1
          |2    |2             1/  \*
          A     B              A    B

    Why it never costs more: before, at least the ``*`` branch was followed, with a node
    for ``a2`` behind it; now there is at most one node for ``a1``.  What lies behind
    both tests is the same.

A tree that is built at once has both everywhere.  Where filters are added one by one,
a subtree whose tests no longer allow a delay is built anew.

Reference:
    Aguilera, Strom, Sturman, Astley and Chandra, PODC 1999; Banavar et al., ICDCS
    1999; our specification, D.1.
"""

from collections.abc import Iterable, Iterator, Mapping

from siena.model import Value
from siena.research.matchers.attribute_order import AttributeOrder, Path, Test
from siena.research.matchers.tree_node import (
    LEAF,
    Entry,
    Node,
    are_alternatives,
    is_alternative,
    key_of,
)

Item = tuple[Path, Entry]
"""A filter on its way down: the tests that are not done yet, and which filter it is."""

NOTHING_DONE: frozenset[int] = frozenset()


class SearchTree:
    """Filters, found by testing one attribute after the other.

    >>> from siena.lang.parser import parse_filter as parse
    >>> order = AttributeOrder(["a1", "a2"])
    >>> texts = ["a1 = 1, a2 = 2", "a2 = 2", "a1 = 2, a2 > 0"]
    >>> tree = SearchTree(order, eliminates=True, delays=True)
    >>> tree.build([(order.path(parse(t)), (n, 0)) for n, t in enumerate(texts)])
    >>> found = set()
    >>> tree.find({"a1": 1, "a2": 2}, found)
    5
    >>> sorted(found)
    [(0, 0), (1, 0)]

    ``done`` are levels that another tree has tested before, see
    :mod:`siena.research.matchers.factoring`.
    """

    __slots__ = ("_delays", "_done", "_eliminates", "_order", "root")

    def __init__(
        self,
        order: AttributeOrder,
        *,
        eliminates: bool,
        delays: bool,
        done: frozenset[int] = NOTHING_DONE,
    ) -> None:
        self._order = order
        self._eliminates = eliminates
        self._delays = delays
        self._done = done
        self.root: Node | None = None

    def build(self, items: Iterable[Item]) -> None:
        """Hold these filters, and no others."""
        given = list(items)
        self.root = self._grow(given, 0, self._done) if given else None

    def find(self, notification: Mapping[str, Value], found: set[Entry]) -> int:
        """Put all filters that match into ``found``; how many nodes were visited."""
        visits = 0
        waiting = [self.root] if self.root is not None else []
        while waiting:
            node = waiting.pop()
            visits += 1
            if node.is_leaf:
                found |= node.entries
                continue
            if node.star is not None:
                waiting.append(node.star)
            value = notification.get(node.name)
            if value is not None:
                waiting += node.followed(value)
        return visits

    def add(self, path: Path, entry: Entry) -> None:
        """Hold one more filter.

        Cost: the nodes on its path; more only where a delay has to be undone.
        """
        parent: Node | None = None
        label: Test | None = None
        start, done = 0, self._done
        while True:
            node = self.root if parent is None else parent.child(label)
            if node is None:
                self._attach(parent, label, self._grow([(path, entry)], start, done))
                return
            if _first_level(path) < node.floor:
                node = self._branch_above(node, _first_level(path))
                self._attach(parent, label, node)
            node.trits = None
            if node.is_leaf:
                node.entries.add(entry)
                return
            if node.is_delayed and not _fits(node, path):
                items = [*_items_below(node), (path, entry)]
                self._attach(parent, label, self._grow(items, node.floor, done))
                return
            parent, (label, path) = node, take(path, node.level)
            start, done = _below(node, done)

    def remove(self, path: Path, entry: Entry) -> None:
        """Hold a filter no longer, nor the nodes that only it needed."""
        trail: list[tuple[Node | None, Test | None]] = [(None, None)]
        node = self.root
        assert node is not None
        while not node.is_leaf:
            node.trits = None
            label, path = take(path, node.level)
            trail.append((node, label))
            child = node.child(label)
            assert child is not None
            node = child
        node.trits = None
        node.entries.remove(entry)
        self._prune(trail)

    def check(self) -> None:
        """Verify all invariants, of all nodes."""
        waiting = [(self.root, self._done)] if self.root is not None else []
        while waiting:
            node, done = waiting.pop()
            self._check_node(node, done)
            after = done | {node.level}
            waiting += [(b, after) for b in node.branches()]
            if node.star is not None:
                waiting.append((node.star, after))

    def _check_node(self, node: Node, done: frozenset[int]) -> None:
        assert not node.is_empty
        assert node.level not in done
        assert node.is_leaf == bool(node.entries)
        if node.is_leaf:
            assert not node.has_branches
            assert node.star is None
        elif self._eliminates:
            assert node.has_branches
        if node.is_delayed:
            assert self._delays
            assert not node.other
            assert node.star is None
            assert are_alternatives(node.equal)

    def _grow(self, items: list[Item], start: int, done: frozenset[int]) -> Node:
        """A subtree of these filters, which tests from a level on what is not done.

        Only branches recurse, and a filter has few tests; along the ``*`` branches,
        of which there may be one for every name, goes a loop.
        """
        waiting: dict[int, list[Item]] = {}
        for item in items:
            waiting.setdefault(_first_level(item[0]), []).append(item)
        top = last = None
        for level in self._levels(waiting, start, done):
            node = self._grow_node(level, waiting, done)
            if last is None:
                top = node
            else:
                last.star = node
            last = node
            if not waiting:
                break
        assert not waiting
        assert top is not None
        return top

    def _levels(
        self, waiting: Iterable[int], start: int, done: frozenset[int]
    ) -> list[int]:
        """The levels at which there are nodes, down to the leaf."""
        if self._eliminates:
            return sorted(waiting)
        levels = range(start, len(self._order))
        return [*(level for level in levels if level not in done), LEAF]

    def _grow_node(
        self, level: int, waiting: dict[int, list[Item]], done: frozenset[int]
    ) -> Node:
        """The node of a level; takes the filters that go through its branches."""
        here = waiting.pop(level, [])
        if level == LEAF:
            node = Node(LEAF)
            node.entries.update(entry for _, entry in here)
            return node
        floor = level
        if self._delays and _is_better_delayed(here, waiting):
            level, others = waiting.popitem()
            here += others
        node = Node(level, self._order.names[level], floor=floor)
        start, done = _below(node, done)
        groups: dict[Test, list[Item]] = {}
        for path, entry in here:
            test, rest = take(path, level)
            assert test is not None
            groups.setdefault(test, []).append((rest, entry))
        for test, group in groups.items():
            node.attach(test, self._grow(group, start, done))
        return node

    def _attach(self, parent: Node | None, label: Test | None, node: Node) -> None:
        if parent is None:
            self.root = node
        else:
            parent.attach(label, node)

    def _branch_above(self, node: Node, level: int) -> Node:
        """A node for an earlier level, which all filters of ``node`` leave open."""
        above = Node(level, self._order.names[level])
        above.star = node
        return above

    def _prune(self, trail: list[tuple[Node | None, Test | None]]) -> None:
        """Drop nodes without filters, from the leaf upwards, and trivial ones."""
        for parent, label in reversed(trail):
            node = self.root if parent is None else parent.child(label)
            assert node is not None
            if node.is_empty:
                instead = None
            elif self._eliminates and not node.is_leaf and not node.has_branches:
                instead = node.star
            else:
                return
            if parent is None:
                self.root = instead
            else:
                parent.attach(label, instead)


def take(path: Path, level: int) -> tuple[Test | None, Path]:
    """The test at a level, if there is one, and the path without it."""
    for at, (own, test) in enumerate(path):
        if own == level:
            return test, path[:at] + path[at + 1 :]
    return None, path


def _first_level(path: Path) -> int:
    return path[0][0] if path else LEAF


def _below(node: Node, done: frozenset[int]) -> tuple[int, frozenset[int]]:
    """From which level on the children of a node test, and what is done by then."""
    if node.is_delayed:
        return node.floor, done | {node.level}
    return node.level + 1, done


def _is_better_delayed(here: list[Item], waiting: dict[int, list[Item]]) -> bool:
    """Whether the attribute that the others test next may be tested by all first.

    All of them test it, nothing in between is tested, and no value passes two tests.
    """
    if len(waiting) != 1:
        return False
    ((level, others),) = waiting.items()
    if level == LEAF:
        return False
    if not all(len(path) > 1 and path[1][0] == level for path, _ in here):
        return False
    tests = [path[1][1] for path, _ in here] + [path[0][1] for path, _ in others]
    keys = [key for test in tests if (key := key_of(test)) is not None]
    return len(keys) == len(tests) and are_alternatives(keys)


def _fits(node: Node, path: Path) -> bool:
    """Whether a delayed node keeps its reason when this filter goes through it."""
    test, _ = take(path, node.level)
    key = key_of(test) if test is not None else None
    if key is None:
        return False
    if any(node.floor < level < node.level for level, _ in path):
        return False
    return is_alternative(key, node.equal)


def _items_below(node: Node) -> Iterator[Item]:
    """The filters of a subtree, each with the tests that lead to it."""
    waiting: list[tuple[Node, Path]] = [(node, ())]
    while waiting:
        here, path = waiting.pop()
        yield from ((tuple(sorted(path)), entry) for entry in here.entries)
        if here.star is not None:
            waiting.append((here.star, path))
        waiting += [(c, (*path, (here.level, t))) for t, c in here.tests()]
