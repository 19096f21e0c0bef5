"""A link: the connection to a neighbouring broker, once both have agreed on it.

Both ends tell what they want when it comes up, and then what changes.  Now and then
each sends a digest of what it has told; if the other holds something else, the link is
broken and made anew, and everything is told again.

Why one module: what comes over a link and what goes is counted by the same tallies.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from siena.block import BLOCK_BYTES_MAX
from siena.broker.access.grants.decisions import may_inspect
from siena.broker.counters import LinkCounters
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.limits import SLICE_SECONDS_MAX
from siena.broker.peers.bounds import Bounds
from siena.broker.peers.pulse import UNACKNOWLEDGED_SECONDS_MAX, Pulse
from siena.broker.peers.standstill import Standstill
from siena.broker.state import BrokerState
from siena.messages import (
    Advertise,
    Found,
    LinkState,
    Message,
    PeerConfirm,
    Settle,
    Settled,
    Side,
    Subscribe,
    Unadvertise,
    Unsubscribe,
    verb,
)
from siena.messages.requests import text_of
from siena.model import Advertisement, Filter, Predicate
from siena.protocol.control_frames import Digest, Error, Gap, Tell, Trace
from siena.protocol.data_frames import TRACED, Forwarded
from siena.protocol.digests import Tally
from siena.protocol.durable.receipts import Relayed, Unassured
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.forward_runs import ForwardRun, runs_in
from siena.protocol.fast.relay_runs import RelayRun
from siena.protocol.peer_messages import decode, pack_jointly, pack_one_by_one
from siena.protocol.pings import Ping, Pong
from siena.protocol.states import Event
from siena.routing.interest_table import Change

log = logging.getLogger("siena.broker")

# What routers tell each other once there is a link.
TOLD = (
    Advertise,
    Found,
    LinkState,
    Settle,
    Settled,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)


# Of what routers say, this is told only if it is granted, and that is said otherwise.
_LOOKED_AT = frozenset({Found, PeerConfirm})


class Other(NamedTuple):
    """The broker at the other end."""

    number: int
    name: str
    epoch: int
    side: Side  # what we take it for
    caller: Literal["us", "them"]
    urls: list[str]  # where clients find it
    takes_runs: bool
    hears_gaps: bool = False
    is_relaying: bool = False  # it stores what is acknowledged, and so do we
    pulse_seconds: float | None = None  # how often something comes, if that is known
    hears_jointly: bool = False
    hears_unassured: bool = False  # it is told what goes to brokers without a store


class Link:
    """A neighbour, and what it sends.

    Ownership: the connection; ``on_gone`` is called when it has ended, once.

    Back-pressure: when much is waiting for the neighbour, those who publish for it are
    held; when far too much is, the link is broken, and nothing is lost silently.
    """

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        connection: Connection,
        other: Other,
        on_gone: Callable[["Link"], None],
    ) -> None:
        self.number, self.name, self.epoch, self.side, self.caller = other[:5]
        self._is_in_mesh = other.side is Side.MESH
        self._urls = other.urls
        self.takes_runs = other.takes_runs
        self.hears_gaps = other.hears_gaps
        self._hears_jointly = other.hears_jointly
        self.is_relaying = other.is_relaying
        self.hears_unassured = other.hears_unassured
        self.on_relay: Callable[[RelayRun, Link], None] = lambda _run, _link: None
        """Called when it relays something that is acknowledged."""
        self.on_relayed: Callable[[Relayed, Link], None] = lambda _body, _link: None
        """And when it has stored something."""
        self.on_unassured: Callable[[Unassured, Link], None] = lambda *_: None
        """And when it says what goes to brokers without a store."""
        self.on_gap: Callable[[Gap, Link], None] = lambda _gap, _link: None
        """Called when the neighbour tells of a gap."""
        self.on_fault: Callable[[], None] = lambda: None
        """Called when the link is ended for what the neighbour has sent."""
        theirs = other.pulse_seconds
        self._pulse = Pulse(state.settings.pulse_seconds, theirs) if theirs else None
        self.connection = connection
        self.exports: Predicate | None = None
        """What the neighbour may have, if not everything."""
        self.imports: Predicate | None = None
        """What it may bring."""
        self.counters = LinkCounters()
        self._bounds = Bounds(state, connection, self.number, self.counters)
        self._state = state
        self._publications = publications
        self._on_gone = on_gone
        # How much it wants; and in its own words, where our table knows it by others.
        self._count = 0
        self._spellings: dict[tuple[Filter | Advertisement, int], str] = {}
        self._held = Tally()
        # What it was told, once that is counted.
        self._said: Tally | None = None
        self.standstill = Standstill(connection)
        """Whether it takes anything at all."""
        connection.outbox.policy = "link"

    @property
    def neighbour(self) -> int | None:
        """The broker at the other end."""
        return self.number

    # --- Coming in ------------------------------------------------------------------

    def handle(self, event: Event) -> None:
        """Do what follows.

        Raises:
            ProtocolError: if the link cannot go on; then it is not made again at once.
        """
        try:
            self._handle(event)
        except ProtocolError as error:
            if error.fault.closes:
                self.on_fault()
            raise

    def _handle(self, event: Event) -> None:
        match event:
            case ForwardRun() | Forwarded():
                self._notified(event)
            case RelayRun() | Relayed() | Unassured():
                self._relayed(event)
            case Ping():
                pong = event.answer().pack()
                self._publications.answer(self.connection, pong)
            case Tell():
                with self._bounds.work():
                    self._hear(event)
            case Digest():
                with self._bounds.work():
                    self._state.handle_gathered()  # it is about these, too
                    self._compare(event)
            case Trace():
                self._publications.tracing.answer(event)
            case Gap():
                self.on_gap(event, self)
            case Error():
                self.connection.close()
            case _:
                assert isinstance(event, Pong)

    def publish(self, frames: memoryview) -> int:
        """Take the RUN frames that stand at the beginning; where they end.

        What is wrong with one is found when it is read once more, as any other frame.
        """
        elapsed = self._state.clock.elapsed
        deadline = elapsed() + SLICE_SECONDS_MAX
        at = 0
        for run, end in runs_in(frames, BLOCK_BYTES_MAX):
            self._forward(run)
            at = end
            if self.connection.is_closing or elapsed() > deadline:
                break
        return at

    def _notified(self, event: ForwardRun | Forwarded) -> None:
        if isinstance(event, ForwardRun):
            self._forward(event)
        elif event.flags & TRACED and self._may_trace():
            self._trace(event)
        else:
            plain = event._replace(flags=event.flags & ~TRACED)
            self._forward(ForwardRun.of(plain))

    def _relayed(self, event: RelayRun | Relayed | Unassured) -> None:
        if not self.is_relaying:
            text = "nothing is relayed on this link: both brokers need a store"
            raise ProtocolError(Fault.BAD_FRAME, text)
        if isinstance(event, RelayRun):
            self.on_relay(event, self)
        elif isinstance(event, Unassured):
            with self._bounds.work():
                self.on_unassured(event, self)
        else:
            self.on_relayed(event, self)

    def fail(self, error: ProtocolError) -> None:
        """Tell the neighbour what was wrong, and end the link if it cannot go on."""
        self.connection.fail(error)

    def gone(self) -> None:
        """The connection has ended."""
        self.standstill.end()
        self._state.licences.give(self.connection.licence)
        self.connection.licence = None
        self._on_gone(self)

    def _forward(self, run: ForwardRun) -> None:
        """Take what was not here before, and count what was."""
        counters, total = self._state.counters, len(run.numbers)
        counters.received += total
        self.counters.received += total
        self._bounds.charge(run)
        if not self._bounds.admits(run.head[:2], run.head.root, total):
            return
        window = run.window
        new = self._state.router.seen.learn(window)
        if new != window.bits:
            counters.duplicates += (new ^ window.bits).bit_count()
            if not new:
                self.connection.is_drawn = True
                return
            run = run.only(new)
        self._publications.add_forwarded(self.connection, run)

    def _trace(self, head: Forwarded) -> None:
        """Take one of which its publisher wants to know where it goes."""
        self._state.counters.received += 1
        self.counters.received += 1
        if not self._bounds.admits(head.stamp[:2], head.root, 1):
            return
        if self._state.router.seen.is_new(head.stamp):
            self._publications.tracing.forward(self.connection, head, self.name)
        else:
            self._state.counters.duplicates += 1

    def _hear(self, body: Tell) -> None:
        message = decode(body)
        count = 1
        if isinstance(message, Subscribe) and isinstance(message.interest, Predicate):
            count = len(message.interest)
        self._state.counters.router_in += count
        self.counters.router_in += count
        if isinstance(message, Found) and not self._is_within(self.imports, message):
            self._refuse("import", message)
            return
        if not isinstance(message, TOLD):
            text = f"{verb(message)} is not told on a link that stands"
            raise ProtocolError(Fault.BAD_FRAME, text)
        if isinstance(message, (Subscribe, Advertise)):
            self._bounds.check_room(self._count)
        if isinstance(message, (Subscribe, Settle)):
            self._state.gather(message, self.number)
        else:
            self._state.handle(message, self.number)

    # --- Going out ------------------------------------------------------------------

    def tell(self, messages: Sequence[Message]) -> None:
        """Send messages of our router; that the link stands was said already."""
        self._follow()
        told = [
            message
            for message in messages
            if type(message) not in _LOOKED_AT
            or (type(message) is Found and self._is_granted(message))
        ]
        self.counters.router_out += len(told)
        if told:
            pack = pack_jointly if self._hears_jointly else pack_one_by_one
            self.connection.reply(b"".join(pack(told)))

    def forward(self, frame: bytes, count: int) -> None:
        """Send notifications, as many as a frame has."""
        self.counters.forwarded += count
        self.connection.deliver(frame, count)

    def relay(self, frame: bytes, count: int) -> None:
        """Send publications that are acknowledged, as many as a frame has."""
        self.counters.forwarded += count
        self._state.counters.forwarded += count
        self.connection.reply(frame)

    # --- Grants ---------------------------------------------------------------------

    def permit(self) -> None:
        """Let the neighbour have and bring what its roles grant, from now on.

        A master is sent everything, whatever it wants: here, all that is granted.
        """
        state, principal = self._state, self.connection.principal
        grant = state.gate.grant(principal)
        is_unlimited = grant.is_unlimited
        self.exports = None if is_unlimited else grant.exports
        self.imports = None if is_unlimited else grant.imports
        was_limited = state.neighbours.is_limited(self.number)
        state.neighbours.limit(self.number, self.exports)
        if self.side is Side.MASTER and was_limited is is_unlimited:
            entry = self.number, Filter()
            state.neighbours.changed(entry, gained=not is_unlimited)
        licence = state.licences.take(grant.imports)
        state.licences.give(self.connection.licence)
        self.connection.licence = licence

    def _may_trace(self) -> bool:
        """Whether the neighbour hears what became of a notification here, and why.

        That names clients and what they want; without the grant it goes on untraced.
        """
        gate, principal = self._state.gate, self.connection.principal
        return may_inspect(gate.grant(principal).inspect, "trace")

    def _is_granted(self, found: Found) -> bool:
        """Whether a sequence may go to the neighbour: if it may have all of it."""
        if self._is_within(self.exports, found):
            return True
        self._refuse("export", found)
        return False

    def _is_within(self, granted: Predicate | None, found: Found) -> bool:
        """Whether each notification of a sequence is granted."""
        return granted is None or all(
            granted.matches(notify.notification) for notify in found.sequence
        )

    def _refuse(self, verb: str, found: Found) -> None:
        self._state.gate.refuse(self.connection.principal, verb, str(found.pattern))

    # --- Pulse ----------------------------------------------------------------------

    def beat(self) -> None:
        """Say that we are here, and see whether the neighbour is."""
        connection = self.connection
        if connection.is_closing:  # and is aborted before long
            return
        connection.reply(Ping().pack())
        has_come, connection.is_heard = connection.is_heard, False
        is_reading = connection.is_reading
        connection.limit_unacknowledged(0 if is_reading else UNACKNOWLEDGED_SECONDS_MAX)
        if self._pulse is not None and self._pulse.is_dead_at_beat(
            has_come=has_come, is_reading=is_reading
        ):
            log.warning("nothing comes from %s any more: the link is ended", self.name)
            self._state.counters.silenced += 1
            connection.abort()

    @property
    def silent_seconds(self) -> float:
        """For about how long nothing has come, as far as its pulse tells."""
        beats = 0 if self._pulse is None else self._pulse.silent
        return beats * self._state.settings.pulse_seconds

    # --- Digests --------------------------------------------------------------------

    def holds(self, change: Change[Filter] | Change[Advertisement]) -> None:
        """Our table of what it wants, or offers, has changed."""
        key = change.item, change.holder.origin
        if change.gained:
            words = change.words
            assert words is not None
            spelling = text_of(words)
            if words is not change.item and spelling != text_of(change.item):
                self._spellings[key] = spelling
            self._count += 1
            self._held.add(spelling, self._origin(key[1]))
        else:
            spelling = self._spellings.pop(key, "") or text_of(change.item)
            self._count -= 1
            self._held.remove(spelling, self._origin(key[1]))

    def send_digest(self) -> None:
        """Say what we have told; later, if the neighbour does not hold that yet."""
        neighbour = self._state.router.tables.neighbours.get(self.number)
        if neighbour is None or not neighbour.is_level:  # it goes, or has come
            return
        self._follow()
        assert self._said is not None
        self.connection.reply(self._said.body().pack())

    def _follow(self) -> None:
        """Count what is told from now on: to print all of it each time takes long."""
        neighbour = self._state.router.tables.neighbours.get(self.number)
        if self._said is not None or neighbour is None:
            return
        self._said = Tally()
        for announcer in (neighbour.filters, neighbour.advertisements):
            for item, origin in announcer.told:
                self._say(item, origin, True)
            announcer.watch = self._say

    def _say(
        self,
        item: Filter | Advertisement,
        origin: int,
        gained: bool,  # noqa: FBT001 -- as watchers have it
    ) -> None:
        assert self._said is not None
        count = self._said.add if gained else self._said.remove
        count(text_of(item), self._origin(origin))

    def _origin(self, origin: int) -> int | None:
        """Where something came from counts within a mesh only."""
        return origin if self._is_in_mesh else None

    def _compare(self, theirs: Digest) -> None:
        """Compare, unless we have yet to forget what it has given up."""
        ours = self._held.body()
        if ours != theirs and not self._state.router.tables.filters.is_giving_up:
            self._state.counters.repaired += 1
            raise ProtocolError(
                Fault.BROKEN,
                f"{ours.count} interests are known here, and {theirs.count} were told",
            )

    def snapshot(self) -> dict[str, object]:
        """What there is to know about it."""
        return {
            "broker": str(self.number),  # a number beyond 2^53 is not safe in JSON
            "name": self.name,
            "address": self.connection.address,
            "urls": self._urls,
            "side": self.side.value,
            "caller": self.caller,
            "interests": self._count,
            # Bytes that it has not taken yet.
            "waiting": 0 if self.connection.is_closing else self.connection.waiting,
            **self.counters.snapshot(),
        }
