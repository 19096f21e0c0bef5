"""The lobby: where guests come in, and from where they are shown out."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from siena.broker.broker import Broker
from siena.broker.clients import Client
from siena.broker.guest import Guest
from siena.broker.limits import GUESTS_MAX
from siena.protocol.bodies import Connect, Policy
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.greeting import VERSIONS


class Visit(NamedTuple):
    """A guest, and the client that it is to the broker."""

    guest: Guest
    client: Client


class Lobby:
    """All guests of a broker."""

    def __init__(self, broker: Broker) -> None:
        self.broker = broker
        self.is_draining = False
        self.guests: set[Guest] = set()

    def __len__(self) -> int:
        return len(self.guests)

    def enter(
        self,
        *,
        name: str | None = None,
        identity: str | None = None,
        policy: Policy = "drop",
    ) -> Visit:
        """Let somebody in, who is to :meth:`leave` in the end.

        Raises:
            ProtocolError: if there is no room, or the identity is taken.
        """
        if self.is_draining:
            raise ProtocolError(Fault.DRAINING, "this broker ends")
        if len(self.guests) >= GUESTS_MAX:
            text = f"more than {GUESTS_MAX} guests"
            raise ProtocolError(Fault.TOO_MANY_CONNECTIONS, text)
        guest = Guest(self.broker.settings.limits.output_bytes)
        connect = Connect(VERSIONS[1], name, identity, policy)
        client, _ = self.broker.admit(guest, connect)
        self.guests.add(guest)
        return Visit(guest, client)

    def leave(self, visit: Visit) -> None:
        """Somebody has left; who has an identity may come back."""
        self.guests.discard(visit.guest)
        visit.guest.leave()
        visit.client.gone()

    @contextmanager
    def visited(
        self, *, name: str | None = None, policy: Policy = "drop"
    ) -> Iterator[Visit]:
        """A guest for as long as it is served."""
        visit = self.enter(name=name, policy=policy)
        try:
            yield visit
        finally:
            self.leave(visit)

    def drain(self) -> None:
        """Let nobody in any more, and say good-bye to those who are there."""
        self.is_draining = True
        for guest in list(self.guests):
            guest.fail(ProtocolError(Fault.DRAINING, "this broker ends"))
