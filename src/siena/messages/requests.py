"""What clients ask for; brokers ask each other for the same, in the same words."""

from dataclasses import dataclass
from functools import lru_cache

from msgspec import Struct

from siena.messages.interface import TTL_MAX, Window
from siena.messages.notices import Key, Letter
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate

Interest = Filter | Predicate | Pattern

# How many filters that travelled last are remembered, with their texts.
TEXTS_MAX = 256


def filters_of(interest: Interest) -> tuple[Filter, ...]:
    """The filters of an interest, of which one must match; of a pattern, of any step.

    >>> from siena.lang.parser import parse_interest as parse
    >>> filters_of(parse("x = 1 or y = 1"))
    (<Filter x = 1>, <Filter y = 1>)
    """
    if isinstance(interest, Filter):
        return (interest,)
    if isinstance(interest, Predicate):
        return interest.filters
    return tuple(f for step in interest for f in step)


# A filter is sorted by its text, told, counted into a digest, and then asked about.
@lru_cache(maxsize=TEXTS_MAX)
def text_of(item: Filter | Advertisement) -> str:
    """The text of a filter, or of an advertisement, as it travels."""
    return str(item)


def is_sequence(interest: Interest) -> bool:
    """Whether it takes several notifications to match: a pattern of several steps."""
    return isinstance(interest, Pattern) and not interest.is_simple


@dataclass(frozen=True, slots=True)
class Publish:
    """A client reports that something happened, at ``time`` by its clock."""

    notification: Notification
    time: float = 0


class Subscribe(Struct, frozen=True):
    """The sender wants what the interest selects.

    ``origin`` is where the interest entered a network that may have cycles: it
    travels along the tree of that broker.  Elsewhere it is ``None``.
    """

    interest: Interest
    origin: int | None = None


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """The sender no longer wants whatever it asked for that the interest covers.

    If it is ``exact``, only what it asked for in these words, or equal ones.
    """

    interest: Interest
    origin: int | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Advertise:
    """The sender, or a client behind it, may publish what the advertisement admits."""

    advertisement: Advertisement
    origin: int | None = None


@dataclass(frozen=True, slots=True)
class Unadvertise:
    """The sender no longer publishes what the advertisement covers.

    If it is ``exact``, only that advertisement, or an equal one, has gone.
    """

    advertisement: Advertisement
    origin: int | None = None
    exact: bool = False


class Settle(Struct, frozen=True):
    """Answer ``Settled(token)`` once the interest is in force throughout the network.

    Or once the advertisement is known there, and all who want something of it are known
    here.
    ``fresh`` asks all brokers again, also those who have answered before; the answer
    then also says that what was on its way when they were asked has arrived.
    """

    interest: Interest | Advertisement
    token: int
    origin: int | None = None
    fresh: bool = False
    ttl: int = TTL_MAX


@dataclass(frozen=True, slots=True)
class Suspend:
    """Deliver nothing to this client until it resumes; keep up to ``queue_max``."""

    queue_max: int = 0


@dataclass(frozen=True, slots=True)
class Resume:
    """Deliver again, what was kept first."""


@dataclass(frozen=True, slots=True)
class MapIdentity:
    """Deliver to ``handler`` what is for this client, and resume."""

    handler: str


@dataclass(frozen=True, slots=True)
class Leave:
    """The client has hung up: what is for it is kept, up to ``queue_max``."""

    queue_max: int = 0


@dataclass(frozen=True, slots=True)
class Move:
    """The client comes from another broker: fetch what it asked for, and was kept.

    It is answered with :class:`~siena.messages.Moved`; until then at most
    ``queue_max`` of what comes are kept here.
    """

    queue_max: int = 0


@dataclass(frozen=True, slots=True)
class ListInterests:
    """Answer with a :class:`Listing` of what this client has asked for here."""


@dataclass(frozen=True, slots=True)
class Listing:
    """What a client has asked for: by its numbers, or each under itself."""

    interests: tuple[tuple[int | Interest, Interest], ...] = ()
    advertisements: tuple[tuple[int | Advertisement, Advertisement], ...] = ()


@dataclass(frozen=True, slots=True)
class Release:
    """The client has gone to another broker: hand over what it left here.

    It is answered with a :class:`Parcel` once all that was on its way has arrived.
    """


@dataclass(frozen=True, slots=True)
class Parcel:
    """What a client takes along: what was kept for it, and how much was not.

    ``known`` are the keys of what was kept, where that travels in another form;
    ``seen`` is all that the old broker has seen, of which other copies may still be on
    their way to the new one.
    """

    kept: tuple[Letter, ...] = ()
    lost: int = 0
    known: frozenset[Key] = frozenset()
    seen: tuple[Window, ...] = ()
    # Why there may have been more, if the old broker could not hand over all of it.
    torn: str | None = None
