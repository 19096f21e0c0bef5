"""What brokers tell clients, and hand on to each other."""

from dataclasses import dataclass

from siena.messages.interface import TTL_MAX, Stamp
from siena.model import Advertisement, Notification, Pattern

# A delivery to a client, whichever copy of it: of one notification, or of a sequence.
Key = Stamp | tuple[Pattern, tuple[Stamp, ...]]


@dataclass(frozen=True, slots=True)
class Notify:
    """A notification on its way, unchanged since it was published.

    ``root`` is the broker where it entered the part of the network that it is in; in
    a network with cycles it stays within the tree of that broker.
    """

    notification: Notification
    stamp: Stamp
    time: float = 0
    root: int = 0
    ttl: int = TTL_MAX

    @property
    def key(self) -> Key:
        """What makes this delivery unlike all others for one client."""
        return self.stamp


@dataclass(frozen=True, slots=True)
class Found:
    """A sequence of notifications that matches a pattern somebody asked for."""

    pattern: Pattern
    sequence: tuple[Notify, ...]

    @property
    def key(self) -> Key:
        """What makes this delivery unlike all others for one client."""
        return self.pattern, tuple(notify.stamp for notify in self.sequence)


@dataclass(frozen=True, slots=True)
class Settled:
    """The interest asked about under this token is in force."""

    token: int


@dataclass(frozen=True, slots=True)
class Quenched:
    """Nobody wants anything that this advertisement of yours admits."""

    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Unquenched:
    """Somebody wants something that this advertisement of yours admits."""

    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Lost:
    """So many notifications for you were not kept."""

    count: int
