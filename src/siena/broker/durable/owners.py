"""Whose a name is: of a publisher, and of a durable subscription."""

from siena.broker.clients.session import Session


def owner_of(session: Session) -> str:
    """The identity of the principal that a session is of; empty if nobody asks.

    Not the identity that a client keeps across connections: that is connected once,
    and a durable subscription may be read over several connections.
    """
    principal = getattr(session, "principal", None)
    return getattr(principal, "identity", None) or ""
