"""Handles: what they have in common, and what those of all subscriptions have.

*Cancellation*: a reader that is cancelled loses nothing; the next gets it.
"""

import asyncio
import contextlib
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from types import TracebackType
from typing import Generic, Protocol, Self, TypeVar

from siena.client.core.inbox import Inbox, Item
from siena.client.core.registrations import Gate
from siena.client.core.session import Session
from siena.errors import ConnectionLostError, NotSettledError, ServiceError

# What a subscription yields.
T = TypeVar("T")

# So many are handed over at once at most.
BATCH = 1_024


class Handle(ABC):
    """What a client has asked of its broker, and can end: in force inside ``with``."""

    @abstractmethod
    async def settled(self) -> Self:
        """Wait until it is in force, and return it."""

    async def close(self) -> None:
        """End it; returns when the broker knows."""
        done = self._end()
        if done is not None:
            with contextlib.suppress(ServiceError):  # with its end, this ended too
                await asyncio.shield(done)

    async def __aenter__(self) -> Self:
        try:
            return await self.settled()
        except BaseException:  # there is no other that would end it
            self._end()
            raise

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    @abstractmethod
    def _end(self) -> asyncio.Future[None] | None:
        """End it; what the broker answers, if it is there to do so."""


class Registration(Protocol):
    """A subscription as the connection knows it."""

    @property
    def inbox(self) -> Inbox:
        """What has come."""

    @property
    def settled(self) -> Gate:
        """Open when it is in force."""

    @property
    def silent(self) -> tuple[str, ...]:
        """Brokers that have not said that it is in force with them."""


class Reading(Handle, Generic[T]):
    """What has come for a subscription, to be iterated over as often as you like.

    Several readers share what comes.
    """

    def __init__(self, session: Session, registered: Registration) -> None:
        self._session = session
        self._inbox = registered.inbox
        self._asked = registered

    @property
    def waiting(self) -> int:
        """How many have come and were not read yet."""
        return len(self._inbox)

    async def settled(self) -> Self:
        """Wait until it is in force in the whole network, and return it.

        Raises:
            RequestRefusedError: if the broker does not want it.
            NotSettledError: if other brokers did not answer in time; it stands.
        """
        await self._asked.settled.passed()
        if self._asked.silent:
            raise NotSettledError(self._asked.silent)
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
        items = self._inbox.take(count)
        if not items:
            self._session.wake()
            limit = asyncio.timeout(timeout_s)
            try:
                async with limit:
                    items = await self._inbox.get(count)
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
        item = self._inbox.pop()
        if item is None:
            self._session.wake()
            items = await self._inbox.get()
            if not items:
                raise StopAsyncIteration
            [item] = items
        return self._read(item)

    @abstractmethod
    def _read(self, item: Item) -> T:
        """From bytes to what the program gets."""
