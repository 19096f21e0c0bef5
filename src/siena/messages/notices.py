"""What brokers tell clients, and hand on to each other."""

from dataclasses import dataclass

from msgspec import Struct

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
    """A sequence of notifications that matches a pattern of a client."""

    pattern: Pattern
    sequence: tuple[Notify, ...]

    @property
    def key(self) -> Key:
        """What makes this delivery unlike all others for one client."""
        return self.pattern, tuple(notify.stamp for notify in self.sequence)


@dataclass(frozen=True, slots=True)
class Encoded:
    """A notification, or a sequence, as the bytes in which a client gets it.

    What a body has encoded already a router need not know as values: it keeps it for
    a client that is away, and tells copies apart by their keys.  One that another
    broker kept comes without a key.
    """

    data: bytes
    key: Key | None
    is_sequence: bool = False


@dataclass(frozen=True, slots=True)
class Numbered:
    """What is for a client, and for which of its numbered subscriptions."""

    numbers: tuple[int, ...]
    content: Notify | Found | Encoded

    @property
    def key(self) -> Key | None:
        """What makes this delivery unlike all others for one client."""
        return self.content.key


# What a client gets, or what waits for it.
Letter = Notify | Found | Numbered


# Of brokers that have not answered whether something is in force, so many are named.
SILENT_MAX = 8


class Settled(Struct, frozen=True):
    """The interest asked about under this token is in force.

    But for what lies behind the ``silent`` brokers, which have not answered in time.
    """

    token: int
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quenched:
    """No client wants anything that this advertisement of yours admits."""

    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Unquenched:
    """A client wants something that this advertisement of yours admits."""

    advertisement: Advertisement


@dataclass(frozen=True, slots=True)
class Moved:
    """You have arrived; or not, and why."""

    error: str | None = None


@dataclass(frozen=True, slots=True)
class Lost:
    """So many notifications for you were not kept."""

    count: int
