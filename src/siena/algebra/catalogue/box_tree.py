"""A tree of boxes: of many places, those that contain one, or lie within it.

A place is a row of ends, two for each name: ``(low, high, low, high, …)``.  To contain
a place, or to lie within it, is to have some ends at most here and others at least
there.  Every branch knows the least and the greatest of each end below it, so a search
turns back where none can fit.

*Theory of operation.*  A branch cuts its places in two at one end, the branches below
it at the others in turn.  A leaf that is full is cut; a branch that has grown lopsided
is made anew from what is below it, and so is the tree when half of it has gone: for
each thing that comes or goes this is a logarithm.
"""

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any, Generic, TypeVar

T = TypeVar("T")

Place = tuple[Any, ...]
# The number of an end, and the value that it may not exceed, or must reach.
Limit = tuple[int, Any]

# How many places a leaf has at most, unless they are all alike.
LEAF_MAX = 16
# A branch is lopsided if one side has more than this share of its places.
SHARE_MAX = 0.75


class BoxTree(Generic[T]):
    """Things by their places.

    >>> tree = BoxTree()
    >>> for low in range(100):
    ...     tree.add((low, low + 5), low)
    >>> sorted(tree.find([(0, 7)], [(1, 9)]))  # what contains 7 to 9
    [4, 5, 6, 7]
    >>> tree.remove((6, 11), 6)
    >>> sorted(tree.find([(1, 9)], [(0, 3)])), len(tree)  # what lies within 3 to 9
    ([3, 4], 99)
    """

    __slots__ = ("_gone", "_root")

    def __init__(self) -> None:
        self._root: _Node[T] = []
        self._gone = 0

    def __len__(self) -> int:
        return _size(self._root)

    def __iter__(self) -> Iterator[T]:
        return map(itemgetter(1), _entries(self._root))

    def find(  # noqa: C901, PLR0912 -- calls would double what it costs
        self,
        at_most: Sequence[Limit] = (),
        at_least: Sequence[Limit] = (),
        turn: int = 0,
    ) -> Iterator[T]:
        """The things with ends at most, and others at least, what is given.

        Which of them is the first depends on the ``turn``, any number.
        """
        stack: list[_Node[T]] = [self._root]
        while stack:
            node = stack.pop()
            if isinstance(node, _Branch):
                least, greatest = node.least, node.greatest
                for i, value in at_most:
                    if least[i] > value:
                        break
                else:
                    for i, value in at_least:
                        if greatest[i] < value:
                            break
                    else:
                        sides = node.right, node.left
                        stack += sides[::-1] if turn & 1 else sides
                        turn >>= 1
                continue
            if turn and node:
                first = turn % len(node)
                node = node[first:] + node[:first]
            for place, item in node:
                for i, value in at_most:
                    if place[i] > value:
                        break
                else:
                    for i, value in at_least:
                        if place[i] < value:
                            break
                    else:
                        yield item

    def add(self, place: Place, item: T) -> None:
        """Enter a thing."""
        path: list[_Branch[T]] = []
        node = self._root
        while isinstance(node, _Branch):
            node.size += 1
            least, greatest = node.least, node.greatest
            for i, value in enumerate(place):
                if value < least[i]:
                    least[i] = value
                elif value > greatest[i]:
                    greatest[i] = value
            path.append(node)
            node = node.right if place[node.end] >= node.cut else node.left
        node.append((place, item))
        if len(node) > LEAF_MAX:
            self._put(path, place, _made_of(node, len(path)))
            self._balance(path, place)

    def remove(self, place: Place, item: T) -> None:
        """Take a thing out, or its equal."""
        node = self._root
        while isinstance(node, _Branch):
            node.size -= 1
            node = node.right if node.is_right(place) else node.left
        del node[next(i for i, entry in enumerate(node) if entry[1] == item)]
        self._gone += 1
        if isinstance(self._root, _Branch) and self._gone > self._root.size:
            # What branches know of their ends is out of date by now.
            self._gone = 0
            self._root = _made_of(list(_entries(self._root)), 0)

    def _balance(self, path: list["_Branch[T]"], place: Place) -> None:
        """Make the uppermost branch anew that is lopsided."""
        for depth, branch in enumerate(path):
            if branch.is_lopsided:
                entries = list(_entries(branch))
                self._put(path[:depth], place, _made_of(entries, depth))
                return

    def _put(self, path: list["_Branch[T]"], place: Place, node: "_Node[T]") -> None:
        """Hang a node where the path ends, on the side of the place."""
        if not path:
            self._root = node
        elif path[-1].is_right(place):
            path[-1].right = node
        else:
            path[-1].left = node


class _Branch(Generic[T]):
    """Places whose ``end`` is less than ``cut`` on the left, all others right."""

    __slots__ = ("_limit", "cut", "end", "greatest", "least", "left", "right", "size")

    def __init__(self, entries: list[tuple[Place, T]], end: int, depth: int) -> None:
        entries.sort(key=lambda entry: entry[0][end])
        self.end = end
        self.cut, middle = _middle(entries, end)
        self.size = len(entries)
        columns = list(zip(*(place for place, _ in entries), strict=True))
        self.least = [min(column) for column in columns]
        self.greatest = [max(column) for column in columns]
        self.left: _Node[T] = _made_of(entries[:middle], depth + 1)
        self.right: _Node[T] = _made_of(entries[middle:], depth + 1)
        # Where places are alike, it may be lopsided from the beginning.
        larger = max(middle, self.size - middle)
        self._limit = max(SHARE_MAX, 1 - (1 - larger / self.size) / 2)

    @property
    def is_lopsided(self) -> bool:
        """Whether nearly all that has come lately is on one side."""
        larger = max(_size(self.left), _size(self.right))
        return larger > self._limit * self.size + LEAF_MAX

    def is_right(self, place: Place) -> bool:
        """On which side a place is."""
        return bool(place[self.end] >= self.cut)


_Node = _Branch[T] | list[tuple[Place, T]]


def _made_of(entries: list[tuple[Place, T]], depth: int) -> "_Node[T]":
    """A node of entries; a leaf, if they are few or all alike."""
    if len(entries) > LEAF_MAX:
        ends = len(entries[0][0])
        for turn in range(ends):
            end = (depth + turn) % ends
            first = entries[0][0][end]
            if any(place[end] != first for place, _ in entries):
                return _Branch(entries, end, depth)
    return entries


def _middle(entries: list[tuple[Place, T]], end: int) -> tuple[Any, int]:
    """Where sorted entries are cut, as near to the middle as they differ."""
    half = len(entries) // 2
    cut = entries[half][0][end]
    below = half
    while below > 0 and entries[below - 1][0][end] == cut:
        below -= 1
    if below > 0:
        return cut, below
    above = half
    while entries[above][0][end] == cut:
        above += 1
    return entries[above][0][end], above


def _size(node: "_Node[T]") -> int:
    return len(node) if isinstance(node, list) else node.size


def _entries(node: "_Node[T]") -> Iterator[tuple[Place, T]]:
    stack = [node]
    while stack:
        node = stack.pop()
        if isinstance(node, list):
            yield from node
        else:
            stack += node.right, node.left
