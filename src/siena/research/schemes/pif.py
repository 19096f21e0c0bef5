"""Per-interface forwarding: each broker has one table for all sources.

A table says what is wanted behind each neighbour, for all publishers; messages are kept
from running in circles by the tree of their source.  That needs little memory, and
sends a little too much: a broker behind a neighbour may be reached another way.  The
protocol that fills such tables is :mod:`siena.research.cbcb`.
"""

from collections.abc import Mapping

from siena.model import Value
from siena.research.schemes.memory import Memory
from siena.research.schemes.network import Disjunction, Network
from siena.routing.topology.topology import Broker


class PIF:
    """Per-interface forwarding; the header is the source.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> from siena.routing.topology.topology import Topology
    >>> ring = Topology([(1, 2), (2, 3), (1, 3)])
    >>> pif = PIF(Network(ring, {3: parse("x > 3")}))
    >>> pif.forward(1, 1, {"x": 4}), pif.forward(2, 1, {"x": 4})
    ([3], [])

    Without the trees (``keeps_to_trees``) messages go wherever they are wanted, round
    and round; that is here to be shown, not to be used.

    Reference:
        TR 2006/05, section 3.3; our specification, E.6.
    """

    def __init__(self, network: Network, *, keeps_to_trees: bool = True) -> None:
        self.network = network
        self.keeps_to_trees = keeps_to_trees
        self.tables: dict[Broker, dict[Broker, Disjunction]] = {
            broker: self._table(broker) for broker in network.brokers
        }

    def init(self, source: Broker, _notification: Mapping[str, Value]) -> Broker:
        """The source."""
        return source

    def header(self, _broker: Broker, header: Broker) -> Broker:
        """The source, unchanged."""
        return header

    def forward(
        self, broker: Broker, header: Broker, notification: Mapping[str, Value]
    ) -> list[Broker]:
        """The children in the source's tree behind which a broker wants it."""
        parent = self.network.trees[header].parent
        return [
            w
            for w, wanted in self.tables[broker].items()
            if (not self.keeps_to_trees or parent(w) == broker)
            and wanted.matches(notification)
        ]

    def memory(self) -> Memory:
        """A table per interface, and the children in the tree of each source."""
        trees = [self.network.trees[sender] for sender in self.network.senders]
        identifiers = len(trees) + sum(len(tree.parents) for tree in trees)
        tables = (t for tables in self.tables.values() for t in tables.values())
        return Memory(len(self.network.brokers), identifiers, tables=tuple(tables))

    def _table(self, broker: Broker) -> dict[Broker, Disjunction]:
        found: dict[Broker, Disjunction] = {}
        for neighbour in self.network.topology.neighbours(broker):
            members = behind(self.network, broker, neighbour)
            wanted = self.network.disjunction(members)
            if wanted.members:
                found[neighbour] = wanted
        return found


def behind(network: Network, broker: Broker, neighbour: Broker) -> frozenset[Broker]:
    """Whom the broker reaches through the neighbour, in the tree of any source.

    This is the definition, ``F*_u(w)``: the union over all sources.  Where shortest
    paths are unique, the tree of the broker alone gives the same (see
    :func:`behind_in_own_tree`).
    """
    sources = network.brokers
    return frozenset().union(*(network.reached(v, broker, neighbour) for v in sources))


def behind_in_own_tree(
    network: Network, broker: Broker, neighbour: Broker
) -> frozenset[Broker]:
    """The same from one tree instead of all: ``T_u/(u, w)``."""
    return network.reached(broker, broker, neighbour)
