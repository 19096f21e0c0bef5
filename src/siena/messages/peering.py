"""What brokers tell each other about themselves and their links."""

from dataclasses import dataclass

from siena.messages.interface import Side


@dataclass(frozen=True, slots=True)
class PeerConnect:
    """The sender wants a link, and takes the receiver for ``side``.

    Unless both understand withdrawals that are ``exact``, they cancel what they cover;
    who does not know the ``closed`` language is told in the papers' operators.
    """

    side: Side
    weight: float = 1
    exact: bool = True
    closed: bool = True


@dataclass(frozen=True, slots=True)
class PeerConfirm:
    """The link that was asked for stands."""


@dataclass(frozen=True, slots=True)
class PeerRefuse:
    """The link that was asked for is not wanted."""

    reason: str


@dataclass(frozen=True, slots=True)
class PeerDisconnect:
    """The link is gone, from either end.

    A neighbour that ``is_missed`` is waited for: what it wanted stays wanted.
    """

    is_missed: bool = False


@dataclass(frozen=True, slots=True)
class LinkState:
    """The links of one broker, told to all others of a network with cycles.

    Of two about one broker, the one with the greater version counts.
    """

    broker: int
    version: tuple[int, int]
    weights: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Flush:
    """Send what was held back to be sent together; comes from the broker's own body."""
