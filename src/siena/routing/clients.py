"""The clients of a broker: what they asked for, what waits for them, and their moves.

A client that is there gets what is for it at once.  One that is suspended, or has hung
up, or is on its way here from another broker, has a mailbox.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import count
from typing import Protocol

from siena.messages import (
    Elsewhere,
    Interest,
    Interface,
    Leave,
    ListInterests,
    MapIdentity,
    Message,
    Move,
    Outbox,
    Parcel,
    Release,
    Resume,
    Settled,
    Suspend,
    Window,
)
from siena.model import Advertisement
from siena.routing.handoff import Handoffs
from siena.routing.mailbox import QUEUE_DEFAULT, Mailboxes
from siena.routing.registrations import Registrations


class ClientsHost(Protocol):
    """The router whose clients they are."""

    def register(self, source: str, item: Interest | Advertisement) -> Outbox:
        """Ask for something on behalf of a client."""
        ...

    def withdraw(self, source: str, item: Interest | Advertisement) -> Outbox:
        """Ask for it no longer."""
        ...

    def ask_of_all(self, client: str, answer: Outbox, *, fresh: bool) -> Outbox:
        """Give the answer when all that a client wants is in force everywhere."""
        ...


class Clients:
    """All clients, and what they ask for beside interests."""

    def __init__(self, host: ClientsHost) -> None:
        self.registrations = Registrations()
        self.mailboxes = Mailboxes()
        self.register = host.register
        self.withdraw = host.withdraw
        self._host = host
        self._handoffs = Handoffs(self)
        # Clients whose new broker has asked for what was kept here, and which question
        # to everybody must be answered before they get it.
        self._released: dict[str, int] = {}
        self._tokens = count(1)
        # Whether what is handed over can be taken; the body knows.
        self.is_there: Callable[[str], bool] = lambda _client: True

    # --- Mailboxes ------------------------------------------------------------------

    def suspend(self, message: Suspend, source: Interface) -> Outbox:
        """Keep what is for a client, up to the bound that it chose."""
        client = _client(source)
        self._handoffs.defer(message, client)
        self.mailboxes.suspend(client, message.queue_max)
        return []

    def resume(self, message: Resume, source: Interface) -> Outbox:
        """Deliver what was kept; to a client that moves, when it has arrived."""
        client = _client(source)
        if self._handoffs.defer(message, client):
            return []
        return self.mailboxes.resume(client)

    def map_identity(self, message: MapIdentity, source: Interface) -> Outbox:
        """Deliver to another handler."""
        client = _client(source)
        if self._handoffs.defer(message, client):
            mailbox = self.mailboxes.find(client)
            assert mailbox is not None
            mailbox.handler = message.handler
            return []
        return self.mailboxes.redirect(client, message.handler)

    def leave(self, message: Leave, source: Interface) -> Outbox:
        """Keep what is for a client that has hung up, unless it is kept already."""
        client = _client(source)
        self._released.pop(client, None)
        self._handoffs.release_later(client, wanted=False)
        if not self.mailboxes.is_suspended(client):
            self.mailboxes.suspend(client, message.queue_max)
        self._handoffs.defer(message, client)
        return self._handoffs.leave(client)

    def forget(self, client: str) -> Outbox:
        """A client is gone for good."""
        self.mailboxes.depart(client)
        self._released.pop(client, None)
        return self._handoffs.forget(client)

    # --- To this broker -------------------------------------------------------------

    def move(self, message: Move, source: Interface) -> Outbox:
        """A client comes from another broker."""
        return self._handoffs.begin(message, _client(source))

    def is_moving(self, client: str) -> bool:
        """Whether a client is on its way here from another broker."""
        return client in self._handoffs

    def hear(self, message: Message, source: Elsewhere) -> Outbox:
        """The old broker of a client has answered."""
        return self._handoffs.hear(message, str(source))

    def settle_all(self, client: str, token: int, *, fresh: bool) -> Outbox:
        """Let a move go on when all that its client wants is in force everywhere."""
        answer: Outbox = [(Elsewhere(client), Settled(token))]
        return self._host.ask_of_all(client, answer, fresh=fresh)

    def settled(self, source: Elsewhere, token: int) -> Outbox:
        """All that a client on its way here wants is in force everywhere."""
        return self._handoffs.settled(str(source), token)

    # --- From this broker -----------------------------------------------------------

    def list_interests(self, _message: ListInterests, source: Interface) -> Outbox:
        """Say what a client has asked for here."""
        client = _client(source)
        return [(client, self.registrations.listing(client))]

    def release(self, _message: Release, source: Interface) -> Outbox:
        """Ask all brokers once more; what they sent before they answer has come."""
        client = _client(source)
        # What is on its way here from an older broker is handed on with the rest.
        if self._handoffs.release_later(client, wanted=True):
            return []
        return self.release_now(client)

    def release_now(self, client: str) -> Outbox:
        """Hand over what was kept, as soon as all that was on its way has come."""
        if not self.mailboxes.is_suspended(client):
            self.mailboxes.suspend(client, QUEUE_DEFAULT)
        token = self._released[client] = next(self._tokens)
        answer: Outbox = [(Elsewhere(client), Settled(-token))]
        return self._host.ask_of_all(client, answer, fresh=True)

    def depart(self, client: str, token: int, seen: Iterable[Window]) -> Parcel | None:
        """What is handed over to a client's new broker, which is told what was seen.

        Nothing, if the client has hung up meanwhile: then all of it stays here.
        """
        if self._released.get(client) != token:
            return None
        del self._released[client]
        if not self.is_there(client):
            return None
        return replace(self.mailboxes.depart(client), seen=tuple(seen))


def _client(source: Interface) -> str:
    assert isinstance(source, str), "brokers have no mailboxes"
    return source
