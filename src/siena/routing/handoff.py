"""Hand-off: a client goes from one broker to another, and takes along what was kept.

::

    the new broker                                 the old one
      ── list what it asked for ───────────────────▶
      ◀─────────────────────────────────── listing ─
      asks for the same, and keeps what comes, until that is in force
      ── release ──────────────────────────────────▶
                       asks all brokers once more: what was on its way has come
      ◀──────────────────────────────────── parcel ─   and forgets the client
      asks all brokers once more, merges both, and delivers

The last question is why a client gets nothing twice: a copy of what it got at its old
broker may be on its way to the new one, over a slow link, for the sake of others.  When
all have answered it has come, and is dropped, for the parcel says what the old
broker has seen.

Here is the new broker's part; the old one's is a question like any other, and a parcel.
Who carries messages to the old broker and back is the body's business: they go to, and
come from, :class:`~siena.messages.Elsewhere`.

Reference:
    Our specification, A.8.
"""

from collections.abc import Hashable
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count
from typing import Protocol

from siena.messages import (
    Elsewhere,
    Interest,
    Leave,
    Listing,
    ListInterests,
    MapIdentity,
    Message,
    Move,
    Moved,
    Outbox,
    Parcel,
    Party,
    PeerDisconnect,
    PeerRefuse,
    Release,
    Resume,
    Suspend,
)
from siena.model import Advertisement
from siena.routing.mailbox import Mailboxes
from siena.routing.registrations import Registrations


class Host(Protocol):
    """The clients of the broker at which one arrives."""

    registrations: Registrations
    mailboxes: Mailboxes

    def register(self, source: str, item: Interest | Advertisement) -> Outbox:
        """Ask for something on behalf of a client."""
        ...

    def withdraw(self, source: str, item: Interest | Advertisement) -> Outbox:
        """Ask for it no longer."""
        ...

    def release_now(self, client: str) -> Outbox:
        """Hand a client over to yet another broker."""
        ...

    def settle_all(self, client: str, token: int, *, fresh: bool) -> Outbox:
        """Call :meth:`Handoffs.settled` when all that a client wants is in force."""
        ...


class Stage(Enum):
    """What a move waits for."""

    LISTING = auto()  # the old broker says what was asked for there
    SETTLING = auto()  # that is in force here
    RELEASING = auto()  # the old broker hands over
    FLUSHING = auto()  # all that was on its way here has come


@dataclass(slots=True, eq=False)
class Handoff:
    """One client on its way to this broker."""

    client: str
    was_suspended: bool
    # Whether the client is there to have what comes when it has arrived.
    is_awaited: bool = True
    stage: Stage = Stage.LISTING
    token: int = 0
    # What was asked for there, by key; and what of it is asked for here because of it.
    asked_there: set[Hashable] = field(default_factory=set)
    asked_here: list[tuple[str, Interest | Advertisement]] = field(default_factory=list)
    parcel: Parcel = field(default_factory=Parcel)
    # Whether yet another broker waits for the client.
    is_released: bool = False


class Handoffs:
    """The clients on their way to this broker."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._moves: dict[str, Handoff] = {}
        self._tokens = count(1)

    def __contains__(self, client: str) -> bool:
        return client in self._moves

    def begin(self, message: Move, client: str) -> Outbox:
        """A client comes from another broker."""
        if client in self._moves:
            return [(client, Moved("it is being moved already"))]
        mailboxes = self._host.mailboxes
        move = self._moves[client] = Handoff(client, mailboxes.is_suspended(client))
        if not move.was_suspended:
            mailboxes.suspend(client, message.queue_max)
        mailbox = mailboxes.find(client)
        assert mailbox is not None
        mailbox.is_arriving = True
        return [(Elsewhere(client), ListInterests())]

    def defer(self, message: Message, client: str) -> bool:
        """Take note of what a client that moves asks of its mailbox; does it move?

        A client that hangs up before the old broker has let go stays there.
        """
        move = self._moves.get(client)
        if move is None:
            return False
        move.is_awaited = not isinstance(message, (Leave, Suspend))
        if move.is_awaited:
            move.was_suspended = False
        return isinstance(message, (MapIdentity, Resume))

    def release_later(self, client: str, *, wanted: bool) -> bool:
        """Let a client go on to another broker once it has arrived; is it moving?"""
        move = self._moves.get(client)
        if move is not None:
            move.is_released = wanted
        return move is not None

    def leave(self, client: str) -> Outbox:
        """A client has hung up: what the old broker has not handed over stays there.

        What it is about to hand over is waited for: it is kept nowhere else any more.
        """
        move = self._moves.get(client)
        if move is None or move.stage in {Stage.RELEASING, Stage.FLUSHING}:
            return []
        del self._moves[client]
        return [*self._undo(move), (Elsewhere(client), PeerDisconnect())]

    def forget(self, client: str) -> Outbox:
        """A client is gone for good."""
        if self._moves.pop(client, None) is None:
            return []
        return [(Elsewhere(client), PeerDisconnect())]

    # --- What the old broker says ---------------------------------------------------

    def hear(self, message: Message, client: str) -> Outbox:
        """The old broker of a client has answered; or cannot be asked any more."""
        move = self._moves.get(client)
        if move is None:
            return []
        if isinstance(message, Listing) and move.stage is Stage.LISTING:
            return self._listed(move, message)
        if isinstance(message, Parcel) and move.stage is Stage.RELEASING:
            move.parcel = message
            return self._settle(move, Stage.FLUSHING)
        if isinstance(message, PeerRefuse):
            return self._failed(move, message.reason)
        return []

    def settled(self, client: str, token: int) -> Outbox:
        """What was asked of all brokers has been answered."""
        move = self._moves.get(client)
        if move is None or move.token != token:
            return []
        if move.stage is Stage.SETTLING:
            move.stage = Stage.RELEASING
            return [(Elsewhere(client), Release())]
        return self._arrived(move, move.parcel.torn)

    def _listed(self, move: Handoff, listing: Listing) -> Outbox:
        """Ask here for all that was asked for there."""
        out: Outbox = []
        here = self._host.registrations.of(move.client)
        for number, interest in listing.interests:
            if here.interests.get(number, interest) != interest:
                return self._failed(move, f"{number} is another subscription here")
        move.asked_there = {key for key, _ in listing.interests}
        items: list[tuple[Hashable, Interest | Advertisement, bool]] = [
            *((key, i, key in here.interests) for key, i in listing.interests),
            *(
                (key, a, key in here.advertisements)
                for key, a in listing.advertisements
            ),
        ]
        for key, item, is_here in items:
            if not is_here:
                source = (
                    Party(move.client, key) if isinstance(key, int) else move.client
                )
                move.asked_here.append((source, item))
                out += self._host.register(source, item)
        return out + self._settle(move, Stage.SETTLING)

    def _settle(self, move: Handoff, stage: Stage) -> Outbox:
        move.stage = stage
        move.token = next(self._tokens)
        return self._host.settle_all(
            move.client, move.token, fresh=stage is Stage.FLUSHING
        )

    # --- Its end --------------------------------------------------------------------

    def _arrived(self, move: Handoff, error: str | None) -> Outbox:
        del self._moves[move.client]
        mailbox = self._host.mailboxes.find(move.client)
        assert mailbox is not None
        mailbox.merge(move.parcel, move.asked_there)
        letters: Outbox = []
        if move.is_awaited:
            letters = self._host.mailboxes.resume(move.client)
        else:
            mailbox.cut()
        return [
            *letters,
            (move.client, Moved(error)),
            (Elsewhere(move.client), PeerDisconnect()),
            *self._release(move),
        ]

    def _failed(self, move: Handoff, reason: str) -> Outbox:
        """As it was before; but nothing is lost that was handed over."""
        if move.stage is Stage.FLUSHING:
            return self._arrived(move, reason)
        del self._moves[move.client]
        out = [] if move.stage is Stage.RELEASING else self._undo(move)
        if move.is_awaited and not move.was_suspended:
            out += self._host.mailboxes.resume(move.client)
        return [
            *out,
            (move.client, Moved(reason)),
            (Elsewhere(move.client), PeerDisconnect()),
            *self._release(move),
        ]

    def _release(self, move: Handoff) -> Outbox:
        return self._host.release_now(move.client) if move.is_released else []

    def _undo(self, move: Handoff) -> Outbox:
        """Ask no more for what was asked for there."""
        out: Outbox = []
        numbers: set[int] = set()
        here = self._host.registrations.of(move.client)
        for source, item in move.asked_here:
            key = source.number if isinstance(source, Party) else item
            held = (
                here.advertisements
                if isinstance(item, Advertisement)
                else here.interests
            )
            if held.get(key) == item:  # and not something else by now
                out += self._host.withdraw(source, item)
                if isinstance(source, Party) and not isinstance(item, Advertisement):
                    numbers.add(source.number)
        mailbox = self._host.mailboxes.find(move.client)
        assert mailbox is not None
        if numbers:
            mailbox.drop(numbers)
        mailbox.is_arriving = False
        mailbox.missed.clear()
        return out
