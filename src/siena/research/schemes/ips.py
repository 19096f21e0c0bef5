"""Indistinguishable sources: per-source forwarding with fewer tables.

At a broker two sources are *indistinguishable* if their trees go on in the same way:
to the same children, with the same brokers below each.  One table does for all of
them.  Often the sources remain indistinguishable from this broker itself all the way
down; then the broker writes its own number into the header, and those below need not
know the sources at all.
"""

from collections.abc import Mapping

from siena.model import Value
from siena.research.schemes.memory import Memory
from siena.research.schemes.network import Disjunction, Network
from siena.research.schemes.psf import source_table
from siena.routing.topology.topology import Broker

Continuation = frozenset[tuple[Broker, frozenset[Broker]]]
"""How a tree goes on below a broker: the children, and all that is below each."""


class IPS:
    """Per-source forwarding for classes of sources; the header is a source.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> from siena.routing.topology.topology import Topology
    >>> chain = Topology([(1, 2), (2, 3), (3, 4)])
    >>> ips = IPS(Network(chain, {4: parse("x > 3")}))
    >>> ips.classes(3), ips.header(2, 1)
    ([(1, 2), (3,), (4,)], 2)

    ``rewriting`` may be switched off: then headers keep the source, and delivery trees
    are the same.

    Reference:
        TR 2006/05, section 3.2; our specification, E.5.
    """

    def __init__(self, network: Network, *, rewriting: bool = True) -> None:
        self.network = network
        # I_u: the representative of each source, the least of its class.
        self.representatives = {u: self._grouped(u) for u in network.brokers}
        # R_u: the classes whose header is rewritten at u.
        self.rewritten = {
            u: self._rewritten(u) if rewriting else frozenset() for u in network.brokers
        }
        self.tables: dict[Broker, dict[Broker, dict[Broker, Disjunction]]] = {
            u: {v: source_table(network, u, v) for v in self._needed(u)}
            for u in network.brokers
        }

    def init(self, source: Broker, _notification: Mapping[str, Value]) -> Broker:
        """The source."""
        return source

    def header(self, broker: Broker, header: Broker) -> Broker:
        """The broker itself, if those below cannot tell it from the source."""
        representative = self.representatives[broker][header]
        return broker if representative in self.rewritten[broker] else header

    def forward(
        self, broker: Broker, header: Broker, notification: Mapping[str, Value]
    ) -> list[Broker]:
        """The children below which a broker wants it."""
        table = self.tables[broker][self.representatives[broker][header]]
        return [w for w, wanted in table.items() if wanted.matches(notification)]

    def classes(self, broker: Broker) -> list[tuple[Broker, ...]]:
        """The sources that this broker cannot tell apart, class by class."""
        found: dict[Broker, list[Broker]] = {}
        for source, representative in self.representatives[broker].items():
            found.setdefault(representative, []).append(source)
        return [tuple(members) for members in found.values()]

    def memory(self) -> Memory:
        """Tables for classes, a representative for each source, a flag per class."""
        tables = [
            table
            for classes in self.tables.values()
            for neighbours in classes.values()
            for table in neighbours.values()
        ]
        mapped = sum(len(mapping) for mapping in self.representatives.values())
        flags = sum(len(classes) for classes in self.tables.values())
        identifiers = len(self.network.senders) + mapped
        brokers = len(self.network.brokers)
        return Memory(brokers, identifiers, flags, tuple(tables))

    def _continuation(self, broker: Broker, source: Broker) -> Continuation:
        network = self.network
        children = network.trees[source].children(broker)
        return frozenset((w, network.reached(source, broker, w)) for w in children)

    def _grouped(self, broker: Broker) -> dict[Broker, Broker]:
        """Every broker, not only senders: a header may name the one that rewrote it."""
        least: dict[Continuation, Broker] = {}
        return {
            source: least.setdefault(self._continuation(broker, source), source)
            for source in self.network.brokers
        }

    def _rewritten(self, broker: Broker) -> frozenset[Broker]:
        return frozenset(
            members[0]
            for members in self.classes(broker)
            if all(self._passes_for(broker, source) for source in members)
        )

    def _passes_for(self, broker: Broker, source: Broker) -> bool:
        """Whether no broker below can tell the broker from the source."""
        below = self.network.trees[source].below(broker) - {broker}
        told = (self.representatives[w] for w in below)
        return all(mapping[source] == mapping[broker] for mapping in told)

    def _needed(self, broker: Broker) -> list[Broker]:
        """The representatives of the senders."""
        mapping = self.representatives[broker]
        return sorted({mapping[sender] for sender in self.network.senders})
