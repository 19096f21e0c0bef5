"""What the exchange knows of clients: it follows what the router has registered.

A client that is there is a plain connection, and the exchange lays out its deliveries.
For one that is suspended each subscription is watched under its own name: what matches
comes with a stamp, and goes to the mailbox that the router keeps.  So is one with a
residual, always, for the residual is asked on that way.
"""

from collections.abc import Callable, Mapping

from siena.broker.access.grants.decisions import steps_of
from siena.broker.clients.session import Session
from siena.broker.counters import Counters
from siena.broker.data.exchange import Exchange
from siena.messages import Interest, Party
from siena.model import Advertisement, Filter, Pattern, Predicate
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
    ) -> None:
        self._on_change = on_change
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
        self._counters.subscriptions_now += change
        session = self._sessions.get(int(party.client))
        if session is not None:
            session.filters += change * sum(map(len, steps_of(item)))
        if isinstance(item, Pattern):
            assert session is not None
            session.patterns += change
            session.steps += change * len(item)
            return
        if session is not None and session.is_standing:
            return  # the log has it
        is_watched = self._mailboxes.is_suspended(party.client) or self._is_watched(
            party, item
        )
        (self._enter if gained else self._drop)(party, item, is_watched=is_watched)

    def suspended(self, client: str) -> None:
        """A client is no plain connection any more."""
        for party, interest in self._plain(client):
            self._drop(party, interest, is_watched=False)
            self._enter(party, interest, is_watched=True)
        self._on_change(client, True)

    def resumed(self, client: str) -> None:
        """It is a plain connection again."""
        for party, interest in self._plain(client):
            self._drop(party, interest, is_watched=True)
            self._enter(party, interest, is_watched=False)
        self._on_change(client, True)

    def lost(self, client: str) -> None:
        """A notification for a client was not kept."""
        self._counters.lost += 1
        session = self._sessions.get(int(client))
        if session is not None:
            session.lost += 1

    def _plain(self, client: str) -> list[tuple[Party, Filter | Predicate]]:
        session = self._sessions.get(int(client))
        if session is None:
            return []
        return [
            (session.party(number), interest)
            for number, interest in session.interests.items()
            if not isinstance(interest, Pattern)
            and not self._is_watched(session.party(number), interest)
        ]

    def _is_watched(self, party: Party, interest: Interest) -> bool:
        """Whether each delivery is looked at: by a residual, or for its grant."""
        if isinstance(interest, ResidualPredicate):
            return True
        session = self._sessions.get(int(party.client))
        return session is not None and session.is_guarded(party.number)

    def _enter(
        self, party: Party, interest: Filter | Predicate, *, is_watched: bool
    ) -> None:
        if is_watched:
            for f in _filters(interest):
                self._exchange.watch(party, f)
        else:
            self._exchange.subscribe(int(party.client), party.number, interest)

    def _drop(
        self, party: Party, interest: Filter | Predicate, *, is_watched: bool
    ) -> None:
        if is_watched:
            for f in _filters(interest):
                self._exchange.unwatch(party, f)
        else:
            self._exchange.unsubscribe(int(party.client), party.number)


def _filters(interest: Filter | Predicate) -> frozenset[Filter]:
    return frozenset((interest,) if isinstance(interest, Filter) else interest.filters)
