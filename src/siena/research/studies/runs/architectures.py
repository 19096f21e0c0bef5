"""What architectures cost: the simulations of CU-CS-888-99, section 6.2, row by row.

A row is one run of a scenario in one network: objects publish, parties subscribe, wait
for notifications and unsubscribe, and every message costs the links that it crosses.
The oracle of F.5 counts; with ``by`` set to ``brokers``, production routers exchange
every message instead, and must come to the same totals.
"""

from itertools import islice, pairwise
from random import Random
from statistics import fmean
from typing import NamedTuple

from siena.research.scenarios.behaviour import Service, Totals, places, run_scenario
from siena.research.scenarios.fast_cost_oracle import QuickTally
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.scenarios.scenario import Objects, Parties, Scenario
from siena.research.studies.framework.rows import Row, integer, text
from siena.routing.options import Forwarding, Options
from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import (
    cost_centre,
    minimum_spanning_tree,
    shortest_path_tree,
    tree_below,
)
from siena.sim.architecture import Architecture
from siena.sim.topologies.transit_stub import Costs, Level, TransitStub
from siena.sim.world import World

# The papers' names for what they compare.
COMBINATIONS: dict[str, tuple[Architecture, Forwarding]] = {
    "ce": ("centralised", "subscription"),
    "hs": ("hierarchical", "subscription"),
    "as": ("acyclic", "subscription"),
    "aa": ("acyclic", "advertisement"),
}
# A transit domain carries so many sites (F.2).
SITES_PER_DOMAIN = 100

# The reference scenario, figure 25; and what the papers leave open.
DEFAULTS: Row = {
    "sites": 100,
    "publications": 10,
    "interval": 2250,
    "object_cycles": 10,
    "notifications": 10,
    "party_cycles": 10,
    "tree": "least",
    "root": "transit",
    "costs": "drawn",
    "by": "oracle",
}
# How far single intervals are from the given mean of all: 2000~2500 in the papers.
INTERVAL_SPREAD = 250


def parameters(
    architecture: str, objects: int, parties: int, seed: int, **others: str | int
) -> Row:
    """A row of parameters: the reference scenario, but for what is said.

    >>> parameters("as", 10, 100, 1)["publications"]
    10
    """
    assert others.keys() <= DEFAULTS.keys()
    return {
        "architecture": architecture,
        "objects": objects,
        "parties": parties,
        **DEFAULTS,
        **others,
        "seed": seed,
    }


class Place(NamedTuple):
    """The tree on which messages travel, and its root."""

    tree: Topology
    root: Broker


def simulate(row: Row) -> Row:
    """Run a scenario, and count what it costs.

    >>> result = simulate(parameters("as", 1, 1, seed=1))
    >>> result["publications_made"], result["deliveries"]
    (100, 100)
    """
    architecture, forwarding = COMBINATIONS[text(row, "architecture")]
    seed = integer(row, "seed")
    place = place_of(row)
    scenario = scenario_of(row)
    sites = place.tree.brokers
    service: Service
    if row["by"] == "brokers":
        world = World(place.tree, architecture, Options(forwarding=forwarding))
        service = CarriedByBrokers(world)
    else:
        service = QuickTally(place.tree, architecture, forwarding, root=place.root)
    totals = run_scenario(scenario, sites, service, seed)
    return {
        **_costs(service.account.costs),
        **_requests(row, totals),
        **_network(row, place, seed),
    }


def scenario_of(row: Row) -> Scenario:
    """What happens."""
    architecture, forwarding = COMBINATIONS[text(row, "architecture")]
    mean = integer(row, "interval")
    interval = (max(0, mean - INTERVAL_SPREAD), mean + INTERVAL_SPREAD)
    objects = Objects(
        "A",
        integer(row, "objects"),
        integer(row, "publications"),
        interval,
        integer(row, "object_cycles"),
    )
    parties = Parties(
        "A",
        integer(row, "parties"),
        integer(row, "notifications"),
        integer(row, "party_cycles"),
    )
    return Scenario(architecture, forwarding, (objects, parties))


def place_of(row: Row) -> Place:
    """Where it happens: a tree of a transit-stub network, drawn from the seed.

    The only broker of a centralised network is anywhere, and messages go to it the
    shortest way.  Where brokers are simulated, the root is always the first of them.
    """
    seed = integer(row, "seed")
    domains, rest = divmod(integer(row, "sites"), SITES_PER_DOMAIN)
    assert domains
    assert not rest, "sites come by the hundred"
    costs = Costs((10, 10), (10, 10), (10, 10)) if row["costs"] == "equal" else Costs()
    network = TransitStub(domains=Level(domains, 1.0), costs=costs).draw(seed=seed)
    if row["architecture"] == "ce" and row["by"] == "oracle":
        root = Random(f"{seed}/centre").choice(network.brokers)
        return Place(_shortest(network, root), root)
    tree = minimum_spanning_tree(network)
    root = network.brokers[0]
    if row["root"] == "centre":
        root = cost_centre(tree)
    elif row["root"] == "anywhere":
        root = Random(f"{seed}/root").choice(network.brokers)
    if row["tree"] == "shortest" or row["architecture"] == "ce":
        tree = _shortest(network, root)
    return Place(tree, root)


def _shortest(network: Topology, root: Broker) -> Topology:
    parents = shortest_path_tree(network, root).parents
    links = [(a, b, network.weight(a, b)) for a, b in parents.items()]
    return Topology(links, brokers=network.brokers)


def _costs(costs: dict[str, float]) -> Row:
    advertising = costs.get("advertise", 0) + costs.get("unadvertise", 0)
    subscribing = costs.get("subscribe", 0) + costs.get("unsubscribe", 0)
    notifying = costs.get("publish", 0) + costs.get("notify", 0)
    return {
        "cost": float(advertising + subscribing + notifying),
        "advertisement_cost": float(advertising),
        "subscription_cost": float(subscribing),
        "notification_cost": float(notifying),
    }


def _requests(row: Row, totals: Totals) -> Row:
    advertising = 2 * integer(row, "objects") * integer(row, "object_cycles")
    return {
        "requests": totals.requests,
        "subscriptions": totals.requests - totals.publications - advertising,
        "publications_made": totals.publications,
        "deliveries": totals.deliveries,
    }


def _network(row: Row, place: Place, seed: int) -> Row:
    """What the claims compare costs with."""
    tree = tree_below(place.tree, place.root)
    far = {place.root: 0.0}
    for site in place.tree.brokers:
        for one, other in pairwise(tree.path(site)):
            far.setdefault(other, far[one] + float(place.tree.weight(one, other)))
    objects, parties = integer(row, "objects"), integer(row, "parties")
    drawn = list(islice(places(place.tree.brokers, seed), objects + parties))
    return {
        "tree_cost": float(sum(weight for _, _, weight in place.tree.links)),
        "site_way": fmean(far.values()),
        "object_way": fmean([far[s] for s in drawn[:objects]] or [0.0]),
        "party_way": fmean([far[s] for s in drawn[objects:]] or [0.0]),
    }
