"""Merging and batching: fewer messages, the same deliveries."""

import pytest

from conformance.scripts import replay
from routing.wires import Wires
from siena.routing.options import Merging, Options


def two_brokers(merging: Merging) -> Wires:
    return Wires([(1, 2)], Options(merging=merging))


def test_T_B30_a_perfect_merge_is_told_in_one_subscription() -> None:
    replay("acyclic", "T-B30-network")


def test_T_B30_between_floats_there_are_others() -> None:
    replay("acyclic", "T-B30-network-float")


def test_T_B31_an_imperfect_merge_lets_in_more_that_no_client_sees() -> None:
    replay("acyclic", "T-B31-network")


@pytest.mark.parametrize("merging", ["perfect", "imperfect"])
def test_a_part_that_goes_leaves_the_others(merging: Merging) -> None:
    wires = two_brokers(merging)
    for client, rest in (("a", "= 1"), ("b", "= 2"), ("c", "= 3")):
        wires.subscribe(client, 1, f"integer x {rest}")
    wires.unsubscribe("b", 1, "x = 2")
    assert wires.publish("p", 2, "x = 1")[0] == ["a"]
    assert wires.publish("p", 2, "x = 2")[0] == []
    assert wires.publish("p", 2, "x = 3")[0] == ["c"]
    for client in "ac":
        wires.unsubscribe(client, 1, "[]")
    assert wires.interests(2) == {}


def test_what_comes_and_goes_within_a_batch_is_never_sent() -> None:
    replay("acyclic", "batching")
