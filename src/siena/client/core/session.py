"""What a client has said and waits to hear, across all its connections.

A session owns no socket and no task.  A reconnector
(:mod:`siena.client.core.reconnect`) lends it one transport after another:
:meth:`Session.attach` says everything that still stands again, :meth:`Session.detach`
fails the questions that the lost transport took with it.

Why one module: what was said, what is waited for and what was heard are one state.
"""

import asyncio
import itertools
import logging
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from msgspec.structs import replace

from siena.client.core.acked_publisher import AckedPublisher, no_store
from siena.client.core.inbox import Inbox
from siena.client.core.pending import Pending
from siena.client.core.registered_durable import RegisteredDurable
from siena.client.core.registrations import (
    Gate,
    RegisteredAdvertisement,
    RegisteredInterest,
)
from siena.client.core.traces import TraceInProgress
from siena.client.core.transport import Transport
from siena.clock import SystemClock
from siena.errors import ConnectionLostError, RequestRefusedError, SienaError
from siena.protocol.client import Event
from siena.protocol.control_frames import (
    Body,
    Done,
    Ended,
    Error,
    Gap,
    GrantChanged,
    Lost,
    Quench,
    Resume,
    Seen,
    Settled,
    Suspend,
    Trace,
    Unadvertise,
    Unsubscribe,
)
from siena.protocol.data_frames import FoundSequence, pack_traced
from siena.protocol.durable.reading import DurableDelivery, DurableSubscribe
from siena.protocol.durable.receipts import PublisherIs, Stored
from siena.protocol.error_codes import Fault
from siena.protocol.fast.delivery_runs import DeliveryRun
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import DURABLE, GAPS, Limits
from siena.protocol.log_frames import Entries, Extent, Taken
from siena.protocol.pings import Ping, Pong

log = logging.getLogger("siena.client")

_NUMBERED = {Op.UNSUB, Op.UNADV}
# What the answers of the log answer.
_ANSWERED: dict[type[Body], Op] = {
    Extent: Op.LOG,
    Seen: Op.LOOK,
    Entries: Op.READ,
    Taken: Op.BATCH,
}
S = TypeVar("S", RegisteredInterest, RegisteredAdvertisement)


class Session:
    """The state of one client's conversation with its broker."""

    def __init__(
        self, *, has_identity: bool = False, publisher: str | None = None
    ) -> None:
        self.has_identity = has_identity
        self.transport: Transport | None = None
        self.limits = Limits()
        self.interests: dict[int, RegisteredInterest] = {}
        self.advertisements: dict[int, RegisteredAdvertisement] = {}
        self.traces: dict[int, TraceInProgress] = {}
        # Open while there is a connection that takes more.
        self.room = Gate()
        # How we asked to be suspended, while we are.
        self.suspended: Suspend | None = None
        # Whether the broker keeps what is for our identity until we resume.
        self.is_parked = False
        # Why there will be no more connections.
        self.failure: SienaError | None = None
        self.connections = 0
        # The number of the broker of the last connection.
        self._broker: int | None = None
        self.lost = 0
        self.gaps = 0
        self.on_gap: Callable[[Gap], None] = lambda _gap: None
        # Since when nothing can have come, and whose answers end that.
        self._lost_at: int | None = None
        self._unsettled: set[int] = set()
        # Whether something was published that no flush has followed yet.
        self.has_published = False
        self._refused: SienaError | None = None
        self._pending = Pending()
        self._numbers = itertools.count(1)
        self._newest_interest = 0
        self._pings = itertools.count(1)
        self._is_leaving = False
        self.features: tuple[str, ...] = ()
        """What the broker of this connection can do."""
        self.durables: dict[int, RegisteredDurable] = {}
        self.acked = AckedPublisher(self.say, publisher)
        """Publications that want a receipt."""

    @property
    def is_to_be_kept(self) -> bool:
        """Whether the broker has something to keep for us when we leave."""
        is_known = self.has_identity and self.suspended is None
        return is_known and not self._is_leaving and bool(self.interests)

    # -- connections come and go -----------------------------------------------

    def attach(
        self,
        transport: Transport,
        limits: Limits,
        features: tuple[str, ...] = (),
        *,
        was_kept: bool = False,
        broker: int | None = None,
    ) -> None:
        """Go on over this transport: say again what still stands.

        With ``was_kept`` the broker has kept what came since the one before was lost.
        ``broker`` is its number: what was to be said to another one about its log, is
        not said to this one.
        """
        self.transport = transport
        self._meet(broker)
        if GAPS in features:
            transport.send(Gap().pack())
        if was_kept or not self.interests:
            self._lost_at = None
        self._unsettled = set(self.interests)
        self.limits = limits
        self.features = features
        self.connections += 1
        if not self._is_leaving:
            for interest in self.interests.values():
                transport.send(interest.request())
            for advertisement in self.advertisements.values():
                transport.send(advertisement.request())
        if self.suspended is not None:
            transport.send(self.suspended.pack())
        elif self.connections > 1 and self.has_identity:
            # A broker that knows us has kept what came meanwhile; another has nothing
            # against being asked.
            transport.send(Resume().pack())
        for durable in list(self.durables.values()):
            self._ask_durable(durable)
        self.acked.attach(is_durable=DURABLE in features)
        self.pace()

    def _meet(self, broker: int | None) -> None:
        """Answers that were not sent yet are for the broker that they are about."""
        if broker != self._broker:
            self._broker = broker
            for durable in self.durables.values():
                durable.forget_answers()

    def detach(self, reason: SienaError) -> None:
        """The transport is gone; what was asked over it will not be answered."""
        if self._lost_at is None and self.transport is not None and self.interests:
            self._lost_at = _now()
        self.transport = None
        self.acked.detach()
        self.room.close()
        self._pending.fail(reason)
        for trace in self.traces.values():
            trace.fail(reason)
        for interest in self.interests.values():
            interest.settled.close()
        for durable in self.durables.values():
            durable.detach()
        for advertisement in self.advertisements.values():
            advertisement.forget()

    def fail(self, reason: SienaError) -> None:
        """There will be no other transport: all that wait hear why."""
        self.failure = self.failure or reason
        self.detach(reason)
        self.acked.fail(reason)
        self.room.fail(reason)
        for interest in self.interests.values():
            interest.fail(reason)
        for durable in self.durables.values():
            durable.fail(reason)
        for advertisement in self.advertisements.values():
            advertisement.fail(reason)

    def wake(self) -> None:
        """Resume, if that is still to be done: the program has begun to read."""
        if self.is_parked and self.transport is not None:
            self.is_parked = False
            self.transport.send(Resume().pack())

    def pace(self) -> None:
        """Let publishers go on, or wait, as the socket wants it."""
        if self.transport is not None and self.transport.is_writable:
            self.room.open()
        else:
            self.room.close()

    # -- saying ----------------------------------------------------------------

    def say(self, frames: bytes) -> None:
        """Send, if there is a connection; what stands is said again by the next."""
        if self.transport is not None:
            self.transport.send(frames)

    def publish(self, frames: bytes) -> None:
        """Send publications; the caller has waited for room."""
        self.has_published = True
        self.say(frames)

    def ask(self, body: Body, number: int | None = None) -> asyncio.Future[None]:
        """Send a request that is answered by DONE.

        Raises:
            ConnectionLostError: if there is no connection to send it over.
        """
        self._connected().send(body.pack())
        if isinstance(body, Suspend | Resume):  # the program decides by itself
            self.is_parked = False
        return self._pending.ask((body.op, number))

    def ask_for(self, body: Body) -> asyncio.Future[Any]:
        """Send a request, also one that is answered by more than DONE.

        Raises:
            ConnectionLostError: if there is no connection to send it over.
        """
        self._connected().send(body.pack())
        return self._pending.ask((body.op, None))

    def ping(self) -> asyncio.Future[None]:
        """A future for the moment when the broker has handled all that was sent."""
        token = next(self._pings).to_bytes(8, "little")
        self._connected().send(pack(Op.PING, token))
        return self._pending.ask((Op.PONG, token))

    def subscribe(
        self, interest: str, inbox: Inbox, *, is_pattern: bool
    ) -> RegisteredInterest:
        """Ask for what the interest selects, now and after every reconnection."""
        registered = RegisteredInterest(
            next(self._numbers), interest, inbox, is_pattern=is_pattern
        )
        if self.failure is not None:
            registered.fail(self.failure)
            return registered
        self.interests[registered.number] = registered
        self._newest_interest = registered.number
        self.say(registered.request())
        return registered

    def ask_again(self, registered: RegisteredInterest) -> None:
        """Ask whether it is in force now, where some brokers had not answered."""
        registered.silent = ()
        if self.transport is not None:  # or it will be asked for anew
            registered.settled.close()
            self.say(registered.request())

    def unsubscribe(
        self, registered: RegisteredInterest
    ) -> asyncio.Future[None] | None:
        """Ask no more; a future for the broker's word, if it has to be told."""
        number = registered.number
        if self.interests.pop(number, None) is None or self.transport is None:
            return None
        return self.ask(Unsubscribe(number), number)

    def read_durable(self, body: DurableSubscribe) -> RegisteredDurable:
        """Read a durable subscription, now and after every reconnection."""
        body = replace(body, number=next(self._numbers))
        durable = RegisteredDurable(body, self.say)
        if self.failure is not None:
            durable.fail(self.failure)
            return durable
        self.durables[durable.number] = durable
        if self.transport is not None:
            self._ask_durable(durable)
        return durable

    def _ask_durable(self, durable: RegisteredDurable) -> None:
        if DURABLE in self.features:
            self.say(durable.request())
        else:  # an older one would hang up
            del self.durables[durable.number]
            durable.fail(no_store())

    def leave_durable(self, durable: RegisteredDurable) -> asyncio.Future[None] | None:
        """Read no more; a future for the broker's word, if it has to be told."""
        if self.durables.pop(durable.number, None) is None:
            return None
        durable.flush()
        durable.end()
        if self.transport is None:
            return None
        return self.ask(Unsubscribe(durable.number), durable.number)

    def advertise(self, advertisement: str) -> RegisteredAdvertisement:
        """Say what will be published, now and after every reconnection."""
        registered = RegisteredAdvertisement(next(self._numbers), advertisement)
        if self.failure is not None:
            registered.fail(self.failure)
            return registered
        self.advertisements[registered.number] = registered
        self.say(registered.request())
        return registered

    def unadvertise(
        self, registered: RegisteredAdvertisement
    ) -> asyncio.Future[None] | None:
        """Take it back; a future for the broker's word, if it has to be told."""
        number = registered.number
        if self.advertisements.pop(number, None) is None or self.transport is None:
            return None
        return self.ask(Unadvertise(number), number)

    def leave(self) -> None:
        """Ask for nothing more, and still take what is on its way."""
        self._is_leaving = True
        for number in self.interests:
            self.say(Unsubscribe(number).pack())
        for number in self.advertisements:
            self.say(Unadvertise(number).pack())

    def trace(self, block: bytes, broker: str) -> tuple[int, TraceInProgress]:
        """Publish, and ask every broker on the way; the token of it, and its hops."""
        token = next(self._numbers)
        self._connected().send(pack_traced(token, block))
        self.traces[token] = trace = TraceInProgress(broker)
        return token, trace

    def take_refusal(self) -> SienaError | None:
        """What the broker had against a publication since this was last asked."""
        refused, self._refused = self._refused, None
        return refused

    def _connected(self) -> Transport:
        if self.transport is None:
            raise self.failure or ConnectionLostError("there is no connection now")
        return self.transport

    # -- what the broker says --------------------------------------------------

    def hear(self, event: Event) -> None:
        """Do what the broker says."""
        match event:
            case DeliveryRun(numbers, run):
                for number in numbers:
                    self._put(number, run)
            case FoundSequence(number, blocks):
                self._put(number, [blocks])
            case DurableDelivery(number=number) if number in self.durables:
                self.durables[number].put(event)
            case Pong(body):
                self._pending.answer((Op.PONG, body))
            case Ping():
                self.say(event.answer().pack())
            case Body():
                self._be_told(event)
            case _:  # INFO is for the transport, and the rest between brokers
                log.debug("ignored: %s", event)

    def _be_told(self, told: Body) -> None:
        match told:
            case Settled() | GrantChanged():
                self._settled(told)
            case Done():
                self._pending.answer(_question(told))
            case Ended():
                self._ended(told)
            case Quench():
                self._quench(told)
            case Extent() | Entries() | Taken() | Seen():
                self._pending.answer((_ANSWERED[type(told)], None), answer=told)
            case Lost() | Gap():
                self._missed(told)
            case Trace(token, hop) if token in self.traces:
                self.traces[token].add(hop)
            case Error():
                self._refuse(told)
            case Stored() | PublisherIs():
                self.acked.hear(told)
            case _:  # nothing that a client waits for
                log.debug("ignored: %s", told)

    def _put(
        self, number: int, items: Sequence[bytes] | Sequence[tuple[bytes, ...]]
    ) -> None:
        interest = self.interests.get(number)
        if interest is None:
            if number > self._newest_interest:
                self._miss(number, len(items))
            return  # or it has just ended
        if not interest.put_all(items) and interest.inbox.end is not False:
            self.unsubscribe(interest)  # it overflowed, and has ended with that

    def _miss(self, number: int, count: int) -> None:
        """The broker kept this for an interest that the program has not yet said."""
        self.lost += count
        log.warning(
            "%d notifications kept for subscription %d came before this program "
            "subscribed that often: subscribe to everything, and then read",
            count,
            number,
        )

    def _settled(self, told: Settled | GrantChanged) -> None:
        interest = self.interests.get(told.number)
        registered = interest or self.durables.get(told.number)
        if registered is not None:
            registered.in_force = told.in_force
        if isinstance(told, GrantChanged):
            return
        if interest is not None:
            interest.silent = told.silent
            interest.settled.open()
        elif told.number in self.durables:
            self.durables[told.number].hear_settled(told.silent)
        self._unsettled.discard(told.number)
        if self._lost_at is not None and not self._unsettled:
            since, self._lost_at = self._lost_at, None
            self._missed(Gap(since, _now(), "the connection was lost"))

    def _ended(self, told: Ended) -> None:
        """The broker has ended these, because we asked it to end what covers them."""
        for number in told.numbers:
            if told.request == Op.UNSUB_COVERED:
                interest = self.interests.pop(number, None)
                if interest is not None:
                    interest.end()
            else:
                advertisement = self.advertisements.pop(number, None)
                if advertisement is not None:
                    reason = "the advertisement was taken back"
                    advertisement.fail(ConnectionLostError(reason))
        self._pending.answer((told.request, None), answer=told.numbers)

    def _quench(self, told: Quench) -> None:
        advertisement = self.advertisements.get(told.number)
        if advertisement is not None:
            advertisement.hear(is_quenched=told.quenched)

    def _count_lost(self, told: Lost) -> None:
        self.lost += told.count
        named = self.interests.get(told.number) if told.number is not None else None
        for interest in [named] if named else self.interests.values():
            interest.lost_before += told.count

    def _missed(self, told: Lost | Gap) -> None:
        """So many were lost; or, for all that is known, something was."""
        if isinstance(told, Gap):
            self.gaps += 1
            self.on_gap(told)
        else:
            self._count_lost(told)

    def _refuse(self, told: Error) -> None:
        error = RequestRefusedError(told.fault, told.text)
        if told.fault == Fault.PUBLISHERS_WAIT.number:  # nothing was refused
            log.warning("the broker: %s", told.text)
            return
        number = told.number
        if told.closes:
            assert self.transport is not None
            self.transport.close(error)
        elif told.request == Op.SUB and number in self.interests:
            interest = self.interests.pop(number)
            if told.fault == Fault.NUMBER_TAKEN.number:
                self._renumber(interest, self.interests)
            else:
                interest.fail(error)
        elif told.request == Op.ADV and number in self.advertisements:
            advertisement = self.advertisements.pop(number)
            if told.fault == Fault.NUMBER_TAKEN.number:
                self._renumber(advertisement, self.advertisements)
            else:
                advertisement.fail(error)
        elif told.request in {Op.DSUB, Op.PUBLISHER}:
            self._refuse_durable(told, error)
        elif not self._pending.answer(_question(told), error):
            log.warning("the broker refused: %s", error)
            if told.request in {Op.PUB, None}:
                self._refused = self._refused or error

    def _refuse_durable(self, told: Error, error: SienaError) -> None:
        if told.request == Op.PUBLISHER:
            self.acked.refused(error)
        elif told.number in self.durables:
            self.durables.pop(told.number).fail(error)

    def _renumber(self, registered: S, numbered: dict[int, S]) -> None:
        """Take another number: under this one our identity asked for something else.

        What was kept for that must not be taken for what is asked for now.
        """
        registered.number = next(self._numbers)
        numbered[registered.number] = registered
        self.say(registered.request())


def _now() -> int:
    """Microseconds since 1970."""
    return SystemClock().nanoseconds() // 1_000


def _question(told: Error | Done) -> tuple[int, int | None]:
    """What it answers; only some questions have numbers."""
    op = told.request or 0
    return op, told.number if op in _NUMBERED else None
