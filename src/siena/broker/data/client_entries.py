"""What the exchange knows of clients: it follows what the router has registered.

A client that is there is a plain connection, and the exchange lays out its deliveries.
What is for one that is suspended comes under the name of each of its parties, with a
stamp, and goes to the mailbox that the router keeps.
"""

from collections.abc import Mapping

from siena.broker.clients.session import Session
from siena.broker.counters import Counters
from siena.broker.data.exchange import Exchange
from siena.messages import Interest, Party
from siena.model import Advertisement, Pattern
from siena.routing.router import Router


class ClientEntries:
    """Enters what clients want, and moves it between the two ways to deliver."""

    def __init__(
        self,
        router: Router,
        exchange: Exchange,
        sessions: Mapping[int, Session],
        counters: Counters,
    ) -> None:
        self._mailboxes = router.mailboxes
        self._exchange = exchange
        self._sessions = sessions
        self._counters = counters
        router.registrations.watcher = self.registered
        router.mailboxes.watcher = self

    def registered(
        self,
        party: Party,
        item: Interest | Advertisement,
        gained: bool,  # noqa: FBT001
    ) -> None:
        """A client has asked for something, or withdrawn it."""
        change = 1 if gained else -1
        if isinstance(item, Advertisement):
            self._counters.advertisements_now += change
            if not gained:  # whoever waits for an answer about it waits no longer
                self._sessions[int(party.client)].unsettled.discard(party.number)
            return
        self._counters.subscriptions_now += change
        if isinstance(item, Pattern):
            self._sessions[int(party.client)].patterns += change
            return
        connection = int(party.client)
        if gained:
            is_away = self._mailboxes.is_suspended(party.client)
            self._exchange.subscribe(connection, party.number, item, is_away=is_away)
        else:
            self._exchange.unsubscribe(connection, party.number)

    def suspended(self, client: str) -> None:
        """A client is no plain connection any more."""
        self._exchange.suspend(int(client))

    def resumed(self, client: str) -> None:
        """It is a plain connection again."""
        self._exchange.resume(int(client))

    def lost(self, client: str) -> None:
        """A notification for a client was not kept."""
        self._counters.lost += 1
        session = self._sessions.get(int(client))
        if session is not None:
            session.lost += 1
