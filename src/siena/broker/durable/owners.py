"""Whose a name is, of a publisher or a durable subscription; and what they may hear."""

from siena.broker.clients.session import Session
from siena.broker.state import BrokerState
from siena.model import Predicate


def owner_of(session: Session) -> str:
    """The identity of a session's principal; empty if the broker does not ask.

    Not the identity that a client keeps across connections: that is connected once,
    and a durable subscription may be read over several connections.
    """
    return session.principal.identity or ""


def heard_by(state: BrokerState, session: Session) -> Predicate | None:
    """What the principal of a session may hear; none if that is everything.

    A grant is a guard at delivery, and changes no cursor: what it excludes counts as
    acknowledged, and what it allows again is delivered from then on.
    """
    return state.gate.hears(session.principal)
