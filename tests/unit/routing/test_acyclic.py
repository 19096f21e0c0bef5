"""Acyclic peers: the papers' figures 17 to 22, connections, and routing principles.

Their scripts stand in ``conformance/acyclic.json``.
"""

import pytest

from conformance.scripts import replay
from routing.wires import Wires
from siena.messages import PeerConnect, PeerRefuse, Side
from siena.routing.router import Router

AREA = "acyclic"


@pytest.mark.paper
def test_T_B17_a_subscription_goes_to_all_other_neighbours() -> None:
    replay(AREA, "T-B17")


@pytest.mark.paper
def test_T_B18_a_covered_one_goes_to_the_only_source_of_its_cover() -> None:
    replay(AREA, "T-B18")


@pytest.mark.paper
def test_T_B19_a_second_source_of_the_cover_replaces_it_there() -> None:
    replay(AREA, "T-B19")


@pytest.mark.paper
def test_T_B20_the_state_before_an_unsubscription() -> None:
    replay(AREA, "T-B20")


@pytest.mark.paper
def test_T_B21_an_unsubscription_and_what_it_uncovers() -> None:
    replay(AREA, "T-B21")


@pytest.mark.paper
def test_T_B22_the_state_after_it() -> None:
    replay(AREA, "T-B22")


def test_T_B23_both_ends_of_a_new_link_tell_what_they_know() -> None:
    """Erratum E6: in the papers only one of them does."""
    replay(AREA, "T-B23")


def test_a_link_that_would_close_a_cycle_is_refused() -> None:
    router = Router(1, accepts=lambda _number, side: side is not Side.PEER)
    [(target, answer)] = router.handle(PeerConnect(Side.PEER), 2)
    assert target == 2
    assert isinstance(answer, PeerRefuse)
    assert router.tables.neighbours == {}


def test_T_B27_one_copy_as_far_as_possible() -> None:
    replay(AREA, "T-B27")


def test_T_B28_what_nobody_wants_stays_where_it_was_published() -> None:
    replay(AREA, "T-B28")


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
