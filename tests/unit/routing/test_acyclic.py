"""Acyclic peers: the papers' figures 17 to 22, connections, and routing principles."""

import pytest

from routing.wires import Wires
from siena.messages import PeerConnect, PeerRefuse, Side
from siena.routing.router import Router

ANY, UA, AZ = "airline any", "airline = UA", "airline = AZ"
UA_FROM_DEN = "airline = UA and orig = DEN"
UA_CHEAP = "airline = UA and price < 500"
AZ_CHEAP = "airline = AZ and price < 800"
DEN = "dest = DEN"
UA_DEN = "airline = UA and dest = DEN"

STAR = ((1, 2), (1, 3), (1, 4))


def of_one(sent: list[str]) -> list[str]:
    """What server 1 sent, neighbour by neighbour and in order."""
    return sorted((s for s in sent if s.startswith("1→")), key=lambda s: s[2])


def figure_20() -> Wires:
    """The neighbours ask through clients of their own."""
    wires = Wires(STAR)
    steps = [
        ("a", 1, UA, ["2", "3", "4"]),
        ("a", 1, AZ, ["2", "3", "4"]),
        ("c", 3, UA, []),
        ("d", 3, AZ_CHEAP, []),
        ("b", 2, DEN, ["3", "4"]),
        ("e", 2, UA_CHEAP, []),
        ("f", 4, UA_DEN, []),
    ]
    for client, server, text, told in steps:
        sent = of_one(wires.subscribe(client, server, text))
        assert sent == [f"1→{n} subscribe {text}" for n in told]
    return wires


@pytest.mark.paper
def test_T_B17_a_subscription_goes_to_all_other_neighbours() -> None:
    wires = Wires(STAR)
    sent = wires.subscribe("c", 3, ANY)
    assert of_one(sent) == [f"1→2 subscribe {ANY}", f"1→4 subscribe {ANY}"]
    assert wires.interests(1) == {ANY: {3}}
    assert wires.forwards(1) == {ANY: {2, 4}}


@pytest.mark.paper
def test_T_B18_a_covered_one_goes_to_the_only_source_of_its_cover() -> None:
    wires = Wires(STAR)
    wires.subscribe("c", 3, ANY)
    sent = wires.subscribe("b", 2, UA_FROM_DEN)
    assert of_one(sent) == [f"1→3 subscribe {UA_FROM_DEN}"]
    assert wires.interests(1) == {ANY: {3}, UA_FROM_DEN: {2}}
    assert wires.forwards(1) == {ANY: {2, 4}, UA_FROM_DEN: {3}}


@pytest.mark.paper
def test_T_B19_a_second_source_of_the_cover_replaces_it_there() -> None:
    wires = Wires(STAR)
    wires.subscribe("c", 3, ANY)
    wires.subscribe("b", 2, UA_FROM_DEN)
    assert of_one(wires.subscribe("a", 1, ANY)) == [f"1→3 subscribe {ANY}"]
    assert wires.interests(1) == {ANY: {3, "a"}, UA_FROM_DEN: {2}}
    assert wires.forwards(1) == {ANY: {2, 3, 4}}
    assert {f for f, hops in wires.interests(3).items() if 1 in hops} == {ANY}


@pytest.mark.paper
def test_T_B20_the_state_before_an_unsubscription() -> None:
    wires = figure_20()
    assert wires.interests(1) == {
        UA: {"a", 3},
        AZ: {"a"},
        DEN: {2},
        AZ_CHEAP: {3},
        UA_CHEAP: {2},
        UA_DEN: {4},
    }
    assert wires.forwards(1) == {UA: {2, 3, 4}, AZ: {2, 3, 4}, DEN: {3, 4}}
    wires.check()


@pytest.mark.paper
def test_T_B21_an_unsubscription_and_what_it_uncovers() -> None:
    assert of_one(figure_20().unsubscribe("a", 1, ANY)) == [
        f"1→2 unsubscribe {AZ}",
        f"1→2 subscribe {AZ_CHEAP}",
        f"1→3 unsubscribe {AZ}",
        f"1→3 unsubscribe {UA}",
        f"1→3 subscribe {UA_CHEAP}",
        f"1→4 unsubscribe {AZ}",
        f"1→4 subscribe {AZ_CHEAP}",
    ]


@pytest.mark.paper
def test_T_B22_the_state_after_it() -> None:
    wires = figure_20()
    wires.unsubscribe("a", 1, ANY)
    assert wires.interests(1) == {
        UA: {3},
        DEN: {2},
        AZ_CHEAP: {3},
        UA_CHEAP: {2},
        UA_DEN: {4},
    }
    assert wires.forwards(1) == {
        UA: {2, 4},
        UA_CHEAP: {3},
        AZ_CHEAP: {2, 4},
        DEN: {3, 4},
    }
    wires.check()


def test_T_B23_both_ends_of_a_new_link_tell_what_they_know() -> None:
    """Erratum E6: in the papers only one of them does."""
    wires = Wires([(1, 2), (3, 4)])
    wires.subscribe("s", 1, "x = 1")
    wires.subscribe("q", 4, "y = 1")
    sent = set(wires.connect(2, 3))
    assert sent - {"2→3 peerconnect", "3→2 peerconfirm"} == {
        "2→3 subscribe x = 1",
        "3→2 subscribe y = 1",
        "3→4 subscribe x = 1",
        "2→1 subscribe y = 1",
    }
    assert set(wires.cut(2, 3)) == {"2→1 unsubscribe y = 1", "3→4 unsubscribe x = 1"}
    wires.check()


def test_a_link_that_would_close_a_cycle_is_refused() -> None:
    router = Router(1, accepts=lambda _number, side: side is not Side.PEER)
    [(target, answer)] = router.handle(PeerConnect(Side.PEER), 2)
    assert target == 2
    assert isinstance(answer, PeerRefuse)
    assert router.tables.neighbours == {}


def test_T_B27_one_copy_as_far_as_possible() -> None:
    wires = Wires([(1, 2), (2, 3), (2, 4)])
    wires.subscribe("c", 3, "x > 0")
    wires.subscribe("d", 4, "x > 1")
    receivers, links = wires.publish("p", 1, "x = 5")
    assert receivers == ["c", "d"]
    assert links == ["1→2 notify", "2→3 notify", "2→4 notify"]


def test_T_B28_what_nobody_wants_stays_where_it_was_published() -> None:
    wires = Wires([(1, 2), (2, 3)])
    wires.subscribe("c", 3, "x > 7")
    assert wires.publish("p", 1, "x = 5") == ([], [])


# --- Unsubscription, as clients see it ---------------------------------------------


def test_T_A70_an_unsubscription_never_narrows() -> None:
    wires = Wires([(1, 2)])
    wires.subscribe("a", 1, "price > 100")
    assert wires.unsubscribe("a", 1, "price > 200") == []
    assert wires.publish("p", 2, "price = 150")[0] == ["a"]
    assert wires.publish("p", 2, "price = 250")[0] == ["a"]


def test_T_A71_nor_does_it_restore_what_was_more_specific() -> None:
    wires = Wires([(1, 2)])
    wires.subscribe("a", 1, "change > 10")
    wires.subscribe("a", 1, "change > 0")
    wires.unsubscribe("a", 1, "change > 0")
    assert wires.interests(1) == wires.interests(2) == {}
    assert wires.publish("p", 2, "change = 20")[0] == []


def test_T_A72_what_was_covered_was_never_there() -> None:
    wires = Wires([(1, 2)])
    wires.subscribe("a", 1, "change > 0")
    assert wires.subscribe("a", 1, "change > 10") == []
    wires.unsubscribe("a", 1, "change > 10")
    assert wires.publish("p", 2, "change = 5")[0] == ["a"]


def test_T_A73_the_empty_filter_cancels_everything_simple() -> None:
    wires = Wires([(1, 2)])
    for text in ("x = 1", "y any", "s >* a"):
        wires.subscribe("a", 1, text)
    wires.subscribe("b", 1, "x = 1")
    assert wires.unsubscribe("a", 1, "[]") == [
        f"1→2 unsubscribe {text}" for text in ("s >* a", "y any")
    ]
    assert wires.interests(1) == {"x = 1": {"b"}}
