"""Patterns in the network: factoring, delegation, monitors, and without them."""

import pytest
from hypothesis import event, given, strategies as st

from conformance.scripts import play, replay, variants
from routing.wires import Wires
from siena import parse_interest, parse_notification, parse_pattern
from siena.matching.pattern import PatternMatcher
from siena.messages import (
    Found,
    Lost,
    MapIdentity,
    Resume,
    Settle,
    Settled,
    Side,
    Suspend,
)
from siena.model import Pattern
from siena.routing.options import Options

FAILED = "alarm = failed-login"
F, G = f"{FAILED} and attempts = 1", f"{FAILED} and attempts = 2"
H = 'file = "/etc/passwd" and operation = file-change'
A1 = "alarm = failed-login, integer attempts > 0"
A2 = "string file any, operation = file-change"
ADVERTISING = Options(forwarding="advertisement")


def found(wires: Wires, client: str = "x") -> list[list[str]]:
    """The sequences that a client got."""
    return [
        [str(notify.notification) for notify in message.sequence]
        for who, message in wires.got
        if who == client and isinstance(message, Found)
    ]


def table_5() -> Wires:
    """Server 1 with neighbours 2 and 3; behind 2 are 4 and 5.  Erratum E2."""
    wires = Wires([(1, 2), (1, 3), (2, 4), (2, 5)], ADVERTISING)
    wires.advertise("p5", 5, "alarm = failed-login, integer attempts = 1")
    wires.advertise("p4", 4, "alarm = failed-login, integer attempts = 2")
    wires.advertise("p2", 2, A2)
    wires.advertise("p3", 3, A2)
    return wires


@pytest.mark.paper
def test_T_B40_a_run_with_one_provider_is_delegated_to_it() -> None:
    replay("delegation", "T-B40")


@pytest.mark.paper
def test_T_B40_the_third_must_be_later_than_the_second() -> None:
    replay("delegation", "T-B40-too-early")


@pytest.mark.paper
def test_T_B41_with_two_providers_nothing_is_grouped() -> None:
    replay("delegation", "T-B41")


def test_T_A74_patterns_are_cancelled_step_by_step() -> None:
    wires = Wires([(1, 2)])
    wires.subscribe("x", 1, "a = 1 then b = 1")
    assert wires.unsubscribe("x", 1, "a any then b any then c any") == []
    wires.publish("p", 2, "a = 1", time=1)
    wires.publish("p", 2, "b = 1", time=2)
    assert found(wires) == [["a = 1", "b = 1"]]
    assert wires.unsubscribe("x", 1, "a any then b any") != []
    wires.publish("p", 2, "a = 1", time=3)
    wires.publish("p", 2, "b = 1", time=4)
    assert len(found(wires)) == 1
    assert wires.interests(1) == wires.interests(2) == {}


def test_T_A73_a_simple_unsubscription_does_not_touch_patterns() -> None:
    wires = Wires([(1, 2)])
    wires.subscribe("x", 1, "a = 1 then b = 1")
    wires.subscribe("x", 1, "c = 1")
    wires.unsubscribe("x", 1, "[]")
    assert sorted(wires.interests(2)) == ["a = 1", "b = 1"]


def test_a_pattern_is_forgotten_everywhere_when_it_is_cancelled() -> None:
    wires = table_5()
    text = f"{F} then {G} then {H}"
    wires.subscribe("x", 1, text)
    wires.unsubscribe("x", 1, text)
    assert all(wires.interests(broker) == {} for broker in wires.routers)


def test_another_provider_ends_a_delegation() -> None:
    wires = table_5()
    wires.subscribe("x", 1, f"{F} then {G}")
    sent = wires.advertise("p3", 3, A1)
    pattern = str(parse_interest(f"{F} then {G}"))
    assert f"1→2 unsubscribe {pattern}" in sent
    assert f"1→3 subscribe {parse_interest(F)}" in sent
    wires.publish("p5", 5, "alarm = failed-login, attempts = 1", time=1)
    wires.publish("p3", 3, "alarm = failed-login, attempts = 2", time=2)
    assert len(found(wires)) == 1


def test_a_run_that_is_monitored_already_is_not_asked_for_again() -> None:
    wires = table_5()
    wires.subscribe("x", 1, f"{F} then {G}")
    sent = wires.subscribe("y", 1, f"{F} then {G} then {H}")
    assert not [s for s in sent if "attempts" in s]
    wires.publish("p5", 5, "alarm = failed-login, attempts = 1", time=1)
    wires.publish("p4", 4, "alarm = failed-login, attempts = 2", time=2)
    wires.publish("p3", 3, 'file = "/etc/passwd", operation = file-change', time=3)
    assert [len(s) for s in found(wires, "x")] == [2]
    assert [len(s) for s in found(wires, "y")] == [3]


def test_what_began_before_a_subscription_does_not_count_for_it() -> None:
    wires = Wires([(1, 2)], ADVERTISING)
    wires.advertise("p", 1, "a any, b any")
    wires.subscribe("x", 1, "a any then b any")
    wires.publish("p", 1, "a = 1", time=1)
    wires.subscribe("y", 1, "a any then b any")
    wires.publish("p", 1, "b = 1", time=2)
    assert len(found(wires, "x")) == 1
    assert found(wires, "y") == []


def test_a_client_provides_for_its_own_patterns() -> None:
    """What it publishes itself counts: nothing is delegated past it."""
    wires = Wires([(1, 2)], ADVERTISING)
    wires.advertise("p", 2, "a any, b any")
    wires.advertise("x", 1, "b any")
    wires.subscribe("x", 1, "a any then b any")
    wires.publish("p", 2, "a = 1", time=1)
    wires.publish("x", 1, "b = 1", time=2)
    assert len(found(wires)) == 1


def test_a_step_that_nothing_matches_is_not_told_to_anybody() -> None:
    wires = Wires([(1, 2)])
    sent = wires.subscribe("x", 1, "a = 1 and a = 2 then b = 1")
    assert sent == ["1→2 subscribe b = 1"]
    wires.check()


def test_sequences_go_to_the_handler_and_are_kept_while_suspended() -> None:
    wires = Wires([(1, 2)])
    wires.subscribe("x", 1, "a any then b any")
    wires.ask("x", 1, MapIdentity("post box"))
    wires.ask("x", 1, Suspend(queue_max=1))
    for time in range(6):
        wires.publish("p", 2, f"{'ab'[time % 2]} = {time}", time=time)
    assert found(wires, "post box") == []
    wires.ask("x", 1, Resume())
    assert found(wires, "post box") == [["a = 0", "b = 1"]]
    assert found(wires) == []
    assert [m for _, m in wires.got if isinstance(m, Lost)] == [Lost(2)]


def test_a_pattern_is_settled_when_those_it_was_delegated_to_are() -> None:
    wires = table_5()
    pattern = parse_pattern(f"{F} then {G}")
    wires.ask("x", 1, Settle(pattern, 1))
    wires.got.clear()
    wires.subscribe("x", 1, str(pattern))
    sent = wires.ask("x", 1, Settle(pattern, 2))
    assert f"1→2 settle {pattern}" in sent
    assert "4→2 settled" in sent
    assert wires.got == [("x", Settled(2))]


@given(
    st.lists(st.sampled_from("abc"), min_size=2, max_size=3),
    st.lists(st.sampled_from("abc"), max_size=10),
    st.sampled_from((Side.PEER, Side.MESH, Side.MASTER)),
)
def test_at_the_access_point_a_pattern_is_what_one_matcher_finds(
    steps: list[str], published: list[str], side: Side
) -> None:
    """Without advertisements: all steps are matched in one place."""
    text = " then ".join(f"{name} any" for name in steps)
    wires = Wires([(2, 1), (3, 1)], side=side)
    wires.subscribe("x", 2, text)
    matcher = PatternMatcher(_pattern(text))
    expected = []
    for time, name in enumerate(published):
        notification = parse_notification(f"{name} = {time}")
        sequence = matcher.offer(notification, time)
        if sequence is not None:
            expected.append([str(n) for n in sequence])
        wires.publish("p", 3, str(notification), time=time)
    event("something was found" if expected else "nothing was found")
    assert found(wires) == expected


@given(st.lists(st.sampled_from("ab"), max_size=10))
def test_a_delegated_pattern_is_what_one_matcher_finds(published: list[str]) -> None:
    """Where the whole pattern is delegated there is nothing to interleave."""
    text = "a any then b any"
    wires = Wires([(1, 2), (2, 3)], ADVERTISING)
    wires.advertise("p", 3, "a any, b any")
    wires.subscribe("x", 1, text)
    matcher = PatternMatcher(_pattern(text))
    expected = []
    for time, name in enumerate(published):
        notification = parse_notification(f"{name} = {time}")
        sequence = matcher.offer(notification, time)
        if sequence is not None:
            expected.append([str(n) for n in sequence])
        wires.publish("p", 3, str(notification), time=time)
    assert found(wires) == expected


def test_delegation_may_find_another_sequence_than_one_matcher_would() -> None:
    """Greedy matching is not compositional: our specification, B.11.

    While one matcher waits for h it ignores the second f.  The delegated monitor for
    f·g takes it, and hands over a pair that began before the first match was complete.
    """
    (case,) = variants("delegation", "delegation-is-not-compositional")
    play(case)
    published = [s["publish"] for s in case["steps"] if "publish" in s]
    flat = PatternMatcher(_pattern(f"{F} then {G} then {H}"))
    by_one = [
        flat.offer(parse_notification(text), t) for t, text in enumerate(published)
    ]
    assert sum(sequence is not None for sequence in by_one) == 1


def _pattern(text: str) -> Pattern:
    return parse_pattern(text)
