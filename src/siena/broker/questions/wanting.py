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

# Interests that are looked through, at some microseconds each; and filters of whom each
# is asked whether its viewer may see it, at ten.
LOOKED_THROUGH_MAX = 20_000
DECIDED_MAX = 1_000

Form = dict[str, Any]


class Wanted(NamedTuple):
    """A party, or a neighbour, which has no principal; and a filter for which."""

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

    Neighbours come first, each once; ``complete`` says whether all are named.
    """
    found = chain(_routed(state, notification), _beside(state, notification))
    looked_at = found if sight.is_whole else islice(found, DECIDED_MAX)
    sees = sight.chooser()
    seen = (one for one in looked_at if sees(one.by))
    named = list(islice(seen, limit))
    names = sight.names((one.principal, one.who) for one in named)
    shown = [
        {"who": who, "text": cut(one.by)} for who, one in zip(names, named, strict=True)
    ]
    is_complete = next(seen, None) is None and next(found, None) is None
    return {"broker": state.name, "wanting": shown, "complete": is_complete}


def _routed(state: BrokerState, n: Notification) -> Iterator[Wanted]:
    """Those whom the exchange would give it to."""
    for key, entry in state.exchange.wanting(n):
        if isinstance(key, Party):
            for interest in state.router.registrations.of_party(key):
                yield from _of(state.sessions.get(int(key.client)), key, interest, n)
        elif isinstance(key, int) and key in state.links:
            link = state.links[key].snapshot()["name"]
            yield Wanted(f"broker {link}", None, state.exchange.table.filters(entry)[0])


def _beside(state: BrokerState, n: Notification) -> Iterator[Wanted]:
    """Those who want it for a pattern, or from the log."""
    asked = (
        (session, number, interest)
        for session in state.sessions.values()
        if session.patterns or session.is_standing
        for number, interest in session.interests.items()
        if session.is_standing or isinstance(interest, Pattern)
    )
    for session, number, interest in islice(asked, LOOKED_THROUGH_MAX):
        yield from _of(session, session.party(number), interest, n)


def _of(
    session: Session | None, party: Party, interest: Interest, n: Notification
) -> Iterator[Wanted]:
    """A party, if its interest lets it through; with the first filter that does."""
    if session is None or not _lets_through(interest, n):
        return
    by = next((f for f in filters_of(interest) if f.matches(n)), None)
    if by is not None:
        yield Wanted(f"client {party}", session.principal, by)


def _lets_through(interest: Interest, n: Notification) -> bool:
    """Whether a residual holds, if there is one."""
    if not isinstance(interest, ResidualPredicate):
        return True
    try:
        return interest.lets_through(n)
    except LimitError:  # then nothing is delivered
        return False
