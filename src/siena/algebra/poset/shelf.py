"""Shelves: where the poset finds its filters, one shelf for each attribute.

A shelf has the axis of its attribute and, under each condition of the axis, the
nodes that have that condition.
"""

from collections.abc import Iterator, Mapping
from typing import Generic, Self, TypeVar

from siena.algebra.poset.axis import Axis
from siena.algebra.poset.bits import ones
from siena.algebra.poset.conditions import Condition, Reading
from siena.algebra.poset.location import Location
from siena.model import Advertisement, Filter

F = TypeVar("F", Filter, Advertisement)

Key = frozenset[tuple[str, int]]


class Node(Generic[F]):
    """A filter, the numbers of its conditions, and its immediate links."""

    __slots__ = ("access", "conditions", "filter", "predecessors", "successors")

    def __init__(self, f: F, conditions: dict[str, int]) -> None:
        self.filter: F = f
        self.conditions = conditions
        self.access: tuple[str, int] | None = None
        self.predecessors: set[Self] = set()
        self.successors: set[Self] = set()

    @property
    def key(self) -> Key:
        """What nodes that select the same have in common."""
        return frozenset(self.conditions.items())


class Query:
    """A filter that is looked for: its conditions, and where they stand."""

    __slots__ = ("conditions", "key", "located")

    def __init__(
        self, conditions: Mapping[str, Condition], located: dict[str, Location]
    ) -> None:
        self.conditions = conditions
        self.located = located
        numbers = [(name, where.number) for name, where in located.items()]
        known = [(name, number) for name, number in numbers if number is not None]
        # A filter with a condition that nobody has is not in the poset.
        self.key = frozenset(known) if len(known) == len(conditions) else None


class Shelf(Generic[F]):
    """One name: its axis, and the nodes under each condition of it."""

    __slots__ = ("_accessed", "_accessed_bits", "_members", "_size", "axis")

    def __init__(self, reading: Reading) -> None:
        self.axis = Axis(reading)
        self._members: dict[int, set[Node[F]]] = {}
        self._accessed: dict[int, set[Node[F]]] = {}
        self._accessed_bits = 0
        self._size = 0

    def enter(self, node: Node[F], condition: Condition, where: Location) -> int:
        """Enter a node under its condition."""
        number = self.axis.enter(condition, where)
        self._members.setdefault(number, set()).add(node)
        self._size += 1
        return number

    def open_to(self, node: Node[F]) -> None:
        """Make this the shelf where the node is found by its access condition."""
        assert node.access is not None
        number = node.access[1]
        self._accessed.setdefault(number, set()).add(node)
        self._accessed_bits |= 1 << number

    def leave(self, node: Node[F], number: int, condition: Condition) -> None:
        """Take a node off the shelf, whose condition it was."""
        self._size -= 1
        self._members[number].discard(node)
        if not self._members[number]:
            del self._members[number]
        nodes = self._accessed.get(number, set())
        nodes.discard(node)
        if not nodes:
            self._accessed.pop(number, None)
            self._accessed_bits &= ~(1 << number)
        self.axis.leave(condition)

    def accessed(self, mask: int) -> Iterator[Node[F]]:
        """The nodes whose access condition is in the mask."""
        for number in ones(mask & self._accessed_bits):
            yield from self._accessed[number]

    def members(self, mask: int) -> Iterator[Node[F]]:
        """The nodes that have a condition of the mask."""
        for number in ones(mask):
            yield from self._members[number]

    def estimate(self, mask: int) -> int:
        """About how many nodes have a condition of the mask."""
        return self._size * mask.bit_count() // max(1, len(self.axis))

    def reach(self, number: int) -> int:
        """How many conditions a condition covers: how often a query meets it."""
        return self.axis.reach(number)
