"""A neighbour that is missed: what it wanted stays wanted, and others hear nothing."""

import pytest

from siena.lang.parser import parse_filter
from siena.messages import (
    Notify,
    Outbox,
    PeerConnect,
    PeerDisconnect,
    Publish,
    Side,
    Subscribe,
    Unsubscribe,
)
from siena.model import Notification
from siena.routing.router import Router
from siena.routing.steps.backlog import STEP_MAX
from siena.routing.steps.leaving import absent

X = parse_filter("x > 3")


def router(*, sliced: bool = False) -> Router:
    """A broker with two neighbours, of which the second wants something."""
    found = Router(1, sliced=sliced)
    for number in (2, 3):
        work(found, found.handle(PeerConnect(Side.PEER), number))
    assert work(found, found.handle(Subscribe(X), 3)) == [(2, Subscribe(X))]
    return found


def work(router: Router, out: Outbox) -> Outbox:
    """What follows, with all that is done in steps."""
    while router.backlog:
        out = out + router.work()
    return out


@pytest.mark.parametrize("sliced", [False, True])
def test_others_hear_nothing_of_a_link_that_breaks_and_is_back(sliced: bool) -> None:  # noqa: FBT001
    it = router(sliced=sliced)
    assert work(it, it.handle(PeerDisconnect(is_missed=True), 3)) == []
    assert it.tables.filters.held_by(absent(3)) == {X}
    it.handle(PeerConnect(Side.PEER), 3)
    assert work(it, it.handle(Subscribe(X), 3)) == []
    assert work(it, it.leaving.give_up(3)) == []
    assert it.tables.filters.held_by(3) == {X}
    assert not it.tables.filters.held_by(absent(3))
    it.check()


def test_what_it_wants_no_longer_is_withdrawn_when_it_has_said_so() -> None:
    it = router()
    it.handle(PeerDisconnect(is_missed=True), 3)
    it.handle(PeerConnect(Side.PEER), 3)
    assert it.leaving.give_up(3) == [(2, Unsubscribe(X, exact=True))]


def test_one_that_is_not_missed_is_forgotten_as_ever() -> None:
    it = router()
    assert it.handle(PeerDisconnect(), 3) == [(2, Unsubscribe(X, exact=True))]


def test_nothing_is_sent_to_one_that_is_missed() -> None:
    it = router()
    it.handle(PeerDisconnect(is_missed=True), 3)
    out = it.handle(Publish(Notification({"x": 5})), "a")
    assert not any(isinstance(message, Notify) for _, message in out)


def test_one_is_missed_from_the_beginning() -> None:
    """It was a neighbour in another life; those who come hear what it wanted."""
    it = Router(1, flat=True)
    assert it.leaving.wait_for(3, [X, parse_filter("y > 1 and y < 0")]) == []
    assert (2, Subscribe(X)) in it.handle(PeerConnect(Side.PEER), 2)
    it.check()


def test_much_is_passed_on_in_steps() -> None:
    it = router(sliced=True)
    wanted = [parse_filter(f"n = {n}") for n in range(3 * STEP_MAX)]
    for f in wanted:
        work(it, it.handle(Subscribe(f), 3))
    assert it.handle(PeerDisconnect(is_missed=True), 3) == []
    assert 3 in it.leaving
    assert work(it, []) == []  # neighbours hear nothing
    assert it.tables.filters.held_by(absent(3)) == {X, *wanted}
    assert it.leaving.give_up(3) == []
    it.work()
    it.leaving.wait_for(3, wanted[:1])  # it is missed again: what is left stays
    assert len(work(it, [])) < STEP_MAX
    assert len(it.tables.filters.held_by(absent(3))) > STEP_MAX
