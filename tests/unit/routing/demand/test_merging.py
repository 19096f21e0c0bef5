"""Merging and batching: fewer messages, the same deliveries."""

import pytest

from routing.wires import Wires
from siena import parse_filter
from siena.messages import Flush, Subscribe, Unsubscribe
from siena.routing.options import Merging, Options


def two_brokers(merging: Merging) -> Wires:
    return Wires([(1, 2)], Options(merging=merging))


def test_T_B30_a_perfect_merge_is_told_in_one_subscription() -> None:
    wires = Wires(brokers=[1], options=Options(merging="perfect"))
    for rest in ("= 1", "> 2", "= 2"):
        wires.subscribe("a", 1, f"integer alarm {rest}")
    assert "1→2 subscribe integer alarm > 0" in wires.connect(1, 2)
    assert list(wires.interests(2)) == ["integer alarm > 0"]


def test_T_B30_between_floats_there_are_others() -> None:
    wires = Wires(brokers=[1], options=Options(merging="perfect"))
    for rest in ("= 1", "> 2", "= 2"):
        wires.subscribe("a", 1, f"float alarm {rest}")
    wires.connect(1, 2)
    assert list(wires.interests(2)) == ["float alarm = 1.0", "float alarm >= 2.0"]


def test_T_B31_an_imperfect_merge_lets_in_more_that_no_client_sees() -> None:
    wires = two_brokers("imperfect")
    wires.subscribe("a", 1, "x > 200")
    wires.subscribe("b", 1, "x < 100")
    assert list(wires.interests(2)) == ["number x any"]
    assert list(wires.interests(1)) == ["x > 200", "x < 100"]
    assert wires.publish("p", 2, "x = 150") == ([], ["2→1 notify"])
    assert wires.publish("p", 2, "x = 250") == (["a"], ["2→1 notify"])


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
    wires = Wires([(1, 2)], Options(batching=True))
    assert wires.subscribe("a", 1, "x > 3") == []
    assert wires.subscribe("a", 1, "y > 3") == []
    assert wires.ask("a", 1, Unsubscribe(parse_filter("x any"))) == []
    assert wires.ask("a", 1, Subscribe(parse_filter("y > 0"))) == []
    assert wires.ask("the clock", 1, Flush()) == ["1→2 subscribe y > 0"]
    assert wires.ask("the clock", 1, Flush()) == []
