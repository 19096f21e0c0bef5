"""Clients that move here: the router decides, and this talks to their old brokers.

::

    the new broker                                 the old one
      ── CONNECT as the identity ──────────────────▶
      ── MOVE without a URL ───────────────────────▶
      ◀──────────────── SUB, ADV, …, then DONE ─────
      ── TELL release ─────────────────────────────▶
      ◀──── what was kept, LOST, then TELL parcel ──

What each of them does in between is written down in :mod:`siena.routing.handoff`.
"""

import asyncio
import ssl
from collections.abc import Iterator
from dataclasses import replace

from siena.broker.access.certificates import Certificates
from siena.broker.clients.session import Session, Sink
from siena.broker.limits import PATTERNS_MAX
from siena.broker.peers.destination import read_destination
from siena.broker.peers.handoff_source import HandoffSource
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.messages import (
    Elsewhere,
    Listing,
    ListInterests,
    Message,
    Move,
    PeerDisconnect,
    PeerRefuse,
    Release,
)
from siena.model import Pattern
from siena.protocol.address import Address, read_address
from siena.protocol.control_frames import Done, Error
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op
from siena.protocol.limits import ADVERTISEMENTS_MAX, SUBSCRIPTIONS_MAX
from siena.routing.mailbox import QUEUE_DEFAULT

# How long all of it may take.
MOVE_SECONDS_MAX = 30.0
# Moves that go on at the same time.
MOVES_MAX = 1_000


class HandoffTask:
    """One client on its way here, and the connection to its old broker.

    Ownership: the task that fetches, which ends with the move.
    """

    def __init__(
        self,
        state: BrokerState,
        session: Session,
        address: Address,
        secure: ssl.SSLContext | None,
    ) -> None:
        self._state = state
        self._session = session
        self._address = address
        self._secure = secure
        self._sink: Sink | None = session.sink
        self._old = HandoffSource(session.identity or "", session.token)
        self._questions: asyncio.Queue[Message] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        self.task = loop.create_task(self._fetch())
        state.old_brokers[session.client] = self
        state.handle(Move(QUEUE_DEFAULT), session.client)

    def ask(self, message: Message) -> None:
        """Ask the old broker; or nothing more."""
        if isinstance(message, PeerDisconnect):
            self.task.cancel()
        else:
            self._questions.put_nowait(message)

    def moved(self, error: str | None) -> None:
        """Answer the client, unless another connection has taken its place."""
        if error is None:
            frame = Done(Op.MOVE).pack()
        else:
            text = f"cannot fetch from {self._address.place}: {error}"
            fault = ProtocolError(Fault.BAD_REQUEST, text, request=Op.MOVE)
            frame = Error.of(fault).pack()
        if self._session.sink is self._sink:
            self._session.reply(frame)

    async def _fetch(self) -> None:
        try:
            async with asyncio.timeout(MOVE_SECONDS_MAX):
                await self._old.connect(self._address, self._secure)
                while True:
                    await self._answer(await self._questions.get())
        except (OSError, EOFError, TimeoutError, SienaError) as error:
            self._failed(str(error) or type(error).__name__)
        finally:
            del self._state.old_brokers[self._session.client]
            self._old.close()

    async def _answer(self, question: Message) -> None:
        """Bring the router what the old broker answers."""
        if isinstance(question, ListInterests):
            listing = await self._old.listing()
            check_room(self._session, listing)
            answer: Message = self._granted(listing)
        else:
            assert isinstance(question, Release)
            parcel = await self._old.release()
            answer = self._state.heard(self._session, parcel)
        self._state.handle(answer, Elsewhere(self._session.client))

    def _granted(self, listing: Listing) -> Listing:
        """What is in force here of what was asked for there.

        Raises:
            ProtocolError: if that is refused here.
        """
        gate, session = self._state.gate, self._session
        interests = []
        for key, interest in listing.interests:
            assert isinstance(key, int), "clients of brokers number what they ask for"
            if session.asked_for(key) == interest:  # it is there already
                interests.append((key, session.interests[key]))
                continue
            in_force = gate.subscribe(session.principal, interest, key)
            if not in_force.is_whole and key not in session.interests:
                session.narrowed[key] = in_force
            interests.append((key, in_force.interest))
        for place, offer in listing.advertisements:
            assert isinstance(place, int), "and what they advertise"
            gate.advertise(session.principal, offer, place)
        return replace(listing, interests=tuple(interests))

    def _failed(self, why: str) -> None:
        """Let the router undo it; what has come already is not lost."""
        source = Elsewhere(self._session.client)
        if self._old.has_some:
            self._state.handle(self._old.parcel(torn=why), source)
        self._state.handle(PeerRefuse(why), source)


def check_room(session: Session, listing: Listing) -> None:
    """Refuse what a client asked for elsewhere if it is too much with what it has.

    Raises:
        ProtocolError: if it is.
    """
    new = [i for key, i in listing.interests if key not in session.interests]
    offers = [
        a for key, a in listing.advertisements if key not in session.advertisements
    ]
    patterns = session.patterns + sum(isinstance(i, Pattern) for i in new)
    for count, most, what in (
        (len(session.interests) + len(new), SUBSCRIPTIONS_MAX, "subscriptions"),
        (patterns, PATTERNS_MAX, "patterns"),
        (
            len(session.advertisements) + len(offers),
            ADVERTISEMENTS_MAX,
            "advertisements",
        ),
    ):
        if count > most:
            raise ProtocolError(Fault.TOO_MANY, f"more than {most} {what}")


class HandoffTasks:
    """The clients that move to this broker."""

    def __init__(self, state: BrokerState, certificates: Certificates) -> None:
        self._state = state
        self._certificates = certificates
        self._moves: dict[Session, HandoffTask] = {}

    def __len__(self) -> int:
        return len(self._moves)

    async def stop(self) -> None:
        """Give up all moves to this broker."""
        tasks = [move.task for move in self._moves.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def fetch(self, session: Session, url: str) -> None:
        """Fetch what another broker keeps for an identity.

        Raises:
            ProtocolError: if it may not be asked.
        """
        address = self._allowed(session, url)
        if session in self._moves:
            raise ProtocolError(Fault.BAD_REQUEST, "it is being moved already")
        if len(self._moves) >= MOVES_MAX:
            raise ProtocolError(
                Fault.TOO_MANY, f"more than {MOVES_MAX} moves at a time"
            )
        secure = self._certificates.client if address.is_secure else None
        move = self._moves[session] = HandoffTask(self._state, session, address, secure)
        move.task.add_done_callback(lambda _: self._moves.pop(session, None))

    def _allowed(self, session: Session, url: str) -> Address:
        """A client makes a broker connect only to places that it was told of.

        Where brokers are asked who they are, these are brokers to which there is a
        link: otherwise a client would hear which ports of this machine are open.
        """
        try:
            address = read_address(url)
        except SienaError as error:
            raise ProtocolError.because(Fault.BAD_REQUEST, error) from None
        links = [read_destination(x.url).address for x in self._state.settings.links]
        if session.principal.is_local:
            if address.is_loopback or address.host in {link.host for link in links}:
                return address
        elif address in {*links, *self._neighbours()}:
            if session.token is None:
                text = "a client moves with a token, which is shown to the other broker"
                raise ProtocolError(Fault.BAD_REQUEST, text)
            if address.is_secure or address.is_loopback:
                return address
        raise ProtocolError(
            Fault.NOT_ALLOWED, f"{address.host} is no broker that this one calls"
        )

    def _neighbours(self) -> Iterator[Address]:
        """Where neighbours say that clients find them."""
        for link in self._state.links.values():
            urls = link.snapshot()["urls"]
            assert isinstance(urls, list)
            for url in urls:
                try:
                    yield read_address(str(url))
                except SienaError:
                    continue
