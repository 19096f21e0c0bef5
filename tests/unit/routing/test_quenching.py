"""Quenching: publishers hear whether anybody wants what they advertise."""

import pytest

from routing.wires import Wires
from siena.messages import Quenched, Side, Unquenched
from siena.routing.options import Forwarding, Options


def told(wires: Wires) -> list[Quenched | Unquenched]:
    """What the publisher heard since the last question."""
    heard = [
        m for c, m in wires.got if c == "p" and isinstance(m, Quenched | Unquenched)
    ]
    wires.got.clear()
    return heard


@pytest.mark.parametrize("forwarding", ["subscription", "advertisement"])
@pytest.mark.parametrize("side", [Side.PEER, Side.MESH])
def test_T_G1_a_publisher_is_quenched_and_unquenched(
    forwarding: Forwarding, side: Side
) -> None:
    options = Options(forwarding=forwarding, quench=True)
    wires = Wires([(1, 2), (2, 3)], options, side=side)
    wires.advertise("p", 3, "integer level any")
    [quenched] = told(wires)
    assert isinstance(quenched, Quenched)
    assert wires.publish("p", 3, "level = 5") == ([], [])
    wires.subscribe("s", 1, "other > 3")
    assert told(wires) == []
    wires.subscribe("s", 1, "level > 3")
    assert told(wires) == [Unquenched(quenched.advertisement)]
    assert wires.publish("p", 3, "level = 5")[0] == ["s"]
    told(wires)
    wires.unsubscribe("s", 1, "level any")
    assert told(wires) == [quenched]


def test_T_G1_another_who_wants_it_keeps_the_publisher_going() -> None:
    wires = Wires([(1, 2)], Options(quench=True))
    wires.subscribe("s", 1, "level > 3")
    wires.subscribe("t", 1, "level < 2")
    wires.advertise("p", 2, "integer level any")
    assert told(wires) == []
    wires.unsubscribe("s", 1, "level any")
    assert told(wires) == []
    wires.cut(1, 2)
    assert [type(m) for m in told(wires)] == [Quenched]


def test_T_G1_in_a_hierarchy_only_the_root_may_quench() -> None:
    wires = Wires(brokers=[1, 2], options=Options(quench=True))
    wires.advertise("p", 2, "x any")
    assert [type(m) for m in told(wires)] == [Quenched]
    wires.connect(2, 1, Side.MASTER)
    assert [type(m) for m in told(wires)] == [Unquenched]
    wires.advertise("p", 2, "y any")
    assert told(wires) == []
    wires.cut(1, 2)
    assert [type(m) for m in told(wires)] == [Quenched, Quenched]
