"""Delivery trees: what happens to one notification under a scheme.

A vertex for every time that a broker receives the message, and one for the source.  A
broker that receives it twice has two.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from siena.errors import SienaError
from siena.model import Value
from siena.research.schemes.scheme import H, Scheme
from siena.routing.topology.topology import Broker, Topology, Weight


class LoopError(SienaError):
    """A scheme that sends messages round and round."""


class Vertex(NamedTuple):
    """One reception: by whom, after which vertex, and how far from the source."""

    broker: Broker
    parent: int | None
    distance: Weight
    hops: int


@dataclass(frozen=True, slots=True)
class DeliveryTree:
    """All receptions of one message, the source first."""

    vertices: tuple[Vertex, ...]

    def __len__(self) -> int:
        """The cost, as the paper counts it: vertices, the source included."""
        return len(self.vertices)

    @property
    def source(self) -> Broker:
        """Where the notification was published."""
        return self.vertices[0].broker

    @property
    def brokers(self) -> frozenset[Broker]:
        """All that have seen the message."""
        return frozenset(vertex.broker for vertex in self.vertices)

    @property
    def transmissions(self) -> int:
        """How often the message crossed a link."""
        return len(self.vertices) - 1

    @property
    def weight(self) -> Weight:
        """The weights of all links crossed, as often as they were."""
        steps = (
            (v, self.vertices[v.parent]) for v in self.vertices if v.parent is not None
        )
        return sum((v.distance - parent.distance for v, parent in steps), start=0)

    def latency(self, broker: Broker) -> Weight:
        """After what distance the first message came to a broker that has seen one."""
        return min(v.distance for v in self.vertices if v.broker == broker)

    def receptions(self, broker: Broker) -> int:
        """How often a broker received the message; the source had it already."""
        return sum(v.broker == broker for v in self.vertices[1:])

    def paths(self) -> Iterator[tuple[Broker, ...]]:
        """The way from the source to each vertex, sorted, so that equal trees agree."""
        found: list[tuple[Broker, ...]] = []
        for vertex in self.vertices:
            before = () if vertex.parent is None else found[vertex.parent]
            found.append((*before, vertex.broker))
        return iter(sorted(found))


def deliver(
    scheme: Scheme[H],
    topology: Topology,
    source: Broker,
    notification: Mapping[str, Value],
) -> DeliveryTree:
    """Publish a notification, and see where the scheme takes it.

    Raises:
        LoopError: if the tree outgrows what any scheme needs that has no loops: for
            each receiver a message of its own, each past all brokers.
    """
    vertices_max = len(topology) ** 2
    vertices = [Vertex(source, None, 0, 0)]
    first = scheme.init(source, notification)
    # The source sends its header as it is; everybody else makes another of it.
    waiting = [(0, first, first)]
    for here, received, sent in waiting:  # grows as it goes
        vertex = vertices[here]
        for target in scheme.forward(vertex.broker, received, notification):
            distance = vertex.distance + topology.weight(vertex.broker, target)
            waiting.append((len(vertices), sent, scheme.header(target, sent)))
            vertices.append(Vertex(target, here, distance, vertex.hops + 1))
        if len(vertices) > vertices_max:
            raise LoopError(f"more than {vertices_max} messages for one notification")
    return DeliveryTree(tuple(vertices))
