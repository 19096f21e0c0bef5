"""Shortest-path trees: one for each broker of a network that may have cycles.

Whatever enters the network at a broker spreads along the tree of that broker.  The
trees must be *symmetric*: the way from ``a`` to ``b`` in the tree of ``a`` is the way
from ``b`` to ``a`` in the tree of ``b``, reversed.  Unique shortest paths are, and
:mod:`siena.routing.topology.trees` makes them unique.

Reference:
    Dijkstra; for trees in a network of brokers CU-CS-888-99, section 5.2.5, after Dalal
    and Metcalfe.
"""

from collections.abc import Sequence
from functools import lru_cache

from siena.routing.topology.trees import Ways

# Two ends, the smaller first, and a weight.
Link = tuple[int, int, float]


class Trees:
    """The trees of all brokers, each computed when it is first asked for.

    >>> square = trees_of(frozenset({(1, 2, 1), (2, 3, 1), (3, 4, 1), (1, 4, 1)}))
    >>> square.parent(1, 3), square.parent(3, 1)
    (2, 2)
    >>> square.is_child(1, 2, of=1), square.is_child(1, 3, of=4)
    (True, False)

    Cost: a tree takes one run of Dijkstra; a million questions afterwards are free.
    """

    def __init__(self, links: frozenset[Link]) -> None:
        self._ways = Ways({(a, b): weight for a, b, weight in links})
        self._bits = {b: 1 << at for at, b in enumerate(sorted(self._ways.steps))}
        self._parents: dict[int, dict[int, int]] = {}
        self._children: dict[int, dict[int, list[int]]] = {}
        # What lies behind a broker, as bits.  Many origins have it in common.
        self._behind: dict[tuple[int, int], int] = {}
        self._known: dict[int, int] = {}

    def __contains__(self, broker: int) -> bool:
        return broker in self._bits

    def parent(self, origin: int, broker: int) -> int | None:
        """The next broker on the way from ``broker`` to ``origin``."""
        if origin not in self._bits:  # which anybody may name
            return None
        if origin not in self._parents:
            self._grow(origin)
        return self._parents[origin].get(broker)

    def is_child(self, origin: int, broker: int, *, of: int) -> bool:
        """Whether what entered at ``origin`` comes to ``broker`` by way of ``of``."""
        return self.parent(origin, broker) == of

    def children(self, origin: int, broker: int) -> Sequence[int]:
        """The brokers to which what entered at ``origin`` comes by way of this one."""
        if origin not in self._children:
            self._grow(origin)
        return self._children[origin].get(broker, ())

    def distance(self, origin: int, broker: int) -> float | None:
        """The weight of the way between two brokers, if there is one."""
        length = 0
        while broker != origin:
            parent = self.parent(origin, broker)
            if parent is None:
                return None
            length += self._ways.steps[broker][parent]
            broker = parent
        return float(self._ways.weight(length))

    def behind(self, origin: int, broker: int) -> frozenset[int]:
        """The brokers that ``origin`` reaches through ``broker``, itself included."""
        reached = [broker]
        for next_broker in reached:
            reached += self.children(origin, next_broker)
        return frozenset(reached)

    def reaches(self, neighbour: int, origin: int, other: int) -> bool:
        """Whether ``other`` reaches, through a neighbour, all that ``origin`` does."""
        if origin == other:
            return True
        behind = self._bits_behind(origin, neighbour)
        return behind & ~self._bits_behind(other, neighbour) == 0

    def _bits_behind(self, origin: int, broker: int) -> int:
        key = origin, broker
        found = self._behind.get(key)
        if found is None:
            bits = 0
            for reached in self.behind(origin, broker):
                bits |= self._bits.get(reached, 0)
            found = self._behind[key] = self._known.setdefault(bits, bits)
        return found

    def _grow(self, origin: int) -> None:
        parents = self._ways.parents(origin)
        children: dict[int, list[int]] = {}
        for broker, parent in parents.items():
            children.setdefault(parent, []).append(broker)
        self._parents[origin] = parents
        self._children[origin] = children


# A network of brokers computes its trees once for all of them; a few more for the
# moments in which they do not agree.
@lru_cache(maxsize=32)
def trees_of(links: frozenset[Link]) -> Trees:
    """The trees of a network with these links."""
    return Trees(links)
