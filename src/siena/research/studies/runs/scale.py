"""How far messages go in ever larger networks: points from which to extrapolate.

Links are counted on the trees that brokers use: what a lone subscription crosses, and
what a notification for a number of parties does.  Up to some size, production routers
exchange the same messages, and must come to the same numbers.
"""

from collections import Counter
from random import Random
from statistics import fmean

from siena.messages import Subscribe
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.studies.framework.rows import Row, integer, text
from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import (
    Tree,
    minimum_spanning_tree,
    shortest_path_tree,
    tree_below,
)
from siena.sim.architecture import Architecture
from siena.sim.topologies.transit_stub import Level, TransitStub
from siena.sim.world import World

SITES_PER_DOMAIN = 100
# How many draws of parties and publishers a point is the mean of.
DRAWS = 50
# Up to here routers are asked as well, for so many of the draws.
ROUTERS_MAX, ROUTER_DRAWS = 200, 2
NAME = "event"


def measure(row: Row) -> Row:
    """Links that messages cross, in a network of so many sites.

    >>> found = measure({"sites": 100, "tree": "least", "parties": 10, "seed": 1})
    >>> found["acyclic_subscription"], found["agrees"]
    (99.0, True)
    """
    tree, root = place(row)
    below = tree_below(tree, root)
    depths = depths_of(below)
    random = Random(f"{integer(row, 'seed')}/scale")
    parties = integer(row, "parties")
    acyclic, hierarchical = [], []
    agrees = True
    for draw in range(DRAWS):
        publisher = random.choice(tree.brokers)
        sites = random.sample(tree.brokers, parties)
        spanned = spanning(below, [publisher, *sites])
        acyclic.append(len(spanned))
        to_root = set(below.path(publisher)[1:])
        hierarchical.append(len(spanning(below, [root, *sites]) | to_root))
        if len(tree) <= ROUTERS_MAX and draw < ROUTER_DRAWS:
            agrees = agrees and (
                exchanged(tree, "acyclic", publisher, sites),
                exchanged(tree, "hierarchical", publisher, sites),
            ) == (acyclic[-1], hierarchical[-1])
    return {
        "acyclic_subscription": float(len(tree) - 1),
        "hierarchical_subscription": fmean(depths.values()),
        "acyclic_notification": fmean(acyclic),
        "hierarchical_notification": fmean(hierarchical),
        "agrees": agrees,
    }


def place(row: Row) -> tuple[Topology, Broker]:
    """A tree over a transit-stub network, and its root: the first transit broker."""
    domains = integer(row, "sites") // SITES_PER_DOMAIN
    network = TransitStub(domains=Level(domains, 1.0)).draw(seed=integer(row, "seed"))
    root = network.brokers[0]
    if text(row, "tree") == "least":
        return minimum_spanning_tree(network), root
    parents = shortest_path_tree(network, root).parents
    links = [(a, b, network.weight(a, b)) for a, b in parents.items()]
    return Topology(links, brokers=network.brokers), root


def depths_of(tree: Tree) -> dict[Broker, int]:
    """How many links there are between the root and each."""
    depths = {tree.root: 0}
    for broker in tree.parents:  # those nearer to the root come first
        depths[broker] = depths[tree.parents[broker]] + 1
    return depths


def spanning(tree: Tree, sites: list[Broker]) -> set[Broker]:
    """The links of the smallest subtree with all of these, by their lower ends.

    >>> sorted(spanning(Tree(1, {2: 1, 3: 2, 4: 2, 5: 1}), [3, 4]))
    [3, 4]
    """
    above: Counter[Broker] = Counter()
    for site in set(sites):
        above.update(tree.path(site)[1:])
    # A link belongs to it unless all of them are on the same side.
    return {link for link, count in above.items() if count < len(set(sites))}


def exchanged(
    tree: Topology, architecture: Architecture, publisher: Broker, sites: list[Broker]
) -> int:
    """How often production routers send a notification for parties at these sites."""
    world = World(tree, architecture)
    for site in sites:
        wanted = Filter([Constraint(NAME, Operator.EQ, 1)])
        world.ask(world.client(f"s{site}", site), Subscribe(wanted))
        world.run()
    before = world.network.account.counts["notify"]
    world.publish(world.client("p", publisher), Notification({NAME: 1}))
    world.run()
    return world.network.account.counts["notify"] - before
