"""The core: what the parts of a broker share, and how the router's answers leave it."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

from siena.broker.clients.session import Session
from siena.broker.counters import Counters
from siena.broker.data.exchange import Exchange
from siena.broker.ids import session_and_number
from siena.broker.settings import Settings
from siena.clock import Clock
from siena.messages import (
    Found,
    Message,
    Outbox,
    Quenched,
    Settled,
    Unquenched,
)
from siena.model import Advertisement, Filter
from siena.protocol.contents import write_block
from siena.protocol.control_frames import Lost, Quench, Settled as SettledBody
from siena.protocol.data_frames import pack_found
from siena.protocol.error_codes import ProtocolError
from siena.routing.interest_table import Change
from siena.routing.router import Router


class Neighbourly(Protocol):
    """A link to a neighbouring broker, as far as others need it."""

    def tell(self, message: Message) -> None:
        """Send a message of our router to the other one."""
        ...

    def forward(self, frame: bytes) -> None:
        """Send a notification."""
        ...

    def snapshot(self) -> dict[str, object]:
        """What there is to know about it."""
        ...

    def holds(self, change: Change[Filter] | Change[Advertisement]) -> None:
        """Our table of what it wants, or offers, has changed."""
        ...


@dataclass(slots=True)
class BrokerState:
    """The state of one broker."""

    settings: Settings
    clock: Clock
    router: Router
    name: str = ""
    exchange: Exchange = field(default_factory=Exchange)
    counters: Counters = field(default_factory=Counters)
    sessions: dict[int, Session] = field(default_factory=dict)
    # Sessions that outlive their connections, by who they are.
    identities: dict[str, Session] = field(default_factory=dict)
    links: dict[int, Neighbourly] = field(default_factory=dict)
    # By how many origins a hop wants a filter: the exchange needs to know it once.
    _watched: Counter[tuple[int, Filter]] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.router.tables.watcher = self._mirror

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
        key = hop, change.item
        self._watched[key] += 1 if change.gained else -1
        if change.gained and self._watched[key] == 1:
            self.exchange.watch(*key)
        elif not self._watched[key]:
            del self._watched[key]
            self.exchange.unwatch(*key)

    def forget(self, session: Session) -> None:
        """A session is over."""
        del self.sessions[session.number]
        if session.identity is not None:
            del self.identities[session.identity]

    def post(self, outbox: Outbox) -> None:
        """Send what the router answers."""
        for interface, message in outbox:
            if isinstance(interface, str):
                self._say(interface, message)
            elif interface in self.links:
                self.counters.router_out += 1
                self.links[interface].tell(message)

    def _say(self, party: str, message: Message) -> None:
        """Tell a client; one that has gone meanwhile hears nothing."""
        number, of = session_and_number(party)
        session = self.sessions.get(number)
        if session is None:
            return
        if isinstance(message, Settled) and message.token in session.settling:
            session.settling.pop(message.token)(of)
        elif isinstance(message, Settled) and message.token >= 0:
            session.reply(SettledBody(of).pack())
        elif isinstance(message, (Quenched, Unquenched)):
            is_quenched = isinstance(message, Quenched)
            (session.quenched.add if is_quenched else session.quenched.discard)(of)
            session.reply(Quench(of, is_quenched).pack())
        elif isinstance(message, Found):
            self._found(session, of, message)

    def _found(self, session: Session, of: int, message: Found) -> None:
        if session.is_moving:
            return
        self.counters.pattern_matches += 1
        blocks = [write_block(notify.notification) for notify in message.sequence]
        try:
            frame = pack_found(of, blocks)
        except ProtocolError:  # huge notifications, and very many of them
            session.lost += 1
            self.counters.lost += 1
            session.reply(Lost(1, of).pack())
            return
        if session.is_suspended:
            self.counters.lost += session.keep(frame, message.key)
        else:
            self.counters.lost += session.deliver(frame, 1)
