"""Sessions: a client at this broker, as long as it is remembered.

A session has a number, by which the exchange and the router know it, and usually a
connection.  One with an identity outlives its connection.  What the client has asked
for, and what waits for it, is the router's: :mod:`siena.routing.registrations` and
:mod:`siena.routing.mailbox`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, cast

from siena.broker.access.grants.decisions import InForce
from siena.broker.access.grants.grant import UNLIMITED, Grant
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.access.quotas import Account
from siena.messages import Interest, Party
from siena.model import Advertisement
from siena.protocol.control_frames import Gap
from siena.protocol.error_codes import ProtocolError
from siena.routing.registrations import Registered, Registrations


class Sink(Protocol):
    """Where the frames of a session go: its connection."""

    hears_gaps: bool

    def reply(self, frame: bytes) -> None:
        """Send an answer."""
        ...

    def fail(self, error: ProtocolError) -> None:
        """Tell what was wrong, and end if that cannot be lived with."""
        ...

    def expect(self, size: int) -> bool:
        """Make room for what was kept while the client was away; is it there?"""
        ...

    def deliver(self, frames: bytes, count: int) -> int:
        """Send deliveries; how many of them were dropped."""
        ...


@dataclass(slots=True, eq=False)
class Session:
    """One client at this broker."""

    number: int
    registrations: Registrations
    identity: str | None = None
    name: str | None = None
    # Who it was when it connected last.
    principal: Principal = LOCAL
    # What it has shown, for the broker where it was before; never told or logged.
    token: str | None = field(default=None, repr=False)
    sink: Sink | None = None
    patterns: int = 0
    # What its principal has taken of its quotas; and the filters, and steps of
    # patterns, that are in force for it.
    account: Account = field(default_factory=Account)
    filters: int = 0
    steps: int = 0
    # What it may, as far as its connection and its subscriptions know.
    grant: Grant = UNLIMITED
    # Whether it is told when what is granted to it changes.
    hears_of_grants: bool = False
    # Of subscriptions that are not in force as they were asked for: both.
    narrowed: dict[int, InForce] = field(default_factory=dict)
    # Advertisements that are not answered until the whole network knows them.
    unsettled: set[int] = field(default_factory=set)
    # Durable subscriptions that it reads.
    durables: int = 0
    # Deliveries that it did not get, ever.
    lost: int = 0
    # Whether nobody is behind it: what it wants comes from the log.
    is_standing: bool = False
    # What it is told when it asks for gaps.
    gaps: list[Gap] = field(default_factory=list)
    # Whether it is about to be forgotten, and misses nothing any more.
    is_gone: bool = False
    # What the router calls it.
    client: str = field(init=False)

    def __post_init__(self) -> None:
        self.client = str(self.number)

    def party(self, number: int) -> Party:
        """What the router calls one of its numbered requests."""
        return Party(self.client, number)

    @property
    def interests(self) -> Mapping[int, Interest]:
        """Its subscriptions, by number."""
        return cast("Mapping[int, Interest]", self._registered.interests)

    @property
    def subscriptions(self) -> int:
        """How many subscriptions it has."""
        return len(self.registrations.of(self.client).held)

    @property
    def asked(self) -> Mapping[int, Interest]:
        """Its subscriptions as they were asked for; what is in force may be less."""
        if not self.narrowed:
            return self.interests
        asked = {number: each.asked for number, each in self.narrowed.items()}
        return {**self.interests, **asked}

    def asked_for(self, number: int) -> Interest | None:
        """What it asked for under a number."""
        if number in self.narrowed:
            return self.narrowed[number].asked
        held = self.registrations.of(self.client).held.get(number)
        return None if held is None else held.interest

    def in_force(self, number: int) -> str | None:
        """What is in force under a number, if that is less than was asked for."""
        narrowed = self.narrowed.get(number)
        return None if narrowed is None else str(narrowed)

    def is_guarded(self, number: int) -> bool:
        """Whether the grant is compared with each delivery of a subscription."""
        return number in self.narrowed and self.narrowed[number].is_guarded

    @property
    def advertisements(self) -> Mapping[int, Advertisement]:
        """Its advertisements, by number."""
        return cast("Mapping[int, Advertisement]", self._registered.advertisements)

    @property
    def _registered(self) -> Registered:
        return self.registrations.of(self.client)

    def reply(self, frame: bytes) -> None:
        """Answer, if the client is there."""
        if self.sink is not None:
            self.sink.reply(frame)

    def fail(self, error: ProtocolError) -> None:
        """Tell the client what was wrong, if it is there."""
        if self.sink is not None:
            self.sink.fail(error)

    def expect(self, size: int) -> bool:
        """What was kept follows, if the client is there."""
        return self.sink is not None and self.sink.expect(size)

    def deliver(self, frames: bytes, count: int) -> int:
        """Deliver, if the client is there; how many were lost."""
        if self.is_gone:
            return 0
        lost = count if self.sink is None else self.sink.deliver(frames, count)
        self.lost += lost
        return lost
