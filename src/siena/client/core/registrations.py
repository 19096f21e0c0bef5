"""What a client has asked for, as it must be asked for again after a reconnection."""

import asyncio
from collections.abc import Sequence

from siena.client.core.inbox import Inbox, Item
from siena.errors import ConnectionLostError, SienaError
from siena.protocol.control_frames import Advertise, Subscribe


class Gate:
    """Open or closed, or broken for good; many may wait for it to open."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._failure: SienaError | None = None
        self.is_open = False
        """Whether it is open: no caller has to wait."""

    def open(self) -> None:
        """Let all pass."""
        self._open.set()
        self.is_open = self._failure is None

    def close(self) -> None:
        """Let no caller pass, until it is opened again."""
        self.is_open = False
        if self._failure is None:
            self._open.clear()

    def fail(self, reason: SienaError) -> None:
        """No caller passes any more: those that wait or come get the reason."""
        self.is_open = False
        self._failure = self._failure or reason
        self._open.set()

    async def passed(self) -> None:
        """Wait until it is open.

        Raises:
            SienaError: why it never will be.
        """
        # Closed again before the waiting task ran: it waits on.
        while not self._open.is_set():
            await self._open.wait()
        if self._failure is not None:
            raise self._failure


class RegisteredInterest:
    """A subscription as the connection knows it: number, words, and what has come.

    The client holds these, and not the :class:`~siena.client.subscription.Subscription`
    itself, so that a subscription that its program has forgotten can end.
    """

    def __init__(
        self, number: int, interest: str, inbox: Inbox, *, is_pattern: bool
    ) -> None:
        self.number = number
        self.interest = interest
        self.is_pattern = is_pattern
        self.inbox = inbox
        self.settled = Gate()
        # What is granted of it, if that is less.
        self.in_force: str | None = None
        # Brokers that have not said that it is in force with them.
        self.silent: tuple[str, ...] = ()
        # Known to be lost before it came here.
        self.lost_before = 0

    def put_all(self, items: Sequence[Item]) -> bool:
        """Keep what came; of a pattern, always as sequences.  Whether all was kept."""
        if self.is_pattern:
            items = [(item,) if isinstance(item, bytes) else item for item in items]
        return self.inbox.put_all(items)

    def fail(self, reason: SienaError) -> None:
        """Nothing comes any more, for this reason."""
        self.settled.fail(reason)
        self.inbox.finish(reason)

    def end(self) -> None:
        """Nothing comes any more, because it was cancelled; what came can be read."""
        self.settled.fail(ConnectionLostError("the subscription was cancelled"))
        self.inbox.finish()

    def request(self) -> bytes:
        """The frame that asks for it."""
        return Subscribe(self.number, self.interest).pack()


class RegisteredAdvertisement:
    """An advertisement as the connection knows it: number, words, and who wants it."""

    def __init__(self, number: int, advertisement: str) -> None:
        self.number = number
        self.advertisement = advertisement
        self.is_quenched = False
        # Open once the broker has answered on this connection.
        self.answered = Gate()
        # Open while somebody wants what it admits.
        self.wanted = Gate()
        self._changed: list[asyncio.Future[None]] = []

    def hear(self, *, is_quenched: bool) -> None:
        """The broker says whether it is wanted by none."""
        is_news = not self.answered.is_open or is_quenched != self.is_quenched
        self.is_quenched = is_quenched
        self.answered.open()
        if is_quenched:
            self.wanted.close()
        else:
            self.wanted.open()
        if is_news:
            self._tell()

    def forget(self) -> None:
        """The connection is gone, and it is not known who wants it now."""
        self.answered.close()
        self.wanted.close()

    def fail(self, reason: SienaError) -> None:
        """It is not in force any more, for this reason."""
        self.answered.fail(reason)
        self.wanted.fail(reason)
        self._tell()

    def stop(self) -> None:
        """It was taken back: those that follow its changes look again."""
        self.wanted.fail(ConnectionLostError("the advertisement was taken back"))
        self._tell()

    async def changed(self) -> None:
        """Wait for the next change."""
        waiting = asyncio.get_running_loop().create_future()
        self._changed.append(waiting)
        await waiting

    def request(self) -> bytes:
        """The frame that asks for it."""
        return Advertise(self.number, self.advertisement).pack()

    def _tell(self) -> None:
        for waiting in self._changed:
            if not waiting.done():
                waiting.set_result(None)
        self._changed.clear()
