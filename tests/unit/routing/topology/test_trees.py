"""Trees: the shortest paths, the same in both directions, and the cheapest tree."""

from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import event, given

from networks import graph, topologies
from siena.errors import InvalidTopologyError
from siena.routing.topology.topology import Link, Topology
from siena.routing.topology.trees import (
    Tree,
    cost_centre,
    distances,
    minimum_spanning_tree,
    shortest_path_tree,
    shortest_path_trees,
)


def length(topology: Topology, path: tuple[int, ...]) -> float:
    return float(sum(topology.weight(*step) for step in pairwise(path)))


def last_first(topology: Topology, path: tuple[int, ...]) -> list[Link]:
    """The links of a path from the last in the list of all links to the first."""
    steps = {(min(step), max(step)) for step in pairwise(path)}
    return [link for link in reversed(topology.links) if link[:2] in steps]


def places(topology: Topology, path: tuple[int, ...]) -> list[int]:
    return [topology.links.index(link) for link in last_first(topology, path)]


@given(topologies())
def test_paths_are_the_least_of_the_shortest(topology: Topology) -> None:
    """Against a list of all paths, compared link by link from the last."""
    for root, tree in shortest_path_trees(topology).items():
        assert set(tree) == set(topology.brokers)
        for broker in tree.parents:
            all_paths = map(tuple, nx.all_simple_paths(graph(topology), root, broker))
            ranked = sorted(
                all_paths, key=lambda p: (length(topology, p), places(topology, p))
            )
            assert tree.path(broker) == ranked[0]
            if len(ranked) > 1 and length(topology, ranked[0]) == length(
                topology, ranked[1]
            ):
                event("there was a tie")


@given(topologies())
def test_there_and_back_are_the_same_way(topology: Topology) -> None:
    trees = shortest_path_trees(topology)
    for one, other in combinations(topology.brokers, 2):
        assert trees[one].path(other) == trees[other].path(one)[::-1]


@given(topologies())
def test_distances_are_another_librarys(topology: Topology) -> None:
    root = topology.brokers[0]
    wanted = nx.single_source_dijkstra_path_length(graph(topology), root)
    assert distances(topology, root) == wanted


@given(topologies())
def test_the_spanning_tree_is_as_cheap_as_another_librarys(topology: Topology) -> None:
    tree = minimum_spanning_tree(topology)
    assert tree.is_tree
    assert set(tree.links) <= set(topology.links)
    wanted = nx.minimum_spanning_tree(graph(topology)).size(weight="weight")
    assert sum(link.weight for link in tree.links) == wanted


@given(topologies())
def test_the_cost_centre_has_the_least_total(topology: Topology) -> None:
    lengths = dict(nx.all_pairs_dijkstra_path_length(graph(topology)))
    totals = {b: sum(lengths[b].values()) for b in topology.brokers}
    best = min(totals.values())
    assert cost_centre(topology) == min(b for b in totals if totals[b] == best)


def test_below_is_what_is_reached_through() -> None:
    tree = Tree(1, {2: 1, 3: 2, 4: 2, 5: 1})
    assert tree.below(2) == {2, 3, 4}
    assert tree.below(1) == set(tree) == {1, 2, 3, 4, 5}
    assert tree.children(5) == ()
    assert tree.parent(1) is None


def test_a_tree_reaches_what_can_be_reached() -> None:
    pieces = Topology([(1, 2), (3, 4)])
    assert set(shortest_path_tree(pieces, 1)) == {1, 2}
    with pytest.raises(InvalidTopologyError, match="in pieces"):
        minimum_spanning_tree(pieces)
