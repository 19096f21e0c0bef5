"""One connection: bytes in and out, and who is at the other end.

What comes is put aside and looked at once a tick, together with what all others got
(:mod:`siena.broker.io.tick`); much of it at once is looked at where it is.  What it
means, and whether it is allowed, the conversation says
(:mod:`siena.protocol.server`).  What goes is gathered in an outbox and written once a
tick.

Why one module: what comes, what goes and who waits for whom are one state.
"""

import asyncio
import logging
import os
import socket
from collections.abc import Iterator, Mapping
from math import inf
from typing import Any, cast

from siena.broker.access.principal import LOCAL, Principal
from siena.broker.access.quotas import Account, Accounts
from siena.broker.data.licences import Licence
from siena.broker.io.backpressure import Held, Holder
from siena.broker.io.host import ConnectionHost
from siena.broker.io.listen import keep_alive, limit_unacknowledged
from siena.broker.io.outbox import Fit, Outbox
from siena.broker.io.role import DRAWN, EndRole, InPlace, Publisher, carry_out
from siena.broker.limits import (
    DRAIN_SECONDS_MAX,
    HERE_BYTES_MIN,
    INPUT_BYTES_MAX,
    SLICE_SECONDS_MAX,
    VAIN_BYTES_MIN,
    VAIN_SLICE_BYTES,
)
from siena.protocol.control_frames import Connect, Lost
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.server import ServerConversation
from siena.protocol.states import Event
from siena.protocol.text.requests import Quit, Reply

log = logging.getLogger("siena.broker")


class Connection(asyncio.BufferedProtocol):
    """A connection that was accepted, or that we made to a neighbour.

    Ownership: the loop owns the transport, and the broker the connection, from
    ``opened`` to ``closed``.

    Back-pressure: what is sent never waits; the outbox says what is too much.  A
    connection that is held is not read from, until all that hold it let go.
    """

    account: Account | None = None
    """Whose account what it asks for is drawn from; of a call of ours, none yet."""
    asked_at = -inf
    """When it came, or asked last for something that was drawn; to say who one is does
    not count: those who only publish wait for nothing that others of their host ask."""
    is_drawn = False
    """Whether what it sent last is drawn, too: it was refused, was nothing new, or was
    the first of a broker."""
    vain_bytes = 0
    """How much it has published in a row that nothing was wanted of."""
    # How much room it was given for what comes next, with what stands there already.
    _room_bytes = 0

    def __init__(
        self,
        host: ConnectionHost,
        limit: int,
        *,
        is_calling: bool = False,
        is_greeted: bool = False,
    ) -> None:
        self._host = host
        self.conversation = ServerConversation(is_calling=is_calling)
        self.is_greeted = is_greeted
        """Whether another process has sent the first line already."""
        self.role: EndRole | None = None
        # The same, if it is a client; and if it is a client or a neighbour.
        self._publisher: Publisher | None = None
        self._in_place: InPlace | None = None
        self.outbox = Outbox("drop", limit)
        self.licence: Licence | None = None
        """What it may publish, if not everything."""
        self.principal: Principal = LOCAL
        """Who is at the other end, as far as it was shown."""
        self.certificate: Mapping[str, Any] | None = None
        """What the other end has shown with TLS, if anything."""
        self.is_undecided = False
        """Whether it is still found out who this is: nothing else is looked at."""
        self._is_secure = False
        # How many have come, ever; and when it was last looked at.
        self._heard_bytes = self._heard_before = 0
        self.address = ""
        self.file_number = -1
        """Of the connection, among the files of this process."""
        self._transport: asyncio.Transport | None = None
        self._high = 0
        self._received = self.conversation.received
        # Goes off if it takes too long to say who this is.
        self.handshake: asyncio.TimerHandle | None = None
        self._is_touched = False
        self._is_ended = False
        # Whether this tick will look at it; and whether there is enough to look at.
        self._is_waiting = False
        self._is_full = False
        # How much stands in the room before what comes, if it can be understood there;
        # and what is to be looked at there.
        self._lead: int | None = None
        self._here: memoryview | None = None
        # What has been read and is still to be carried out, when others had their turn.
        self._events: Iterator[Event] | None = None
        self.is_closing = False
        self.hears_gaps = False
        """Whether the client wants to know of gaps, and why it waits."""
        self.is_heard = False
        """Whether anything has come since this was last set to false."""
        # Those whose output is full of what this one publishes.
        self._held_by: set[Holder] = set()
        # And those who publish what this one's output is full of; that ends once.
        self.holds: set[Held] = set()
        self.patience: asyncio.TimerHandle | None = None

    # --- What the loop calls --------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        # Those of uvloop are transports, but not of this class.
        self._transport = transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.address = f"{peer[0]}:{peer[1]}" if peer else ""
        self.certificate = transport.get_extra_info("peercert")
        self._is_secure = transport.get_extra_info("ssl_object") is not None
        socket = transport.get_extra_info("socket")
        if socket is not None:  # what comes through HTTP has one below
            self.file_number = socket.fileno()
            keep_alive(socket)
        # Above this much output the loop says so, and again below a half of it.
        self._high = self.outbox.limit // 2
        transport.set_write_buffer_limits(high=self._high, low=self._high // 2)
        self._host.opened(self)

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 -- there is one room
        """The room where it shall come: behind what has not been understood yet."""
        room, lead = self._host.recv_buffer, self._received.size
        if lead > len(room) // 2 or not self.conversation.reads_frames:
            self._lead = None
            return room
        self._lead = lead
        if self.vain_bytes >= VAIN_BYTES_MIN and self._host.is_serving():
            room = room[: lead + VAIN_SLICE_BYTES]
        self._room_bytes = len(room)
        return room[lead:] if lead else room

    def buffer_updated(self, nbytes: int) -> None:
        """Look at much where it is, now; put little aside, for others have some too."""
        self.is_heard = True
        self._heard_bytes += nbytes
        room, lead = self._host.recv_buffer, self._lead
        if (
            lead is None
            or nbytes < HERE_BYTES_MIN
            or lead + nbytes < self._received.needed
            or self._held_by
            or self.is_closing
            or self._host.keeps_waiting(self)
        ):
            self.put(bytes(room[lead or 0 : (lead or 0) + nbytes]))
            return
        if lead:  # only now: for every byte that comes it would take long
            room[:lead] = self._received.rest
        self._here = room[: lead + nbytes]
        has_more, is_slice = (
            lead + nbytes == self._room_bytes,
            self._room_bytes < len(room),
        )
        if not self._host.process_in_place(self):
            self._here = None
            self.put(bytes(room[lead : lead + nbytes]))
            has_more &= is_slice
        if has_more and not (self._held_by or self.is_closing):
            self._pause()  # there is more; but others have their turn
            if is_slice:
                self._host.read_later(self)
            else:
                asyncio.get_running_loop().call_soon(self.go_on)

    def put(self, data: bytes) -> None:
        """Put it aside."""
        self._received.put(data)
        if self._received.is_enough and not self.is_closing:
            if not self._is_waiting:
                self._is_waiting = True
                self._host.on_readable(self)
            if self._received.size >= INPUT_BYTES_MAX and not self._is_full:
                self._pause()

    @property
    def host(self) -> str:
        """The other end's address, without its port."""
        return self.address.rpartition(":")[0]

    @property
    def is_reading(self) -> bool:
        """Whether the other end is read from: no reader is full, all was looked at."""
        return not self._held_by and not self._is_full

    def has_stalled(self) -> bool:
        """Whether half of something is here, and nothing came since this was asked."""
        before, self._heard_before = self._heard_before, self._heard_bytes
        return (
            before == self._heard_bytes
            and self.conversation.pending > 0
            and self.is_reading
            and not self.is_closing
        )

    def limit_unacknowledged(self, seconds: float) -> None:
        """Let the system end it if what is sent does not arrive for so long; 0: no."""
        assert self._transport is not None
        socket = self._transport.get_extra_info("socket")
        if socket is not None:  # what comes through HTTP has one below
            limit_unacknowledged(socket, seconds)

    def _pause(self) -> None:
        """Do not read on before this has been looked at."""
        assert self._transport is not None
        self._is_full = True
        self._transport.pause_reading()

    def eof_received(self) -> bool:
        """They will send no more; they still get what they have asked for."""
        self._is_ended = True
        if self._is_secure:  # which ends in both directions
            self.process()
            return False
        self._host.on_readable(self)
        return True  # the loop would close at once

    def resume_writing(self) -> None:
        """They have caught up."""
        if self.outbox.lost:
            self.reply(Lost(self.outbox.recover()).pack())
        self.let_go()

    def lose_patience(self, accounts: Accounts) -> None:
        """It has kept publishers waiting for too long."""
        self.patience = None
        if self.holds and not self.is_closing:
            accounts.refuse("block_seconds")
            self._too_slow()
            self.let_go()

    def let_go(self) -> None:
        """No publisher waits for it any longer."""
        if self.patience is not None:
            self.patience.cancel()
            self.patience = None
        for other in list(self.holds):
            other.release(self)
        self.holds.clear()

    @property
    def passed(self) -> int:
        """How many bytes the system has taken ever."""
        return self.outbox.passed(self.waiting)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- why, is not our concern
        """It is over."""
        self.is_closing = True
        self.let_go()
        for holder in self._held_by:  # who may be full for long
            holder.holds.discard(self)
        self._held_by.clear()
        if self.handshake is not None:
            self.handshake.cancel()
        # Nothing is held in a circle: see siena.broker.memory.
        role, self.role = self.role, None
        self._publisher = self._in_place = None
        self._events = None
        begun = self._host.elapsed()
        try:
            if role is not None:
                role.gone()
        finally:
            self._host.closed(self)
            self._host.charge(self, self._host.elapsed() - begun)

    # --- Coming in ------------------------------------------------------------------

    def process(self) -> int:
        """Look at what has come; how many bytes that was."""
        self._is_waiting = False
        here, self._here = self._here, None
        if self.is_closing or self._held_by:
            return 0
        if here is None and self._host.keeps_waiting(self):
            return 0
        size = 0
        if self._events is not None:
            pass  # and nothing has come meanwhile
        elif here is not None:
            size = len(here)
            # What stands at the beginning is published where it is, if it may be.
            start = 0 if self._in_place is None else self._publish(self._in_place, here)
            self._events = self.conversation.read_in_place(here, start)
        elif self._received.is_enough:
            size = self._received.size
            self._events = self.conversation.read()
        if self._events is not None:
            if not self._carry_out(self._events):
                if not self._is_full:
                    self._pause()
                self._is_waiting = True
                self._host.on_readable(self)
                return size
            self._events = None
        if self._is_ended:
            self.leave()
        else:
            self.go_on()
        return size

    def _carry_out(self, events: Iterator[Event]) -> bool:
        """Carry out events, one by one, until one of them ends the connection.

        False if it is the turn of others before all of them have been carried out.
        What it takes to read a request is drawn as well as what it takes to do it.
        """
        elapsed = self._host.elapsed
        before = elapsed()
        deadline = before + SLICE_SECONDS_MAX
        for event in events:
            if type(event) in DRAWN:
                self._host.charge(self, elapsed() - before)
                self._host.route()  # which is not this one's, and before it anyway
                before = elapsed()
            self._do(event)
            if type(event) is Connect:
                self.asked_at = -inf
            elif self.is_drawn and type(event) not in DRAWN:
                self._host.route()  # what is in vain, at the cost of this one
            now = elapsed()
            self._account_for(event, now - before)
            before = now
            if self.is_closing:
                break
            if self.is_undecided or now > deadline:
                return False
        return True

    def _do(self, event: Event) -> None:
        """Carry out one event."""
        assert self.role is not None, "it has ended"
        if isinstance(event, PublishRun):
            assert self._publisher is not None, "or it would not be allowed"
            self._publisher.run(event)
        elif isinstance(event, Reply):
            self._host.route()  # what follows from lines before
            self._add(event.data)
        elif isinstance(event, Quit):
            self.leave()
        else:
            carry_out(event, self.role, self._host, self)

    def _account_for(self, event: Event, seconds: float) -> None:
        """Draw what an event took if it is to be; what requests take is drawn."""
        if not self.is_drawn:
            if type(event) not in DRAWN:
                self._serve(seconds)
            return
        self.is_drawn = False
        if type(event) not in DRAWN or isinstance(event, ProtocolError):
            self._host.charge(self, seconds)

    def _publish(self, in_place: InPlace, here: memoryview) -> int:
        """Publish what stands at the beginning; where that ends."""
        begun = self._host.elapsed()
        end = in_place.publish(here)
        seconds = self._host.elapsed() - begun
        if self.is_drawn:
            self.is_drawn = False
            self._host.charge(self, seconds)
        elif end:
            self._serve(seconds)
        return end

    def _serve(self, seconds: float) -> None:
        """Count what is a service, and not in vain."""
        if self.vain_bytes < VAIN_BYTES_MIN:
            self._host.serve(seconds)

    def leave(self) -> None:
        """They have said good-bye."""
        self._host.route()
        self.close()

    def become(
        self,
        role: EndRole,
        publisher: Publisher | None = None,
        in_place: InPlace | None = None,
    ) -> None:
        """It is known who this is, and no longer waited for."""
        self.role, self._publisher = role, publisher
        self._in_place = in_place or publisher
        self.outbox.in_lines = self.conversation.talks_in_lines
        if self.handshake is not None:
            self.handshake.cancel()

    # --- Going out ------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many bytes the loop still has to send."""
        assert self._transport is not None
        return self._transport.get_write_buffer_size()

    def reply(self, frame: bytes) -> None:
        """Send an answer."""
        self._add(self.conversation.speak(frame))

    def greet(self, line: bytes) -> None:
        """Send what is no frame: the first line."""
        self._add(line)

    def _add(self, data: bytes) -> None:
        if not self.is_closing:
            if self.outbox.reply(data, self.waiting) is Fit.TOO_SLOW:
                self._too_slow()
            else:
                self.touch()

    def expect(self, size: int) -> bool:
        """Make room for what was kept for the client; whether it is here now."""
        if self.is_closing:
            return False
        self.outbox.expect(size, self.waiting)
        return True

    def deliver(self, frames: bytes, count: int) -> int:
        """Send deliveries; how many of them were dropped."""
        if self.is_closing:
            return count
        outbox = self.outbox
        before = outbox.lost
        if outbox.in_lines:
            frames = self._host.as_lines(frames)
        fit = outbox.deliver(frames, count, self.waiting)
        if fit is Fit.TOO_SLOW:
            self._too_slow()
            return count
        if fit is Fit.BLOCKING:
            self._host.blocked(self)
        if not self._is_touched:
            self.touch()
        return outbox.lost - before

    def touch(self) -> None:
        """Write at the end of this tick."""
        if not self._is_touched:
            self._is_touched = True
            self._host.schedule_flush(self)

    def write(self) -> int:
        """Write what was gathered; how many bytes that was."""
        self._is_touched = False
        frames = self.outbox.take()
        transport = self._transport
        assert transport is not None
        if frames and not transport.is_closing():
            transport.writelines(frames)
        if self.is_closing:
            transport.close()
        elif (self.holds or self.outbox.lost) and self.waiting <= self._high:
            # The system took so much that the loop never asked us to wait, and will
            # never say that we may go on.
            asyncio.get_running_loop().call_soon(self.resume_writing)
        return sum(map(len, frames))

    # --- Ending ---------------------------------------------------------------------

    def fail(self, error: ProtocolError) -> None:
        """Tell what was wrong, and close if that cannot be lived with."""
        self.is_drawn = True
        self._add(self.conversation.refuse(error))
        if error.fault.closes:
            self.close()

    def close(self) -> None:
        """End the connection when what was gathered is written and read."""
        if not self.is_closing:
            self.touch()
            self.is_closing = True
            assert self._transport is not None
            # Whoever does not read is not waited for.
            loop = asyncio.get_running_loop()
            loop.call_later(DRAIN_SECONDS_MAX, self._transport.abort)

    def _too_slow(self) -> None:
        """Give up on a reader that does not read; what was gathered is not sent."""
        text = "too much is waiting for this connection"
        error = ProtocolError(Fault.TOO_SLOW, text)
        # Not as an answer: there is no room for answers any more.
        self.outbox.last(self.conversation.refuse(error))
        self.close()

    def detach(self) -> socket.socket:
        """The socket, for another process to serve; here the connection is over."""
        found = socket.socket(fileno=os.dup(self.file_number))
        self.abort()
        return found

    def abort(self) -> None:
        """End the connection at once, whatever state it is in."""
        self.is_closing = True
        assert self._transport is not None
        self._transport.abort()

    # --- Holding back ---------------------------------------------------------------

    @property
    def neighbour(self) -> int | None:
        """The broker at the other end, if it is one."""
        return None if self.role is None else self.role.neighbour

    def hold(self, by: Holder) -> None:
        """Do not read on until a reader, or a disk, that is full has caught up."""
        if not self._held_by and not self.is_closing:
            assert self._transport is not None
            self._transport.pause_reading()
        self._held_by.add(by)
        by.holds.add(self)

    def release(self, by: Holder) -> None:
        """The reader that was full has caught up, or gone."""
        self._held_by.discard(by)
        if not self._held_by and not self.is_closing:
            self._read_on()
            self._host.on_readable(self)

    def go_on(self) -> None:
        """If all of it has been looked at, there is room for more."""
        if self._is_full and self._events is None:
            self._is_full = False
            self._read_on()

    def _read_on(self) -> None:
        if not self._held_by and not self._is_full and not self.is_closing:
            assert self._transport is not None
            self._transport.resume_reading()
