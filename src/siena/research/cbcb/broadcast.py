"""The broadcast layer: for every root a tree that reaches all brokers.

CBCB asks only for a broker's parent and children in the tree of a root, and relies on
one property: the way from ``u`` to ``v`` in the tree of ``u`` is the way back in the
tree of ``v``.  :mod:`siena.routing.topology.trees` sees to that.
"""

from collections.abc import Callable

from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import Tree, minimum_spanning_tree, shortest_path_tree


class Broadcast:
    """A tree for every root, made when it is first asked for.

    >>> square = Topology([(1, 2, 4), (2, 3, 1), (3, 4, 2), (1, 4, 3)])
    >>> Broadcast.shortest_paths(square).children(root=1, broker=1)
    (2, 4)
    >>> Broadcast.spanning_tree(square).children(root=1, broker=1)
    (4,)
    """

    def __init__(self, tree_of: Callable[[Broker], Tree]) -> None:
        self._tree_of = tree_of
        self._trees: dict[Broker, Tree] = {}

    @classmethod
    def shortest_paths(cls, topology: Topology) -> "Broadcast":
        """A shortest-path tree for each root."""
        return cls(lambda root: shortest_path_tree(topology, root))

    @classmethod
    def spanning_tree(cls, topology: Topology) -> "Broadcast":
        """The same minimum spanning tree for all roots."""
        spanning = minimum_spanning_tree(topology)
        return cls(lambda root: shortest_path_tree(spanning, root))

    def children(self, root: Broker, broker: Broker) -> tuple[Broker, ...]:
        """Whom a broker passes messages of the root to."""
        return self.tree(root).children(broker)

    def parent(self, root: Broker, broker: Broker) -> Broker | None:
        """From whom a broker gets messages of the root."""
        return self.tree(root).parent(broker)

    def tree(self, root: Broker) -> Tree:
        """The tree of a root."""
        found = self._trees.get(root)
        if found is None:
            found = self._trees[root] = self._tree_of(root)
        return found
