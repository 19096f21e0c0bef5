"""Laws that hold in every network: who is reached, on which way, and what is stored."""

from collections.abc import Iterable
from itertools import combinations, pairwise, product

import networkx as nx
import pytest
from hypothesis import event, given, strategies as st

from networks import addressed, graph, message_to, topologies, webs
from siena.lang.parser import parse_filter, parse_predicate
from siena.model import Notification, Predicate
from siena.research.schemes.assessment import assess
from siena.research.schemes.delivery import deliver
from siena.research.schemes.drp import DRP
from siena.research.schemes.flooding import Flooding
from siena.research.schemes.ideal import ideal_tree
from siena.research.schemes.ips import IPS
from siena.research.schemes.memory import (
    Memory,
    drp_bits,
    log2_ceiling,
    pif_bits,
    psf_bits,
    reduced_filters,
)
from siena.research.schemes.network import Disjunction, Network
from siena.research.schemes.pif import PIF, behind, behind_in_own_tree
from siena.research.schemes.psf import PSF
from siena.routing.topology.topology import Link, Topology
from siena.sim.topologies.drawn import random_graph, random_tree

# Predicates that cover, overlap and exclude each other, and all that tells them apart.
PREDICATES = [
    *("x > 1", "x > 2", "x < 2", "x any", "y = 1", "x = 3 and y = 1"),
    *("x > 2 or y = 1", "x = 2 or x = 3", "not []"),
]
MESSAGES = [
    Notification({n: v for n, v in (("x", x), ("y", y)) if v})
    for x in range(4)
    for y in range(2)
]
predicates = st.sampled_from(PREDICATES).map(parse_predicate)
messages = st.sampled_from(MESSAGES)


@st.composite
def networks(draw: st.DrawFn) -> Network:
    """A network in which some brokers want something."""
    topology = draw(webs())
    some = draw(st.lists(predicates, min_size=len(topology), max_size=len(topology)))
    wanted = dict(zip(topology.brokers, some, strict=True))
    del wanted[draw(st.sampled_from(topology.brokers))]
    return Network(topology, wanted)


def check(network: Network, source: int, message: Notification) -> int:
    """Everything that is said of the four schemes where paths are unique.

    What comes back is how many messages per-interface forwarding sends in vain.
    """
    topology = network.topology
    psf = assess(PSF(network), network, source, message)
    assert psf.is_latency_minimal
    wanted = list(psf.tree.paths())
    for scheme in (IPS(network), IPS(network, rewriting=False)):
        assert list(deliver(scheme, topology, source, message).paths()) == wanted
    assert list(deliver(DRP(network), topology, source, message).paths()) == wanted
    pif = assess(PIF(network), network, source, message)
    assert pif.is_latency_minimal
    assert set(pif.tree.paths()) >= set(wanted)
    flooded = assess(Flooding(network), network, source, message)
    assert flooded.is_latency_minimal
    assert set(flooded.tree.paths()) >= set(pif.tree.paths())
    assert len(flooded.tree) == len(topology)
    return len(pif.tree) - len(psf.tree)


@given(networks(), messages, st.data())
def test_schemes_agree_for_any_predicates(
    network: Network, message: Notification, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from(network.brokers))
    event(f"receivers: {len(network.receivers(message))}")
    vain = check(network, source, message)
    event(f"PIF sends too much: {vain > 0}")


@given(webs(), st.data())
def test_schemes_agree_for_any_receivers(
    topology: Topology, data: st.DataObject
) -> None:
    network = addressed(topology)
    source = data.draw(st.sampled_from(topology.brokers))
    receivers = data.draw(st.sets(st.sampled_from(topology.brokers), min_size=1))
    vain = check(network, source, message_to(*receivers))
    event(f"PIF sends too much: {vain > 0}")


@pytest.mark.parametrize("seed", range(8))
def test_schemes_agree_in_larger_networks(seed: int) -> None:
    brokers = 5 + 5 * seed
    network = addressed(random_graph(brokers, extra_links=brokers // 2, seed=seed))
    receivers = range(1 + seed % 3, brokers + 1, 3)
    for source in (1, brokers // 2, brokers):
        assert check(network, source, message_to(*receivers)) >= 0


# Powers of two, in any order: no two paths have the same length.
@given(webs(), st.data())
def test_where_paths_are_unique_psf_is_ideal(
    topology: Topology, data: st.DataObject
) -> None:
    powers = data.draw(st.permutations([2**i for i in range(len(topology.links))]))
    links = zip(topology.links, powers, strict=True)
    unique = Topology([Link(link.one, link.other, w) for link, w in links])
    network = addressed(unique)
    source = data.draw(st.sampled_from(topology.brokers))
    receivers = data.draw(st.sets(st.sampled_from(topology.brokers)))
    assert assess(PSF(network), network, source, message_to(*receivers)).is_ideal
    assert assess(DRP(network), network, source, message_to(*receivers)).is_ideal


# --- Ideal trees ------------------------------------------------------------------


def smallest_by_trying(
    topology: Topology, source: int, receivers: Iterable[int]
) -> int:
    """The fewest brokers on any choice of one shortest path to each receiver."""
    choices = [
        list(nx.all_shortest_paths(graph(topology), source, x, weight="weight"))
        for x in receivers
    ]
    return min(len({source}.union(*choice)) for choice in product(*choices))


@given(topologies(brokers=(5, 7), weights=(1,), extra=(3, 8)), st.data())
def test_ideal_trees_are_the_smallest_of_all(
    topology: Topology, data: st.DataObject
) -> None:
    source = data.draw(st.sampled_from(topology.brokers))
    receivers = data.draw(st.sets(st.sampled_from(topology.brokers), min_size=2))
    tree = ideal_tree(topology, source, receivers)
    assert len(tree) == smallest_by_trying(topology, source, receivers)
    far = nx.single_source_dijkstra_path_length(graph(topology), source)
    for receiver in receivers:
        steps = pairwise(tree.path(receiver))
        assert sum(topology.weight(*step) for step in steps) == far[receiver]
    psf = PSF(addressed(topology))
    lucky = len(deliver(psf, topology, source, message_to(*receivers)))
    event(f"PSF was ideal: {lucky == len(tree)}")


def grid(side: int) -> Topology:
    """A square of brokers, where nearly all pairs have several shortest paths."""
    rows = [range(1 + side * i, 1 + side * i + side) for i in range(side)]
    across = [step for row in rows for step in pairwise(row)]
    down = [step for column in zip(*rows, strict=True) for step in pairwise(column)]
    return Topology([*across, *down])


@pytest.mark.parametrize("source", [1, 2, 5])
def test_ideal_trees_in_a_grid(source: int) -> None:
    """For all pairs and triples of receivers; a corner, a side and the middle."""
    square = grid(3)
    for count in (2, 3):
        for receivers in combinations(square.brokers, count):
            size = len(ideal_tree(square, source, receivers))
            assert size == smallest_by_trying(square, source, receivers)


# --- Tables -------------------------------------------------------------------------


@given(webs())
def test_one_tree_is_enough_for_the_tables_of_interfaces(topology: Topology) -> None:
    """Since ties are broken alike everywhere."""
    network = addressed(topology)
    for broker in topology.brokers:
        for neighbour in topology.neighbours(broker):
            wanted = behind(network, broker, neighbour)
            assert behind_in_own_tree(network, broker, neighbour) == wanted


@given(topologies())
def test_sources_behind_a_bridge_are_indistinguishable(topology: Topology) -> None:
    network = addressed(topology)
    ips = IPS(network)
    whole = graph(topology)
    for bridge in list(nx.bridges(whole)):
        cut = whole.copy()
        cut.remove_edge(*bridge)
        sides = [set(nx.node_connected_component(cut, end)) for end in bridge]
        for here, there in (sides, reversed(sides)):
            for broker in here:
                mapping = ips.representatives[broker]
                assert len({mapping[source] for source in there}) == 1
                event("there was a bridge")


@pytest.mark.parametrize("seed", range(5))
def test_in_a_tree_there_is_a_class_for_each_neighbour(seed: int) -> None:
    """And one for the broker itself; headers are always rewritten."""
    topology = random_tree(9, seed=seed)
    ips = IPS(addressed(topology))
    for broker in topology.brokers:
        degree = len(topology.neighbours(broker))
        assert len(ips.classes(broker)) == degree + 1
        assert all(ips.header(broker, source) == broker for source in topology.brokers)


# --- Memory -------------------------------------------------------------------------


def sized(
    topology: Topology, senders: Iterable[int], receivers: Iterable[int]
) -> Network:
    """Predicates of equal size that do not cover each other: 32 bits each."""
    wanted = {x: parse_predicate(f"a={x}") for x in receivers}
    return Network(topology, wanted, senders=senders)


@given(webs(), st.data())
def test_memory_is_as_the_formulas_have_it(
    topology: Topology, data: st.DataObject
) -> None:
    some = st.sets(st.sampled_from(topology.brokers), min_size=1)
    senders, receivers = data.draw(some), data.draw(some)
    network = sized(topology, senders, receivers)
    brokers = len(topology)
    paths = (network.trees[v].path(x) for v in senders for x in receivers)
    hops = sum(len(path) - 1 for path in paths)
    predicate = 8 * len("a = 1")
    psf = PSF(network).memory()
    assert psf.copies == hops
    assert psf.bits() == psf_bits(
        brokers=brokers, senders=len(senders), hops=hops, predicate=predicate
    )
    drp = DRP(network).memory()
    # The formula counts a broker among the receivers it must know, and itself.
    own = len(receivers) * log2_ceiling(brokers) + predicate * len(senders & receivers)
    assert drp.bits() + own == drp_bits(
        brokers=brokers,
        senders=len(senders),
        receivers=len(receivers),
        predicate=predicate,
    )
    summed, printed = pif_bits(
        brokers=brokers,
        senders=len(senders),
        receivers=len(receivers),
        degree_max=max(len(topology.neighbours(b)) for b in topology.brokers),
        predicate=predicate,
        alpha=1.0,
    )
    pif = PIF(network).memory()
    assert pif.predicate_bits() <= brokers * len(receivers) * predicate
    assert pif.bits() <= summed + len(senders) * log2_ceiling(brokers)
    assert summed <= printed
    assert IPS(network).memory().copies <= psf.copies


@pytest.mark.parametrize("seed", range(3))
def test_in_a_tree_ips_stores_each_predicate_once_for_each_class(seed: int) -> None:
    """The order of growth of the formula ``n r M_p alpha``, with its constant."""
    topology = random_tree(8, seed=seed)
    network = sized(topology, topology.brokers, topology.brokers)
    copies = IPS(network).memory().copies
    # Sources behind w are told nothing of what is behind w; for its own messages the
    # broker has one table more.
    behind_others = sum(
        7 - len(network.reached(u, u, w))
        for u in topology.brokers
        for w in topology.neighbours(u)
    )
    assert copies == behind_others + 8 * 7
    degree_max = max(len(topology.neighbours(u)) for u in topology.brokers)
    assert copies <= (degree_max + 1) * 8 * 8


def test_covered_filters_take_no_memory() -> None:
    wide, narrow = parse_filter("x > 2"), parse_filter("x > 3")
    assert reduced_filters((wide, narrow)) == (wide,)
    table = Disjunction(frozenset({1, 2}), (wide, narrow))
    memory = Memory(brokers=5, identifiers=2, flags=1, tables=(table,))
    assert memory.identifier_bits == 2 * 3 + 1
    assert memory.bits() == 7 + 80
    assert memory.bits(reduced=True) == 7 + 40
    assert memory.bits(len, reduced=True) == 7 + 1


def test_flooding_stores_no_predicate() -> None:
    memory = Flooding(sized(Topology([(1, 2), (2, 3)]), [1, 3], [2])).memory()
    # Two sources, and two links in the tree of each.
    assert (memory.copies, memory.identifiers) == (0, 2 + 4)


def test_the_predicate_that_matches_nothing_is_no_interest() -> None:
    topology = Topology([(1, 2)])
    network = Network(topology, {2: Predicate()})
    assert PSF(network).memory().copies == 0
    assert network.receivers({}) == frozenset()


@given(networks(), messages)
def test_a_disjunction_matches_for_its_members(
    network: Network, message: Notification
) -> None:
    wanted = network.receivers(message)
    for broker in network.brokers:
        found = network.disjunction(
            frozenset(b for b in network.brokers if b <= broker)
        )
        assert found.matches(message) == any(b <= broker for b in wanted)
