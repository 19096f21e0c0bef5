"""The examples of TR 2006/05, by the ids of our specification (E.9)."""

from collections.abc import Iterable, Mapping
from itertools import combinations

import pytest

from networks import addressed, message_to
from siena.research.schemes.assessment import assess
from siena.research.schemes.delivery import DeliveryTree, LoopError, deliver
from siena.research.schemes.drp import DRP, next_hops
from siena.research.schemes.ideal import ideal_tree
from siena.research.schemes.ips import IPS
from siena.research.schemes.network import Disjunction, Network
from siena.research.schemes.pif import PIF
from siena.research.schemes.psf import PSF
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import Tree
from siena.sim.topologies.examples import N4, N12, N12T, TIE

NETWORK = addressed(N12)
PSF12, IPS12, PIF12, DRP12 = PSF(NETWORK), IPS(NETWORK), PIF(NETWORK), DRP(NETWORK)


def send(
    scheme: PSF | IPS | PIF | DRP, source: int, receivers: Iterable[int]
) -> DeliveryTree:
    # Written out for the checker of types: each scheme has its own header.
    message = message_to(*receivers)
    topology = scheme.network.topology
    if isinstance(scheme, DRP):
        return deliver(scheme, topology, source, message)
    return deliver(scheme, topology, source, message)


def members(table: Mapping[int, Disjunction]) -> dict[int, set[int]]:
    return {neighbour: set(wanted.members) for neighbour, wanted in table.items()}


# --- T-E1: per-source forwarding, Figure 1 ------------------------------------


@pytest.mark.parametrize(
    ("broker", "parent"),
    [
        pytest.param(broker, parent, id=f"T_E1_parent_of_{broker}")
        for broker, parent in {
            2: 6,
            3: 2,
            4: 8,
            5: 1,
            6: 1,
            7: 6,
            8: 7,
            9: 5,
            10: 9,
            11: 7,
            12: 11,
        }.items()
    ],
)
def test_parents_in_the_tree_of_1(broker: int, parent: int) -> None:
    assert NETWORK.trees[1].parent(broker) == parent


@pytest.mark.parametrize(
    ("neighbour", "reached"),
    [
        pytest.param(7, {4, 7, 8, 11, 12}, id="T_E1_6_7"),
        pytest.param(2, {2, 3}, id="T_E1_6_2"),
        # 6-9 is a link, and not one of the tree.
        pytest.param(9, set(), id="T_E1_6_9"),
        pytest.param(1, set(), id="T_E1_6_1"),
    ],
)
def test_what_6_reaches_in_the_tree_of_1(neighbour: int, reached: set[int]) -> None:
    assert NETWORK.reached(1, 6, neighbour) == reached


def test_T_E1_table_of_6_for_source_1() -> None:
    assert members(PSF12.tables[6][1]) == {7: {4, 7, 8, 11, 12}, 2: {2, 3}}


# --- T-E2: per-interface forwarding, Figure 2 ---------------------------------


@pytest.mark.parametrize(
    ("broker", "neighbour", "wanted"),
    [
        pytest.param(6, 9, {5, 9, 10}, id="T_E2_6_9"),
        pytest.param(6, 7, {4, 7, 8, 11, 12}, id="T_E2_6_7"),
        pytest.param(6, 2, {2, 3}, id="T_E2_6_2"),
        pytest.param(6, 1, {1}, id="T_E2_6_1"),
        pytest.param(7, 10, {10}, id="T_E2_7_10"),
        pytest.param(10, 7, {4, 7, 8}, id="T_E2_10_7"),
    ],
)
def test_tables_of_interfaces(broker: int, neighbour: int, wanted: set[int]) -> None:
    assert PIF12.tables[broker][neighbour].members == wanted


def test_T_E2_trees_keep_messages_from_running_in_circles() -> None:
    tree = send(PIF12, 6, {7, 10})
    assert list(tree.paths()) == [(6,), (6, 7), (6, 9), (6, 9, 10)]


def test_T_E2_content_alone_sends_them_round_and_round() -> None:
    unrestricted = PIF(NETWORK, keeps_to_trees=False)
    message = message_to(7, 10)
    assert unrestricted.forward(7, 6, message) == [10]
    assert unrestricted.forward(10, 6, message) == [7]
    with pytest.raises(LoopError):
        send(unrestricted, 6, {7, 10})


# --- T-E3: what per-interface forwarding sends too much, Figure 3 -------------


@pytest.mark.parametrize(
    ("scheme", "paths"),
    [
        pytest.param(PSF, [(1,), (1, 2), (1, 4)], id="T_E3_PSF"),
        pytest.param(IPS, [(1,), (1, 2), (1, 4)], id="T_E3_iPS"),
        pytest.param(DRP, [(1,), (1, 2), (1, 4)], id="T_E3_DRP"),
        pytest.param(PIF, [(1,), (1, 2), (1, 4), (1, 4, 3)], id="T_E3_PIF"),
    ],
)
def test_a_message_from_1_for_2_and_4(
    scheme: type[PSF | IPS | PIF | DRP], paths: list[tuple[int, ...]]
) -> None:
    network = addressed(N4)
    assert list(send(scheme(network), 1, {2, 4}).paths()) == paths


def test_T_E3_trees_and_table() -> None:
    network = addressed(N4)
    assert network.trees[1].parents == {2: 1, 4: 1, 3: 4}
    assert network.trees[4].path(2) == (4, 3, 2)
    assert PIF(network).tables[4][3].members == {2, 3}


# --- T-E4: indistinguishable sources ------------------------------------------


def test_T_E4_classes_at_6() -> None:
    classes = {frozenset(members) for members in IPS12.classes(6)}
    assert classes == set(
        map(frozenset, [(1, 5, 9), (2,), (3,), (4,), (6,), (7, 8, 11, 12), (10,)])
    )


@pytest.mark.parametrize(
    ("broker", "classes"),
    [
        pytest.param(broker, classes, id=f"T_E4_classes_at_{broker}")
        for broker, classes in enumerate([2, 4, 2, 2, 4, 7, 8, 4, 6, 2, 4, 2], start=1)
    ],
)
def test_how_many_classes(broker: int, classes: int) -> None:
    assert len(IPS12.classes(broker)) == classes


@pytest.mark.parametrize("below", [2, 3, 4, 7, 8, 11, 12], ids="T_E4_below_{}".format)
def test_nobody_below_tells_6_from_its_sources(below: int) -> None:
    assert below in NETWORK.trees[1].below(6)
    representatives = IPS12.representatives[below]
    assert len({representatives[source] for source in (1, 5, 9, 6)}) == 1


def test_T_E4_broker_6_rewrites_the_header_of_1() -> None:
    assert IPS12.header(6, 1) == IPS12.header(6, 5) == IPS12.header(6, 9) == 6
    assert IPS(NETWORK, rewriting=False).header(6, 1) == 1


# --- T-E5: dynamic receiver partitioning, Figure 4 ----------------------------


@pytest.mark.parametrize(
    ("receiver", "hop"),
    [
        pytest.param(receiver, hop, id=f"T_E5_unicast_{receiver}")
        for receiver, hop in {2: 2, 3: 2, 4: 7, 8: 7}.items()
    ],
)
def test_next_hops_of_6(receiver: int, hop: int) -> None:
    assert DRP12.unicast(6, receiver) == hop


def test_T_E5_receivers_are_parted_at_6() -> None:
    header = {6: frozenset({2, 3, 4, 8}), 9: frozenset({10})}
    assert DRP12.header(6, header) == {2: {2, 3}, 7: {4, 8}}
    assert list(DRP12.forward(6, header, message_to(2, 3, 4, 8))) == [2, 7]
    # A receiver is not sent what it has.
    assert DRP12.header(2, {2: frozenset({2, 3})}) == {3: {3}}


# --- T-E6: sizes of delivery trees --------------------------------------------


@pytest.mark.parametrize("scheme", [PSF12, IPS12, PIF12, DRP12])
@pytest.mark.parametrize(
    ("source", "receivers", "vertices"),
    [
        pytest.param(1, {4, 10, 11}, 9, id="T_E6_1"),
        pytest.param(6, {7, 10}, 4, id="T_E6_6"),
        pytest.param(5, {7, 8, 11}, 6, id="T_E6_5"),
        pytest.param(12, {1, 3, 5}, 9, id="T_E6_12"),
    ],
)
def test_sizes(
    scheme: PSF | IPS | PIF | DRP, source: int, receivers: set[int], vertices: int
) -> None:
    assert len(send(scheme, source, receivers)) == vertices


def test_T_E6_all_small_sets_of_receivers() -> None:
    """Every source, and every set of one to three brokers, without the source."""
    larger = cases = 0
    for source in N12.brokers:
        for count in (1, 2, 3):
            for chosen in combinations(N12.brokers, count):
                receivers = set(chosen) - {source}
                wanted = list(send(PSF12, source, receivers).paths())
                assert list(send(DRP12, source, receivers).paths()) == wanted
                got = set(send(PIF12, source, receivers).paths())
                assert got >= set(wanted)
                larger += len(got) > len(wanted)
                cases += 1
    assert (cases, larger) == (3576, 571)


# --- T-E7: what a tie costs ---------------------------------------------------


def test_T_E7_a_tree_with_a_tie_may_be_larger_than_need_be() -> None:
    through_3 = Tree(1, {2: 1, 3: 1, 4: 2, 5: 3})
    network = addressed(TIE, trees={1: through_3})
    found = assess(PSF(network), network, 1, message_to(4, 5))
    assert found.is_latency_minimal
    assert (len(found.tree), found.ideal_size) == (5, 4)
    assert not found.is_ideal
    assert ideal_tree(TIE, 1, [4, 5]).parents == {2: 1, 4: 2, 5: 2}


# --- T-E8: copies of predicates -----------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "copies"),
    [
        pytest.param(PSF12, 332, id="T_E8_PSF"),
        pytest.param(IPS12, 255, id="T_E8_iPS"),
        pytest.param(PIF12, 132, id="T_E8_PIF"),
        # Each of 12 senders has the predicates of the 11 others.
        pytest.param(DRP12, 132, id="T_E8_DRP"),
    ],
)
def test_copies_of_predicates(scheme: PSF | IPS | PIF | DRP, copies: int) -> None:
    assert scheme.memory().copies == copies


def test_T_E8_psf_stores_a_copy_for_every_hop() -> None:
    trees = NETWORK.trees.values()
    assert sum(len(tree.path(x)) - 1 for tree in trees for x in tree.parents) == 332


# --- T-E9: what a tie costs dynamic receiver partitioning ---------------------


def unlucky(network: Network) -> DRP:
    """Next hops that part at 5 what could stay together."""
    told = {(5, 7): 9, (5, 8): 9, (5, 11): 1}
    # On from there everybody goes by 6, as the specification's vertices have it.
    otherwise = next_hops(network)
    return DRP(network, unicast=lambda u, w: told.get((u, w)) or otherwise(u, w))


def test_T_E9_two_packets_for_7() -> None:
    network = addressed(N12T)
    found = assess(unlucky(network), network, 5, message_to(7, 8, 11))
    assert found.is_latency_minimal
    assert list(found.tree.paths()) == [
        *((5,), (5, 1), (5, 1, 6), (5, 1, 6, 7), (5, 1, 6, 7, 11)),
        *((5, 9), (5, 9, 6), (5, 9, 6, 7), (5, 9, 6, 7, 8)),
    ]
    assert found.tree.receptions(7) == 2
    assert found.ideal_size == 6


def test_T_E9_without_bad_luck_the_tree_is_ideal() -> None:
    network = addressed(N12T)
    assert assess(DRP(network), network, 5, message_to(7, 8, 11)).is_ideal


def test_a_chain_has_one_tree() -> None:
    network = addressed(Topology([(1, 2, 3), (2, 3, 4)]))
    tree = send(PSF(network), 1, {3})
    assert (len(tree), tree.transmissions, tree.weight, tree.latency(3)) == (3, 2, 7, 7)
    assert (tree.source, tree.receptions(1), tree.receptions(3)) == (1, 0, 1)
