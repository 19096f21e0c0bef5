"""Where brokers, publishers and subscribers are in a network that is measured."""

from dataclasses import dataclass
from functools import cached_property

from siena.bench.broker.workload import Workload
from siena.errors import SienaError
from siena.routing.topology.topology import Topology
from siena.sim.topologies.text import parse_shape

# Each broker is a process, and all of them share the cores of one machine.
BROKERS_MAX = 16


@dataclass(frozen=True)
class Layout:
    """A network, by the name of its shape.

    Publications enter at an edge of the network, and are wanted as far away as can be.

    >>> star = Layout("star:4")
    >>> star.publisher, star.subscribers, star.middle
    (2, (3, 4), (1,))
    >>> star.order
    ((1, ()), (2, (1,)), (3, (1,)), (4, (1,)))
    >>> Layout("chain:3").order  # from the middle, as a tree is grown from there
    ((2, ()), (1, (2,)), (3, (2,)))
    """

    shape: str

    def __post_init__(self) -> None:
        if len(self.topology) > BROKERS_MAX:
            raise SienaError(f"{self.shape}: there are 1 to {BROKERS_MAX} brokers")

    @cached_property
    def topology(self) -> Topology:
        """Who is linked to whom."""
        return parse_shape(self.shape)

    @property
    def is_tree(self) -> bool:
        """Whether there is one way only between two brokers."""
        return self.topology.is_tree

    @property
    def is_complete(self) -> bool:
        """Whether all are linked to all."""
        count = len(self.topology)
        return 2 * len(self.topology.links) == count * (count - 1)

    @cached_property
    def publisher(self) -> int:
        """The broker where publications enter: one with the fewest neighbours."""
        return min(
            self.topology.brokers,
            key=lambda each: (len(self.topology.neighbours(each)), each),
        )

    @cached_property
    def subscribers(self) -> tuple[int, ...]:
        """The brokers where subscribers are: those furthest from the publisher."""
        distances = self._distances(self.publisher)
        furthest = max(distances.values())
        return tuple(
            each for each in self.topology.brokers if distances[each] == furthest
        )

    @property
    def middle(self) -> tuple[int, ...]:
        """The brokers that only pass on."""
        ends = {self.publisher, *self.subscribers}
        return tuple(each for each in self.topology.brokers if each not in ends)

    @cached_property
    def links_crossed(self) -> int:
        """The links that a publication crosses on its way to all subscribers.

        >>> [Layout(shape).links_crossed for shape in ("chain:3", "star:4", "ring:3")]
        [2, 3, 2]
        """
        distances = self._distances(self.publisher)
        crossed: set[int] = set()  # each link by the broker at its far end
        for subscriber in self.subscribers:
            at = subscriber
            while distances[at] > 0 and at not in crossed:
                crossed.add(at)
                near = self.topology.neighbours(at)
                at = min(near, key=lambda other: (distances[other], other))
        return len(crossed)

    @cached_property
    def order(self) -> tuple[tuple[int, tuple[int, ...]], ...]:
        """The brokers as they are started, and whom of those before each calls."""
        first = (self.middle or self.topology.brokers)[0]
        started: list[tuple[int, tuple[int, ...]]] = []
        known: set[int] = set()
        for each in self._distances(first):
            near = self.topology.neighbours(each)
            started.append((each, tuple(sorted(known & near.keys()))))
            known.add(each)
        return tuple(started)

    def workload(self, asked: Workload) -> Workload:
        """What is asked, at each of the brokers where subscribers are."""
        count = len(self.subscribers)
        return Workload(
            asked.interests * count,
            asked.connections * count,
            asked.matches * count,
            asked.seed,
        )

    def _distances(self, begin: int) -> dict[int, int]:
        """How far each broker is, the nearest first."""
        found = {begin: 0}
        queue = [begin]
        for each in queue:  # it grows
            for near in sorted(self.topology.neighbours(each)):
                if near not in found:
                    found[near] = found[each] + 1
                    queue.append(near)
        return found
