"""Factoring: one search tree for each value of an attribute, chosen by a look-up.

Where nearly all filters ask for one value of an attribute, the first step of a search
can be a dictionary.  The filters that leave the attribute open, or ask for a range,
are in the tree of *every* value that they accept, so that one tree is enough; that is
paid with space.  For absent attributes, and for values that no filter names, there is
one more tree, with only those filters.

Reference:
    Banavar et al., ICDCS 1999, section 2.1; our specification, D.1.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from siena.model import Kind, Value
from siena.research.matchers.attribute_order import AttributeOrder, Path
from siena.research.matchers.search_tree import NOTHING_DONE, Item, SearchTree, take
from siena.research.matchers.tree_node import Entry, Key, key_of, passes, values_of


@dataclass(frozen=True, slots=True)
class Shape:
    """How trees are grown: the order of the attributes, and which optimisations.

    ``factoring`` is the number of attributes that are looked up; the first ones.
    """

    order: AttributeOrder
    factoring: int
    eliminates: bool
    delays: bool

    def plant(self, level: int = 0, done: frozenset[int] = NOTHING_DONE) -> "Tree":
        """An empty tree, for filters whose tests up to a level are looked up."""
        if level < min(self.factoring, len(self.order)):
            return FactoredTree(self, level, done)
        return SearchTree(
            self.order, eliminates=self.eliminates, delays=self.delays, done=done
        )


@dataclass(slots=True)
class Cell:
    """The tree of one value, and how many filters ask for exactly this value."""

    value: Value
    tree: "Tree"
    askers: int = 0


class FactoredTree:
    """Trees by the value of one attribute; each may be factored by the next one.

    >>> from siena.lang.parser import parse_filter as parse
    >>> shape = Shape(AttributeOrder(["x", "y"]), 1, eliminates=True, delays=True)
    >>> tree = shape.plant()
    >>> for n, text in enumerate(["x = 1, y = 2", "y = 2", "x > 0"]):
    ...     tree.add(shape.order.path(parse(text)), (n, 0))
    >>> found = set()
    >>> tree.find({"x": 1, "y": 2}, found)  # y, its branch and its star
    3
    >>> sorted(found)
    [(0, 0), (1, 0), (2, 0)]

    Cost: a filter that leaves the attribute open is stored once for each value.
    """

    __slots__ = ("_cells", "_done", "_elsewhere", "_level", "_name", "_shape", "_wide")

    def __init__(self, shape: Shape, level: int, done: frozenset[int]) -> None:
        self._shape = shape
        self._level = level
        self._name = shape.order.names[level]
        self._done = done
        self._cells: dict[Key, Cell] = {}
        self._elsewhere = shape.plant(level + 1, done)
        # The filters that accept more than the value of one equality.
        self._wide: dict[Entry, Path] = {}

    def build(self, items: Iterable[Item]) -> None:
        """Hold these filters, and no others."""
        self._cells = {}
        self._wide = {}
        asking: dict[Key, list[Item]] = {}
        for path, entry in items:
            values, rest = self._asked(path)
            if not values:
                self._wide[entry] = path
            for value in values:
                asking.setdefault((Kind.of(value), value), []).append((rest, entry))
        self._elsewhere.build((path, entry) for entry, path in self._wide.items())
        for key, group in asking.items():
            # The second part of a key was made for its kind, and is of its type.
            self._cells[key] = self._cell(key[1], group)

    def add(self, path: Path, entry: Entry) -> None:
        """Hold one more filter."""
        values, rest = self._asked(path)
        for value in values:
            cell = self._cells.get((Kind.of(value), value))
            if cell is None:
                self._cells[Kind.of(value), value] = self._cell(value, [(rest, entry)])
            else:
                cell.tree.add(rest, entry)
                cell.askers += 1
        if not values:
            self._wide[entry] = path
            self._elsewhere.add(path, entry)
            for cell in self._accepted(path):
                cell.tree.add(rest, entry)

    def remove(self, path: Path, entry: Entry) -> None:
        """Hold a filter no longer; a value that no filter asks for loses its tree."""
        values, rest = self._asked(path)
        for value in values:
            cell = self._cells[Kind.of(value), value]
            cell.tree.remove(rest, entry)
            cell.askers -= 1
            if not cell.askers:
                del self._cells[Kind.of(value), value]
        if not values:
            del self._wide[entry]
            self._elsewhere.remove(path, entry)
            for cell in self._accepted(path):
                cell.tree.remove(rest, entry)

    def find(self, notification: Mapping[str, Value], found: set[Entry]) -> int:
        """Put all filters that match into ``found``; how many nodes were visited."""
        value = notification.get(self._name)
        cell = None if value is None else self._cells.get((Kind.of(value), value))
        tree = self._elsewhere if cell is None else cell.tree
        return tree.find(notification, found)

    def check(self) -> None:
        """Verify the invariants of all trees."""
        self._elsewhere.check()
        for (kind, _), cell in self._cells.items():
            assert kind is Kind.of(cell.value)
            assert cell.askers
            cell.tree.check()

    def _asked(self, path: Path) -> tuple[list[Value], Path]:
        """The values that the filter asks for, if by equality, and its other tests."""
        test, rest = take(path, self._level)
        key = None if test is None else key_of(test)
        return ([] if key is None else values_of(key)), rest

    def _cell(self, value: Value, asking: list[Item]) -> Cell:
        """A new tree: of those who ask for the value, and all who accept it."""
        accepting = [
            (take(path, self._level)[1], entry)
            for entry, path in self._wide.items()
            if self._accepts(path, value)
        ]
        tree = self._shape.plant(self._level + 1, self._done | {self._level})
        tree.build(asking + accepting)
        return Cell(value, tree, len(asking))

    def _accepted(self, path: Path) -> list[Cell]:
        cells = self._cells.values()
        return [cell for cell in cells if self._accepts(path, cell.value)]

    def _accepts(self, path: Path, value: Value) -> bool:
        test, _ = take(path, self._level)
        return test is None or passes(value, test)


Tree = SearchTree | FactoredTree
