"""Links that messages cross on a tree, counted without sending any.

In a hierarchy a message climbs to the root, and a notification from there on goes down
to whom it is for.  In an acyclic network it crosses the links between its ends.
"""

from typing import NamedTuple

import numpy as np

from siena.research.studies.runs.large.graph_arrays import ArrayTree, Integers


class Links(NamedTuple):
    """How many are crossed in each architecture."""

    acyclic: int
    hierarchical: int


def links_of_notification(tree: ArrayTree, ends: Integers) -> Links:
    """What a notification crosses, from one of these sites to all others."""
    return Links(joined(tree, ends), len(above(tree, ends)))


def links_of_subscriptions(tree: ArrayTree, parties: Integers) -> Links:
    """What subscriptions cross, all for the same, of parties at these sites.

    In a hierarchy, every link between a party and the root, once.  In an acyclic
    network the first party's crosses all links; and those between two parties are
    crossed in the other direction as well.

    >>> links_of_subscriptions(ArrayTree(0, np.array([0, 0, 1, 1, 0])), np.array([2]))
    Links(acyclic=4, hierarchical=2)
    """
    across = len(tree.parents) - 1 + joined(tree, parties)
    return Links(across, len(above(tree, parties)))


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
