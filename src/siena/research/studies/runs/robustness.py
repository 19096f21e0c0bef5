"""One network, carried by production routers: what it costs, and what faults lose.

Half of the sites want everything that is published.  Connections between brokers break,
or brokers crash, one at a time, each in a world of its own; then some notifications are
published by sites that are left.  What is lost is what a client that is left does not
get; what is *wrong* is what it does not get although brokers could have carried it, or
gets twice.
"""

from random import Random

from siena.messages import Subscribe
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.networks import topology_of
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import minimum_spanning_tree
from siena.sim.architecture import as_architecture
from siena.sim.clients import Client
from siena.sim.topologies.transit_stub import TransitStub
from siena.sim.world import World

# So many faults of each kind, and notifications after each and before all of them.
FAULTS, PUBLICATIONS = 10, 5
NAME = "event"


def endure(row: Row) -> Row:
    """Costs without a fault, and losses with a link or a broker less.

    >>> row = {"network": "power law", "brokers": 20, "seed": 1}
    >>> found = endure({**row, "architecture": "general"})
    >>> found["wrong"], found["link_lost"]
    (0, 0)
    """
    network = _network(
        text(row, "network"), integer(row, "brokers"), integer(row, "seed")
    )
    random = Random(f"{integer(row, 'seed')}/faults")
    whole = _Life(network, text(row, "architecture"))
    found: Row = {"size": len(network), **whole.costs()}
    wrong = whole.publish(random, PUBLICATIONS).wrong
    found["notification_cost"] = whole.cost() / PUBLICATIONS
    # The same faults for every architecture: links of the network, also where the
    # tree of an architecture has none.
    for kind, faults in _faults(network, random).items():
        expected = lost = messages = 0
        for fault in faults:
            life = _Life(network, text(row, "architecture"))
            messages += life.suffer(fault)
            after = life.publish(Random(f"{fault}"), PUBLICATIONS)
            expected, lost = expected + after.expected, lost + after.lost
            wrong += after.wrong
        found[f"{kind}_expected"], found[f"{kind}_lost"] = expected, lost
        found[f"{kind}_messages"] = messages / len(faults)
    return {**found, "wrong": wrong}


Fault = tuple[int, ...]
"""A broker, or the two ends of a link."""


def _network(kind: str, brokers: int, seed: int) -> Topology:
    if kind == "transit-stub":
        return TransitStub().draw(seed=seed)
    return topology_of(kind, brokers, seed)


def _faults(network: Topology, random: Random) -> dict[str, list[Fault]]:
    links = [(link.one, link.other) for link in network.links]
    return {
        "link": list(random.sample(links, FAULTS)),
        "broker": [(broker,) for broker in random.sample(network.brokers, FAULTS)],
    }


class _Outcome:
    """What became of some notifications."""

    def __init__(self) -> None:
        self.expected = self.lost = self.wrong = 0


class _Life:
    def __init__(self, network: Topology, name: str) -> None:
        architecture = as_architecture(name)
        is_mesh = architecture == "general"
        topology = network if is_mesh else minimum_spanning_tree(network)
        self.world = World(topology, architecture)
        self.world.network.is_traced = False
        self.world.run()
        self.sites = network.brokers
        self.world.network.account.counts.clear()
        self.world.network.account.costs.clear()
        self.parties = [self._subscribe(site) for site in self.sites[::2]]

    def _subscribe(self, site: int) -> Client:
        party = self.world.client(f"party at {site}", site)
        wanted = Filter([Constraint(NAME, Operator.EQ, 1)])
        self.world.ask(party, Subscribe(wanted))
        self.world.run()
        return party

    def costs(self) -> Row:
        """Of all subscriptions, for each of them."""
        account, parties = self.world.network.account, len(self.parties)
        found: Row = {
            "subscription_messages": account.counts.total() / parties,
            "subscription_cost": self.cost() / parties,
        }
        return found

    def cost(self) -> float:
        """What all messages cost since the last time."""
        account = self.world.network.account
        total = float(account.total)
        account.costs.clear()
        account.counts.clear()
        return total

    def suffer(self, fault: Fault) -> int:
        """Let a link break, or a broker crash; how many messages that takes."""
        self.world.network.account.counts.clear()
        if len(fault) == 1:
            self.world.crash(*fault)
        else:
            self.world.disconnect(*fault)
        self.world.run()
        return self.world.network.account.counts.total()

    def publish(self, random: Random, count: int) -> _Outcome:
        """Publish at sites that are left; what parties that are left got of it."""
        outcome = _Outcome()
        left = [site for site in self.sites if site in self.world.routers]
        for _ in range(count):
            at = random.choice(left)
            reached = self.world.component(at)
            for party in self.parties:
                party.received.clear()
            self.world.publish(self.world.client(f"publisher at {at}", at), _EVENT)
            self.world.run()
            for party in self.parties:
                if party.at in self.world.routers:
                    got = len(party.received)
                    outcome.expected += 1
                    outcome.lost += got == 0
                    outcome.wrong += got != (party.at in reached)
        return outcome


_EVENT = Notification({NAME: 1})
