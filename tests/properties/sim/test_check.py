"""The checker finds nothing where nothing is wrong, and what was put there by hand."""

import operator
import random
from collections.abc import Callable, Collection, Hashable
from dataclasses import replace
from typing import Any

import pytest

from siena.algebra import pairwise
from siena.messages import (
    LinkState,
    Message,
    Outbox,
    Parcel,
    Subscribe,
    Unsubscribe,
)
from siena.model import Operator
from siena.routing.demand.announcer import Announcer
from siena.routing.mailbox import Mailbox, Mailboxes
from siena.routing.options import Options
from siena.routing.patterns.monitors import Monitor
from siena.routing.tables import Tables
from siena.routing.topology.link_state import LinkStates
from siena.sim import random_world
from siena.sim.check import try_world
from siena.sim.network import Network

# A mutation is found within so many worlds, or never.  Where few worlds have
# what it needs, the tests below begin shortly before one that has.
WORLDS_MAX = 500
pytestmark = pytest.mark.timeout(300)


@pytest.mark.parametrize("seed", range(24))
def test_a_world_does_what_it_must(seed: int) -> None:
    outcome = try_world(seed)
    assert outcome.violation is None, outcome


def test_a_world_is_the_same_world_twice() -> None:
    assert try_world(3) == try_world(3)


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_many_worlds_do_what_they_must() -> None:
    violations = [o for o in map(try_world, range(24, 600)) if o.violation is not None]
    assert violations == []


def first_violation(start: int = 0) -> int:
    """How many worlds before the first that the judge complains about."""
    for number in range(WORLDS_MAX):
        try:
            if try_world(start + number).violation is not None:
                return number
        except AssertionError:
            return number
    pytest.fail("the mutation was not found")


# --- Three bugs, put in by hand --------------------------------------------------


def test_it_finds_subscriptions_sent_before_unsubscriptions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sync: Callable[[Any], list[Any]] = Announcer.sync

    def subscribe_first(self: Announcer[Any]) -> list[Any]:
        return sorted(sync(self), key=lambda m: isinstance(m, Unsubscribe))

    monkeypatch.setattr(Announcer, "sync", subscribe_first)
    cancel_what_is_covered(monkeypatch)
    assert first_violation() < WORLDS_MAX


def test_it_finds_cancellations_that_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of the papers: what is wanted all the time is missed in between."""
    cancel_what_is_covered(monkeypatch)
    # From 0 on it is found too, after 169 worlds: a message has to come in between.
    assert first_violation(start=160) < WORLDS_MAX


def cancel_what_is_covered(monkeypatch: pytest.MonkeyPatch) -> None:
    """In all worlds an unsubscription between brokers cancels what it covers."""
    options = random_world._options

    def covering(rng: random.Random) -> Options:
        return replace(options(rng), withdrawal="covering")

    monkeypatch.setattr(random_world, "_options", covering)


def test_it_finds_a_neighbour_that_is_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sync = Tables.sync

    def forget_one(self: Tables) -> Outbox:
        last = max(self.neighbours, default=0)
        return [
            (to, m)
            for to, m in sync(self)
            if to != last or len(self.neighbours) < 3 or not isinstance(m, Subscribe)
        ]

    monkeypatch.setattr(Tables, "sync", forget_one)
    assert first_violation() < WORLDS_MAX


def test_it_finds_pruning_with_the_unsound_prefix_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """``s >* a`` does not cover ``s >= a``: there is also b."""
    rule = (Operator.PREFIX, Operator.GE)
    monkeypatch.setitem(pairwise._RULES, rule, operator.le)
    # Few worlds have such filters.  From 0 on it is found too, only later.
    assert first_violation(start=210) < WORLDS_MAX


def test_it_finds_messages_that_overtake_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Not in the router but below it: links that do not keep the order."""
    send = Network.send

    def overtaking(self: Network, source: int, target: int, message: Message) -> None:
        self._arrived.clear()
        send(self, source, target, message)

    monkeypatch.setattr(Network, "send", overtaking)
    assert first_violation() < WORLDS_MAX


# --- And three that concern patterns, handlers and rest -----------------------------


def test_it_finds_steps_that_are_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A monitor that forgets the order of times."""
    offer = Monitor.offer

    def hasty(self: Monitor, inputs: Any, *rest: Any) -> Any:  # noqa: ANN401
        late = tuple(replace(n, time=n.time + 1e9 * len(self.accepted)) for n in inputs)
        return offer(self, late, *rest)

    monkeypatch.setattr(Monitor, "offer", hasty)
    assert first_violation() < WORLDS_MAX


def test_it_finds_what_goes_to_an_old_handler(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Mailboxes, client: str, handler: str) -> Outbox:  # noqa: ARG001
        return self.resume(client)

    monkeypatch.setattr(Mailboxes, "redirect", forgetful)
    assert first_violation() < WORLDS_MAX


def test_it_finds_what_a_client_got_before_it_moved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A copy on a slow link to the new broker, of which the old one says nothing."""
    merge = Mailbox.merge

    def silent(self: Mailbox, parcel: Parcel, asked: Collection[Hashable]) -> None:
        merge(self, replace(parcel, seen=()), asked)

    monkeypatch.setattr(Mailbox, "merge", silent)
    # In few worlds a copy is that late.
    assert first_violation(start=650) < WORLDS_MAX


def test_it_finds_a_network_that_never_rests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Link states that are handed on, whether they are news or not."""
    learn = LinkStates.learn

    def always(self: LinkStates, state: LinkState) -> bool:
        learn(self, state)
        return True

    monkeypatch.setattr(LinkStates, "learn", always)
    assert first_violation() < WORLDS_MAX
