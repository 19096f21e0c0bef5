"""Settling: when an interest is in force, and who has to be asked."""

import pytest

from routing.wires import Wires
from siena import Notification, parse_advertisement, parse_filter
from siena.messages import (
    Advertise,
    Flush,
    PeerConnect,
    PeerDisconnect,
    Publish,
    Settle,
    Settled,
    Side,
    Subscribe,
)
from siena.routing.options import Options
from siena.routing.router import Router
from siena.routing.settling import AGES_MAX, AGES_OF_SILENT

WIDE, NARROW = parse_filter("x > 0"), parse_filter("x > 5")


def peers_of_one() -> Router:
    router = Router(1)
    for neighbour in (2, 3):
        router.handle(PeerConnect(Side.PEER), neighbour)
    router.handle(Subscribe(WIDE), "a")
    return router


def test_an_interest_is_settled_when_all_who_were_told_have_answered() -> None:
    router = peers_of_one()
    asked = dict(router.handle(Settle(WIDE, 7), "a"))
    assert asked.keys() == {2, 3}
    tokens = {n: m.token for n, m in asked.items() if isinstance(m, Settle)}
    assert router.handle(Settled(tokens[2]), 2) == []
    assert router.handle(Settled(tokens[3]), 3) == [("a", Settled(7))]


def test_what_is_pruned_under_a_settled_cover_is_settled_at_once() -> None:
    router = peers_of_one()
    for n, message in router.handle(Settle(WIDE, 7), "a"):
        assert isinstance(message, Settle)
        router.handle(Settled(message.token), n)
    router.handle(Subscribe(NARROW), "b")
    assert router.handle(Settle(NARROW, 8), "b") == [("b", Settled(8))]


def test_what_is_pruned_under_a_cover_that_is_not_settled_waits_for_it() -> None:
    router = peers_of_one()
    router.handle(Subscribe(NARROW), "b")
    asked = router.handle(Settle(NARROW, 8), "b")
    assert [(n, m.interest) for n, m in asked if isinstance(m, Settle)] == [
        (2, WIDE),
        (3, WIDE),
    ]


def test_a_neighbour_that_goes_need_not_answer() -> None:
    router = peers_of_one()
    (two, first), _ = router.handle(Settle(WIDE, 7), "a")
    assert isinstance(first, Settle)
    assert router.handle(Settled(first.token), two) == []
    assert ("a", Settled(7)) in router.handle(PeerDisconnect(), 3)


def test_an_answer_of_somebody_else_does_not_count() -> None:
    router = peers_of_one()
    asked = dict(router.handle(Settle(WIDE, 7), "a"))
    of_three = asked[3]
    assert isinstance(of_three, Settle)
    assert router.handle(Settled(of_three.token), 2) == []
    assert router.handle(Settled(of_three.token), 3) == []


def test_an_answer_about_an_earlier_announcement_does_not_count() -> None:
    router = peers_of_one()
    router.handle(PeerDisconnect(), 3)
    [(two, first)] = router.handle(Settle(WIDE, 7), "a")
    assert isinstance(first, Settle)
    router.handle(PeerDisconnect(), 2)
    router.handle(PeerConnect(Side.PEER), 2)
    assert router.handle(Settled(first.token), two) == []
    assert [n for n, _ in router.handle(Settle(WIDE, 8), "a")] == [2]


def test_the_answer_comes_from_the_whole_network() -> None:
    for side in (Side.PEER, Side.MESH):
        wires = Wires([(1, 2), (2, 3), (3, 4)], side=side)
        wires.subscribe("a", 1, "x > 0")
        sent = wires.ask("a", 1, Settle(WIDE, 7))
        assert [s for s in sent if s.startswith("4")] == ["4→3 settled"]
        assert wires.got == [("a", Settled(7))]


def test_a_batch_is_sent_before_it_is_settled() -> None:
    wires = Wires([(1, 2)], Options(batching=True))
    wires.subscribe("a", 1, "x > 0")
    assert wires.ask("a", 1, Settle(WIDE, 7)) == []
    assert wires.got == []
    assert wires.ask("the clock", 1, Flush())[0] == "1→2 subscribe x > 0"
    assert wires.got == [("a", Settled(7))]
    assert wires.ask("the clock", 1, Flush()) == []


def test_a_neighbour_that_asks_does_not_wait_for_the_next_batch() -> None:
    wires = Wires([(1, 2), (2, 3)], Options(batching=True))
    wires.subscribe("a", 1, "x > 0")
    wires.ask("a", 1, Settle(WIDE, 7))
    assert "2→3 subscribe x > 0" in wires.ask("the clock", 1, Flush())
    assert wires.got == [("a", Settled(7))]


@pytest.mark.parametrize("side", [Side.PEER, Side.MESH])
def test_an_advertisement_is_settled_when_all_who_want_it_are_known(side: Side) -> None:
    options = Options(forwarding="advertisement")
    wires = Wires([(1, 2), (2, 3), (3, 4)], options, side=side)
    for client, broker in (("a", 1), ("b", 2), ("c", 4)):
        wires.subscribe(client, broker, f"{client} any or all any")
    router = wires.routers[3]
    offer = parse_advertisement("all any")
    # Not yet carried to the others: nothing is known, and nothing is settled.
    out = router.handle(Advertise(offer), "p")
    out += router.handle(Settle(offer, 7), "p")
    assert ("p", Settled(7)) not in out
    assert router.handle(Publish(Notification(all=1)), "p") == []
    wires.carry_all(3, out)
    assert wires.got == [("p", Settled(7))]
    assert wires.publish("p", 3, "all = 1")[0] == ["a", "b", "c"]


def test_where_advertisements_are_not_forwarded_they_are_settled_at_once() -> None:
    wires = Wires([(1, 2)])
    offer = parse_advertisement("x any")
    wires.advertise("p", 1, "x any")
    assert wires.ask("p", 1, Settle(offer, 7)) == []
    assert wires.got == [("p", Settled(7))]


def test_who_has_gone_is_not_told_what_was_held_back_for_it() -> None:
    wires = Wires([(1, 2)], Options(batching=True))
    wires.subscribe("a", 1, "x > 0")
    wires.ask("a", 1, Settle(WIDE, 7))
    wires.ask("a", 1, PeerDisconnect())
    assert wires.ask("the clock", 1, Flush()) == []
    assert wires.got == []


def pass_time(router: Router, ages: int) -> list[tuple[object, object]]:
    return [sent for _ in range(ages) for sent in router.age()]


def test_who_does_not_answer_in_time_is_named_and_waited_for_no_longer() -> None:
    router = peers_of_one()
    asked = dict(router.handle(Settle(WIDE, 7), "a"))
    token = next(m.token for n, m in asked.items() if isinstance(m, Settle) and n == 2)
    assert router.handle(Settled(token), 2) == []
    assert pass_time(router, AGES_MAX - 1) == []
    assert router.age() == [("a", Settled(7, ("3",)))]
    assert router.questions.silent == {3}
    # A late answer changes nothing, and no more is expected of it than before.
    late = next(m.token for n, m in asked.items() if isinstance(m, Settle) and n == 3)
    assert router.handle(Settled(late), 3) == []
    [(_, again)] = router.handle(Settle(WIDE, 8), "a")
    assert isinstance(again, Settle)
    assert pass_time(router, AGES_OF_SILENT) == [("a", Settled(8, ("3",)))]
    [(_, again)] = router.handle(Settle(WIDE, 9), "a")
    assert isinstance(again, Settle)
    assert router.handle(Settled(again.token), 3) == [("a", Settled(9))]
    assert not router.questions.silent


def test_the_broker_next_to_a_silent_one_gives_it_up_first() -> None:
    first, second = Router(1), Router(2)
    first.handle(PeerConnect(Side.PEER), 2)
    for neighbour in (1, 3):
        second.handle(PeerConnect(Side.PEER), neighbour)
    [(_, told)] = first.handle(Subscribe(WIDE), "a")
    second.handle(told, 1)
    [(_, question)] = first.handle(Settle(WIDE, 7), "a")
    assert second.handle(question, 1) != []
    answers = []
    for _ in range(AGES_MAX - 1):
        assert first.age() == []
        answers += second.age()
    [(_, answer)] = answers
    assert first.handle(answer, 2) == [("a", Settled(7, ("3",)))]
    assert not first.questions.silent
    # It was not answered for, so it is asked again.
    assert first.handle(Settle(WIDE, 8), "a") != []


def test_silence_far_behind_is_told_by_name_and_by_few_names() -> None:
    router = peers_of_one()
    asked = dict(router.handle(Settle(WIDE, 7), "a"))
    tokens = {n: m.token for n, m in asked.items() if isinstance(m, Settle)}
    assert router.handle(Settled(tokens[2], ("x", "y")), 2) == []
    names = tuple(map(str, range(20)))
    [(_, answer)] = router.handle(Settled(tokens[3], names), 3)
    assert isinstance(answer, Settled)
    assert answer.silent == ("x", "y", "0", "1", "2", "3", "4", "5")
