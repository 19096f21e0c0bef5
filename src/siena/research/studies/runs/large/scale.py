"""How far messages go in networks of up to a million sites, computed.

Links are counted on the trees that brokers use: what a lone subscription crosses, what
the subscriptions of many parties do together, and what a notification for some of them
does; and what brokers hold of each other's interests.  On small networks production
routers exchange the same messages, and must come to the same numbers.
"""

from statistics import fmean

import numpy as np

from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.large.graph_arrays import (
    ArrayTree,
    Network,
    depths,
    least_spanning_tree,
    shortest_path_tree,
)
from siena.research.studies.runs.large.links import (
    links_of_notification,
    links_of_subscriptions,
)
from siena.research.studies.runs.large.networks import draw
from siena.research.studies.runs.large.routers import compare
from siena.research.studies.runs.large.tables import held

# How many draws of parties and publishers a point is the mean of.
DRAWS = 20
# Of parties that subscribe, for which the links of all subscriptions are counted.
PARTIES = (10, 100, 1000, 10_000)
# And that a notification is for.
RECEIVERS = 10
# Sites from which distances to all others are taken.
SOURCES = 4
UNASKED: Row = dict.fromkeys(
    ("agrees_notifications", "agrees_subscriptions", "agrees_held")
)


def measure(row: Row) -> Row:
    """Links that messages cross, in a network of so many sites.

    >>> row = {"family": "power law", "sites": 100, "tree": "least", "seed": 1}
    >>> found = measure({**row, "routers": True})
    >>> found["acyclic_subscription"], found["agrees_held"]
    (99, True)
    """
    seed = integer(row, "seed")
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
    }
    for parties in PARTIES:
        if parties <= network.sites:
            found |= _subscriptions(tree, parties, random)
    acyclic, hierarchical = [], []
    for _ in range(DRAWS):
        ends = random.choice(network.sites, RECEIVERS + 1, replace=False)
        links = links_of_notification(tree, ends)
        acyclic.append(links.acyclic)
        hierarchical.append(links.hierarchical)
    is_asked = row["routers"] is True
    asked = compare(tree, np.random.default_rng([seed, 13])) if is_asked else UNASKED
    return found | {
        **asked,
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
    """Links that the subscriptions of so many parties cross, for each of them."""
    drawn = [
        links_of_subscriptions(
            tree, random.choice(len(tree.parents), parties, replace=False)
        )
        for _ in range(DRAWS)
    ]
    return {
        f"hierarchical_{parties}": fmean(each.hierarchical for each in drawn) / parties,
        f"acyclic_{parties}": fmean(each.acyclic for each in drawn) / parties,
    }
