"""Topologies as values: what they keep, and what they refuse."""

import math
import pickle
from fractions import Fraction

import pytest
from hypothesis import given

from networks import topologies
from siena.errors import InvalidTopologyError
from siena.routing.topology.topology import BROKER_MAX, Topology, TopologyDraft


def test_the_order_of_links_and_of_their_ends_does_not_matter() -> None:
    one = Topology([(1, 2, 5), (3, 2)], roles={3: "gateway", 1: "root"})
    other = Topology([(2, 3), (2, 1, 5)], roles={1: "root", 3: "gateway"})
    assert one == other
    assert hash(one) == hash(other)
    assert one != Topology([(1, 2, 5), (3, 2)])
    assert one.with_role("gateway") == (3,)


def test_a_float_is_taken_for_the_number_that_it_is() -> None:
    topology = Topology([(1, 2, 0.5), (2, 3, 2.0), (3, 4, Fraction(1, 3))])
    assert [link.weight for link in topology.links] == [
        Fraction(1, 2),
        2,
        Fraction(1, 3),
    ]


@pytest.mark.parametrize(
    ("link", "reason"),
    [
        ((1, 1), "broker 1 cannot be linked to itself"),
        ((2, 1, 3), "link 2-1 is there already"),
        ((2, 3, 0), "the weight of link 2-3 is 0, and must be positive"),
        ((2, 3, -0.5), "the weight of link 2-3 is -0.5, and must be positive"),
        ((2, 3, math.inf), "the weight of link 2-3 is inf, and must be positive"),
        ((2, 3, math.nan), "the weight of link 2-3 is nan, and must be positive"),
        ((2, -3), "-3 is no number for a broker"),
        ((2, BROKER_MAX + 1), "1000000001 is no number for a broker"),
    ],
)
def test_what_makes_no_network_is_refused(
    link: tuple[int, int] | tuple[int, int, float], reason: str
) -> None:
    with pytest.raises(InvalidTopologyError) as caught:
        Topology([(1, 2), link])
    assert caught.value.message == reason


@pytest.mark.parametrize(
    ("broker", "role", "reason"),
    [
        (9, "root", "there is no broker 9"),
        (1, "two words", "'two words' is no role"),
    ],
)
def test_a_role_is_a_word_about_a_broker(broker: int, role: str, reason: str) -> None:
    with pytest.raises(InvalidTopologyError, match=reason):
        Topology([(1, 2)], roles={broker: role})


def test_a_draft_links_only_brokers_that_are_there() -> None:
    draft = TopologyDraft()
    draft.add_broker(1)
    with pytest.raises(InvalidTopologyError, match="there is no broker 2"):
        draft.add_link(1, 2)


@pytest.mark.parametrize(
    ("topology", "connected", "tree"),
    [
        (Topology([]), True, True),
        (Topology([], brokers=[4]), True, True),
        (Topology([], brokers=[4, 5]), False, False),
        (Topology([(1, 2), (2, 3)]), True, True),
        (Topology([(1, 2), (2, 3), (1, 3)]), True, False),
        # As many links as a tree has, and still in pieces.
        (Topology([(1, 2), (2, 3), (1, 3)], brokers=[4]), False, False),
    ],
)
def test_connected_and_tree(topology: Topology, connected: bool, tree: bool) -> None:  # noqa: FBT001 - the answers
    assert topology.is_connected == connected
    assert topology.is_tree == tree


@given(topologies())
def test_a_topology_travels_between_processes(topology: Topology) -> None:
    assert pickle.loads(pickle.dumps(topology)) == topology  # noqa: S301 - ours
