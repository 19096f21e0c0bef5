"""Registrations: what each client has asked for, in its own words.

The tables of a broker know filters by what they cover, and forget how they were asked
for.  A client that moves to another broker takes its requests along as it made them,
and a broker without neighbours needs no more than this list.

A client may number its requests: then each is a party of its own
(:class:`~siena.messages.Party`), and its number is what it is known by.  Without
numbers an interest is known by itself, and cancelled by whatever covers it.

Reference:
    Our specification, A.7.
"""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.disjunction import covers_pattern
from siena.messages import Interest, Listing, Party, client_of
from siena.messages.requests import filters_of, is_sequence
from siena.model import Advertisement, Filter, Pattern

# Hears of every numbered request that a client makes, or withdraws.
Watcher = Callable[[Party, Interest | Advertisement, bool], None]


@dataclass(slots=True)
class Registered:
    """All that one client has asked for: by number, or each under itself."""

    interests: dict[Hashable, Interest] = field(default_factory=dict)
    advertisements: dict[Hashable, Advertisement] = field(default_factory=dict)

    def filters(self) -> Iterator[Filter]:
        """All that single notifications may match."""
        for interest in self.interests.values():
            if not is_sequence(interest):
                yield from filters_of(interest)


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
        self.watcher: Watcher | None = None

    def of(self, client: str) -> Registered:
        """What a client has asked for."""
        found = self._clients.get(client)
        if found is None:
            found = self._clients[client] = Registered()
        return found

    def has(self, client: str) -> bool:
        """Whether a client has asked for anything, which may be withdrawn by now."""
        return client in self._clients

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
        numbers = {*found.interests, *found.advertisements}
        return [
            client,
            *(Party(client, n) for n in sorted(n for n in numbers if type(n) is int)),
        ]

    def interests(self) -> Iterator[tuple[str, Interest]]:
        """Every interest, with its party."""
        for client, found in self._clients.items():
            for key, interest in found.interests.items():
                yield _party(client, key), interest

    def filters(self) -> Iterator[Filter]:
        """Every filter that clients want."""
        for registered in self._clients.values():
            yield from registered.filters()

    def parties_now(self) -> Iterator[str]:
        """Every party that asks for something; others may come and go meanwhile."""
        for client in list(self._clients):
            found = self._clients.get(client)
            for key in list(found.interests) if found is not None else ():
                if isinstance(key, int):
                    yield Party(client, key)
            yield client

    def of_party(self, party: str) -> list[Interest]:
        """What a party has asked for; of a client itself, what has no number."""
        found = self._clients.get(client_of(party))
        if found is None:
            return []
        if isinstance(party, Party):
            held = found.interests.get(party.number)
            return [] if held is None else [held]
        return [i for key, i in found.interests.items() if not isinstance(key, int)]

    # --- Interests ------------------------------------------------------------------

    def subscribe(self, source: str, interest: Interest) -> list[Filter]:
        """Enter an interest; its filters, unless it was there."""
        if isinstance(source, Party):
            is_new = self.enter(source, interest)
            is_known = not is_new or is_sequence(interest)
            return [] if is_known else list(filters_of(interest))
        found = self.of(source).interests
        if is_sequence(interest):
            found[interest] = interest
            return []
        new = [f for f in filters_of(interest) if f not in found]
        found.update((f, f) for f in new)
        return new

    def enter(self, party: Party, interest: Interest) -> bool:
        """Enter a numbered interest; whether its number was not taken."""
        found = self.of(party.client).interests
        if party.number in found:
            return False
        found[party.number] = interest
        if self.watcher is not None:
            self.watcher(party, interest, True)
        return True

    def unsubscribe(self, source: str, interest: Interest) -> list[Filter]:
        """Withdraw a numbered interest, or all that this one covers; their filters."""
        found = self.of(client_of(source)).interests
        if isinstance(source, Party):
            if source.number not in found:
                return []
            gone = found.pop(source.number)
            self._tell(source, gone, gained=False)
            return [] if is_sequence(gone) else list(filters_of(gone))
        covered = [key for key, held in found.items() if _covers(interest, held)]
        return [held for held in map(found.pop, covered) if isinstance(held, Filter)]

    # --- Advertisements -------------------------------------------------------------

    def advertise(self, source: str, advertisement: Advertisement) -> None:
        """Enter an advertisement, unless it is there."""
        found = self.of(client_of(source)).advertisements
        if not isinstance(source, Party):
            found[advertisement] = advertisement
        elif source.number not in found:
            found[source.number] = advertisement
            self._tell(source, advertisement, gained=True)

    def unadvertise(self, source: str, advertisement: Advertisement) -> None:
        """Withdraw a numbered advertisement, or all that this one covers."""
        found = self.of(client_of(source)).advertisements
        if not isinstance(source, Party):
            for key in [
                k for k, a in found.items() if covers_advertisement(advertisement, a)
            ]:
                del found[key]
        elif source.number in found:
            self._tell(source, found.pop(source.number), gained=False)

    def forget(self, client: str) -> Registered:
        """A client is gone, and wants nothing any more; what it had asked for."""
        gone = self._clients.pop(client, Registered())
        for held in (gone.interests, gone.advertisements):
            for key, item in held.items():
                if isinstance(key, int):
                    self._tell(Party(client, key), item, gained=False)
        return gone

    def _tell(
        self, party: Party, item: Interest | Advertisement, *, gained: bool
    ) -> None:
        if self.watcher is not None:
            self.watcher(party, item, gained)


def _party(client: str, key: Hashable) -> str:
    return Party(client, key) if isinstance(key, int) else client


def _covers(wide: Interest, held: Interest) -> bool:
    """Whether what a client cancels covers what it had asked for."""
    if isinstance(held, Filter) and not is_sequence(wide):
        return any(covers_filter(f, held) for f in filters_of(wide))
    if isinstance(held, Pattern) and isinstance(wide, Pattern):
        return covers_pattern(wide, held)
    return False
