"""Networks by rule and by seed: connected, repeatable, of the shape they promise."""

from collections.abc import Callable
from statistics import fmean

import networkx as nx
import pytest

from networks import graph
from siena.errors import InvalidTopologyError, LimitError
from siena.routing.topology.topology import Topology
from siena.sim.topologies.drawn import (
    barabasi_albert,
    random_graph,
    random_tree,
    waxman,
)
from siena.sim.topologies.regular import chain, ring, star, tree
from siena.sim.topologies.transit_stub import Costs, Level, TransitStub

SEEDS = range(1, 6)
DRAWN: dict[str, Callable[[int], Topology]] = {
    "barabasi-albert": lambda seed: barabasi_albert(30, seed=seed),
    "waxman": lambda seed: waxman(30, seed=seed),
    "tree": lambda seed: random_tree(30, seed=seed),
    "graph": lambda seed: random_graph(30, extra_links=12, seed=seed),
    "transit-stub": lambda seed: TransitStub().draw(seed=seed),
}


@pytest.mark.parametrize(
    ("network", "twin"),
    [
        (chain(6), nx.path_graph(6)),
        (star(6), nx.star_graph(5)),
        (ring(6), nx.cycle_graph(6)),
        (tree(3, 2), nx.balanced_tree(3, 2)),
        (tree(1, 3), nx.path_graph(4)),
        (chain(1), nx.path_graph(1)),
    ],
)
def test_regular_networks_are_another_librarys(
    network: Topology, twin: "nx.Graph[int]"
) -> None:
    assert network.brokers == tuple(range(1, len(twin) + 1))
    assert nx.is_isomorphic(graph(network), twin)


@pytest.mark.parametrize("name", DRAWN)
def test_a_seed_decides(name: str) -> None:
    draw = DRAWN[name]
    assert draw(1) == draw(1)
    assert len({draw(seed) for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("name", DRAWN)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_drawn_network_is_connected(name: str, seed: int) -> None:
    network = DRAWN[name](seed)
    assert nx.is_connected(graph(network))
    assert network.brokers == tuple(range(1, len(network) + 1))


@pytest.mark.parametrize("draw", [barabasi_albert, waxman])
@pytest.mark.parametrize(
    ("brokers", "links"),
    [(1, 0), (2, 1), (3, 3), (100, 197)],
)
def test_each_new_broker_has_two_links(
    draw: Callable[..., Topology], brokers: int, links: int
) -> None:
    network = draw(brokers, seed=3)
    assert (len(network), len(network.links)) == (brokers, links)


def test_many_links_attract_more_and_distance_does_not_matter() -> None:
    """The hub of a grown network has far more links than in one by nearness."""

    def most(draw: Callable[..., Topology]) -> float:
        return fmean(
            max(dict(graph(draw(200, seed=seed)).degree).values()) for seed in SEEDS
        )

    assert most(barabasi_albert) > 1.5 * most(waxman)


def test_near_brokers_are_preferred() -> None:
    def mean_weight(network: Topology) -> float:
        return fmean(float(link.weight) for link in network.links)

    for seed in SEEDS:
        near = mean_weight(waxman(200, seed=seed))
        anywhere = mean_weight(barabasi_albert(200, seed=seed))
        assert near < anywhere


@pytest.mark.parametrize("seed", SEEDS)
def test_a_transit_stub_network_has_its_parts(seed: int) -> None:
    plan = TransitStub(
        domains=Level(2, 1.0),
        transit=Level(3, 0.6),
        stub=Level(4, 0.5),
        stubs_per_transit=2,
        extra_transit_stub=2,
        extra_stub_stub=3,
    )
    network = plan.draw(seed=seed)
    # Two domains of three brokers, each with two stubs of four.
    assert len(network) == plan.brokers == 2 * 3 * (1 + 2 * 4)
    transit = set(network.with_role("transit"))
    assert transit == set(range(1, 7))
    assert len(network.with_role("stub")) == 48
    costs = Costs()
    for one, other, weight in network.links:
        ends = len({one, other} & transit)
        low, high = {
            0: (costs.within_stub[0], costs.stub_to_transit[1]),
            1: costs.stub_to_transit,
            2: costs.transit,
        }[ends]
        assert low <= weight <= high


@pytest.mark.parametrize("seed", SEEDS)
def test_a_stub_has_one_way_out(seed: int) -> None:
    """Without extra links each of the twelve stub domains hangs by a bridge."""
    network = graph(TransitStub().draw(seed=seed))
    bridges = [sorted(bridge) for bridge in nx.bridges(network)]
    assert len([one for one, other in bridges if one <= 4 < other]) == 12
    network.remove_nodes_from(range(1, 5))
    pieces = list(nx.connected_components(network))
    assert sorted(map(len, pieces)) == [8] * 12


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda: chain(0), "0 brokers are too few here"),
        (lambda: ring(2), "2 brokers are too few here"),
        (lambda: tree(0, 2), "branching 1 or more"),
        (lambda: barabasi_albert(5, seed=1, new_links=0), "too few"),
        (lambda: TransitStub(stub=Level(8, 0.0)), "0.0 is no probability of a link"),
        (lambda: TransitStub(extra_stub_stub=-1), "fewer than no stubs"),
        (lambda: TransitStub(stub=Level(40, 0.01)).draw(seed=1), "in pieces"),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    make: Callable[[], object], reason: str
) -> None:
    with pytest.raises(InvalidTopologyError, match=reason):
        make()


def test_a_tree_of_a_trillion_brokers_is_refused_at_once() -> None:
    with pytest.raises(LimitError, match="more than 100000 brokers"):
        tree(10, 12)
