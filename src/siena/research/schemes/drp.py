"""Dynamic receiver partitioning: the receivers travel in the header.

The source knows all predicates, and finds out who wants a message.  From there on it is
a matter of addresses: each broker parts the receivers by the next hop towards them, and
sends each part its way.
"""

from collections.abc import Callable, Iterable, Mapping

from siena.model import Value
from siena.research.schemes.memory import Memory
from siena.research.schemes.network import Network
from siena.routing.topology.topology import Broker

Partition = Mapping[Broker, frozenset[Broker]]
"""Which receivers are reached through which neighbour; no part is empty."""

Unicast = Callable[[Broker, Broker], Broker]
"""The next hop from a broker towards another."""


class DRP:
    """Dynamic receiver partitioning; the header is a partition of the receivers.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> from siena.routing.topology.topology import Topology
    >>> tree = Topology([(1, 2), (2, 3), (2, 4)])
    >>> drp = DRP(Network(tree, {3: parse("x > 3"), 4: parse("x > 3")}))
    >>> header = drp.init(1, {"x": 5})
    >>> {hop: sorted(part) for hop, part in header.items()}
    {2: [3, 4]}
    >>> {hop: sorted(part) for hop, part in drp.header(2, header).items()}
    {3: [3], 4: [4]}

    ``unicast`` may be any routing that leads to its destination; by default it follows
    the trees of the network.

    Reference:
        TR 2006/05, section 3.4; our specification, E.7.
    """

    def __init__(self, network: Network, *, unicast: Unicast | None = None) -> None:
        self.network = network
        self.unicast = unicast or next_hops(network)

    def init(self, source: Broker, notification: Mapping[str, Value]) -> Partition:
        """All receivers but the source, parted by next hop."""
        return self.part(source, self.network.receivers(notification) - {source})

    def header(self, broker: Broker, header: Partition) -> Partition:
        """The receivers that came this way, without the broker, parted anew."""
        return self.part(broker, header[broker] - {broker})

    def forward(
        self, broker: Broker, header: Partition, _notification: Mapping[str, Value]
    ) -> Iterable[Broker]:
        """The next hops; at the source, whose own header leads nowhere back, all."""
        return list(self.header(broker, header) if broker in header else header)

    def memory(self) -> Memory:
        """A next hop to each receiver everywhere, and all predicates at the senders."""
        network = self.network
        receivers = network.predicates.keys()
        hops = sum(1 for u in network.brokers for w in receivers if w != u)
        tables = [
            network.disjunction(frozenset([w]))
            for sender in network.senders
            for w in receivers
            if w != sender
        ]
        return Memory(len(network.brokers), hops, tables=tuple(tables))

    def part(self, broker: Broker, receivers: Iterable[Broker]) -> Partition:
        """Part receivers by the next hop from a broker towards them."""
        parts: dict[Broker, set[Broker]] = {}
        for receiver in receivers:
            parts.setdefault(self.unicast(broker, receiver), set()).add(receiver)
        return {hop: frozenset(parts[hop]) for hop in sorted(parts)}


def next_hops(network: Network) -> Unicast:
    """The next hops of the network's own trees."""
    hops = {
        (broker, other): hop
        for broker, tree in network.trees.items()
        for hop in tree.children(broker)
        for other in tree.below(hop)
    }
    return lambda broker, other: hops[broker, other]
