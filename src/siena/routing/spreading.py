"""Shortest-path trees: one for each broker of a network that may have cycles.

Whatever enters the network at a broker spreads along the tree of that broker.  The
trees must be *symmetric*: the way from ``a`` to ``b`` in the tree of ``a`` is the way
from ``b`` to ``a`` in the tree of ``b``, reversed.  Unique shortest paths are, so they
are made unique: links are numbered, and of two ways of equal weight the one whose
greatest link, of those that the other lacks, is the smaller is the shorter.

Reference:
    Dijkstra; for trees in a network of brokers CU-CS-888-99, section 5.2.5, after Dalal
    and Metcalfe.
"""

import heapq
from fractions import Fraction
from functools import lru_cache
from math import lcm

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
        # Weights become integers, so that a way weighs the same in both directions.
        fractions = {(a, b): Fraction(weight) for a, b, weight in links}
        self._scale = lcm(*(f.denominator for f in fractions.values()))
        self._steps: dict[int, list[tuple[int, int, int]]] = {}
        for rank, ((a, b), fraction) in enumerate(sorted(fractions.items())):
            weight = int(fraction * self._scale)
            self._steps.setdefault(a, []).append((b, weight, 1 << rank))
            self._steps.setdefault(b, []).append((a, weight, 1 << rank))
        self._parents: dict[int, dict[int, int]] = {}
        self._children: dict[int, dict[int, list[int]]] = {}
        self._distances: dict[int, dict[int, int]] = {}
        self._behind: dict[tuple[int, int], frozenset[int]] = {}

    def parent(self, origin: int, broker: int) -> int | None:
        """The next broker on the way from ``broker`` to ``origin``."""
        if origin not in self._parents:
            self._grow(origin)
        return self._parents[origin].get(broker)

    def is_child(self, origin: int, broker: int, *, of: int) -> bool:
        """Whether what entered at ``origin`` comes to ``broker`` by way of ``of``."""
        return self.parent(origin, broker) == of

    def distance(self, origin: int, broker: int) -> float | None:
        """The weight of the way between two brokers, if there is one."""
        if origin not in self._parents:
            self._grow(origin)
        found = self._distances[origin].get(broker)
        return None if found is None else found / self._scale

    def behind(self, origin: int, broker: int) -> frozenset[int]:
        """The brokers that ``origin`` reaches through ``broker``, itself included."""
        key = origin, broker
        found = self._behind.get(key)
        if found is None:
            if origin not in self._parents:
                self._grow(origin)
            children = self._children[origin]
            reached = [broker]
            for next_broker in reached:
                reached += children.get(next_broker, ())
            found = self._behind[key] = frozenset(reached)
        return found

    def reaches(self, neighbour: int, origin: int, other: int) -> bool:
        """Whether ``other`` reaches, through a neighbour, all that ``origin`` does."""
        if origin == other:
            return True
        return self.behind(origin, neighbour) <= self.behind(other, neighbour)

    def _grow(self, origin: int) -> None:
        parents: dict[int, int] = {}
        distances: dict[int, int] = {}
        heap = [(0, 0, origin, origin)]
        while heap:
            weight, links, broker, parent = heapq.heappop(heap)
            if broker in distances:
                continue
            distances[broker] = weight
            parents[broker] = parent
            for neighbour, more, link in self._steps.get(broker, ()):
                if neighbour not in distances:
                    heapq.heappush(
                        heap, (weight + more, links | link, neighbour, broker)
                    )
        del parents[origin]
        children: dict[int, list[int]] = {}
        for broker, parent in parents.items():
            children.setdefault(parent, []).append(broker)
        self._parents[origin] = parents
        self._children[origin] = children
        self._distances[origin] = distances


# A network of brokers computes its trees once for all of them; a few more for the
# moments in which they do not agree.
@lru_cache(maxsize=32)
def trees_of(links: frozenset[Link]) -> Trees:
    """The trees of a network with these links."""
    return Trees(links)
