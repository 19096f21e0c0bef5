"""Ideal delivery trees: the smallest in which all are reached on shortest paths.

*Theory of operation.*  No broker need be twice in such a tree, since all its vertices
for one broker are equally far from the source.  So it is a set of brokers in which
each but the source has a *shortest-path parent*: a neighbour through which a shortest
path leads to it.  The search gives parents to brokers from the farthest inwards.  Those
that still wait for one are all that matters for the rest, so equal sets are solved
once; and where a parent is among them already, no other can be better.

Exponential in the number of ties, in the worst case; nothing without ties.
"""

from collections.abc import Iterable, Mapping
from functools import cache

from siena.routing.topology.topology import Broker, Topology, Weight
from siena.routing.topology.trees import Tree, distances

Solution = tuple[tuple[Broker, Broker], ...]
"""Pairs of a broker and its parent."""


def ideal_tree(topology: Topology, source: Broker, receivers: Iterable[Broker]) -> Tree:
    """A smallest tree that reaches all receivers on shortest paths.

    >>> tie = Topology([(1, 2), (1, 3), (2, 4), (2, 5), (3, 5)])
    >>> sorted(ideal_tree(tie, 1, [4, 5]).parents.items())
    [(2, 1), (4, 2), (5, 2)]
    """
    far = distances(topology, source)

    @cache
    def solve(waiting: frozenset[Broker]) -> Solution:
        broker = max(waiting, key=lambda b: (far[b], b))
        if broker == source:
            return ()
        rest = waiting - {broker}
        parents = shortest_path_parents(topology, far, broker)
        known = [parent for parent in parents if parent in rest]
        solutions = [
            ((broker, parent), *solve(rest | {parent}))
            for parent in known[:1] or parents
        ]
        return min(solutions, key=lambda solution: (len(solution), solution))

    return Tree(source, dict(solve(frozenset(receivers) | {source})))


def shortest_path_parents(
    topology: Topology, far: Mapping[Broker, Weight], broker: Broker
) -> list[Broker]:
    """The neighbours through which a shortest path leads; ``far`` are distances."""
    neighbours = topology.neighbours(broker).items()
    return [b for b, weight in neighbours if far[b] + weight == far[broker]]
