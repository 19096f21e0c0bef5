"""Clients on the move: from one broker to another, with nothing lost and nothing twice.

The client is suspended where it was, and what comes for it is kept there.  At its new
broker it asks for the same, suspended too.  When that is settled, the old broker makes
sure that all that was on its way has arrived, hands over what it kept, and forgets the
client; the new broker delivers it, and what it kept itself of which this was no part.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

from siena.messages import (
    Advertise,
    MapIdentity,
    Message,
    Parcel,
    Release,
    Settle,
    Settled,
    Subscribe,
    Suspend,
)
from siena.model import Predicate
from siena.sim.clients import Client

# How much of what it got a client remembers: more than is on its way at any time.
KNOWN_MAX = 1_024

# Lets a client ask a broker for something; false if the broker is down.
AskAt = Callable[[int, Client, Message], bool]


class Moves:
    """The moves that have begun and not ended."""

    def __init__(self, ask_at: AskAt) -> None:
        self._ask_at = ask_at
        self._tokens = count(1)
        self._waiting: dict[int, tuple[Client, int, int]] = {}

    def __len__(self) -> int:
        return len(self._waiting)

    def begin(self, client: Client, old: int, new: int, queue_max: int) -> None:
        """Ask at the new broker for all that the client has at the old one."""
        client.coming_from = old
        client.quenched.clear()  # the new broker will say
        self._ask_at(old, client, Suspend(queue_max))
        if client.handler != client.name:
            self._ask_at(new, client, MapIdentity(client.handler))
        self._ask_at(new, client, Suspend(queue_max))
        for advertisement in client.advertisements:
            self._ask_at(new, client, Advertise(advertisement))
        for f in client.filters:
            self._ask_at(new, client, Subscribe(f))
        for pattern in client.patterns:
            self._ask_at(new, client, Subscribe(pattern))
        token = next(self._tokens)
        self._waiting[token] = client, old, new
        self._ask_at(new, client, Settle(Predicate(client.filters), token))

    def hear(self, client: Client, message: Message) -> None:
        """Go on when the new broker is ready, and when the old one has let go."""
        if isinstance(message, Settled) and message.token in self._waiting:
            _, old, _ = self._waiting[message.token]
            if not self._ask_at(old, client, Release()):
                self._arrive(client, Parcel(()))  # it crashed, and kept nothing
        elif isinstance(message, Parcel):
            self._arrive(client, message)

    def _arrive(self, client: Client, parcel: Parcel) -> None:
        for token, (who, _, new) in list(self._waiting.items()):
            if who is client:
                del self._waiting[token]
                client.coming_from = None
                client.is_suspended = False
                lately = client.received[-KNOWN_MAX:], client.found[-KNOWN_MAX:]
                known = frozenset(got.key for kind in lately for got in kind)
                self._ask_at(new, client, replace(parcel, known=known))
