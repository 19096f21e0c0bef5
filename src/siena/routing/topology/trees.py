"""Trees: the ways that messages take through a topology.

Shortest-path trees, one for each root, and the cheapest spanning tree, one for all.

*Ties.*  Where two ways are equally long, every broker must choose the same one, in
both directions; otherwise what travels from ``u`` to ``v`` and what travels back would
meet different brokers, and the protocols on top would lose notifications.  So of two
ways of the same length the *lesser* is taken: each link has a place in the sorted list
of all links, and the way without the last link in which the two differ is the lesser.
That is the same as adding to each weight its own infinitely small power of two, so
shortest paths are unique, symmetric, and their parts are shortest paths too.

Reference:
    Our specification, B.6 (path symmetry), E.4, F.2.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from heapq import heappop, heappush
from math import lcm

from siena.errors import InvalidTopologyError
from siena.routing.topology.topology import Broker, Topology, Weight


class Tree:
    """A rooted tree: every broker but the root has a parent.

    >>> tree = Tree(1, {2: 1, 3: 1, 4: 3})
    >>> tree.children(1), tree.parent(4), sorted(tree.below(3))
    ((2, 3), 3, [3, 4])
    >>> tree.path(4)
    (1, 3, 4)
    """

    def __init__(self, root: Broker, parents: Mapping[Broker, Broker]) -> None:
        self.root = root
        self.parents = dict(parents)
        assert root not in self.parents

    def parent(self, broker: Broker) -> Broker | None:
        """Whom this one hears from; None for the root, and for strangers."""
        return self.parents.get(broker)

    def children(self, broker: Broker) -> tuple[Broker, ...]:
        """Whom this one passes messages to, ascending."""
        return self._children.get(broker, ())

    def below(self, broker: Broker) -> frozenset[Broker]:
        """The broker, and all that are reached through it."""
        found = [broker]
        for one in found:  # grows as it goes
            found += self.children(one)
        return frozenset(found)

    def path(self, broker: Broker) -> tuple[Broker, ...]:
        """The way from the root to the broker, both included."""
        way = [broker]
        while way[-1] != self.root:
            way.append(self.parents[way[-1]])
        return tuple(reversed(way))

    @cached_property
    def _children(self) -> dict[Broker, tuple[Broker, ...]]:
        found: dict[Broker, list[Broker]] = {}
        for child, parent in sorted(self.parents.items()):
            found.setdefault(parent, []).append(child)
        return {parent: tuple(children) for parent, children in found.items()}

    def __contains__(self, broker: object) -> bool:
        return broker == self.root or broker in self.parents

    def __iter__(self) -> Iterator[Broker]:
        yield self.root
        yield from self.parents

    def __len__(self) -> int:
        return len(self.parents) + 1


def shortest_path_tree(topology: Topology, root: Broker) -> Tree:
    """The tree of the shortest paths from a root to all that it can reach.

    >>> square = Topology([(1, 2), (2, 3), (3, 4), (1, 4)])
    >>> shortest_path_tree(square, 1).path(3), shortest_path_tree(square, 3).path(1)
    ((1, 2, 3), (3, 2, 1))

    Cost: Dijkstra's algorithm with a heap.
    """
    return Tree(root, _ways(topology).parents(root))


def shortest_path_trees(topology: Topology) -> dict[Broker, Tree]:
    """The tree of every broker."""
    ways = _ways(topology)
    return {broker: Tree(broker, ways.parents(broker)) for broker in topology.brokers}


def _ways(topology: Topology) -> "Ways":
    return Ways({(one, other): weight for one, other, weight in topology.links})


def tree_below(topology: Topology, root: Broker) -> Tree:
    """The tree that a topology without cycles is, seen from a root.

    >>> tree_below(Topology([(1, 2), (2, 3), (2, 4)]), 2).parents
    {1: 2, 3: 2, 4: 2}

    Where there are cycles, a broker hangs where there are the fewest links between it
    and the root, whatever they weigh; below the first such neighbour.
    """
    parents: dict[Broker, Broker] = {}
    reached = [root]
    for broker in reached:  # grows as it goes
        for neighbour in topology.neighbours(broker):
            if neighbour != root and neighbour not in parents:
                parents[neighbour] = broker
                reached.append(neighbour)
    return Tree(root, parents)


def distances(topology: Topology, root: Broker) -> dict[Broker, Weight]:
    """The length of the shortest path to every broker that can be reached."""
    found: dict[Broker, Weight] = {root: 0}
    for broker, parent in _ways(topology).parents(root).items():  # the nearest first
        found[broker] = found[parent] + topology.weight(broker, parent)
    return found


def minimum_spanning_tree(topology: Topology) -> Topology:
    """The links of least weight that still join all brokers.

    >>> square = Topology([(1, 2, 4), (2, 3, 1), (3, 4, 2), (1, 4, 3)])
    >>> [(link.one, link.other) for link in minimum_spanning_tree(square).links]
    [(1, 4), (2, 3), (3, 4)]

    Cost: Kruskal's algorithm; among links of one weight the first in the list.
    """
    if not topology.is_connected:
        raise InvalidTopologyError("the network is in pieces: no tree spans it")
    joined = Components()
    by_weight = sorted(topology.links, key=lambda link: link.weight)
    kept = [link for link in by_weight if joined.join(link.one, link.other)]
    return Topology(kept, brokers=topology.brokers, roles=topology.roles)


def cost_centre(topology: Topology) -> Broker:
    """The broker with the least distance to all others together.

    >>> cost_centre(Topology([(1, 2), (2, 3), (3, 4, 9)]))
    2
    """
    totals = {b: sum(distances(topology, b).values()) for b in topology.brokers}
    return min(totals, key=lambda broker: (totals[broker], broker))


class Components:
    """Which brokers are joined so far; those that were not named are alone.

    >>> joined = Components()
    >>> joined.join(1, 2), joined.join(2, 3), joined.join(1, 3)
    (True, True, False)
    """

    def __init__(self) -> None:
        self._above: dict[Broker, Broker] = {}

    def join(self, one: Broker, other: Broker) -> bool:
        """Join two brokers; whether they were apart."""
        top, other_top = self._top(one), self._top(other)
        self._above[top] = other_top
        return top != other_top

    def _top(self, broker: Broker) -> Broker:
        above = self._above
        above.setdefault(broker, broker)
        while above[broker] != broker:
            above[broker] = above[above[broker]]  # halves the way for the next
            broker = above[broker]
        return broker


class Ways:
    """The links of a network with lengths that are never equal for two ways.

    The length of a way is one integer: its weight, and below that a bit for each of its
    links.  It has none of them twice, so lengths are added; and of two ways of the same
    weight the one without the last link in which they differ is the shorter.
    """

    def __init__(self, weights: Mapping[tuple[Broker, Broker], Weight | float]) -> None:
        fractions = {ends: Fraction(weight) for ends, weight in weights.items()}
        # Weights become integers, so that a way weighs the same in both directions.
        self._scale = lcm(*(f.denominator for f in fractions.values()))
        self._shift = len(fractions)
        self.steps: dict[Broker, dict[Broker, int]] = {}
        for rank, ((a, b), fraction) in enumerate(sorted(fractions.items())):
            length = (int(fraction * self._scale) << self._shift) + (1 << rank)
            self.steps.setdefault(a, {})[b] = length
            self.steps.setdefault(b, {})[a] = length

    def parents(self, root: Broker) -> dict[Broker, Broker]:
        """Of each broker that can be reached, the last before it on the way there."""
        parents: dict[Broker, Broker] = {}
        shortest = {root: 0}
        heap = [(0, root, root)]
        while heap:
            length, broker, parent = heappop(heap)
            if broker in parents:
                continue
            parents[broker] = parent
            for neighbour, step in self.steps.get(broker, {}).items():
                way = length + step
                known = shortest.get(neighbour)
                if known is None or way < known:
                    shortest[neighbour] = way
                    heappush(heap, (way, neighbour, broker))
        del parents[root]
        return parents

    def weight(self, length: int) -> Fraction:
        """The weight of a way, of whose steps this is the sum."""
        return Fraction(length >> self._shift, self._scale)
