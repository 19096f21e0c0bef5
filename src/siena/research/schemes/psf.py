"""Per-source forwarding: each broker has a table for every source.

A message of source ``v`` goes down the tree of ``v``, to those children below which
a broker wants it.  Every interested broker is reached on a shortest path, by the
smallest tree there is if shortest paths are unique; the price is memory.
"""

from collections.abc import Mapping

from siena.model import Value
from siena.research.schemes.memory import Memory
from siena.research.schemes.network import Disjunction, Network
from siena.routing.topology.topology import Broker


class PSF:
    """Per-source forwarding; the header is the source.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> from siena.routing.topology.topology import Topology
    >>> star = Topology([(1, 2), (1, 3), (1, 4)])
    >>> psf = PSF(Network(star, {3: parse("x > 3"), 4: parse("x > 5")}))
    >>> psf.forward(1, 2, {"x": 4}), psf.forward(1, 2, {"x": 6})
    ([3], [3, 4])

    Reference:
        TR 2006/05, section 3.1; our specification, E.4.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        # F_u(v, w) of the paper, by u and v, without the empty ones.
        self.tables: dict[Broker, dict[Broker, dict[Broker, Disjunction]]] = {
            broker: {v: source_table(network, broker, v) for v in network.senders}
            for broker in network.brokers
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
        """The children in the tree of the source below which a broker wants it."""
        table = self.tables[broker][header]
        return [w for w, wanted in table.items() if wanted.matches(notification)]

    def memory(self) -> Memory:
        """A table for each source; the numbers that index them are not counted."""
        tables = (
            table
            for sources in self.tables.values()
            for neighbours in sources.values()
            for table in neighbours.values()
        )
        senders = len(self.network.senders)
        return Memory(len(self.network.brokers), senders, tables=tuple(tables))


def source_table(
    network: Network, broker: Broker, source: Broker
) -> dict[Broker, Disjunction]:
    """What is wanted below each child of a broker, in the tree of a source."""
    found: dict[Broker, Disjunction] = {}
    for child in network.trees[source].children(broker):
        wanted = network.disjunction(network.reached(source, broker, child))
        if wanted.members:
            found[child] = wanted
    return found
