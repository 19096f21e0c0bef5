"""The state of a broker: what its rooms share, and how the router's answers leave."""

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby
from operator import itemgetter
from typing import Any

from siena.broker.access.gate import Gate
from siena.broker.access.quotas import Accounts
from siena.broker.clients.letters import (
    frame_of,
    frames_of_listing,
    frames_of_parcel,
    is_heard,
)
from siena.broker.clients.session import Session
from siena.broker.contracts import Neighbourly, OldBroker, OnInterest, Remember
from siena.broker.counters import TICK_SECONDS, Counters, Histogram
from siena.broker.data.client_entries import ClientEntries
from siena.broker.data.exchange import Exchange
from siena.broker.data.licences import Licences
from siena.broker.data.neighbour_entries import NeighbourEntries
from siena.broker.ids import number_of_offer
from siena.broker.io.shares import Shares
from siena.broker.settings import Settings
from siena.clock import Clock
from siena.messages import (
    Elsewhere,
    Interest,
    Interface,
    Listing,
    Lost,
    Message,
    Moved,
    Numbered,
    Outbox,
    Parcel,
    Party,
    Quenched,
    Settled,
    Unquenched,
    client_of,
)
from siena.model import Advertisement, Filter
from siena.protocol.control_frames import (
    Lost as LostBody,
    Quench,
    Settled as SettledBody,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.routing.interest_table import Change
from siena.routing.router import Router
from siena.routing.steps.gathering import Batched

log = logging.getLogger("siena.broker")
_MESSAGE = itemgetter(1)


def _not_asked(*_: object) -> None:
    pass


@dataclass(slots=True)
class BrokerState:
    """The state of one broker."""

    settings: Settings
    clock: Clock
    router: Router
    name: str = ""
    exchange: Exchange = field(default_factory=Exchange)
    gate: Gate = field(default_factory=Gate)
    accounts: Accounts = field(init=False)
    shares: Shares = field(init=False)
    licences: Licences = field(init=False)
    counters: Counters = field(default_factory=Counters)
    tick_seconds: Histogram = field(default_factory=lambda: Histogram(TICK_SECONDS))
    sessions: dict[int, Session] = field(default_factory=dict)
    # Sessions that outlive their connections, by who they are.
    identities: dict[str, Session] = field(default_factory=dict)
    links: dict[int, Neighbourly] = field(default_factory=dict)
    # Where the clients that are on their way to this broker come from.
    old_brokers: dict[str, OldBroker] = field(default_factory=dict)
    neighbours: NeighbourEntries = field(init=False)
    # Told what neighbours, and hops that stand for them, want and no longer want.
    on_wanted: Callable[[int, Filter, bool], None] = _not_asked
    # Where it is written down what identities want, if it is.
    remember: Remember | None = None
    # Who follows all interests, if somebody does.
    on_interest: OnInterest | None = None

    def __post_init__(self) -> None:
        self.accounts = Accounts(self.settings.quotas)
        self.shares = Shares(self.accounts, self.clock)
        self.exchange.watchers.append(self.shares.change)
        self.exchange.compiling = self.shares.compiling
        self.exchange.scattered = self.shares.scattered
        self.router.mailboxes.bytes_max = self.settings.quotas.kept_bytes
        self.licences = Licences(self.exchange)
        self.neighbours = NeighbourEntries(self.exchange)
        self.router.tables.watcher = self._mirror
        self.router.questions.name_neighbours(self._name_of)
        ClientEntries(
            self.router,
            self.exchange,
            self.sessions,
            self.counters,
            self._changed,
            self._wants,
        )
        self.router.clients.is_there = self._is_there

    def _mirror(self, change: Change[Filter] | Change[Advertisement]) -> None:
        """Let the exchange know what neighbours and monitors want.

        What clients want it knows already, subscription by subscription.
        """
        hop = change.holder.hop
        if isinstance(hop, str):
            return
        if hop in self.links:
            self.links[hop].holds(change)
        if not isinstance(change.item, Filter):
            return
        self.neighbours.changed((hop, change.item), gained=change.gained)
        self.on_wanted(hop, change.item, change.gained)
        # A link that is down is forgotten before what it wanted.
        if self.on_interest is not None and (hop in self.links or not change.gained):
            self.on_interest(change.holder, change.item, gained=change.gained)

    def _wants(self, party: Party, interest: Interest, gained: bool) -> None:  # noqa: FBT001 -- as watchers have it
        """A client wants something, or no longer."""
        if self.on_interest is not None:
            self.on_interest(party, interest, gained=gained)

    def _name_of(self, neighbour: int) -> str:
        """What a neighbour calls itself."""
        link = self.links.get(neighbour)
        return str(neighbour) if link is None else link.name

    def _changed(self, client: str, at_once: bool) -> None:  # noqa: FBT001 -- as watchers have it
        """What a client wants has changed, or whether it is there."""
        if self.remember is None:
            return
        session = self.sessions.get(int(client))
        if session is not None:
            self.remember(session, at_once=at_once)

    def _is_there(self, client: str) -> bool:
        """Whether a client's connection can still take what is handed over."""
        session = self.sessions.get(int(client))
        return session is not None and session.expect(0)

    def forget(self, session: Session) -> None:
        """A session is over."""
        del self.sessions[session.number]
        self.forget_identity(session)

    def forget_identity(self, session: Session) -> None:
        """The next client with its identity is another one."""
        if self.identities.get(session.identity or "") is session:
            del self.identities[session.identity or ""]
            if self.remember is not None:
                self.remember(session, at_once=False)

    def handle(self, message: Message, source: Interface) -> None:
        """Let the router decide what follows from a message, and send it."""
        self.handle_gathered()  # before it, and a mistake there is not the source's
        self.post(self.router.handle(message, source))

    def gather(
        self, message: Batched, source: Interface, token: int | None = None
    ) -> None:
        """The same, together with others of this tick, at its end at the latest."""
        try:
            out = self.router.gather(message, source, token)
            if out:
                self.post(out)
        except Exception:
            log.exception("a mistake of ours, at %r", message)
            self._fail_gathered(source)  # which may not be among them yet

    def handle_gathered(self) -> None:
        """Let the router decide what follows from what this tick has gathered."""
        try:
            self.post(self.router.handle_gathered())
        except Exception:
            log.exception("a mistake of ours, in what was gathered")
            self._fail_gathered()

    def _fail_gathered(self, *more: Interface) -> None:
        """End the connections whose requests failed together, and all links.

        They come again, and no client waits for an answer that was lost.
        """
        text = "a mistake of the broker: what was asked for last may not be in force"
        error = ProtocolError(Fault.BROKEN, text)
        sources = self.router.gathered_from().union(more)
        parties = [who for who in sources if isinstance(who, str)]
        for number in {int(client_of(party)) for party in parties}:
            session = self.sessions.get(number)
            if session is not None:
                self.counters.faults += 1
                session.fail(error)
        self.fail_links()

    def fail_links(self) -> None:
        """End all links, since what neighbours were told may not be what holds.

        When they are made again, both ends are told everything anew.
        """
        error = ProtocolError(Fault.BROKEN, "a mistake of the broker, while routing")
        for link in list(self.links.values()):
            self.counters.faults += 1
            link.fail(error)

    # --- What the router answers ----------------------------------------------------

    def post(self, outbox: Outbox) -> None:
        """Send what the router answers."""
        if not outbox:  # most often
            return
        for (interface, kind), group in groupby(outbox, _kind):
            messages: list[Any] = [*map(_MESSAGE, group)]
            if isinstance(interface, int):
                self._tell(interface, messages)
            elif kind is Numbered:
                self._deliver(interface, messages)
            elif kind is Settled:
                self._settle(interface, messages)
            elif kind is Elsewhere:
                self._ask(interface, messages)
            else:
                for message in messages:
                    self._say(interface, message)

    def _tell(self, neighbour: int, messages: list[Message]) -> None:
        """Tell a neighbour, unless it has gone."""
        if neighbour in self.links:
            self.counters.router_out += len(messages)
            self.links[neighbour].tell(messages)

    def _ask(self, client: str, messages: list[Message]) -> None:
        """Ask the broker where a client comes from."""
        for message in messages:
            if client in self.old_brokers:  # what is asked may end it
                self.old_brokers[client].ask(message)

    def _say(self, party: str, message: Message) -> None:
        """Tell a client; one that has gone meanwhile hears nothing."""
        session = self.sessions.get(int(client_of(party)))
        if session is None:
            return
        if isinstance(message, Lost):
            session.reply(LostBody(message.count).pack())
        elif isinstance(message, Listing):
            self._reply(session, frames_of_listing(_as_asked(message, session)))
        elif isinstance(message, Parcel):
            frames = frames_of_parcel(self.heard(session, message))
            if session.expect(sum(map(len, frames))):
                self._reply(session, frames)
        elif isinstance(message, Moved) and session.client in self.old_brokers:
            # What the old broker said of them does not hold here.
            for number in sorted(session.advertisements.keys() - session.unsettled):
                self.answer_advertisement(session, number)
            self.old_brokers[session.client].moved(message.error)
        elif isinstance(party, Party) and isinstance(message, (Quenched, Unquenched)):
            self._quench(
                session, party.number, is_quenched=isinstance(message, Quenched)
            )

    def heard(self, session: Session, parcel: Parcel) -> Parcel:
        """What a client may hear of what was kept for it."""
        heard = self.gate.hears(session.principal)
        if heard is None:
            return parcel
        kept = (
            letter
            for letter in parcel.kept
            if not isinstance(letter, Numbered) or is_heard(letter, heard)
        )
        return replace(parcel, kept=tuple(kept))

    def _quench(self, session: Session, number: int, *, is_quenched: bool) -> None:
        if number not in session.unsettled:
            session.reply(Quench(number, is_quenched).pack())

    def _settle(self, client: str, answers: list[Settled]) -> None:
        """Tell a client which of its requests are in force; their tokens say it."""
        session = self.sessions.get(int(client))
        if session is None:
            return
        frames = [
            SettledBody(a.token, session.in_force(a.token), a.silent).pack()
            for a in answers
            if a.token >= 0
        ]
        if frames:
            session.reply(b"".join(frames))
        for number in [number_of_offer(a.token) for a in answers if a.token < 0]:
            if number in session.unsettled:
                session.unsettled.remove(number)
                self.answer_advertisement(session, number)

    def answer_advertisement(self, session: Session, number: int) -> None:
        """Say whether nothing of an advertisement is wanted."""
        offer = session.advertisements.get(number)
        if offer is not None:
            is_quenched = self.router.is_quenched(session.party(number), offer)
            session.reply(Quench(number, is_quenched).pack())

    def _reply(self, session: Session, frames: Iterable[bytes]) -> None:
        for frame in frames:
            session.reply(frame)

    def _deliver(self, interface: Interface, letters: list[Numbered]) -> None:
        """Deliver to a client what was not laid out in bulk."""
        session = self.sessions.get(int(interface))
        if session is None:
            return
        heard = self.gate.hears(session.principal)
        if heard is not None:  # they were kept, perhaps, when more was granted
            letters = [letter for letter in letters if is_heard(letter, heard)]
        frames = []
        for letter in letters:
            try:
                frames.append(frame_of(letter))
            except ProtocolError:  # a sequence of huge notifications, and very many
                session.lost += 1
                self.counters.lost += 1
                session.reply(LostBody(1, letter.numbers[0]).pack())
        if len(letters) > 1:  # they were kept
            session.expect(sum(map(len, frames)))
        lost = session.deliver(b"".join(frames), len(frames))
        self.counters.deliveries += len(frames) - lost
        self.counters.lost += lost


def _as_asked(listing: Listing, session: Session) -> Listing:
    """A listing in the client's own words: what is granted elsewhere is another."""
    asked = session.asked
    interests = tuple(
        (key, asked.get(key, interest) if isinstance(key, int) else interest)
        for key, interest in listing.interests
    )
    return replace(listing, interests=interests)


def _kind(sent: tuple[Interface, Message]) -> tuple[Interface, type | None]:
    """What can be sent together: answers and letters to one client, or to a link."""
    interface, message = sent
    if type(interface) is int:
        return interface, None
    if type(interface) is Party and type(message) is Settled:
        return interface.client, Settled
    if isinstance(interface, Elsewhere):  # and no client, though it looks like one
        return interface, Elsewhere
    return interface, Numbered if isinstance(message, Numbered) else None
