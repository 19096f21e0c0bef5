"""Subscriptions: the handle that yields notifications."""

import asyncio
import contextlib
import weakref
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Generic, Self, TypeVar, cast

from siena.block import decode
from siena.client.core.inbox import Item
from siena.client.core.registrations import StandingInterest
from siena.client.core.session import Session
from siena.errors import ConnectionLostError, ServiceError

# What a subscription yields: a notification, or of a pattern a tuple of them.
T = TypeVar("T")

# So many are handed over at once at most.
BATCH = 1_024


class Subscription(Generic[T]):
    """What the program wants, and what has come of it.

    Iterate over it, as often as you like; several readers share what comes.  It ends
    when it is closed, when its client is, or when the program lets go of it.  That of a
    client with an identity outlives even its program, and ends only when it is closed.

    Cancellation: a reader that is cancelled loses nothing; the next gets it.
    """

    def __init__(self, session: Session, standing: StandingInterest) -> None:
        self._session = session
        self._standing = standing
        # The collector may run anywhere; the talk lives in the loop.
        loop = asyncio.get_running_loop()
        self._forgotten = weakref.finalize(self, _forget, loop, session, standing)
        self._forgotten.atexit = False
        if session.has_identity:
            self._forgotten.detach()

    @property
    def interest(self) -> str:
        """What is wanted, in the words of the language."""
        return self._standing.interest

    @property
    def in_force(self) -> str:
        """What the broker delivers of it: less, where not all of it is granted."""
        return self._standing.in_force or self._standing.interest

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._standing.number

    @property
    def lost(self) -> int:
        """How many were for it, or may have been, and were lost by whomever."""
        return self._standing.inbox.lost + self._standing.lost_before

    @property
    def waiting(self) -> int:
        """How many have come and were not read yet."""
        return len(self._standing.inbox)

    async def settled(self) -> Self:
        """Wait until it is in force in the whole network, and return it.

        Raises:
            RequestRefusedError: if the broker does not want it.
        """
        await self._standing.settled.passed()
        return self

    async def get(self, timeout_s: float | None = None) -> T:
        """The next one.

        Raises:
            TimeoutError: if none comes in time.
            ConnectionLostError: if none will come any more.
        """
        found = await self.get_many(1, timeout_s)
        if not found:
            raise ConnectionLostError("the subscription has ended")
        return found[0]

    async def get_many(
        self, count: int = BATCH, timeout_s: float | None = None
    ) -> list[T]:
        """Those that are there, up to so many; waits for one, and is empty at the end.

        Raises:
            TimeoutError: if none comes in time.
        """
        inbox = self._standing.inbox
        items = inbox.take(count)
        if not items:
            self._session.wake()
            limit = asyncio.timeout(timeout_s)
            try:
                async with limit:
                    items = await inbox.get(count)
            except TimeoutError:
                if limit.expired():
                    raise TimeoutError(f"nothing came within {timeout_s:g} s") from None
                raise
        return [self._read(item) for item in items]

    async def within(self, timeout_s: float) -> AsyncIterator[T]:
        """Those that come, until none has come for so many seconds."""
        while True:
            try:
                found = await self.get_many(1, timeout_s)
            except TimeoutError:
                return
            if not found:
                return
            yield found[0]

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        item = self._standing.inbox.pop()
        if item is None:
            self._session.wake()
            items = await self._standing.inbox.get()
            if not items:
                raise StopAsyncIteration
            [item] = items
        return self._read(item)

    async def close(self) -> None:
        """End it: what was not read is gone; returns when the broker knows."""
        done = self._end()
        if done is not None:
            with contextlib.suppress(ServiceError):  # with its end, this ended too
                await asyncio.shield(done)

    async def __aenter__(self) -> Self:
        try:
            return await self.settled()
        except BaseException:  # nobody else would end it
            self._end()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _end(self) -> asyncio.Future[None] | None:
        self._forgotten.detach()
        self._standing.inbox.finish(at_once=True)
        self._standing.settled.fail(ConnectionLostError("the subscription was closed"))
        return self._session.unsubscribe(self._standing)

    def _read(self, item: Item) -> T:
        """From bytes to what was promised when it was made; see Client.subscribe."""
        if isinstance(item, bytes):
            return cast("T", decode(item))
        return cast("T", tuple(map(decode, item)))

    def __repr__(self) -> str:
        return f"<Subscription {self.number}: {self.interest}>"


# Kept out of the class: a method would hold what is to be forgotten.
def _forget(
    loop: asyncio.AbstractEventLoop, session: Session, standing: StandingInterest
) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed, and so is the talk
        loop.call_soon_threadsafe(session.unsubscribe, standing)
