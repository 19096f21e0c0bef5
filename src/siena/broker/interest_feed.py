"""Briefing: what the router is told about the clients of its broker.

A router compares interests, to tell neighbours as little as possible; without
neighbours that would be work for nothing, and with very many interests a lot of it.  So
it is told nothing before there is a neighbour, and then everything at once.  Until then
an interest is settled as soon as the exchange has it, and who publishes what nobody
wants is found out by looking at all interests.
"""

from collections import Counter

from siena.broker.state import BrokerState
from siena.messages import (
    Advertise,
    Interest,
    Outbox,
    PeerDisconnect,
    Settle,
    Settled,
    Subscribe,
)
from siena.messages.requests import filters_of
from siena.model import Advertisement, Filter, Pattern
from siena.routing.quenching import Quenching


class InterestFeed:
    """Stands between clients and the router until it is needed."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._is_over = False
        self._interests: dict[str, Interest] = {}
        self._advertisements: dict[str, Advertisement] = {}
        # How many want the same: who publishes needs to know of one.
        self._filters: Counter[Filter] = Counter()
        self._quenching = Quenching(state.router.tables.overlaps)

    def begin(self) -> None:
        """There will be a neighbour: tell the router everything."""
        if self._is_over:
            return
        self._is_over = True
        router = self._state.router
        for party, interest in self._interests.items():
            if not isinstance(interest, Pattern):
                self._state.post(router.handle(Subscribe(interest), party))
        for party, advertisement in self._advertisements.items():
            # What it answers the publisher has heard before.
            router.handle(Advertise(advertisement), party)
        self._interests.clear()
        self._advertisements.clear()
        self._filters.clear()

    def subscribe(self, party: str, interest: Interest) -> Outbox:
        """Somebody wants something."""
        router = self._state.router
        if self._is_over or isinstance(interest, Pattern):
            out = router.handle(Subscribe(interest), party)
            if self._is_over:
                return out
        self._interests[party] = interest
        out = self._gain(interest) if self._advertisements else []
        self._filters.update(filters_of(interest))
        return out

    def settle(
        self, party: str, interest: Interest, token: int, *, fresh: bool = False
    ) -> Outbox:
        """Say when it is in force everywhere."""
        if self._is_over:
            settle = Settle(interest, token, fresh=fresh)
            return self._state.router.handle(settle, party)
        return [(party, Settled(token))]

    def advertise(self, party: str, advertisement: Advertisement) -> Outbox:
        """Somebody may publish something."""
        if self._is_over:
            return self._state.router.handle(Advertise(advertisement), party)
        self._advertisements[party] = advertisement
        return self._quenching.advertise(party, advertisement, self._filters)

    def forget(self, party: str) -> Outbox:
        """Neither wants nor publishes anything any more."""
        interest = self._interests.pop(party, None)
        if self._is_over or isinstance(interest, Pattern):
            out = self._state.router.handle(PeerDisconnect(), party)
            if self._is_over:
                return out
        out = []
        if party in self._advertisements:
            self._quenching.unadvertise(party, self._advertisements.pop(party))
        if interest is not None:
            for f in filters_of(interest):
                self._filters[f] -= 1
                if not self._filters[f]:
                    del self._filters[f]
                    out += self._quenching.lose(f, self._filters)
        return out

    def _gain(self, interest: Interest) -> Outbox:
        return [
            said
            for f in filters_of(interest)
            if f not in self._filters
            for said in self._quenching.gain(f)
        ]
