"""The examples of TR 2006/05, by the ids of our specification (E.9)."""

from collections.abc import Iterable, Mapping
from itertools import combinations

import pytest

from conformance.kit import Case, case_of, each, load
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
from siena.sim.topologies.examples import EXAMPLES

NETWORKS = {
    name: Topology([tuple(link) for link in links])
    for name, links in load("schemes")["networks"].items()
}
ADDRESSED = {name: addressed(topology) for name, topology in NETWORKS.items()}

Scheme = PSF | IPS | PIF | DRP
SCHEMES: dict[str, type[Scheme]] = {"PSF": PSF, "iPS": IPS, "PIF": PIF, "DRP": DRP}

NETWORK = ADDRESSED["N12"]
PSF12, IPS12, PIF12, DRP12 = PSF(NETWORK), IPS(NETWORK), PIF(NETWORK), DRP(NETWORK)


def case(name: str) -> Case:
    return case_of("schemes", name)


def send(scheme: Scheme, source: int, receivers: Iterable[int]) -> DeliveryTree:
    # Written out for the checker of types: each scheme has its own header.
    message = message_to(*receivers)
    topology = scheme.network.topology
    if isinstance(scheme, DRP):
        return deliver(scheme, topology, source, message)
    return deliver(scheme, topology, source, message)


def members(table: Mapping[int, Disjunction]) -> dict[int, set[int]]:
    return {neighbour: set(wanted.members) for neighbour, wanted in table.items()}


def numbered(table: Mapping[str, object]) -> dict[int, object]:
    """With brokers for keys, which JSON has to write as strings."""
    return {int(key): value for key, value in table.items()}


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_networks_of_the_kit_are_those_of_the_studies(name: str) -> None:
    assert set(NETWORKS[name].links) == set(EXAMPLES[name].links)


# --- T-E1: per-source forwarding, Figure 1 ------------------------------------


@each("schemes", "trees")
def test_a_shortest_path_tree_has_these_parents(case: Case) -> None:
    tree = ADDRESSED[case["network"]].trees[case["source"]]
    assert tree.parents == numbered(case["parents"])


@pytest.mark.parametrize(
    ("broker", "parent"),
    [
        pytest.param(int(broker), parent, id=f"T_E1_parent_of_{broker}")
        for broker, parent in case("T-E1")["parents"].items()
    ],
)
def test_parents_in_the_tree_of_1(broker: int, parent: int) -> None:
    assert NETWORK.trees[1].parent(broker) == parent


@pytest.mark.parametrize(
    ("neighbour", "reached"),
    [
        pytest.param(int(neighbour), set(reached), id=f"T_E1_6_{neighbour}")
        for neighbour, reached in case("T-E1")["reached"].items()
    ],
)
def test_what_6_reaches_in_the_tree_of_1(neighbour: int, reached: set[int]) -> None:
    assert NETWORK.reached(1, 6, neighbour) == reached


def test_T_E1_table_of_6_for_source_1() -> None:
    reached = numbered({k: set(v) for k, v in case("T-E1")["reached"].items() if v})
    assert members(PSF12.tables[6][1]) == reached


# --- T-E2: per-interface forwarding, Figure 2 ---------------------------------


@pytest.mark.parametrize(
    ("name", "row"),
    [
        pytest.param(each["network"], row, id=f"T_E2_{row['at']}_{row['to']}")
        for each in (case("T-E2"), case("T-E3-table"))
        for row in each["tables"]
    ],
)
def test_tables_of_interfaces(name: str, row: Case) -> None:
    tables = PIF(ADDRESSED[name]).tables
    assert tables[row["at"]][row["to"]].members == set(row["wanted"])


def test_T_E2_trees_keep_messages_from_running_in_circles() -> None:
    wanted = case("T-E2-trees")
    tree = send(PIF12, wanted["source"], wanted["receivers"])
    assert [list(path) for path in tree.paths()] == wanted["paths"]


def test_T_E2_content_alone_sends_them_round_and_round() -> None:
    loop = case("T-E2-loop")
    unrestricted = PIF(NETWORK, keeps_to_trees=False)
    message = message_to(*loop["receivers"])
    for broker, hops in loop["sends"].items():
        assert unrestricted.forward(int(broker), loop["source"], message) == hops
    with pytest.raises(LoopError):
        send(unrestricted, loop["source"], loop["receivers"])


# --- T-E3: what per-interface forwarding sends too much, Figure 3 -------------


@pytest.mark.parametrize(
    ("scheme", "wanted"),
    [
        pytest.param(SCHEMES[scheme], wanted, id=f"T_E3_{scheme}")
        for wanted in (case("T-E3"), case("T-E3-PIF"))
        for scheme in wanted["schemes"]
    ],
)
def test_a_message_from_1_for_2_and_4(scheme: type[Scheme], wanted: Case) -> None:
    network = ADDRESSED[wanted["network"]]
    tree = send(scheme(network), wanted["source"], wanted["receivers"])
    assert [list(path) for path in tree.paths()] == wanted["paths"]


def test_T_E3_trees_and_table() -> None:
    network = ADDRESSED["N4"]
    for name in ("T-E3-tree-1", "T-E3-tree-4"):
        wanted = case(name)
        assert network.trees[wanted["source"]].parents == numbered(wanted["parents"])
    (row,) = case("T-E3-table")["tables"]
    assert PIF(network).tables[row["at"]][row["to"]].members == set(row["wanted"])


# --- T-E4: indistinguishable sources ------------------------------------------

CLASSES = case("T-E4")


def test_T_E4_classes_at_6() -> None:
    classes = {frozenset(members) for members in IPS12.classes(CLASSES["at"])}
    assert classes == set(map(frozenset, CLASSES["classes"]))


@pytest.mark.parametrize(
    ("broker", "classes"),
    [
        pytest.param(broker, classes, id=f"T_E4_classes_at_{broker}")
        for broker, classes in enumerate(CLASSES["counts"], start=1)
    ],
)
def test_how_many_classes(broker: int, classes: int) -> None:
    assert len(IPS12.classes(broker)) == classes


@pytest.mark.parametrize("below", CLASSES["below"], ids="T_E4_below_{}".format)
def test_nobody_below_tells_6_from_its_sources(below: int) -> None:
    at = CLASSES["at"]
    assert below in NETWORK.trees[CLASSES["source"]].below(at)
    representatives = IPS12.representatives[below]
    sources = (*CLASSES["rewritten"], at)
    assert len({representatives[source] for source in sources}) == 1


def test_T_E4_broker_6_rewrites_the_header_of_1() -> None:
    at = CLASSES["at"]
    assert {IPS12.header(at, source) for source in CLASSES["rewritten"]} == {at}
    assert IPS(NETWORK, rewriting=False).header(at, 1) == 1


# --- T-E5: dynamic receiver partitioning, Figure 4 ----------------------------

PARTS = case("T-E5")


@pytest.mark.parametrize(
    ("receiver", "hop"),
    [
        pytest.param(int(receiver), hop, id=f"T_E5_unicast_{receiver}")
        for receiver, hop in PARTS["unicast"].items()
    ],
)
def test_next_hops_of_6(receiver: int, hop: int) -> None:
    assert DRP12.unicast(PARTS["at"], receiver) == hop


def test_T_E5_receivers_are_parted_at_6() -> None:
    at, receivers = PARTS["at"], PARTS["receivers"]
    parts = numbered({hop: set(part) for hop, part in PARTS["parts"].items()})
    header = {at: frozenset(receivers), 9: frozenset({10})}
    assert DRP12.header(at, header) == parts
    assert list(DRP12.forward(at, header, message_to(*receivers))) == list(parts)
    # A receiver is not sent what it has.
    assert DRP12.header(2, {2: frozenset({2, 3})}) == {3: {3}}


# --- T-E6: sizes of delivery trees --------------------------------------------


@pytest.mark.parametrize("scheme", [PSF12, IPS12, PIF12, DRP12])
@each("schemes", "sizes")
def test_sizes(scheme: Scheme, case: Case) -> None:
    assert len(send(scheme, case["source"], case["receivers"])) == case["vertices"]


def test_T_E6_all_small_sets_of_receivers() -> None:
    """Every source, and every set of one to three brokers, without the source."""
    wanted = case("T-E6-all")
    brokers = NETWORK.topology.brokers
    larger = cases = 0
    for source in brokers:
        for count in range(1, wanted["receivers_max"] + 1):
            for chosen in combinations(brokers, count):
                receivers = set(chosen) - {source}
                by_source = list(send(PSF12, source, receivers).paths())
                assert list(send(DRP12, source, receivers).paths()) == by_source
                got = set(send(PIF12, source, receivers).paths())
                assert got >= set(by_source)
                larger += len(got) > len(by_source)
                cases += 1
    assert (cases, larger) == (wanted["cases"], wanted["larger"])


# --- T-E7: what a tie costs ---------------------------------------------------


def test_T_E7_a_tree_with_a_tie_may_be_larger_than_need_be() -> None:
    tie = case("T-E7")
    topology, source, receivers = NETWORKS["tie"], tie["source"], tie["receivers"]
    parents = {int(child): parent for child, parent in tie["parents"].items()}
    network = addressed(topology, trees={source: Tree(source, parents)})
    found = assess(PSF(network), network, source, message_to(*receivers))
    assert found.is_latency_minimal
    assert (len(found.tree), found.ideal_size) == (tie["vertices"], tie["ideal"])
    assert not found.is_ideal
    ideal = ideal_tree(topology, source, receivers)
    assert ideal.parents == numbered(tie["ideal_parents"])


# --- T-E8: copies of predicates -----------------------------------------------


@pytest.mark.parametrize(
    ("scheme", "copies"),
    [
        # Under DRP, each of 12 senders has the predicates of the 11 others.
        pytest.param(SCHEMES[name], copies, id=f"T_E8_{name}")
        for name, copies in case("T-E8")["copies"].items()
    ],
)
def test_copies_of_predicates(scheme: type[Scheme], copies: int) -> None:
    assert scheme(NETWORK).memory().copies == copies


def test_T_E8_psf_stores_a_copy_for_every_hop() -> None:
    trees = NETWORK.trees.values()
    hops = sum(len(tree.path(x)) - 1 for tree in trees for x in tree.parents)
    assert hops == case("T-E8")["hops"]


# --- T-E9: what a tie costs dynamic receiver partitioning ---------------------

TIE = case("T-E9")


def unlucky(network: Network) -> DRP:
    """Next hops that part at 5 what could stay together."""
    told = {(at, receiver): hop for at, receiver, hop in TIE["unicast"]}
    # On from there everybody goes by 6, as the specification's vertices have it.
    otherwise = next_hops(network)
    return DRP(network, unicast=lambda u, w: told.get((u, w)) or otherwise(u, w))


def test_T_E9_two_packets_for_7() -> None:
    network = ADDRESSED[TIE["network"]]
    message = message_to(*TIE["receivers"])
    found = assess(unlucky(network), network, TIE["source"], message)
    assert found.is_latency_minimal
    assert [list(path) for path in found.tree.paths()] == TIE["paths"]
    for broker, receptions in TIE["receptions"].items():
        assert found.tree.receptions(int(broker)) == receptions
    assert (len(found.tree), found.ideal_size) == (TIE["vertices"], TIE["ideal"])


def test_T_E9_without_bad_luck_the_tree_is_ideal() -> None:
    lucky = case("T-E9-lucky")
    network = ADDRESSED[lucky["network"]]
    message = message_to(*lucky["receivers"])
    found = assess(DRP(network), network, lucky["source"], message)
    assert found.is_ideal
    assert len(found.tree) == lucky["vertices"] == lucky["ideal"]


def test_a_chain_has_one_tree() -> None:
    network = addressed(Topology([(1, 2, 3), (2, 3, 4)]))
    tree = send(PSF(network), 1, {3})
    assert (len(tree), tree.transmissions, tree.weight, tree.latency(3)) == (3, 2, 7, 7)
    assert (tree.source, tree.receptions(1), tree.receptions(3)) == (1, 0, 1)
