"""Wanting: who here wants a notification, by the table that routes publications.

One match answers it, however many filters there are; what is listed (``tables``) is
only the first so many.  What never stands in that table is looked through: patterns,
whose steps each count, and what is read from the log.
"""

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from siena.block import decode
from siena.broker.access.grants.sight import Sight
from siena.broker.access.principal import Principal
from siena.broker.clients.session import Session
from siena.broker.questions.viewing import cut
from siena.broker.state import BrokerState
from siena.errors import LimitError, SienaError
from siena.messages import Interest, Party
from siena.messages.requests import filters_of
from siena.model import Filter, Notification, Pattern
from siena.model.expression.residual import ResidualPredicate
from siena.protocol.error_codes import Fault, ProtocolError

# Interests that are looked through, at some microseconds each; filters of which it is
# asked whether the viewer may see them, at ten; and so many of them of one holder.
LOOKED_THROUGH_MAX = 20_000
DECIDED_MAX = 1_000
FILTERS_MAX = 100

Form = dict[str, Any]


class Wanted(NamedTuple):
    """A party, or a neighbour, which has no principal; and its filters that match."""

    who: str
    principal: Principal | None
    matching: Iterator[Filter]


class Seen(NamedTuple):
    """One of those, and the first filter that the viewer may see."""

    who: str
    principal: Principal | None
    by: Filter


def read_block(block: bytes) -> Notification:
    """The notification that is asked about.

    Raises:
        ProtocolError: if there is none.
    """
    if not block:
        raise ProtocolError(Fault.BAD_REQUEST, "wanting is asked of a notification")
    try:
        return decode(block)
    except SienaError as error:
        raise ProtocolError.because(Fault.BAD_NOTIFICATION, error) from None


def wanting(
    state: BrokerState, sight: Sight, notification: Notification, limit: int
) -> Form:
    """Who would get a notification from here, as far as a viewer may see it.

    Neighbours come first, each once; ``complete`` says whether all are named whom the
    viewer may see.  Of others it says nothing: what they want is their secret.
    """
    look = _Look(state, sight, notification)
    seen = look.seen()
    named = list(islice(seen, limit))
    names = sight.names((one.principal, one.who) for one in named)
    shown = [
        {"who": who, "text": cut(one.by)} for who, one in zip(names, named, strict=True)
    ]
    is_complete = next(seen, None) is None and not look.is_cut
    return {"broker": state.name, "wanting": shown, "complete": is_complete}


class _Look:
    """One look for those who want a notification."""

    def __init__(self, state: BrokerState, sight: Sight, n: Notification) -> None:
        self._state, self._sight, self._notification = state, sight, n
        self.is_cut = False
        """Whether there was more than may be looked at."""

    def seen(self) -> Iterator[Seen]:
        """Those of whom the viewer may see a filter that matches."""
        sees, is_whole = self._sight.chooser(), self._sight.is_whole
        left = DECIDED_MAX
        for one in chain(self._routed(), self._beside()):
            if not left:
                self.is_cut = True
                return
            for f in islice(one.matching, min(left, FILTERS_MAX)):
                left -= not is_whole
                if sees(f):
                    yield Seen(one.who, one.principal, f)
                    break
            else:
                self.is_cut = self.is_cut or next(one.matching, None) is not None

    def _routed(self) -> Iterator[Wanted]:
        """Those whom the exchange would give it to."""
        state, n = self._state, self._notification
        for key, entries in state.exchange.wanting(n):
            if isinstance(key, Party):
                for interest in state.router.registrations.of_party(key):
                    yield from self._of(
                        state.sessions.get(int(key.client)), key, interest
                    )
            elif isinstance(key, int) and key in state.links:
                link = state.links[key].snapshot()["name"]
                found = (f for e in entries for f in state.exchange.table.filters(e))
                matching = (f for f in found if f.matches(n))
                yield Wanted(f"broker {link}", None, matching)

    def _beside(self) -> Iterator[Wanted]:
        """Those who want it for a pattern, or from the log."""
        asked = (
            (session, number, interest)
            for session in self._state.sessions.values()
            if session.patterns or session.is_standing
            for number, interest in session.interests.items()
            if session.is_standing or isinstance(interest, Pattern)
        )
        for session, number, interest in islice(asked, LOOKED_THROUGH_MAX):
            yield from self._of(session, session.party(number), interest)
        self.is_cut = self.is_cut or next(asked, None) is not None

    def _of(
        self, session: Session | None, party: Party, interest: Interest
    ) -> Iterator[Wanted]:
        """A party, if its interest lets it through."""
        n = self._notification
        if session is None or not _lets_through(interest, n):
            return
        matching = (f for f in filters_of(interest) if f.matches(n))
        first = next(matching, None)
        if first is not None:
            yield Wanted(f"client {party}", session.principal, chain([first], matching))


def _lets_through(interest: Interest, n: Notification) -> bool:
    """Whether a residual holds, if there is one."""
    if not isinstance(interest, ResidualPredicate):
        return True
    try:
        return interest.lets_through(n)
    except LimitError:  # then nothing is delivered
        return False
