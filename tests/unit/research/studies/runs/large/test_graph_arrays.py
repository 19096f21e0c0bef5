"""Trees as arrays are those that are found site by site."""

from itertools import pairwise
from random import Random

import numpy as np
import pytest

from siena.research.studies.runs.large.graph_arrays import (
    ArrayTree,
    Network,
    components,
    depths,
    largest_component,
    least_spanning_tree,
    shortest_path_tree,
)
from siena.research.studies.runs.large.links import above, joined
from siena.research.studies.runs.large.networks import FAMILIES, draw
from siena.research.studies.runs.large.scale import root_of
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import (
    distances,
    minimum_spanning_tree,
    tree_below,
)

CASES = [(family, seed) for family in FAMILIES for seed in range(1, 6)]


def topology(network: Network) -> Topology:
    """The same network, with a broker for each site, in the order of its links."""
    links = zip(
        network.one.tolist(),
        network.other.tolist(),
        network.weight.tolist(),
        strict=True,
    )
    return Topology(links)


def apart(network: Network) -> Network:
    """With weights that are all different, so that there is one least tree."""
    order = np.random.default_rng(3).permutation(len(network.weight))
    return network._replace(weight=network.weight * len(order) + order)


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_the_least_spanning_tree_is_that_of_brokers(family: str, seed: int) -> None:
    network = apart(draw(family, 200, seed))
    root = root_of(network)
    slow = tree_below(minimum_spanning_tree(topology(network)), root)
    fast = least_spanning_tree(network, root).parents
    assert fast[root] == root
    assert {site: int(fast[site]) for site in slow.parents} == slow.parents


@pytest.mark.parametrize(("family", "seed"), CASES)
def test_shortest_paths_are_those_of_brokers(family: str, seed: int) -> None:
    network = draw(family, 200, seed)
    root = root_of(network)
    tree, far = shortest_path_tree(network, root)
    slow = distances(topology(network), root)
    assert dict(enumerate(far.tolist())) == slow
    weights = {frozenset(link[:2]): link[2] for link in topology(network).links}
    for site, parent in enumerate(tree.parents.tolist()):
        if site != root:
            assert slow[site] == slow[parent] + weights[frozenset((site, parent))]


@pytest.mark.parametrize("seed", range(1, 6))
def test_depths_and_ways_are_those_of_a_walk(seed: int) -> None:
    random = Random(seed)
    parents = [0] + [random.randrange(site) for site in range(1, 300)]
    tree = ArrayTree(0, np.array(parents))

    def way(site: int) -> list[int]:
        return [site, *way(parents[site])] if site else []

    assert depths(tree).tolist() == [len(way(site)) for site in range(300)]
    chosen = random.sample(range(300), 7)
    union = set().union(*map(way, chosen))
    assert set(above(tree, np.array(chosen)).tolist()) == union
    # A link joins two of them if some are below it and some are not.
    between = {s for s in union if 0 < sum(s in way(c) for c in chosen) < len(chosen)}
    assert joined(tree, np.array(chosen)) == len(between)


def test_pieces_are_found() -> None:
    ends = np.array([0, 1, 3]), np.array([1, 2, 4])
    network = Network(6, *ends, np.array([5, 6, 7]))
    found = components(network).tolist()
    assert [one == other for one, other in pairwise(found)] == [
        *(True, True, False, True, False)
    ]
    largest = largest_component(network)
    assert (largest.sites, largest.weight.tolist()) == (3, [5, 6])


@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_seed_gives_the_same_connected_network(family: str) -> None:
    one, again, another = (draw(family, 1000, seed) for seed in (1, 1, 2))
    for this, that in zip(one[1:], again[1:], strict=True):
        assert np.array_equal(this, that)
    assert not np.array_equal(one.weight, another.weight)
    assert len(set(components(one).tolist())) == 1
    assert one.weight.min() >= 1
    assert (one.one < one.other).all()


def test_a_power_law_prefers_what_has_links() -> None:
    """The oldest sites have many links, and degrees fall as about k^-3."""
    network = draw("power law", 50_000, 1)
    degrees = np.bincount(np.concatenate([network.one, network.other]))
    assert degrees[:10].mean() > 50 * degrees[-1000:].mean()
    share = (degrees >= 20).sum() / (degrees >= 4).sum()
    # Cumulated, the exponent is 2: five times the degree, a 25th of the sites.
    assert 1 / 40 < share < 1 / 15


def test_waxman_prefers_what_is_near() -> None:
    """Two sites at random are half a side apart; linked ones a third of one."""
    network = draw("waxman", 20_000, 1)
    assert 250_000 < network.weight.mean() < 350_000


def test_domains_have_stubs_as_gt_itm_draws_them() -> None:
    network = draw("transit-stub", 2000, 1)
    assert network.sites == 2000
    low, high = network.one % 100, network.other % 100
    is_same = network.one // 100 == network.other // 100
    # Within a domain stubs of 8 sites follow the 4 transit sites.
    within = is_same & (low >= 4) & ((low - 4) // 8 == (high - 4) // 8)
    gates = is_same & (low < 4) & (high >= 4)
    transit = (low < 4) & (high < 4)
    assert (within | gates | transit).all()
    assert gates.sum() == 20 * 12
    assert network.weight[within].max() <= 10 <= network.weight[gates].min()
    assert network.weight[transit].min() >= 20
