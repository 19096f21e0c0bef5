"""The hierarchical architecture: the papers' figures 13 to 16, and what they miss."""

import pytest

from routing.wires import Wires
from siena.messages import Side
from siena.routing.options import Options

UA, AZ, ANY = "airline = UA", "airline = AZ", "airline any"
UA_DEN = "airline = UA and dest = DEN"


def hierarchy(options: Options | None = None) -> Wires:
    """Server 1 with master 2."""
    wires = Wires(options=options)
    wires.connect(1, 2, Side.MASTER)
    return wires


def after_15() -> Wires:
    wires = hierarchy()
    wires.subscribe("a", 1, UA)
    wires.subscribe("b", 1, UA_DEN)
    wires.subscribe("a", 1, ANY)
    return wires


@pytest.mark.paper
def test_T_B13_a_root_is_told_to_the_master() -> None:
    wires = hierarchy()
    assert wires.subscribe("a", 1, UA) == [f"1→2 subscribe {UA}"]
    assert wires.interests(1) == {UA: {"a"}}
    assert wires.interests(2) == {UA: {1}}


@pytest.mark.paper
def test_T_B14_what_is_covered_is_not() -> None:
    wires = hierarchy()
    wires.subscribe("a", 1, UA)
    assert wires.subscribe("b", 1, UA_DEN) == []
    assert wires.interests(1) == {UA: {"a"}, UA_DEN: {"b"}}
    assert wires.interests(2) == {UA: {1}}


@pytest.mark.paper
def test_T_B15_a_wider_filter_replaces_the_clients_own() -> None:
    wires = hierarchy()
    wires.subscribe("a", 1, UA)
    wires.subscribe("b", 1, UA_DEN)
    assert wires.subscribe("a", 1, ANY) == [f"1→2 subscribe {ANY}"]
    assert wires.interests(1) == {ANY: {"a"}, UA_DEN: {"b"}}
    assert wires.interests(2) == {ANY: {1}}


@pytest.mark.paper
def test_T_B16_an_unsubscription_uncovers_what_it_hid() -> None:
    wires = after_15()
    assert wires.unsubscribe("a", 1, ANY) == [
        f"1→2 unsubscribe {ANY}",
        f"1→2 subscribe {UA_DEN}",
    ]
    assert wires.interests(1) == {UA_DEN: {"b"}}
    assert wires.interests(2) == {UA_DEN: {1}}


def test_T_B16b_an_unsubscription_names_what_went_and_not_what_was_asked() -> None:
    """Erratum E4: the client's filter would cancel other clients' interests."""
    delivered = {}
    for mode in ("roots", "paper"):
        wires = hierarchy(Options(unsubscription=mode))
        wires.subscribe("a", 1, AZ)
        wires.subscribe("b", 1, UA)
        sent = wires.unsubscribe("a", 1, ANY)
        if mode == "roots":
            assert sent == [f"1→2 unsubscribe {AZ}"]
            assert wires.interests(2) == {UA: {1}}
        else:
            assert sent == [f"1→2 unsubscribe {ANY}"]
        delivered[mode], _ = wires.publish("p", 2, UA)
    assert delivered == {"roots": ["b"], "paper": []}


def test_T_B16c_a_notification_climbs_and_goes_down_and_never_back() -> None:
    wires = after_15()
    receivers, links = wires.publish("p", 1, UA_DEN)
    assert receivers == ["a", "b"]
    assert links == ["1→2 notify"]
    assert wires.publish("q", 2, UA_DEN) == (["a", "b"], ["2→1 notify"])


def test_T_B16c_a_publisher_that_subscribed_receives_too() -> None:
    wires = after_15()
    assert wires.publish("a", 1, UA)[0] == ["a"]


def test_T_B28_in_a_hierarchy_what_nobody_wants_still_climbs_to_the_root() -> None:
    wires = Wires()
    for server, master in ((3, 2), (2, 1), (4, 1)):
        wires.connect(server, master, Side.MASTER)
    assert wires.publish("p", 3, "x = 1") == ([], ["3→2 notify", "2→1 notify"])


def test_advertisements_are_dropped_in_silence() -> None:
    """Erratum E5: and so are unadvertisements."""
    wires = hierarchy()
    assert wires.advertise("p", 1, "x any") == []
    assert wires.unadvertise("p", 1, "x any") == []
