"""Flooding: everything to all brokers, on the tree of the source.

The scheme that needs to know nothing, and the measure for all that know something.
"""

from collections.abc import Mapping

from siena.model import Value
from siena.research.schemes.memory import Memory
from siena.research.schemes.network import Network
from siena.routing.topology.topology import Broker


class Flooding:
    """Sends down the whole tree of the source; the header is the source."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def init(self, source: Broker, _notification: Mapping[str, Value]) -> Broker:
        """The source."""
        return source

    def header(self, _broker: Broker, header: Broker) -> Broker:
        """The source, unchanged."""
        return header

    def forward(
        self, broker: Broker, header: Broker, _notification: Mapping[str, Value]
    ) -> tuple[Broker, ...]:
        """All children in the tree of the source."""
        return self.network.trees[header].children(broker)

    def memory(self) -> Memory:
        """The children in the tree of each source, and no predicate."""
        trees = [self.network.trees[sender] for sender in self.network.senders]
        identifiers = len(trees) + sum(len(tree.parents) for tree in trees)
        return Memory(len(self.network.brokers), identifiers)
