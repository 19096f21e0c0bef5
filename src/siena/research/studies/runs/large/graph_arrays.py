"""Networks of a million sites: links as arrays, and trees on them.

Graph objects take a kilobyte for each site; an array takes eight bytes.  So a network
is three arrays, and a tree is one, of parents.  Trees are found by rounds over whole
arrays: the least spanning tree by Borůvka's algorithm, shortest paths by relaxing, in
each round, all links of the sites that have come nearer.  The tests compare both with
the trees of :mod:`siena.routing.topology.trees`, found one site after the other.

Reference:
    Borůvka, Práce Moravské přírodovědecké společnosti 3, 1926.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
# More than this would not fit the machines that studies are made for.
SITES_MAX = 4_000_000


class Network(NamedTuple):
    """Sites from 0, and links between two of them with a weight above 0."""

    sites: int
    one: Integers
    other: Integers
    weight: Integers


class ArrayTree(NamedTuple):
    """Parents of all sites; the root is its own."""

    root: int
    parents: Integers


def simple(network: Network) -> Network:
    """Without links from a site to itself, and second links between the same two.

    >>> ends = np.array([0, 1, 1]), np.array([1, 0, 1])
    >>> once = simple(Network(2, *ends, np.array([5, 7, 9])))
    >>> once.one.tolist(), once.other.tolist(), once.weight.tolist()
    ([0], [1], [5])
    """
    low = np.minimum(network.one, network.other)
    high = np.maximum(network.one, network.other)
    key = low * network.sites + high
    _, first = np.unique(key, return_index=True)
    kept = first[low[first] != high[first]]
    return Network(network.sites, low[kept], high[kept], network.weight[kept])


def components(network: Network) -> Integers:
    """For each site a number that all sites joined with it have, and no other."""
    return _boruvka(network)[1]


def largest_component(network: Network) -> Network:
    """The sites of the largest piece, numbered anew in their order."""
    pieces = components(network)
    counts = np.bincount(pieces, minlength=network.sites)
    is_in = pieces == counts.argmax()
    numbers = np.cumsum(is_in) - 1
    kept = is_in[network.one]
    return Network(
        int(is_in.sum()),
        numbers[network.one[kept]],
        numbers[network.other[kept]],
        network.weight[kept],
    )


def least_spanning_tree(network: Network, root: int) -> ArrayTree:
    """The links of least weight that join all sites, seen from a root.

    Of links of one weight the first in the arrays comes first, as if it weighed less.
    """
    kept, pieces = _boruvka(network)
    assert (pieces == pieces[0]).all(), "the network is in pieces"
    tree = Network(network.sites, network.one[kept], network.other[kept], kept)
    return _hang(tree, root)


def shortest_path_tree(network: Network, root: int) -> tuple[ArrayTree, Integers]:
    """The tree of shortest paths from a root, and how far all sites are from it.

    Of several shortest ways a site takes the one by the lowest number.
    """
    starts, ends, weights = _both_ways(network)
    first = _firsts(starts, network.sites)
    far = np.full(network.sites, np.iinfo(np.int64).max)
    far[root] = 0
    nearer = np.array([root])
    is_nearer = np.zeros(network.sites, bool)
    while len(nearer):
        links = _links_of(nearer, first)
        reached, way = ends[links], far[starts[links]] + weights[links]
        is_better = way < far[reached]
        reached, way = reached[is_better], way[is_better]
        np.minimum.at(far, reached, way)
        # Flags, and not the reached sites sorted: there are few rounds.
        is_nearer[reached] = True
        nearer = np.flatnonzero(is_nearer)
        is_nearer[nearer] = False
    assert far.max() < np.iinfo(np.int64).max, "the network is in pieces"
    parents = np.full(network.sites, network.sites)
    is_on_way = far[starts] + weights == far[ends]
    np.minimum.at(parents, ends[is_on_way], starts[is_on_way])
    parents[root] = root
    return ArrayTree(root, parents), far


def depths(tree: ArrayTree, lengths: Integers | None = None) -> Integers:
    """How many links there are between the root and each site, or what these weigh.

    ``lengths`` are the weights of the links above the sites.  By doubling: each site
    knows the sum up to some ancestor, and adds what that one knows.

    >>> depths(ArrayTree(0, np.array([0, 0, 1, 2]))).tolist()
    [0, 1, 2, 3]
    """
    ancestors = tree.parents.copy()
    known = np.ones(len(ancestors), np.int64) if lengths is None else lengths.copy()
    known[tree.root] = 0
    while (ancestors != tree.root).any():
        known += known[ancestors]
        ancestors = ancestors[ancestors]
    return known


# --- How trees are found --------------------------------------------------------


def _boruvka(network: Network) -> tuple[Integers, Integers]:
    """The links of the least spanning forest, and the pieces that sites belong to.

    In each round every piece takes its least link to another one.  Ranks of links are
    all different, so what is taken makes no cycle longer than two.
    """
    ranks = np.empty(len(network.one), np.int64)
    by_weight = np.argsort(network.weight, kind="stable")
    ranks[by_weight] = np.arange(len(by_weight))
    piece = np.arange(network.sites)
    left = np.arange(len(network.one))
    taken = []
    while True:
        one, other = piece[network.one[left]], piece[network.other[left]]
        is_between = one != other
        left, one, other = left[is_between], one[is_between], other[is_between]
        if not len(left):
            break
        best = np.full(network.sites, len(ranks))
        np.minimum.at(best, one, ranks[left])
        np.minimum.at(best, other, ranks[left])
        pieces = np.flatnonzero(best < len(ranks))
        links = by_weight[best[pieces]]
        taken.append(links)
        ends = piece[network.one[links]], piece[network.other[links]]
        beyond = np.where(ends[0] == pieces, ends[1], ends[0])
        above = np.arange(network.sites)
        above[pieces] = beyond
        # Two pieces that took the same link: the lower one stays on top.
        is_top = (above[above] == np.arange(network.sites)) & (
            above > np.arange(network.sites)
        )
        above[is_top] = np.flatnonzero(is_top)
        while (above[above] != above).any():
            above = above[above]
        piece = above[piece]
    kept = np.unique(np.concatenate(taken)) if taken else np.array([], np.int64)
    return kept, piece


def _hang(tree: Network, root: int) -> ArrayTree:
    """Parents in a network without cycles, from the root outwards, level by level."""
    starts, ends, _ = _both_ways(tree)
    first = _firsts(starts, tree.sites)
    parents = np.full(tree.sites, -1)
    parents[root] = root
    level = np.array([root])
    while len(level):
        links = _links_of(level, first)
        below, above = ends[links], starts[links]
        is_new = parents[below] < 0
        level = below[is_new]
        parents[level] = above[is_new]
    assert parents.min() >= 0, "the network is in pieces"
    return ArrayTree(root, parents)


def _both_ways(network: Network) -> tuple[Integers, Integers, Integers]:
    """Every link in both directions, by where it starts."""
    starts = np.concatenate([network.one, network.other])
    ends = np.concatenate([network.other, network.one])
    weights = np.concatenate([network.weight, network.weight])
    order = np.argsort(starts, kind="stable")
    return starts[order], ends[order], weights[order]


def _firsts(starts: Integers, sites: int) -> Integers:
    """Where the links of each site begin, and where the last ones end."""
    return np.concatenate([[0], np.cumsum(np.bincount(starts, minlength=sites))])


def _links_of(sites: Integers, first: Integers) -> Integers:
    """The places of all links that start at some sites."""
    counts = first[sites + 1] - first[sites]
    offsets = np.cumsum(counts) - counts
    within = np.arange(counts.sum()) - np.repeat(offsets, counts)
    places: Integers = np.repeat(first[sites], counts) + within
    return places
