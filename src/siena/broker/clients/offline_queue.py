"""Those who are away: sessions that are suspended, and what is kept for them.

A session that is suspended is no plain connection for the exchange any more: each of
its subscriptions is watched under its own name, and what matches comes with a stamp, by
which two copies of it are known to be one.
"""

from collections.abc import Callable

from siena.broker import ids
from siena.broker.clients.session import OfflineQueue, Session
from siena.broker.limits import IDENTITIES_MAX
from siena.broker.state import BrokerState
from siena.model import Filter, Pattern, Predicate


class OfflineQueues:
    """Moves the subscriptions of sessions between the two ways to deliver."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state

    def suspend(self, session: Session, queue_max: int) -> None:
        """Keep what is for a session; one that is suspended gets another bound."""
        if session.kept is not None:
            session.kept.queue_max = queue_max
            return
        self._each(session, self.drop)
        session.kept = OfflineQueue(queue_max)
        self._each(session, self.enter)

    def resume(self, session: Session) -> None:
        """Deliver what was kept, and from now on what comes, if anybody is there."""
        kept = session.kept
        if kept is None or not session.expect(kept.size):
            return
        self._each(session, self.drop)
        session.kept = None
        self._each(session, self.enter)
        counters = self._state.counters
        if kept.queue:
            frames = b"".join(frame for frame, _ in kept.queue)
            lost = session.deliver(frames, len(kept.queue))
            counters.deliveries += len(kept.queue) - lost
            counters.lost += lost
        if kept.lost:
            session.miss(kept.lost)

    def enter(
        self, session: Session, number: int, interest: Filter | Predicate
    ) -> None:
        """Let the exchange know of a subscription."""
        exchange = self._state.exchange
        if session.is_suspended:
            for f in _filters(interest):
                exchange.watch(ids.subscription(session.number, number), f)
        else:
            exchange.subscribe(session.number, number, interest)

    def drop(self, session: Session, number: int, interest: Filter | Predicate) -> None:
        """Let the exchange forget a subscription."""
        exchange = self._state.exchange
        if session.is_suspended:
            for f in _filters(interest):
                exchange.unwatch(ids.subscription(session.number, number), f)
        else:
            exchange.unsubscribe(session.number, number)

    def leave(self, session: Session, end: Callable[[Session], None]) -> None:
        """Somebody has left; who has been away longest is forgotten for too many."""
        identities = self._state.identities
        assert session.identity is not None
        identities[session.identity] = identities.pop(session.identity)  # the last
        if len(identities) > IDENTITIES_MAX:
            absent = (s for s in identities.values() if s.sink is None)
            end(next(absent))

    def _each(
        self,
        session: Session,
        do: Callable[[Session, int, Filter | Predicate], None],
    ) -> None:
        for number, interest in session.interests.items():
            if not isinstance(interest, Pattern):
                do(session, number, interest)


def _filters(interest: Filter | Predicate) -> frozenset[Filter]:
    return frozenset((interest,) if isinstance(interest, Filter) else interest.filters)
