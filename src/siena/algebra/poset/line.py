"""Lines: filters that differ in one bound only, in the order of that bound.

::

    airline = UA, price < 500      covers
    airline = UA, price < 300      covers      <- where price < 200 has its neighbour
    airline = UA, price < 100

A neighbour on a line makes the search short.  Whatever covers the new filter and
has no condition between its bound and the neighbour's, covers the neighbour too,
because all else is the same in both; and so it is no *immediate* predecessor.
"""

from collections.abc import Iterator, Mapping
from typing import Generic

from siena.algebra.poset.chain import Chain
from siena.algebra.poset.shelf import F, Key, Node, Query
from siena.algebra.poset.simple import Bound, ChainKey

LineKey = tuple[str, ChainKey, Key]
Neighbours = dict[str, Node[F]]


class Lines(Generic[F]):
    """All lines of a poset: each node is on one for each of its bounds."""

    __slots__ = ("_lines",)

    def __init__(self) -> None:
        self._lines: dict[LineKey, Chain[Node[F]]] = {}

    def add(self, node: Node[F], bounds: Mapping[str, Bound]) -> None:
        """Put a node on its lines."""
        for name, bound in bounds.items():
            key = _key(name, bound, node.conditions)
            self._lines.setdefault(key, Chain()).insert(bound, node)

    def remove(self, node: Node[F], bounds: Mapping[str, Bound]) -> None:
        """Take a node off its lines."""
        for name, bound in bounds.items():
            key = _key(name, bound, node.conditions)
            self._lines[key].remove(bound)
            if not self._lines[key]:
                del self._lines[key]

    def neighbours(self, query: Query) -> tuple[Neighbours[F], Neighbours[F]]:
        """The next above and the next below on each line, by the name of its bound."""
        above: Neighbours[F] = {}
        below: Neighbours[F] = {}
        for name, bound, line in self._lines_of(query):
            at = line.position(bound)
            if at > 0:
                above[name] = line.items[at - 1]
            if at < len(line):
                below[name] = line.items[at]
        return above, below

    def _lines_of(self, query: Query) -> Iterator[tuple[str, Bound, Chain[Node[F]]]]:
        numbers = {name: where.number for name, where in query.located.items()}
        for name, where in query.located.items():
            others = {n: c for n, c in numbers.items() if n != name and c is not None}
            # With another condition that nobody has, it is the first on its line.
            if where.bound is not None and len(others) + 1 == len(query.conditions):
                key = name, where.bound.chain, frozenset(others.items())
                line = self._lines.get(key)
                if line is not None:
                    yield name, where.bound, line


def _key(name: str, bound: Bound, conditions: Mapping[str, int]) -> LineKey:
    rest = frozenset(item for item in conditions.items() if item[0] != name)
    return name, bound.chain, rest
