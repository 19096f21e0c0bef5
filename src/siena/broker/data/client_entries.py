"""What the exchange knows of clients: it follows what the router has registered.

A client that is there is a plain connection, and the exchange lays out its deliveries.
What is for one that is suspended comes under the name of each of its parties, with a
stamp, and goes to the mailbox that the router keeps.  So does what is for a
subscription with a residual, always, for the residual is asked on that way.
"""

from collections.abc import Callable, Mapping

from siena.broker.clients.session import Session
from siena.broker.counters import Counters
from siena.broker.data.exchange import Exchange
from siena.messages import Interest, Party
from siena.messages.requests import filters_of
from siena.model import Advertisement, Filter, Pattern
from siena.model.expression.residual import ResidualPredicate
from siena.routing.registrations import NO_ENTRY
from siena.routing.router import Router


class ClientEntries:
    """Enters what clients want, and moves it between the two ways to deliver."""

    def __init__(
        self,
        router: Router,
        exchange: Exchange,
        sessions: Mapping[int, Session],
        counters: Counters,
        on_change: Callable[[str, bool], None] = lambda _client, _at_once: None,
        on_interest: Callable[[Party, Interest, bool], None] = lambda *_: None,
    ) -> None:
        self._on_change = on_change
        self._on_interest = on_interest
        self._mailboxes = router.mailboxes
        self._registrations = router.registrations
        self._exchange = exchange
        self._sessions = sessions
        self._counters = counters
        router.registrations.watcher = self
        router.mailboxes.watcher = self

    def registered(self, party: Party, item: Interest | Advertisement) -> int:
        """A client has asked for something; its entry in the exchange, if it has one.

        A pattern has its monitor, and what is read from the log has its cursor.
        """
        session = self._count(party, item, 1)
        if isinstance(item, (Advertisement, Pattern)):
            return NO_ENTRY
        is_guarded = False
        if session is not None:
            if session.is_standing:
                return NO_ENTRY
            is_guarded = bool(session.narrowed) and session.is_guarded(party.number)
        if is_guarded or isinstance(item, ResidualPredicate):
            # Each delivery is looked at: by a residual, or for its grant.
            for f in frozenset(filters_of(item)):
                self._exchange.watch(party, f)
            return NO_ENTRY
        is_away = self._mailboxes.is_suspended(party.client)
        connection = int(party.client)
        return self._exchange.subscribe(connection, party.number, item, is_away=is_away)

    def withdrawn(
        self, party: Party, item: Interest | Advertisement, entry: int
    ) -> None:
        """And has withdrawn it."""
        session = self._count(party, item, -1)
        if isinstance(item, Advertisement):
            assert session is not None
            session.unsettled.discard(party.number)  # nothing is to be answered
        elif entry != NO_ENTRY:
            self._exchange.unsubscribe(int(party.client), entry)
        elif not isinstance(item, Pattern):
            for f in frozenset(filters_of(item)):
                if self._exchange.is_watched(party, f):
                    self._exchange.unwatch(party, f)

    def _count(
        self, party: Party, item: Interest | Advertisement, change: int
    ) -> Session | None:
        """Count one more or one less; whose it is, if that is still known."""
        self._on_change(party.client, False)
        session = self._sessions.get(int(party.client))
        if isinstance(item, Advertisement):
            self._counters.advertisements_now += change
            return session
        self._on_interest(party, item, change > 0)
        self._counters.subscriptions_now += change
        if session is not None:
            if isinstance(item, Filter):  # most often
                session.filters += change
                return session
            session.filters += change * len(filters_of(item))
            if isinstance(item, Pattern):
                session.patterns += change
                session.steps += change * len(item)
        return session

    def suspended(self, client: str) -> None:
        """A client is no plain connection any more."""
        self._exchange.suspend(int(client), self._registrations.entries(client))
        self._on_change(client, True)

    def resumed(self, client: str) -> None:
        """It is a plain connection again."""
        self._exchange.resume(int(client), self._registrations.entries(client))
        self._on_change(client, True)

    def lost(self, client: str) -> None:
        """A notification for a client was not kept."""
        self._counters.lost += 1
        session = self._sessions.get(int(client))
        if session is not None:
            session.lost += 1
