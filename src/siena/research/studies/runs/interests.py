"""Whole networks with many interests: what brokers tell each other, and what it saves.

Production routers on a tree.  Clients subscribe, notifications are published, some
clients want something else, links break and come back; messages are counted at every
step, and at every step the oracle, a flat list of filters, says who must get what.
Merging looks at all filters again whenever one changes: where it is on, brokers batch
what they tell, and the run ends before anything changes.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import cast

from siena.lang.parser import parse_predicate
from siena.messages import Subscribe, Unsubscribe
from siena.model import Filter, Notification
from siena.research.studies.framework.rows import Row, integer, text
from siena.routing.options import Covering, Merging, Options
from siena.sim.clients import Client
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights
from siena.sim.topologies.drawn import random_tree
from siena.sim.workload import TR0605
from siena.sim.world import World

BROKERS = 32
# Of so many names, equally popular, interests meet often enough to cover each other.
NAMES = 10
# So many links break, one after the other.
FAULTS = 10


def live(row: Row) -> Row:
    """What happens in a network, from the first subscription to the last fault.

    >>> row = {"workload": "W", "subscriptions": 50, "covering": "exact",
    ...        "merging": "none", "publications": 20, "changes": 10, "seed": 1}
    >>> found = live(row)
    >>> found["is_right"], found["told"] < found["told_alone"]
    (True, True)
    """
    return _Life(row).results()


def interests(workload: str, seed: int) -> Iterator[Filter]:
    """The filters of clients, without end."""
    if workload == "flights":
        for subscription in flight_subscriptions(10**9, seed):
            # People say `or`; that is a client for each filter here.
            yield from parse_predicate(subscription.filter)
    source = TR0605(names=NAMES, distribution="uniform", seed=seed)
    filters = source.filters(10**9)
    if workload == "W":
        yield from filters
    assert workload == "W joined"
    # Several constraints on a name: a filter is joined with the one after it.
    one = next(filters)
    for other in filters:
        yield Filter([*one.constraints, *other.constraints])
        one = other


def publications(workload: str, count: int, seed: int) -> list[Notification]:
    """What is published."""
    if workload == "flights":
        some = list(islice(flights(), 10 * count))
        return Random(f"{seed}/flights").sample(some, count)
    source = TR0605(names=NAMES, distribution="uniform", seed=seed)
    return list(source.notifications(count))


class _Life:
    def __init__(self, row: Row) -> None:
        self.seed = integer(row, "seed")
        self.workload = text(row, "workload")
        count = integer(row, "publications")
        self.publications = publications(self.workload, count, self.seed)
        self.random = Random(f"{self.seed}/life")
        topology = random_tree(BROKERS, seed=self.seed)
        self.merges = row["merging"] != "none"
        self.changes = integer(row, "changes")
        options = Options(
            covering=cast("Covering", text(row, "covering")),
            merging=cast("Merging", text(row, "merging")),
            batching=self.merges,
        )
        self.world = World(topology, "acyclic", options, seed=self.seed)
        self.world.network.is_traced = False
        self.brokers = topology.brokers
        self.clients = [
            self.world.client(f"c{number}", self.random.choice(self.brokers))
            for number in range(integer(row, "subscriptions"))
        ]
        self.publisher = {
            broker: self.world.client(f"p{broker}", broker) for broker in self.brokers
        }
        self.wanted: dict[str, Filter] = {}
        self.filters = interests(self.workload, self.seed)

    def results(self) -> Row:
        for client in self.clients:
            self._subscribe(client)
        self.world.run()
        begun = self._take()
        is_right, deliveries = self._publish()
        found: Row = {
            "told": self._told(),
            # Every interest on every link, as if brokers knew no covering.
            "told_alone": len(self.clients) * (len(self.brokers) - 1),
            "subscription_messages": begun.total(),
            "notification_messages": self._take()["notify"],
            "deliveries": deliveries,
            "messages_per_change": None,
            "shared_in_changes": None,
            "messages_per_fault": None,
            "is_right": is_right,
        }
        if not self.merges:
            found |= self._change()
            found["messages_per_fault"] = self._break()
            found["is_right"] = is_right and self._publish()[0]
        return found

    def _change(self) -> Row:
        """Clients want something else, one after the other; messages for each.

        And how many of the interests given up or taken were another client's, too: of
        equal filters brokers tell one, so these do not go everywhere.
        """
        shared = 0
        for client in self.random.choices(self.clients, k=self.changes):
            given_up = self.wanted.pop(client.name)
            shared += given_up in self.wanted.values()
            self.world.ask(client, Unsubscribe(given_up))
            self.world.run()
            self._subscribe(client)
            shared += Counter(self.wanted.values())[self.wanted[client.name]] > 1
            self.world.run()
        messages = self._take().total() / self.changes
        return {"messages_per_change": messages, "shared_in_changes": shared}

    def _break(self) -> float:
        """Links break and come back, one after the other; messages for each."""
        for one, other in self.random.choices(sorted(self.world.edges), k=FAULTS):
            self.world.disconnect(one, other)
            self.world.run()
            self.world.connect(one, other)
            self.world.run()
        return self._take().total() / FAULTS

    def _subscribe(self, client: Client) -> None:
        wanted = next(self.filters)
        self.wanted[client.name] = wanted
        self.world.ask(client, Subscribe(wanted))
        if not self.merges:
            self.world.run()

    def _publish(self) -> tuple[bool, int]:
        """Publish everything; whether every client got what it wanted, and how much."""
        is_right, deliveries = True, 0
        for notification in self.publications:
            for client in self.clients:
                client.received.clear()
            at = self.random.choice(self.brokers)
            self.world.publish(self.publisher[at], notification)
            self.world.run()
            for client in self.clients:
                wants = self.wanted[client.name].matches(notification)
                is_right = is_right and len(client.received) == wants
                deliveries += wants
        return is_right, deliveries

    def _told(self) -> int:
        """How many interests stand on all links, in both directions."""
        return sum(
            len(neighbour.filters.told)
            for router in self.world.routers.values()
            for neighbour in router.tables.neighbours.values()
        )

    def _take(self) -> Counter[str]:
        """The messages between brokers since the last time."""
        counts = self.world.network.account.counts
        taken = Counter(counts)
        counts.clear()
        return taken
