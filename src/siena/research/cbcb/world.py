"""A world of CBCB brokers in virtual time.

Links take as long as their weight says and keep messages in order; nothing is lost.
The world remembers what was published, who should have got it and who did, so that
false negatives can be counted, and what was sent, so that overhead can.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from heapq import heappop, heappush
from itertools import count
from typing import Literal

from siena.matching.matcher import Matcher
from siena.model import Filter, Notification
from siena.research.cbcb.broadcast import Broadcast
from siena.research.cbcb.messages import KINDS, ContentMessage, Message
from siena.research.cbcb.node import Node, Options, Sends
from siena.routing.topology.topology import Broker, Topology

Layer = Literal["shortest paths", "spanning tree"]
"""Which trees messages travel on: one for each root, or one for all."""


@dataclass(slots=True)
class Publication:
    """A notification, who wanted it when it was published, and who got it how often."""

    time: float
    source: Broker
    expected: frozenset[Broker]
    received: Counter[Broker] = field(default_factory=Counter)

    @property
    def missing(self) -> frozenset[Broker]:
        """Who wanted it, and did not get it."""
        return self.expected - self.received.keys()


class CbcbWorld:
    """Brokers of CBCB, joined by links.

    >>> from siena.lang.parser import parse_filter as parse
    >>> world = CbcbWorld(Topology([(1, 2), (2, 3)]))
    >>> world.want(3, [parse("x > 3")])
    >>> world.run()
    >>> publication = world.publish(1, Notification(x=4))
    >>> world.run()
    >>> publication.received, world.packets["ME"], world.now
    (Counter({3: 1}), 2, 4.0)

    Args:
        topology: who is linked; a weight is multiplied by ``delay_s`` to be a delay.
        options: how all brokers behave.
        layer: the trees that messages travel on.
        delay_s: how long a link of weight 1 takes; with 0, everything is at once.
        matcher: what brokers look notifications up in; None for their tables.
    """

    def __init__(
        self,
        topology: Topology,
        options: Options | None = None,
        *,
        layer: Layer = "shortest paths",
        delay_s: float = 1.0,
        matcher: Callable[[], Matcher] | None = None,
    ) -> None:
        self.topology = topology
        self.now = 0.0
        self.packets: Counter[str] = Counter()
        self.publications: list[Publication] = []
        broadcast = (
            Broadcast.shortest_paths(topology)
            if layer == "shortest paths"
            else Broadcast.spanning_tree(topology)
        )
        self.nodes = {
            broker: Node(broker, broadcast, options, matcher=matcher)
            for broker in topology.brokers
        }
        self._delay_s = delay_s
        self._agenda: list[tuple[float, int, Callable[[], None]]] = []
        # Of things at the same time, what was decided first happens first.
        self._order = count()
        self._numbers: Counter[Broker] = Counter()
        self._published: dict[tuple[Broker, int], Publication] = {}

    def want(self, broker: Broker, wanted: Iterable[Filter]) -> None:
        """The applications of a broker want this now, and nothing else."""
        self._send(broker, self.nodes[broker].want(wanted))

    def advertise(self, broker: Broker) -> None:
        """A broker advertises what has grown."""
        self._send(broker, self.nodes[broker].advertise())

    def request(self, broker: Broker) -> None:
        """A broker asks what is wanted where."""
        self._send(broker, self.nodes[broker].request())

    def publish(self, broker: Broker, notification: Notification) -> Publication:
        """An application of a broker publishes; its own broker counts as well."""
        expected = frozenset(
            b for b, node in self.nodes.items() if node.wants(notification)
        )
        publication = Publication(self.now, broker, expected)
        self.publications.append(publication)
        self._numbers[broker] += 1  # as the broker itself numbers its messages
        self._published[broker, self._numbers[broker]] = publication
        self._send(broker, self.nodes[broker].publish(notification))
        return publication

    def at(self, time: float, action: Callable[[], None]) -> None:
        """Do something later."""
        assert time >= self.now
        heappush(self._agenda, (time, next(self._order), action))

    def run(self, until: float | None = None) -> None:
        """Let time pass until nothing is left to do, or until then."""
        while self._agenda and (until is None or self._agenda[0][0] <= until):
            self.now, _, action = heappop(self._agenda)
            action()
        if until is not None:
            self.now = max(self.now, until)

    @property
    def table_bytes(self) -> int:
        """How long the tables of all brokers are."""
        return sum(node.table.bytes for node in self.nodes.values())

    def _send(self, sender: Broker, sends: Sends) -> None:
        for target, message in sends:
            if target == sender:
                self._deliver(sender, message)
            else:
                self.packets[KINDS[type(message)]] += 1
                weight = self.topology.weight(sender, target)
                arrival = self.now + float(weight) * self._delay_s
                self.at(arrival, partial(self._arrive, target, message, sender))

    def _arrive(self, target: Broker, message: Message, sender: Broker) -> None:
        self._send(target, self.nodes[target].handle(message, sender))

    def _deliver(self, broker: Broker, message: Message) -> None:
        assert isinstance(message, ContentMessage)
        self._published[message.source, message.number].received[broker] += 1
