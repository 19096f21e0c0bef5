"""Registrations: what each client has asked for, in its own words.

The tables of a broker know filters by what they cover, and forget how they were asked
for.  A client that moves to another broker takes its requests along as it made them,
and a broker without neighbours needs no more than this list.

A client may number its requests: then each is a party of its own
(:class:`~siena.messages.Party`), and its number is what it is known by.  Without
numbers an interest is known by itself, and cancelled by whatever covers it.

A body that matches in bulk has a table of its own.  Which entry there is a party's is
noted here, beside what the party has asked for: nothing else knows a subscription by
its client's number.

Reference:
    Our specification, A.7.
"""

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from msgspec import Struct

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.disjunction import covers_pattern
from siena.messages import Interest, Interface, Listing, Party, client_of
from siena.messages.requests import filters_of, is_sequence
from siena.model import Advertisement, Filter, Notification, Pattern

# Of an interest that has no entry in a table of the body.
NO_ENTRY = -1


class RequestWatcher(Protocol):
    """Hears of every numbered request that a client makes, or withdraws."""

    def registered(self, party: Party, item: Interest | Advertisement) -> int:
        """A party asks for something; its entry in the body's table, or NO_ENTRY."""

    def withdrawn(
        self, party: Party, item: Interest | Advertisement, entry: int
    ) -> None:
        """And no longer, for which there was this entry."""


class Registration(Struct, gc=False):
    """An interest, and its entry in the body's table."""

    interest: Interest
    entry: int = NO_ENTRY


class Interests(Mapping[Hashable, Interest]):
    """What a client wants, by number, or each under itself."""

    __slots__ = ("_held",)

    def __init__(self, held: Mapping[Hashable, Registration]) -> None:
        self._held = held

    def __getitem__(self, key: Hashable) -> Interest:
        return self._held[key].interest

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __repr__(self) -> str:
        return repr(dict(self))


@dataclass(slots=True)
class Registered:
    """All that one client has asked for: by number, or each under itself."""

    held: dict[Hashable, Registration] = field(default_factory=dict)
    advertisements: dict[Hashable, Advertisement] = field(default_factory=dict)

    @property
    def interests(self) -> Interests:
        """What it wants."""
        return Interests(self.held)

    def filters(self) -> Iterator[Filter]:
        """All that single notifications may match."""
        for one in self.held.values():
            if not is_sequence(one.interest):
                yield from filters_of(one.interest)


class Registrations:
    """All that clients have asked for.

    >>> from siena.lang import parse_filter as parse
    >>> registrations = Registrations()
    >>> registrations.subscribe(Party("3", 7), parse("x > 3"))
    [<Filter x > 3>]
    >>> registrations.subscribe("a", parse("x > 5"))
    [<Filter x > 5>]
    >>> registrations.unsubscribe("a", parse("x > 1"))
    [<Filter x > 5>]
    >>> registrations.of("3").interests
    {7: <Filter x > 3>}
    """

    def __init__(self) -> None:
        self._clients: dict[str, Registered] = {}
        self.watcher: RequestWatcher | None = None

    def of(self, client: str) -> Registered:
        """What a client has asked for."""
        found = self._clients.get(client)
        if found is None:
            found = self._clients[client] = Registered()
        return found

    def has(self, client: str) -> bool:
        """Whether a client has asked for anything, which may be withdrawn by now."""
        return client in self._clients

    def entries(self, client: str) -> list[int]:
        """The entries of a client's interests in the body's table."""
        found = self._clients.get(client)
        held = () if found is None else found.held.values()
        return [one.entry for one in held if one.entry != NO_ENTRY]

    def listing(self, client: str) -> Listing:
        """The same, to be told to another broker."""
        found = self.of(client)
        return Listing(
            tuple(found.interests.items()),  # type: ignore[arg-type]
            tuple(found.advertisements.items()),  # type: ignore[arg-type]
        )

    def parties(self, client: str) -> list[str]:
        """A client's parties: its numbered requests, and the client itself."""
        found = self._clients.get(client)
        if found is None:
            return [client]
        numbers = {*found.held, *found.advertisements}
        return [
            client,
            *(Party(client, n) for n in sorted(n for n in numbers if type(n) is int)),
        ]

    def interests(self) -> Iterator[tuple[str, Interest]]:
        """Every interest, with its party."""
        for client, found in self._clients.items():
            for key, one in found.held.items():
                yield _party(client, key), one.interest

    def filters(self) -> Iterator[Filter]:
        """Every filter that clients want."""
        for registered in self._clients.values():
            yield from registered.filters()

    def wanting(self, notification: Notification) -> set[str]:
        """The parties that want a notification, for itself."""
        return {
            party
            for party, interest in self.interests()
            if not is_sequence(interest)
            and any(f.matches(notification) for f in filters_of(interest))
        }

    def admits(self, source: Interface, notification: Notification) -> bool:
        """Whether a client has advertised a notification."""
        assert isinstance(source, str), "brokers do not publish"
        held = self.of(client_of(source)).advertisements.values()
        return any(a.admits(notification) for a in held)

    def parties_now(self) -> Iterator[str]:
        """Every party that asks for something; others may come and go meanwhile."""
        for client in list(self._clients):
            found = self._clients.get(client)
            for key in list(found.held) if found is not None else ():
                if isinstance(key, int):
                    yield Party(client, key)
            yield client

    def of_party(self, party: str) -> list[Interest]:
        """What a party has asked for; of a client itself, what has no number."""
        found = self._clients.get(client_of(party))
        if found is None:
            return []
        if isinstance(party, Party):
            one = found.held.get(party.number)
            return [] if one is None else [one.interest]
        return [
            one.interest for key, one in found.held.items() if not isinstance(key, int)
        ]

    # --- Interests ------------------------------------------------------------------

    def subscribe(self, source: str, interest: Interest) -> list[Filter]:
        """Enter an interest; its filters, unless it was there."""
        if isinstance(source, Party):
            is_new = self.enter(source, interest)
            is_known = not is_new or is_sequence(interest)
            return [] if is_known else list(filters_of(interest))
        held = self.of(source).held
        if is_sequence(interest):
            held[interest] = Registration(interest)
            return []
        new = [f for f in filters_of(interest) if f not in held]
        held.update((f, Registration(f)) for f in new)
        return new

    def enter(self, party: Party, interest: Interest) -> bool:
        """Enter a numbered interest; whether its number was not taken."""
        held = self.of(party.client).held
        if party.number in held:
            return False
        one = held[party.number] = Registration(interest)
        if self.watcher is not None:
            one.entry = self.watcher.registered(party, interest)
        return True

    def unsubscribe(self, source: str, interest: Interest) -> list[Filter]:
        """Withdraw a numbered interest, or all that this one covers; their filters."""
        held = self.of(client_of(source)).held
        if isinstance(source, Party):
            if source.number not in held:
                return []
            one = held.pop(source.number)
            gone = one.interest
            if self.watcher is not None:
                self.watcher.withdrawn(source, gone, one.entry)
            return [] if is_sequence(gone) else list(filters_of(gone))
        covered = [key for key, one in held.items() if _covers(interest, one.interest)]
        ended = [held.pop(key).interest for key in covered]
        return [f for f in ended if isinstance(f, Filter)]

    # --- Advertisements -------------------------------------------------------------

    def advertise(self, source: str, advertisement: Advertisement) -> None:
        """Enter an advertisement, unless it is there."""
        found = self.of(client_of(source)).advertisements
        if not isinstance(source, Party):
            found[advertisement] = advertisement
        elif source.number not in found:
            found[source.number] = advertisement
            if self.watcher is not None:
                self.watcher.registered(source, advertisement)

    def unadvertise(self, source: str, advertisement: Advertisement) -> None:
        """Withdraw a numbered advertisement, or all that this one covers."""
        found = self.of(client_of(source)).advertisements
        if not isinstance(source, Party):
            for key in [
                k for k, a in found.items() if covers_advertisement(advertisement, a)
            ]:
                del found[key]
        elif source.number in found:
            gone = found.pop(source.number)
            if self.watcher is not None:
                self.watcher.withdrawn(source, gone, NO_ENTRY)

    def forget(self, client: str) -> Registered:
        """A client is gone, and wants nothing any more; what it had asked for."""
        gone = self._clients.pop(client, Registered())
        if self.watcher is None:
            return gone
        for key, one in gone.held.items():
            if isinstance(key, int):
                self.watcher.withdrawn(Party(client, key), one.interest, one.entry)
        for key, advertisement in gone.advertisements.items():
            if isinstance(key, int):
                self.watcher.withdrawn(Party(client, key), advertisement, NO_ENTRY)
        return gone


def _party(client: str, key: Hashable) -> str:
    return Party(client, key) if isinstance(key, int) else client


def _covers(wide: Interest, held: Interest) -> bool:
    """Whether what a client cancels covers what it had asked for."""
    if isinstance(held, Filter) and not is_sequence(wide):
        return any(covers_filter(f, held) for f in filters_of(wide))
    if isinstance(held, Pattern) and isinstance(wide, Pattern):
        return covers_pattern(wide, held)
    return False
