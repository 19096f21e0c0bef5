"""Whether production routers send and hold what is counted on a small tree.

Routers of both architectures are joined by the same tree.  Notifications, what the
subscriptions of some parties cost together, and what brokers are told of each other's
interests: each is counted once by arrays, and once by asking the routers.
"""

from collections.abc import Sequence

import numpy as np

from siena.messages import Subscribe
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.studies.framework.rows import Row
from siena.research.studies.runs.large.graph_arrays import ArrayTree, Integers
from siena.research.studies.runs.large.links import (
    Links,
    links_of_notification,
    links_of_subscriptions,
)
from siena.research.studies.runs.large.tables import RANGES, tables
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture
from siena.sim.world import World

# Of parties that subscribe; and how often they are drawn, and notifications.
PARTIES, DRAWS, RECEIVERS = (1, 10, 100), 2, 10
# So few topics that many want the same, and a wider range than others.
INTERESTS, ASKED_TOPICS = 24, 6
EVENT, TOPIC, RANGE, KIND = "event", "topic", "range", "kind"
ARCHITECTURES: tuple[Architecture, Architecture] = ("acyclic", "hierarchical")


def compare(tree: ArrayTree, random: np.random.Generator) -> Row:
    """What routers agree about: three columns.

    >>> compare(ArrayTree(0, np.array([0, 0, 1, 1, 0])), np.random.default_rng(1))
    {'agrees_notifications': True, 'agrees_subscriptions': True, 'agrees_held': True}
    """
    sites = len(tree.parents)
    asked = [Asked(tree, architecture) for architecture in ARCHITECTURES]
    subscriptions, notifications = True, True
    event = 0
    for parties in PARTIES:
        for _ in range(DRAWS if parties <= sites else 0):
            chosen = random.choice(sites, parties, replace=False)
            sent = Links(*(each.subscribe(chosen, event) for each in asked))
            subscriptions &= sent == links_of_subscriptions(tree, chosen)
            event += 1
    for _ in range(DRAWS):
        count = min(RECEIVERS + 1, sites)
        ends = random.choice(sites, count, replace=False)
        for each in asked:
            each.subscribe(ends[1:], event)
        sent = Links(*(each.publish(int(ends[0]), event) for each in asked))
        notifications &= sent == links_of_notification(tree, ends)
        event += 1
    return {
        "agrees_notifications": notifications,
        "agrees_subscriptions": subscriptions,
        "agrees_held": _is_held(tree, random),
    }


def _is_held(tree: ArrayTree, random: np.random.Generator) -> bool:
    """Whether every broker holds what is counted, with covering and without it."""
    at = random.integers(len(tree.parents), size=INTERESTS)
    topics = random.integers(ASKED_TOPICS, size=INTERESTS)
    ranges = random.integers(RANGES, size=INTERESTS)
    counted = tables(tree, at, topics, ranges)
    wants = list(zip(at.tolist(), topics.tolist(), ranges.tolist(), strict=True))
    for architecture in ARCHITECTURES:
        asked = Asked(tree, architecture)
        for site, topic, width in wants:
            covered = [
                Constraint(TOPIC, Operator.EQ, topic),
                Constraint(RANGE, Operator.LT, width),
            ]
            asked.ask(site, Filter(covered))
            # Nothing covers it but itself.
            kind = topic * RANGES + width
            asked.ask(site, Filter([Constraint(KIND, Operator.EQ, kind)]))
        for name, where in ((TOPIC, ""), (KIND, "_plain")):
            expected = counted[f"{architecture}{where}"].tolist()
            if not asked.held(name) == asked.told(name) == expected:
                return False
    return True


class Asked:
    """Production routers on a tree, in one architecture.

    >>> asked = Asked(ArrayTree(0, np.array([0, 0, 1, 1, 0])), "hierarchical")
    >>> asked.subscribe([2, 3], 7), asked.publish(4, 7)
    (3, 4)
    >>> asked.held(EVENT)
    [1, 2, 0, 0, 0]
    """

    def __init__(self, tree: ArrayTree, architecture: Architecture) -> None:
        # Brokers begin at 1; the first of all is the root of a hierarchy.
        others = (site for site in range(len(tree.parents)) if site != tree.root)
        self.numbers = {tree.root: 1}
        self.numbers.update((site, place) for place, site in enumerate(others, 2))
        links = [
            (self.numbers[site], self.numbers[parent])
            for site, parent in enumerate(tree.parents.tolist())
            if site != parent
        ]
        self.world = World(Topology(links), architecture)
        self._clients = 0

    def ask(self, site: int, wanted: Filter) -> None:
        """Let a client at a site want something."""
        self._clients += 1
        client = self.world.client(f"client {self._clients}", self.numbers[site])
        self.world.ask(client, Subscribe(wanted))
        self.world.run()

    def subscribe(self, sites: Sequence[int] | Integers, event: int) -> int:
        """Over how many links parties at these sites send that they want an event."""
        before = self.world.network.account.counts["subscribe"]
        for site in sites:
            self.ask(int(site), Filter([Constraint(EVENT, Operator.EQ, event)]))
        return self.world.network.account.counts["subscribe"] - before

    def publish(self, site: int, event: int) -> int:
        """Over how many links an event goes."""
        self._clients += 1
        before = self.world.network.account.counts["notify"]
        client = self.world.client(f"client {self._clients}", self.numbers[site])
        self.world.publish(client, Notification({EVENT: event}))
        self.world.run()
        return self.world.network.account.counts["notify"] - before

    def held(self, name: str) -> list[int]:
        """How much about an attribute each broker holds of its neighbours."""
        routers = self.world.routers
        return [
            sum(
                _is_about(name, wanted)
                for neighbour in routers[number].tables.neighbours
                for wanted in routers[number].tables.filters.held_by(neighbour)
            )
            for _, number in sorted(self.numbers.items())
        ]

    def told(self, name: str) -> list[int]:
        """How much each has been told, as its neighbours have it."""
        found = dict.fromkeys(self.numbers.values(), 0)
        for router in self.world.routers.values():
            for number, neighbour in router.tables.neighbours.items():
                found[number] += sum(
                    _is_about(name, wanted) for wanted, _ in neighbour.filters.told
                )
        return [found[number] for _, number in sorted(self.numbers.items())]


def _is_about(name: str, wanted: Filter) -> bool:
    return any(constraint.name == name for constraint in wanted.constraints)
