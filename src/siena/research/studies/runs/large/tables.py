"""What brokers hold of each other's interests, in trees of a million sites.

As many subscriptions as sites, anywhere; each is for one of many topics, of which some
are popular, and for a range that contains all narrower ones of the topic.  A broker is
told by a neighbour, for every topic wanted on that side, the widest range, or, without
covering, all different ranges.

*Theory of operation.*  Topics below a site are counted for all sites at once: sites
that want a topic, in the order of a walk through the tree, give one each, and the least
site above two neighbours in that order takes one back.  Sums over whole subtrees are
differences of sums over the walk.  The least site above two is the parent of the
highest site between them in the walk, found in a table of minima.
"""

from typing import NamedTuple

import numpy as np

from siena.research.studies.framework.rows import Row
from siena.research.studies.runs.large.graph_arrays import ArrayTree, Integers, depths

TOPICS = 100_000
RANGES = 8


def held(tree: ArrayTree, random: np.random.Generator) -> Row:
    """Interests of neighbours that brokers hold, in both architectures."""
    sites = len(tree.parents)
    at = random.integers(sites, size=sites)
    # Popular topics are much more popular than others (Zipf).
    topics = (TOPICS ** random.random(sites)).astype(np.int64)
    ranges = random.integers(RANGES, size=sites)
    by_broker = tables(tree, at, topics, ranges)
    return {
        "topics": len(np.unique(topics)),
        "held_root": int(by_broker["hierarchical"][tree.root]),
        "held_mean": float(by_broker["hierarchical"].mean()),
        "held_99": float(np.percentile(by_broker["hierarchical"], 99)),
        "held_plain_root": int(by_broker["hierarchical_plain"][tree.root]),
        "held_plain_mean": float(by_broker["hierarchical_plain"].mean()),
        "held_acyclic_mean": float(by_broker["acyclic"].mean()),
        "held_acyclic_plain_mean": float(by_broker["acyclic_plain"].mean()),
    }


def tables(
    tree: ArrayTree, at: Integers, topics: Integers, ranges: Integers
) -> dict[str, Integers]:
    """What each broker holds of its neighbours, by architecture; plain: not covered."""
    walk = walk_of(tree)
    covered = told(walk, at, topics)
    plain = told(walk, at, topics * RANGES + ranges)
    from_below, from_below_plain = (tables_of(tree, t.up) for t in (covered, plain))
    return {
        "hierarchical": from_below,
        "acyclic": from_below + covered.down,
        "hierarchical_plain": from_below_plain,
        "acyclic_plain": from_below_plain + plain.down,
    }


class Walk(NamedTuple):
    """A tree in the order of a walk, which comes to a site before all below it."""

    parents: Integers
    place: Integers
    """Of each site in the walk."""
    size: Integers
    """Sites of the subtree of each site, itself included."""
    minima: list[Integers]
    """For 1, 2, 4 … places of the walk: the highest site among them, by depth first."""


class Told(NamedTuple):
    """Different kinds of interests that cross the link above each site."""

    kinds: int
    up: Integers
    down: Integers
    """From the parent: what is wanted outside the subtree; none at the root."""


def walk_of(tree: ArrayTree) -> Walk:
    """The walk that takes children in the order of their numbers."""
    sites = len(tree.parents)
    far = depths(tree)
    size = np.ones(sites, np.int64)
    order = np.argsort(far, kind="stable")
    firsts = np.searchsorted(far[order], np.arange(far[order[-1]] + 2))
    for level in range(len(firsts) - 2, 0, -1):
        own = order[firsts[level] : firsts[level + 1]]
        np.add.at(size, tree.parents[own], size[own])
    # Before a child come its parent and all subtrees of its siblings before it.
    by_parent = np.argsort(tree.parents, kind="stable")
    by_parent = by_parent[by_parent != tree.root]
    before = np.cumsum(size[by_parent]) - size[by_parent]
    parents = tree.parents[by_parent]
    is_first = np.concatenate([[True], parents[1:] != parents[:-1]])
    starts = np.maximum.accumulate(np.where(is_first, np.arange(len(parents)), 0))
    steps = np.zeros(sites, np.int64)
    steps[by_parent] = 1 + before - before[starts]
    place = depths(tree, steps)
    highest = np.empty(sites, np.int64)
    highest[place] = far * sites + np.arange(sites)
    minima = [highest]
    while 2 ** len(minima) <= sites:
        last, width = minima[-1], 2 ** (len(minima) - 1)
        minima.append(np.minimum(last[:-width], last[width:]))
    return Walk(tree.parents, place, size, minima)


def told(walk: Walk, at: Integers, kinds: Integers) -> Told:
    """What crosses links, where interests of some kinds are at some sites.

    >>> tree = ArrayTree(0, np.array([0, 0, 1, 1, 0]))
    >>> found = told(walk_of(tree), np.array([2, 3, 4]), np.array([7, 7, 9]))
    >>> found.up.tolist(), found.down.tolist()
    ([0, 1, 1, 1, 1], [0, 1, 2, 2, 1])
    """
    sites = len(walk.parents)
    keys = np.unique(kinds * sites + walk.place[at])
    sorted_kinds, places = np.divmod(keys, sites)
    is_new = np.concatenate([[True], sorted_kinds[1:] != sorted_kinds[:-1]])
    given = np.bincount(places, minlength=sites)
    again = np.flatnonzero(~is_new)
    shared = _above_both(walk, places[again - 1], places[again])
    given -= np.bincount(walk.place[shared], minlength=sites)
    # A kind lies inside a subtree if the least site above all of them does.
    first = np.flatnonzero(is_new)
    last = np.concatenate([first[1:], [len(keys)]]) - 1
    top = _above_both(walk, places[first], places[last])
    inside = np.bincount(walk.place[top], minlength=sites)
    up, within = (_below(walk, each) for each in (given, inside))
    down = len(first) - within
    root = walk.place.argmin()
    up[root] = down[root] = 0
    return Told(len(first), up, down)


def tables_of(tree: ArrayTree, up: Integers) -> Integers:
    """What each broker holds from those below it."""
    found = np.zeros(len(up), np.int64)
    np.add.at(found, tree.parents, up)
    return found


def _below(walk: Walk, by_place: Integers) -> Integers:
    """The sum over the subtree of each site."""
    sums = np.concatenate([[0], np.cumsum(by_place)])
    found: Integers = sums[walk.place + walk.size] - sums[walk.place]
    return found


def _above_both(walk: Walk, one: Integers, other: Integers) -> Integers:
    """The least site above two, given by places in the walk, the earlier first."""
    sites = len(walk.parents)
    site_at = np.empty(sites, np.int64)
    site_at[walk.place] = np.arange(sites)
    found = site_at[one]
    apart = np.flatnonzero(other > one)
    if not len(apart):
        return found
    low, high = one[apart] + 1, other[apart] + 1
    exponent = np.frexp(high - low)[1] - 1
    best = np.empty(len(apart), np.int64)
    for level in np.unique(exponent):
        own = exponent == level
        row = walk.minima[level]
        best[own] = np.minimum(row[low[own]], row[high[own] - 2**level])
    found[apart] = walk.parents[best % sites]
    return found
