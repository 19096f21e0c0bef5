"""A member: one connection that reads a durable subscription."""

from siena.broker.clients.session import Session
from siena.broker.durable.cursors.cursor import Cursor
from siena.broker.durable.limits import CREDIT_BYTES


class Member:
    """A reader, under a number of its own, and what it has without an answer."""

    def __init__(
        self,
        identifier: int,
        session: Session,
        number: int,
        cursor: Cursor,
        credit: int,
    ) -> None:
        self.identifier = identifier
        self.session = session
        self.number = number
        self.cursor = cursor
        self.credit = credit
        self.in_force: str | None = None
        """What it was told that it gets, if that is less than it asked for."""
        self.flights = 0
        self.bytes = 0

    @property
    def has_room(self) -> bool:
        """Whether it may be sent more."""
        return self.flights < self.credit and self.bytes < CREDIT_BYTES
