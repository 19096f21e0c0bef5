"""Link matching as a routing scheme: Gryphon's, to be compared with the others.

Every broker knows all interests, each under the link that leads towards its subscriber,
and finds out with one search which links want a notification
(:mod:`siena.research.matchers.link_matching`).

Which link that is, and whether there is one at all, depends on the tree on which a
notification travels: in the tree of another source, another broker may be in charge of
the subscriber.  So a broker has *virtual* links, one for each way in which subscribers
are reached in the trees of all sources, and asks only for those that lead somewhere in
the tree at hand.
"""

from collections.abc import Iterable, Mapping

from siena.model import Filter, Value
from siena.research.matchers.link_matching import LinkMatcher
from siena.research.schemes.memory import Memory
from siena.research.schemes.network import Network
from siena.routing.topology.topology import Broker


class LinkMatching:
    """A link matcher at every broker; the header is the source.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> from siena.routing.topology.topology import Topology
    >>> star = Topology([(1, 2), (1, 3), (1, 4)])
    >>> scheme = LinkMatching(Network(star, {3: parse("x = 3"), 4: parse("y = 5")}))
    >>> scheme.forward(1, 2, {"x": 3}), scheme.forward(1, 4, {"x": 3, "y": 5})
    ([3], [3])

    The applications of a broker are behind a link of their own, called by the broker's
    own number; they are asked for in the same search.  Attributes are tested in the
    given ``order``, or as :class:`~siena.research.matchers.link_matching.LinkMatcher`
    has it.

    ``visits`` counts the nodes of search trees that were visited at each broker.

    Reference:
        Our specification, D.2.
    """

    def __init__(self, network: Network, *, order: Iterable[str] | None = None) -> None:
        self.network = network
        attributes = None if order is None else list(order)
        self.matchers = {u: LinkMatcher(attributes) for u in network.brokers}
        # What each virtual link of a broker is, in the tree of each sender.
        self.links: dict[Broker, list[dict[Broker, Broker]]] = {}
        for broker, matcher in self.matchers.items():
            numbers: dict[tuple[tuple[Broker, Broker], ...], int] = {}
            for subscriber, predicate in network.predicates.items():
                ways = tuple(self._ways(broker, subscriber).items())
                link = numbers.setdefault(ways, len(numbers))
                for f in predicate:
                    matcher.add(link, f)
            links = self.links[broker] = [dict(ways) for ways in numbers]
            for source in network.senders:
                leading = [i for i, ways in enumerate(links) if source in ways]
                matcher.lead(source, leading)

    def init(self, source: Broker, _notification: Mapping[str, Value]) -> Broker:
        """The source."""
        return source

    def header(self, _broker: Broker, header: Broker) -> Broker:
        """The source, unchanged."""
        return header

    def forward(
        self, broker: Broker, header: Broker, notification: Mapping[str, Value]
    ) -> list[Broker]:
        """The links that lead away from the source to a broker that wants it."""
        return sorted(self.match(broker, header, notification) - {broker})

    def match(
        self, broker: Broker, source: Broker, notification: Mapping[str, Value]
    ) -> frozenset[Broker]:
        """The links that want a message, the broker's own applications included."""
        found = self.matchers[broker].match(notification, source=source)
        return frozenset(self.links[broker][link][source] for link in found)

    def memory(self) -> Memory:
        """All predicates everywhere, each with its virtual link; and the trees."""
        network = self.network
        brokers = len(network.brokers)
        tables = [
            network.disjunction(frozenset([subscriber]))
            for _ in network.brokers
            for subscriber in network.predicates
        ]
        trees = sum(len(network.trees[sender].parents) for sender in network.senders)
        virtual = sum(len(ways) for links in self.links.values() for ways in links)
        identifiers = len(network.senders) + len(tables) + trees + virtual
        return Memory(brokers, identifiers, tables=tuple(tables))

    @property
    def visits(self) -> dict[Broker, int]:
        """How many nodes were visited at each broker so far."""
        return {broker: m.visits for broker, m in self.matchers.items()}

    def interests(self) -> list[tuple[Broker, Filter]]:
        """All filters, each with its subscriber's broker: what every broker knows."""
        wanted = self.network.predicates.items()
        return [(broker, f) for broker, predicate in wanted for f in predicate]

    def _ways(self, broker: Broker, subscriber: Broker) -> dict[Broker, Broker]:
        """The link towards a subscriber, in the trees where it is below the broker."""
        found: dict[Broker, Broker] = {}
        for source in self.network.senders:
            path = self.network.trees[source].path(subscriber)
            if broker in path:
                # The last on the path is the subscriber: itself towards itself.
                next_place = min(path.index(broker) + 1, len(path) - 1)
                found[source] = path[next_place]
        return found
