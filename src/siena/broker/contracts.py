"""What the state of a broker expects of those who are told of it, or asked by it.

They live in rooms that know the state: links, moves, the log, the questions of pages.
"""

from collections.abc import Sequence
from typing import Protocol

from siena.broker.clients.session import Session
from siena.messages import Interest, Message, Party
from siena.model import Advertisement, Filter
from siena.protocol.error_codes import ProtocolError
from siena.routing.interest_table import Change, Holder


class Neighbourly(Protocol):
    """A link to a neighbouring broker, as far as others need it."""

    name: str
    """What the neighbour is called."""

    def tell(self, messages: Sequence[Message]) -> None:
        """Send messages of our router to the other one."""
        ...

    @property
    def takes_runs(self) -> bool:
        """Whether it understands RUN frames."""
        ...

    @property
    def is_relaying(self) -> bool:
        """Whether it stores, as we do, what is acknowledged, and says so."""
        ...

    def forward(self, frame: bytes, count: int) -> None:
        """Send notifications, as many as a frame has."""
        ...

    def snapshot(self) -> dict[str, object]:
        """What there is to know about it."""
        ...

    def permit(self) -> None:
        """Let it have and bring what its roles grant, from now on."""
        ...

    def fail(self, error: ProtocolError) -> None:
        """Tell the neighbour what was wrong, and end the link if it cannot go on."""
        ...

    def holds(self, change: Change[Filter] | Change[Advertisement]) -> None:
        """Our table of what it wants, or offers, has changed."""
        ...


class OldBroker(Protocol):
    """The broker from which a client comes, as long as it moves here."""

    def ask(self, message: Message) -> None:
        """Ask it, as the client; or say that nothing more is asked."""
        ...

    def moved(self, error: str | None) -> None:
        """The client has arrived; or not, and why."""
        ...


class OnInterest(Protocol):
    """Hears what clients and neighbours want, and no longer want."""

    def __call__(
        self, holder: Party | Holder, interest: Interest, *, gained: bool
    ) -> None:
        """One of them has changed."""
        ...


class Remember(Protocol):
    """Writes down what an identity wants, so that it outlives the broker."""

    def __call__(self, session: Session, *, at_once: bool) -> None:
        """Something about it has changed."""
        ...
