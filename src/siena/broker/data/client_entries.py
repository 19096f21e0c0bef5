"""What the exchange knows of clients: it follows what the router has registered.

A client that is there is a plain connection, and the exchange lays out its deliveries.
What is for one that is suspended comes under the name of each of its parties, with a
stamp, and goes to the mailbox that the router keeps.  So does what is for a
subscription with a residual, always, for the residual is asked on that way.
"""

from collections.abc import Callable, Mapping

from siena.broker.access.grants.decisions import steps_of
from siena.broker.clients.session import Session
from siena.broker.counters import Counters
from siena.broker.data.exchange import Exchange
from siena.messages import Interest, Party
from siena.messages.requests import filters_of
from siena.model import Advertisement, Pattern
from siena.model.expression.residual import ResidualPredicate
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
        self._on_change(party.client, False)
        if isinstance(item, Advertisement):
            self._counters.advertisements_now += change
            if not gained:  # whoever waits for an answer about it waits no longer
                self._sessions[int(party.client)].unsettled.discard(party.number)
            return
        self._on_interest(party, item, gained)
        self._counters.subscriptions_now += change
        connection, number = int(party.client), party.number
        session = self._sessions.get(connection)
        if session is not None:
            session.filters += change * sum(map(len, steps_of(item)))
        if isinstance(item, Pattern):
            assert session is not None
            session.patterns += change
            session.steps += change * len(item)
            return
        if session is not None and session.is_standing:
            return  # the log has it
        is_guarded = session is not None and session.is_guarded(number)
        if is_guarded or isinstance(item, ResidualPredicate):
            # Each delivery is looked at: by a residual, or for its grant.
            change_of = self._exchange.watch if gained else self._exchange.unwatch
            for f in frozenset(filters_of(item)):
                change_of(party, f)
        elif gained:
            is_away = self._mailboxes.is_suspended(party.client)
            self._exchange.subscribe(connection, number, item, is_away=is_away)
        else:
            self._exchange.unsubscribe(connection, number)

    def suspended(self, client: str) -> None:
        """A client is no plain connection any more."""
        self._exchange.suspend(int(client))
        self._on_change(client, True)

    def resumed(self, client: str) -> None:
        """It is a plain connection again."""
        self._exchange.resume(int(client))
        self._on_change(client, True)

    def lost(self, client: str) -> None:
        """A notification for a client was not kept."""
        self._counters.lost += 1
        session = self._sessions.get(int(client))
        if session is not None:
            session.lost += 1
