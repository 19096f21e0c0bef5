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
from functools import cached_property
from heapq import heappop, heappush

from siena.errors import InvalidTopologyError
from siena.routing.topology import Broker, Topology, Weight


class Tree:
    """A rooted tree: everybody but the root has a parent.

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
    parents, _ = _dijkstra(topology, root)
    return Tree(root, parents)


def shortest_path_trees(topology: Topology) -> dict[Broker, Tree]:
    """The tree of every broker."""
    return {broker: shortest_path_tree(topology, broker) for broker in topology.brokers}


def tree_below(topology: Topology, root: Broker) -> Tree:
    """The tree that a topology without cycles is, seen from a root.

    >>> tree_below(Topology([(1, 2), (2, 3), (2, 4)]), 2).parents
    {1: 2, 3: 2, 4: 2}

    Where there are cycles, everybody hangs where there are the fewest links between it
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
    return _dijkstra(topology, root)[1]


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
    """Which brokers are joined so far; those that nobody has named are alone.

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


def _dijkstra(
    topology: Topology, root: Broker
) -> tuple[dict[Broker, Broker], dict[Broker, Weight]]:
    """Parents and distances, with the second component of a length for the ties."""
    places = {(one, other): 1 << i for i, (one, other, _) in enumerate(topology.links)}
    parents: dict[Broker, Broker] = {}
    lengths: dict[Broker, Weight] = {}
    # The links of a path are the bits of an integer: compared as numbers, the path
    # without the last link in which they differ is the lesser.
    waiting: list[tuple[Weight, int, Broker, Broker]] = [(0, 0, root, root)]
    while waiting:
        length, links, broker, parent = heappop(waiting)
        if broker in lengths:
            continue
        lengths[broker] = length
        parents[broker] = parent
        for other, weight in topology.neighbours(broker).items():
            if other not in lengths:
                place = places[(broker, other) if broker < other else (other, broker)]
                heappush(waiting, (length + weight, links | place, other, broker))
    del parents[root]
    return parents, lengths
