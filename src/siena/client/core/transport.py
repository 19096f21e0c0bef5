"""One connection: bytes to events, frames to bytes, and no opinion about either.

*Ownership*: the maker of a connection closes it with :meth:`Transport.close`; when it
has ended, for any reason, :attr:`Transport.ended` holds it.

*Cancellation*: nothing here waits, except for room; a caller that is cancelled there
has sent nothing.

*Back-pressure*: what is sent is written once a turn of the loop.  A socket that takes
no more is noticed by :attr:`Transport.is_writable`, and a caller that sends much asks
first.
"""

import asyncio
from collections.abc import Callable
from typing import cast

from siena.errors import ConnectionLostError, SienaError
from siena.protocol.client import ClientConversation, Event
from siena.protocol.control_frames import Connect
from siena.protocol.error_codes import ProtocolError
from siena.protocol.handshake import Info

# So much is written at once rather than at the end of the turn.
TURN_BYTES = 65_536
# The transport holds so much for a slow socket before we are asked to wait.
HIGH_WATER_BYTES = 1_048_576


class Transport(asyncio.Protocol):
    """A live connection, around the sans-I/O conversation of a client.

    Args:
        connect: who we are; said as soon as the broker has said who it is.
        hear: gets everything that the broker says, in order.
        pace: is told whenever :attr:`is_writable` changes.
    """

    def __init__(
        self,
        connect: Connect,
        hear: Callable[["Transport", Event], None],
        pace: Callable[[], None],
    ) -> None:
        loop = asyncio.get_running_loop()
        self._loop = loop
        self._conversation = ClientConversation(connect)
        self._hear = hear
        self._pace = pace
        self._transport: asyncio.Transport | None = None
        self._out: list[bytes] = []
        self._out_bytes = 0
        # A reason that was heard explains an end better than the end itself.
        self._reason: SienaError | None = None
        self.ended: asyncio.Future[SienaError] = loop.create_future()
        self.is_writable = True
        # Set when much was sent in this turn: time to let others have theirs.
        self.wants_a_turn = False
        self.heard_at = loop.time()

    # -- sending ---------------------------------------------------------------

    def send(self, frames: bytes) -> None:
        """Send this in this turn of the loop, with whatever else is sent in it."""
        if not self._out:
            self._loop.call_soon(self._end_turn)
        self._out.append(frames)
        self._out_bytes += len(frames)
        if self._out_bytes >= TURN_BYTES:
            self.wants_a_turn = True
            self.flush()

    def flush(self) -> None:
        """Hand what was sent to the socket now."""
        if self._out and self._transport is not None:
            frames = self._out[0] if len(self._out) == 1 else b"".join(self._out)
            self._out = []
            self._out_bytes = 0
            if not self._transport.is_closing():
                self._transport.write(frames)

    def close(self, reason: SienaError | None = None) -> None:
        """Write what is left and hang up."""
        self._reason = self._reason or reason
        self.flush()
        if self._transport is not None:
            self._transport.close()

    def abort(self, reason: SienaError) -> None:
        """Hang up at once: the other side does not listen any more."""
        self._reason = self._reason or reason
        if self._transport is not None:
            self._transport.abort()

    # -- what the loop calls ---------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The socket is connected."""
        # Those of uvloop have the methods, and not the class.
        self._transport = cast("asyncio.Transport", transport)
        self._transport.set_write_buffer_limits(high=HIGH_WATER_BYTES)

    def data_received(self, data: bytes) -> None:
        """Hand on what it says; hang up if it says nothing that makes sense."""
        self.heard_at = self._loop.time()
        for event in self._conversation.read(data):
            if isinstance(event, ProtocolError):
                self.abort(event)
            else:
                self._hear(self, event)
                # Unless what it says of itself was reason enough to leave.
                if isinstance(event, Info) and self._reason is None:
                    self.send(self._conversation.hello())

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection has ended."""
        reason = self._reason or ConnectionLostError(
            f"the connection broke: {exc}" if exc else "the broker hung up"
        )
        self.is_writable = False
        self.ended.set_result(reason)
        self._pace()

    def pause_writing(self) -> None:
        """The socket takes no more."""
        self.is_writable = False
        self._pace()

    def resume_writing(self) -> None:
        """The socket takes more again."""
        self.is_writable = True
        self._pace()

    def _end_turn(self) -> None:
        self.wants_a_turn = False
        self.flush()
