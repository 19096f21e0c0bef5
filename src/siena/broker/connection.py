"""One connection: bytes in and out, and who is at the other end.

What comes is put aside and looked at once a turn, together with what all others got
(:mod:`siena.broker.turn`).  What goes is gathered in an outbox and written once a turn.
"""

import asyncio
import logging
from typing import Protocol, cast

from siena.broker.intake import Run, cut
from siena.broker.limits import DRAIN_SECONDS_MAX
from siena.broker.outbox import Fit, Outbox
from siena.protocol.bodies import Error
from siena.protocol.faults import Fault, ProtocolError
from siena.protocol.frames import HEAD_BYTES, Frame
from siena.protocol.greeting import PREFACE
from siena.protocol.limits import ERROR_CHARACTERS_MAX, FRAME_BYTES_MAX

log = logging.getLogger("siena.broker")


class Role(Protocol):
    """What the other end is: a stranger, a client, a neighbour."""

    @property
    def neighbour(self) -> int | None:
        """The broker at the other end, if it is one."""
        ...

    def run(self, run: Run) -> None:
        """Publications came, and nothing between them."""
        ...

    def frame(self, frame: Frame) -> None:
        """Another frame came."""
        ...

    def gone(self) -> None:
        """The connection has ended."""
        ...


class House(Protocol):
    """What a connection needs of its broker."""

    def came(self, connection: "Connection") -> None:
        """Something came; look at it in this turn."""
        ...

    def wrote(self, connection: "Connection") -> None:
        """Something is to be sent; write it at the end of this turn."""
        ...

    def blocked(self, connection: "Connection") -> None:
        """It is full; whoever publishes for it is to wait."""
        ...

    def opened(self, connection: "Connection") -> None:
        """Somebody has connected."""
        ...

    def closed(self, connection: "Connection") -> None:
        """Somebody has gone."""
        ...


class Connection(asyncio.Protocol):
    """A connection that was accepted, or that we made to a neighbour.

    Ownership: the loop owns the transport, and the broker the connection, from
    ``opened`` to ``closed``.

    Back-pressure: what is sent never waits; the outbox says what is too much.  A
    connection that is held is not read from, until everybody who holds it lets go.
    """

    def __init__(self, house: House, limit: int) -> None:
        self._house = house
        self.role: Role | None = None
        self.outbox = Outbox("drop", limit)
        self.address = ""
        self._transport: asyncio.Transport | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._needed = 1
        self._is_greeted = False
        self._is_touched = False
        self._is_ended = False
        self.is_closing = False
        # Those whose output is full of what this one publishes.
        self._held_by: set[Connection] = set()
        # And those who publish what this one's output is full of.
        self.holds: set[Connection] = set()

    # --- What the loop calls --------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The connection stands."""
        # Those of uvloop are transports, but not of this class.
        self._transport = transport = cast("asyncio.Transport", transport)
        peer = transport.get_extra_info("peername")
        self.address = f"{peer[0]}:{peer[1]}" if peer else ""
        # Above this much output the loop says so, and again below a half of it.
        high = self.outbox.limit // 2
        transport.set_write_buffer_limits(high=high, low=high // 2)
        self._house.opened(self)

    def data_received(self, data: bytes) -> None:
        """Put it aside."""
        self._parts.append(data)
        self._size += len(data)
        if self._size >= self._needed and not self.is_closing:
            self._house.came(self)

    def eof_received(self) -> bool:
        """They will send no more; they still get what they have asked for."""
        self._is_ended = True
        self._house.came(self)
        return True  # the loop would close at once

    def resume_writing(self) -> None:
        """They have caught up."""
        self.outbox.recover()
        self.touch()
        for other in list(self.holds):
            other.release(self)
        self.holds.clear()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- why, is not our concern
        """It is over."""
        self.is_closing = True
        for other in list(self.holds):
            other.release(self)
        self.holds.clear()
        role, self.role = self.role, None
        if role is not None:
            role.gone()
        self._house.closed(self)

    # --- Coming in ------------------------------------------------------------------

    def process(self) -> int:
        """Look at what has come; how many bytes that was."""
        if self.is_closing or self._held_by:
            return 0
        size = self._read() if self._size >= self._needed else 0
        if self._is_ended:
            self.close()
        return size

    def _read(self) -> int:
        data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
        self._parts.clear()
        size, self._size = self._size, 0
        try:
            rest = self._frames(data if self._is_greeted else self._greet(data))
        except ProtocolError as error:
            self.fail(error)
            return size
        if rest:
            self._parts.append(rest)
            self._size = len(rest)
        return size

    def _greet(self, data: bytes) -> bytes:
        """What follows the preface, when all of it is there."""
        if data[:1] != PREFACE[:1]:
            raise ProtocolError(Fault.BAD_PREFACE, "the line mode is not served here")
        if not data.startswith(PREFACE[: len(data)]):
            raise ProtocolError(Fault.BAD_PREFACE, "this is not the preface of Siena")
        if len(data) < len(PREFACE):
            self._needed = len(PREFACE)
            return data
        self._is_greeted = True
        return data[len(PREFACE) :]

    def _frames(self, data: bytes) -> bytes:
        """Hand on what is complete; the rest."""
        if not self._is_greeted:
            return data
        found = cut(data, FRAME_BYTES_MAX)
        self._needed = found.needed
        for piece in found.pieces:
            if self.role is None or self.is_closing:
                return b""
            if isinstance(piece, Run):
                self.role.run(piece)
            else:
                self.role.frame(piece)
        if found.error is not None:
            raise found.error
        return data[found.end :]

    def skip_greeting(self) -> None:
        """We made the connection: what comes now is frames."""
        self._is_greeted = True
        self._needed = HEAD_BYTES

    # --- Going out ------------------------------------------------------------------

    @property
    def waiting(self) -> int:
        """How many bytes the loop still has to send."""
        assert self._transport is not None
        return self._transport.get_write_buffer_size()

    def reply(self, frame: bytes) -> None:
        """Send an answer."""
        if not self.is_closing:
            if self.outbox.reply(frame, self.waiting) is Fit.TOO_SLOW:
                self._too_slow()
            else:
                self.touch()

    def deliver(self, frames: bytes, count: int) -> int:
        """Send deliveries; how many of them were dropped."""
        if self.is_closing:
            return count
        before = self.outbox.lost
        fit = self.outbox.deliver(frames, count, self.waiting)
        if fit is Fit.TOO_SLOW:
            self._too_slow()
            return count
        if fit is Fit.BLOCKING:
            self._house.blocked(self)
        self.touch()
        return self.outbox.lost - before

    def touch(self) -> None:
        """Write at the end of this turn."""
        if not self._is_touched:
            self._is_touched = True
            self._house.wrote(self)

    def write(self) -> int:
        """Write what was gathered; how many bytes that was."""
        self._is_touched = False
        data = self.outbox.take()
        transport = self._transport
        assert transport is not None
        if data and not transport.is_closing():
            transport.write(data)
        if self.is_closing:
            transport.close()
        return len(data)

    # --- Ending ---------------------------------------------------------------------

    def fail(self, error: ProtocolError) -> None:
        """Tell what was wrong, and close if that cannot be lived with."""
        self.reply(error_frame(error))
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
        self.outbox.take()
        fault = Fault.TOO_SLOW
        text = "too much is waiting for this connection"
        self.outbox.reply(error_frame(ProtocolError(fault, text)), 0)
        self.close()

    # --- Holding back ---------------------------------------------------------------

    @property
    def neighbour(self) -> int | None:
        """The broker at the other end, if it is one."""
        return None if self.role is None else self.role.neighbour

    def hold(self, by: "Connection") -> None:
        """Do not read on until somebody who is full has caught up."""
        if not self._held_by and not self.is_closing:
            assert self._transport is not None
            self._transport.pause_reading()
        self._held_by.add(by)
        by.holds.add(self)

    def release(self, by: "Connection") -> None:
        """Somebody has caught up, or gone."""
        self._held_by.discard(by)
        if not self._held_by and not self.is_closing:
            assert self._transport is not None
            self._transport.resume_reading()
            self._house.came(self)


def error_frame(error: ProtocolError, request: int | None = None) -> bytes:
    """The ERR frame of an error."""
    text = str(error.message)[:ERROR_CHARACTERS_MAX]
    fault = error.fault
    return Error(fault.number, text, fault.closes, request, error.number).pack()
