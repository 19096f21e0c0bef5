"""Whose a name is: of a publisher, a durable subscription, a reader, a query.

And what its owner may hear.
"""

from siena.broker.clients.session import Session
from siena.broker.state import BrokerState
from siena.model import Predicate


def owner_of(session: Session) -> str:
    """The identity of a session's principal; empty if the broker does not ask.

    Not the identity that a client keeps across connections: that is connected once,
    and a durable subscription may be read over several connections.
    """
    return session.principal.identity or ""


def owned_name(session: Session, name: str) -> str:
    """Under which a name is kept: each principal has names of its own.

    Where clients are not asked who they are, all share them.
    """
    owner = owner_of(session)
    return f"{len(owner)}:{owner}:{name}" if owner else name


def check_owner(state: BrokerState, session: Session, what: str, name: str) -> str:
    """The owner of a name that a session asks for.

    Raises:
        ProtocolError: if nothing is kept for its principal: that of a narrowed token
            would answer for what its owner has asked for.
    """
    state.gate.own(session.principal, what, name)
    return owner_of(session)


def heard_by(state: BrokerState, session: Session) -> Predicate | None:
    """What the principal of a session may hear; none if that is everything.

    A grant is a guard at delivery, and changes no cursor: what it excludes counts as
    acknowledged, and what it allows again is delivered from then on.
    """
    return state.gate.hears(session.principal)
