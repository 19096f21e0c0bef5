"""How good a scheme is for one notification."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from siena.model import Value
from siena.research.schemes.delivery import DeliveryTree, deliver
from siena.research.schemes.ideal import ideal_tree
from siena.research.schemes.network import Network
from siena.research.schemes.scheme import H, Scheme
from siena.routing.topology.topology import Broker


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a scheme did with a notification, and what would have been best.

    ``missing`` are the interested brokers that were not reached.  ``stretch`` is, for
    each that was, how many times longer its way was than the shortest one.
    ``ideal_size`` is the number of vertices of the smallest tree with shortest ways.
    """

    tree: DeliveryTree
    missing: frozenset[Broker]
    stretch: Mapping[Broker, Fraction]
    ideal_size: int

    @property
    def is_correct(self) -> bool:
        """Whether all who are interested got the notification."""
        return not self.missing

    @property
    def is_latency_minimal(self) -> bool:
        """Whether they got it on shortest paths."""
        return self.is_correct and all(s == 1 for s in self.stretch.values())

    @property
    def is_ideal(self) -> bool:
        """Whether, moreover, nothing was sent that could have been saved."""
        return self.is_latency_minimal and len(self.tree) == self.ideal_size


def assess(
    scheme: Scheme[H],
    network: Network,
    source: Broker,
    notification: Mapping[str, Value],
) -> Assessment:
    """Publish a notification, and compare with the best.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> from siena.research.schemes.flooding import Flooding
    >>> from siena.routing.topology.topology import Topology
    >>> network = Network(Topology([(1, 2), (2, 3), (2, 4)]), {3: parse("x > 3")})
    >>> found = assess(Flooding(network), network, 1, {"x": 4})
    >>> found.is_latency_minimal, len(found.tree), found.ideal_size
    (True, 4, 3)
    """
    tree = deliver(scheme, network.topology, source, notification)
    interested = network.receivers(notification) - {source}
    reached = interested & tree.brokers
    far = network.distances[source]
    return Assessment(
        tree=tree,
        missing=interested - reached,
        stretch={
            x: Fraction(tree.latency(x)) / Fraction(far[x]) for x in sorted(reached)
        },
        ideal_size=len(ideal_tree(network.topology, source, interested)),
    )
