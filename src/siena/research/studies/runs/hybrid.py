"""One network, joined in five ways and carried by production routers: what it costs.

A transit-stub network of a hundred sites becomes a hierarchy, an acyclic network, a
general one, or one of the two hybrids: *hierarchies in a mesh*, where transit sites are
peers with all their links and everything else is below one of them, and *joined
meshes*, where each stub is a mesh, and stubs and transit sites are joined without a
cycle.  Parties all want the same, as in the simulations of CU-CS-888-99.
"""

from collections.abc import Mapping
from random import Random
from typing import NamedTuple

from siena.messages import Side, Subscribe
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.studies.framework.rows import Row, integer, text
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import minimum_spanning_tree, tree_below
from siena.sim.architecture import Architecture
from siena.sim.topologies.transit_stub import STUB, TRANSIT, TransitStub
from siena.sim.world import World

NAME = "event"
PUBLICATIONS = 20
_WANTED = Filter([Constraint(NAME, Operator.EQ, 1)])
_EVENT = Notification({NAME: 1})


class Joined(NamedTuple):
    """The links that are used, and what brokers take each other for."""

    topology: Topology
    architecture: Architecture
    sides: Mapping[tuple[int, int], Side]


def carry(row: Row) -> Row:
    """Messages and costs of subscriptions and notifications, and what is held.

    >>> row = {"way": "joined meshes", "parties": 3, "seed": 1}
    >>> found = carry(row)
    >>> found["missing"], found["twice"]
    (0, 0)
    """
    seed = integer(row, "seed")
    network = TransitStub().draw(seed=seed)
    joined = join(network, text(row, "way"))
    world = World(joined.topology, joined.architecture, sides=joined.sides)
    world.network.is_traced = False
    world.run()
    account = world.network.account
    account.counts.clear()
    account.costs.clear()
    random = Random(f"{seed}/hybrid/{row['parties']}")
    parties = []
    for place in range(integer(row, "parties")):
        party = world.client(f"party {place}", random.choice(network.brokers))
        world.ask(party, Subscribe(_WANTED))
        world.run()
        parties.append(party)
    asking, asking_cost = account.counts.total(), float(account.total)
    for place in range(PUBLICATIONS):
        at = random.choice(network.brokers)
        world.publish(world.client(f"publisher {place}", at), _EVENT)
        world.run()
    got = [len(party.received) for party in parties]
    told = [
        len(neighbour.filters.told)
        for router in world.routers.values()
        for neighbour in router.tables.neighbours.values()
    ]
    return {
        "size": len(network),
        "links": len(joined.topology.links),
        "subscription_messages": asking / len(parties),
        "subscription_cost": asking_cost / len(parties),
        "notification_cost": (float(account.total) - asking_cost) / PUBLICATIONS,
        "entries": sum(told) / len(network),
        "missing": sum(max(0, PUBLICATIONS - each) for each in got),
        "twice": sum(max(0, each - PUBLICATIONS) for each in got),
    }


def join(network: Topology, way: str) -> Joined:
    """The network as an architecture has it.

    >>> join(TransitStub().draw(seed=1), "acyclic").topology.is_tree
    True
    """
    if way == "general":
        return Joined(network, "general", {})
    if way == "hierarchies in a mesh":
        return _hierarchies(network)
    if way == "joined meshes":
        return _meshes(network)
    assert way in {"hierarchical", "acyclic"}
    architecture: Architecture = "acyclic" if way == "acyclic" else "hierarchical"
    return Joined(minimum_spanning_tree(network), architecture, {})


def _hierarchies(network: Topology) -> Joined:
    """Transit sites with all links between them; the rest below, on least links."""
    core = set(network.with_role(TRANSIT))
    mesh = [link for link in network.links if {link.one, link.other} <= core]
    tree = minimum_spanning_tree(network)
    root = min(core)
    parents = tree_below(tree, root).parents
    below = {child: parent for child, parent in parents.items() if child not in core}
    sides = {(link.one, link.other): Side.MESH for link in mesh}
    sides |= dict.fromkeys(below.items(), Side.MASTER)
    links = [(a, b, network.weight(a, b)) for a, b in sides]
    return Joined(Topology(links, brokers=network.brokers), "hybrid", sides)


def _meshes(network: Topology) -> Joined:
    """Stubs with all of their links, joined by the least spanning tree of the rest."""
    stubs = set(network.with_role(STUB))
    mesh = [link for link in network.links if {link.one, link.other} <= stubs]
    sides = {(link.one, link.other): Side.MESH for link in mesh}
    tree = minimum_spanning_tree(network)
    sides |= {
        (link.one, link.other): Side.PEER
        for link in tree.links
        if not {link.one, link.other} <= stubs
    }
    links = [(a, b, network.weight(a, b)) for a, b in sides]
    return Joined(Topology(links, brokers=network.brokers), "hybrid", sides)
