"""What goes wrong in routers and brokers is seen: spoilt ones do not pass."""

from typing import Any, NamedTuple

import pytest

from siena.broker.data.exchange import Exchange
from siena.broker.data.forwarder import Forwarder
from siena.messages import Letter, Outbox
from siena.routing.interest_table import InterestTable
from siena.routing.mailbox import Mailbox, _Elsewhere
from siena.routing.quenching import Quenching
from siena.routing.registrations import Registrations
from siena.routing.stamps.seen import Seen
from worlds.compare import PLAYS
from worlds.drawing import draw_script
from worlds.invariants import Violation, say_nothing


def kept_by_none(mailbox: Mailbox, letter: Letter) -> Outbox:
    """Deliver to one who is there, and keep nothing for one who is not."""
    return [] if mailbox.is_suspended else [(mailbox.handler, letter)]


def nothing(*_: object, **__: object) -> list[Any]:
    """Do nothing, and say nothing of it."""
    return []


class Spoil(NamedTuple):
    """A part, what it does wrong, and a script in which that shows."""

    part: type
    method: str
    wrong: object
    on: str
    seed: int
    said: str


SPOILS = {
    "what the old broker delivered comes again": Spoil(
        *(_Elsewhere, "left_of", lambda _, letter, __: letter, "virtual", 1),
        "got n = 14 and s = b and x = -1 and y = 0 twice",
    ),
    "and in the simulator": Spoil(
        *(_Elsewhere, "left_of", lambda _, letter, __: letter, "simulator", 1),
        "got n = 14 and s = b and x = -1 and y = 0 twice",
    ),
    "nothing is kept for who is away": Spoil(
        *(Mailbox, "put", kept_by_none, "virtual", 7), "nothing was cancelled"
    ),
    "and in the simulator, too": Spoil(
        *(Mailbox, "put", kept_by_none, "simulator", 40), "missed"
    ),
    "copies are not known": Spoil(
        *(Seen, "learn", lambda _, window: window.bits, "virtual", 38), "twice"
    ),
    "an advertisement outlives its end": Spoil(
        *(Registrations, "unadvertise", nothing, "virtual", 47), "should not have got"
    ),
    "a publisher is not told that no more is wanted": Spoil(
        *(Quenching, "lose", nothing, "virtual", 12), "is not quenched"
    ),
    "what a lost link wanted stays": Spoil(
        *(InterestTable, "forget", nothing, "simulator", 0), "twice"
    ),
    "what is cancelled stays": Spoil(
        *(InterestTable, "withdraw", nothing, "simulator", 2), "never wanted"
    ),
    "neighbours are told of no cancelling": Spoil(
        *(InterestTable, "withdraw", nothing, "virtual", 0), "did not agree"
    ),
    "the exchange does not let go of who moved away": Spoil(
        *(Exchange, "unsubscribe", nothing, "virtual", 0), "bob missed"
    ),
    "the exchange delivers to who is away": Spoil(
        *(Exchange, "suspend", nothing, "virtual", 2), "ann missed .. and should not"
    ),
    "the broker's own way keeps nothing": Spoil(
        *(Forwarder, "_keep", nothing, "virtual", 7), "nothing was cancelled"
    ),
    "nothing crosses a link": Spoil(
        *(Forwarder, "_forward", nothing, "virtual", 0), "missed"
    ),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS)
def test_a_mistake_is_seen(spoil: Spoil, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same scripts pass with parts that are right, in ``test_worlds``."""
    monkeypatch.setattr(spoil.part, spoil.method, spoil.wrong)
    with pytest.raises(Violation, match=spoil.said):
        PLAYS[spoil.on](draw_script(spoil.seed), say_nothing)
