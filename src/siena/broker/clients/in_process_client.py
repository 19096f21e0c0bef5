"""Guests: clients without a connection of their own, such as those that come by HTTP.

They have sessions and outboxes like all clients; but what is for them is taken out by a
task, whenever it has got rid of what it took before.
"""

import asyncio

from siena.broker.access.principal import LOCAL, Principal
from siena.broker.data.licences import Licence
from siena.broker.io.backpressure import Holder
from siena.broker.io.outbox import Fit, Outbox
from siena.protocol.control_frames import Error, Lost
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.text.transcripts import Transcript


class InProcessClient:
    """What is for one guest, and whether it has to wait.

    Ownership: what let it in (:mod:`siena.broker.clients.in_process_entry`) reads
    from it, in one task.
    """

    neighbour: int | None = None
    licence: Licence | None = None  # decided before anything is published
    vain_bytes = 0  # of which nothing follows, nor of the next
    is_drawn = False

    def __init__(self, limit: int, transcript: Transcript | None = None) -> None:
        self.outbox = Outbox("drop", limit)
        self.outbox.in_lines = transcript is not None
        if transcript is not None:
            self.outbox.line_end = transcript.end
        self._transcript = transcript
        self.principal: Principal = LOCAL
        """Who has sent the request."""
        self.hears_gaps = False
        """Whether it wants to know when something may have been lost."""
        self.is_over = False
        """Whether nothing follows after what is in the outbox."""
        self._has_some = asyncio.Event()
        self._may_publish = asyncio.Event()
        self._may_publish.set()
        self._held_by: set[Holder] = set()

    # --- What a session, and those who publish, need --------------------------------

    def reply(self, frame: bytes) -> None:
        """Send an answer."""
        if not self.is_over:
            if self._transcript is not None:
                frame = self._transcript.write(frame)
            if self.outbox.reply(frame, 0) is Fit.TOO_SLOW:
                self._too_slow()
            self._has_some.set()

    def expect(self, size: int) -> bool:
        """Make room for what was kept while it was away; whether it is here now."""
        self.outbox.expect(size, 0)
        return not self.is_over

    def deliver(self, frames: bytes, count: int) -> int:
        """Send deliveries; how many of them were dropped."""
        if self.is_over:
            return count
        if self._transcript is not None:
            frames = self._transcript.deliveries(frames)
        before = self.outbox.lost
        if self.outbox.deliver(frames, count, 0) is Fit.TOO_SLOW:
            self._too_slow()
            return count
        self._has_some.set()
        return self.outbox.lost - before

    def fail(self, error: ProtocolError) -> None:
        """Tell what was wrong, and end if that cannot be lived with."""
        self.reply(Error.of(error).pack())
        self.is_over |= error.fault.closes

    def hold(self, by: Holder) -> None:
        """Publish no more until a reader that is full has caught up."""
        self._held_by.add(by)
        by.holds.add(self)
        self._may_publish.clear()

    def release(self, by: Holder) -> None:
        """That reader has caught up, or gone."""
        self._held_by.discard(by)
        if not self._held_by:
            self._may_publish.set()

    def leave(self) -> None:
        """It has gone: none of its readers need remember that it waits."""
        self.is_over = True
        for holder in self._held_by:
            holder.holds.discard(self)
        self._held_by.clear()

    def _too_slow(self) -> None:
        self.outbox.take()
        self.fail(ProtocolError(Fault.TOO_SLOW, "too much is waiting for this reader"))
        self._has_some.set()

    # --- What its task needs --------------------------------------------------------

    async def read(self) -> bytes:
        """What has come: frames back to back; none when all is over and taken.

        With a transcript, what that writes of them.
        """
        if not self.is_over:
            await self._has_some.wait()
        self._has_some.clear()
        if self.outbox.lost:
            self.reply(Lost(self.outbox.recover()).pack())
            self._has_some.clear()
        return b"".join(self.outbox.take())

    @property
    def is_held(self) -> bool:
        """Whether a reader is full of what it published."""
        return bool(self._held_by)

    async def may_publish(self) -> None:
        """Wait until no reader is full of what it published."""
        await self._may_publish.wait()
