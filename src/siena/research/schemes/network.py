"""The network in which schemes are compared: who is linked, and who wants what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from siena.model import Filter, Predicate, Value
from siena.routing.topology.topology import Broker, Topology, Weight
from siena.routing.topology.trees import Tree, distances, shortest_path_trees


@dataclass(frozen=True, slots=True)
class Disjunction:
    """The predicates of some brokers, joined: what a table stores.

    ``members`` are the brokers whose predicates went in, for counting copies; what
    decides is the filters.
    """

    members: frozenset[Broker]
    filters: tuple[Filter, ...]

    def matches(self, notification: Mapping[str, Value]) -> bool:
        """Whether one of the members wants the notification."""
        return any(f.matches(notification) for f in self.filters)


class Network:
    """A topology, what the applications of each broker want, and trees to route on.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> wanted = {2: parse("x > 3"), 3: parse("x > 5 or y = 1")}
    >>> network = Network(Topology([(1, 2), (2, 3)]), wanted)
    >>> sorted(network.receivers({"x": 4})), sorted(network.receivers({"y": 1}))
    ([2], [3])

    Brokers without a predicate want nothing.  ``trees`` replace the shortest-path
    trees of some sources, for experiments with ties; ``senders`` are the brokers that
    publish, all of them at first.
    """

    def __init__(
        self,
        topology: Topology,
        predicates: Mapping[Broker, Predicate],
        *,
        trees: Mapping[Broker, Tree] | None = None,
        senders: Iterable[Broker] | None = None,
    ) -> None:
        assert topology.is_connected
        assert all(broker in topology for broker in predicates)
        self.topology = topology
        # The predicate that matches nothing is no interest.
        self.predicates = {b: p for b, p in sorted(predicates.items()) if p.filters}
        self.trees = shortest_path_trees(topology) | dict(trees or {})
        self.senders = tuple(sorted(topology.brokers if senders is None else senders))
        self._disjunctions: dict[frozenset[Broker], Disjunction] = {}

    @property
    def brokers(self) -> tuple[Broker, ...]:
        """All brokers, ascending."""
        return self.topology.brokers

    def receivers(self, notification: Mapping[str, Value]) -> frozenset[Broker]:
        """The brokers that want a notification."""
        wanted = self.predicates.items()
        return frozenset(b for b, p in wanted if p.matches(notification))

    def reached(
        self, source: Broker, broker: Broker, neighbour: Broker
    ) -> frozenset[Broker]:
        """Whom messages of ``source`` reach from a broker through its neighbour.

        This is ``T_v/(u, w)`` of the paper: empty where the link from u to w is not
        in the tree of v.
        """
        tree = self.trees[source]
        if tree.parent(neighbour) != broker:
            return frozenset()
        return self._below[source][neighbour]

    def disjunction(self, brokers: frozenset[Broker]) -> Disjunction:
        """The predicates of these brokers, joined."""
        members = frozenset(b for b in brokers if b in self.predicates)
        found = self._disjunctions.get(members)
        if found is None:
            filters = {f for broker in members for f in self.predicates[broker]}
            ordered = sorted(filters, key=lambda f: f.constraints)
            found = Disjunction(members, tuple(ordered))
            self._disjunctions[members] = found
        return found

    @cached_property
    def distances(self) -> dict[Broker, dict[Broker, Weight]]:
        """The length of the shortest path between any two brokers."""
        return {b: distances(self.topology, b) for b in self.brokers}

    @cached_property
    def _below(self) -> dict[Broker, dict[Broker, frozenset[Broker]]]:
        """What is below each broker, in each tree."""
        return {
            source: {broker: tree.below(broker) for broker in tree}
            for source, tree in self.trees.items()
        }
