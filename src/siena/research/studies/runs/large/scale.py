"""How far messages go in networks of up to a million sites, computed.

Links are counted on the trees that brokers use: what a lone subscription crosses, what
the subscriptions of many parties do together, and what a notification for some of them
does; and what brokers hold of each other's interests.  On small networks production
routers exchange the same messages, and must come to the same numbers.
"""

from statistics import fmean

import numpy as np

from siena.messages import Subscribe
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.large.graph_arrays import (
    ArrayTree,
    Integers,
    Network,
    depths,
    least_spanning_tree,
    shortest_path_tree,
)
from siena.research.studies.runs.large.networks import draw
from siena.research.studies.runs.large.tables import held
from siena.routing.topology.topology import Broker, Topology
from siena.sim.architecture import Architecture
from siena.sim.world import World

# How many draws of parties and publishers a point is the mean of.
DRAWS = 20
# Of parties that subscribe, for which the links of all subscriptions are counted.
PARTIES = (10, 100, 1000, 10_000)
# And that a notification is for.
RECEIVERS = 10
# Sites from which distances to all others are taken.
SOURCES = 4
# Up to here routers are asked as well, for so many of the draws.
ROUTERS_MAX, ROUTER_DRAWS = 200, 2
NAME = "event"
# How laws are told apart was chosen with networks of the seeds 1 to 5; so that it can
# be wrong, it is asked of others.
FRESH = 1000


def measure(row: Row) -> Row:
    """Links that messages cross, in a network of so many sites.

    >>> row = {"family": "power law", "sites": 100, "tree": "least", "seed": 1}
    >>> found = measure(row)
    >>> found["acyclic_subscription"], found["agrees"]
    (99, True)
    """
    seed = FRESH + integer(row, "seed")
    network = draw(text(row, "family"), integer(row, "sites"), seed)
    root = root_of(network)
    tree = tree_of(network, root, text(row, "tree"))
    far = depths(tree)
    random = np.random.default_rng([seed, 7])
    found: Row = {
        "size": network.sites,
        "links": len(network.one),
        "acyclic_subscription": network.sites - 1,
        "hierarchical_subscription": float(far.mean()),
        "deepest": int(far.max()),
        # It does not depend on the tree: once is enough.
        "distance": _distance(network, random) if row["tree"] == "shortest" else None,
        "agrees": None,
    }
    for parties in PARTIES:
        if parties <= network.sites:
            found |= _subscriptions(tree, parties, random)
    acyclic, hierarchical = [], []
    for place in range(DRAWS):
        publisher, *sites = random.choice(network.sites, RECEIVERS + 1, replace=False)
        acyclic.append(joined(tree, np.array([publisher, *sites])))
        to_root = above(tree, np.array([publisher, *sites]))
        hierarchical.append(len(to_root))
        if network.sites <= ROUTERS_MAX and place < ROUTER_DRAWS:
            counted = (acyclic[-1], hierarchical[-1])
            agrees = counted == by_routers(
                tree, int(publisher), [int(s) for s in sites]
            )
            found["agrees"] = agrees and found["agrees"] is not False
    return found | {
        **held(tree, np.random.default_rng([seed, 11])),
        "acyclic_notification": fmean(acyclic),
        "hierarchical_notification": fmean(hierarchical),
    }


def root_of(network: Network) -> int:
    """Where a hierarchy begins: the site with the most links."""
    ends = np.concatenate([network.one, network.other])
    return int(np.bincount(ends, minlength=network.sites).argmax())


def tree_of(network: Network, root: int, kind: str) -> ArrayTree:
    """The tree on which messages travel."""
    if kind == "least":
        return least_spanning_tree(network, root)
    assert kind == "shortest"
    return shortest_path_tree(network, root)[0]


def _distance(network: Network, random: np.random.Generator) -> float:
    """The mean number of links between two sites, on shortest paths from some."""
    sources = random.choice(network.sites, SOURCES, replace=False)
    trees = (shortest_path_tree(network, int(source))[0] for source in sources)
    return fmean(float(depths(tree).mean()) for tree in trees)


def _subscriptions(tree: ArrayTree, parties: int, random: np.random.Generator) -> Row:
    """Links that the subscriptions of so many parties cross, for each of them.

    In a hierarchy, every link between a party and the root, once.  In an acyclic
    network the first party's crosses all links; and those between two parties are
    crossed in the other direction as well.
    """
    sites = len(tree.parents)
    up, across = [], []
    for _ in range(DRAWS):
        chosen = random.choice(sites, parties, replace=False)
        up.append(len(above(tree, chosen)))
        across.append(sites - 1 + joined(tree, chosen))
    return {
        f"hierarchical_{parties}": fmean(up) / parties,
        f"acyclic_{parties}": fmean(across) / parties,
    }


def above(tree: ArrayTree, chosen: Integers) -> Integers:
    """All sites but the root on the ways from some to the root, these included.

    Each stands for the link above it.

    >>> above(ArrayTree(0, np.array([0, 0, 1, 1, 0])), np.array([2, 3])).tolist()
    [1, 2, 3]
    """
    is_on_way = np.zeros(len(tree.parents), bool)
    is_on_way[tree.root] = True
    while len(chosen):
        is_on_way[chosen] = True
        chosen = tree.parents[chosen]
        chosen = chosen[~is_on_way[chosen]]
    is_on_way[tree.root] = False
    return np.flatnonzero(is_on_way)


def joined(tree: ArrayTree, chosen: Integers) -> int:
    """How many links the smallest subtree has that joins some sites.

    >>> joined(ArrayTree(0, np.array([0, 0, 1, 1, 0])), np.array([2, 3]))
    2
    """
    ways = above(tree, chosen)
    parents, counts = np.unique(tree.parents[ways], return_counts=True)
    # From the root down to where the ways part, or begin, no link is needed.
    children = dict(zip(parents.tolist(), counts.tolist(), strict=True))
    below = dict(zip(tree.parents[ways].tolist(), ways.tolist(), strict=True))
    ends = set(chosen.tolist())
    site, links = tree.root, len(ways)
    while children.get(site) == 1 and site not in ends:
        site = below[site]
        links -= 1
    return links


def by_routers(tree: ArrayTree, publisher: int, sites: list[int]) -> tuple[int, int]:
    """What production routers exchange: acyclic, and hierarchical."""
    pairs = enumerate(tree.parents.tolist())
    # Brokers begin at 1; the first of all is the root of a hierarchy.
    numbers = {tree.root: 1}
    for site in range(len(tree.parents)):
        numbers.setdefault(site, len(numbers) + 1)
    links = [(numbers[a], numbers[b]) for a, b in pairs if a != b]
    topology = Topology(links)
    places = [numbers[site] for site in sites]
    acyclic, hierarchical = (
        exchanged(topology, architecture, numbers[publisher], places)
        for architecture in ARCHITECTURES
    )
    return acyclic, hierarchical


ARCHITECTURES: tuple[Architecture, Architecture] = ("acyclic", "hierarchical")


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
