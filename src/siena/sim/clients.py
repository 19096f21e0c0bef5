"""Simulated clients, and the oracle: what each of them must receive.

The oracle is the definition, on a flat list of filters: a client receives a
notification if one of the filters that it asked for and has not cancelled matches it,
and, where publishers advertise, if the publisher has advertised it.

Reference:
    Our specification, A.7 and A.8.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.disjunction import covers_pattern
from siena.messages import Found, Notify
from siena.messages.requests import filters_of
from siena.model import Advertisement, Filter, Notification, Pattern


@dataclass(slots=True)
class Client:
    """A client of a simulated broker, and all that it asked for and got."""

    name: str
    at: int
    filters: list[Filter] = field(default_factory=list)
    patterns: list[Pattern] = field(default_factory=list)
    advertisements: list[Advertisement] = field(default_factory=list)
    quenched: set[Advertisement] = field(default_factory=set)
    received: list[Notify] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    lost: int = 0
    # Where deliveries are to go, and where the last one went.
    handler: str = ""
    reached: str = ""
    is_suspended: bool = False
    # While it moves: the broker that it comes from.
    coming_from: int | None = None

    def __post_init__(self) -> None:
        self.handler = self.handler or self.name

    def subscribe(self, f: Filter) -> None:
        """Remember a filter."""
        self.filters.append(f)

    def unsubscribe(self, f: Filter) -> None:
        """Forget the filters that one covers."""
        self.filters = [g for g in self.filters if not covers_filter(f, g)]

    def add_pattern(self, pattern: Pattern) -> None:
        """Remember a pattern."""
        self.patterns.append(pattern)

    def remove_patterns(self, pattern: Pattern) -> None:
        """Forget the patterns of the same length that one covers, step by step."""
        self.patterns = [p for p in self.patterns if not covers_pattern(pattern, p)]

    def advertise(self, advertisement: Advertisement) -> None:
        """Remember an advertisement."""
        self.advertisements.append(advertisement)

    def unadvertise(self, advertisement: Advertisement) -> None:
        """Forget the advertisements that one covers."""
        self.advertisements = [
            a for a in self.advertisements if not covers_advertisement(advertisement, a)
        ]
        self.quenched &= set(self.advertisements)

    def all_filters(self) -> list[Filter]:
        """Its filters, and those of the steps of its patterns."""
        return [*self.filters, *(f for p in self.patterns for f in filters_of(p))]

    def wants(self, notification: Notification) -> bool:
        """Whether one of its filters matches."""
        return any(f.matches(notification) for f in self.filters)

    def offers(self, notification: Notification) -> bool:
        """Whether one of its advertisements admits it."""
        return any(a.admits(notification) for a in self.advertisements)


def expected(
    notification: Notification,
    publisher: Client,
    clients: Iterable[Client],
    *,
    advertising: bool,
) -> set[str]:
    """Who must receive a notification, and no others, among those within reach."""
    if advertising and not publisher.offers(notification):
        return set()
    return {
        client.name
        for client in clients
        if not client.is_suspended and client.wants(notification)
    }
