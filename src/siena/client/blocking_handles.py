"""Subscriptions and advertisements for those who do not await: the same names."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from siena.client.advertising import Advertising as AsyncAdvertising
from siena.client.core.loop_thread import LoopThread
from siena.client.core.reading import BATCH, Reading
from siena.client.subscription import Subscription as AsyncSubscription
from siena.errors import ConnectionLostError

T = TypeVar("T")


class BlockingReading(Generic[T]):
    """What has come for a subscription; iterate over it."""

    def __init__(self, loop: LoopThread, reading: Reading[T]) -> None:
        self._loop = loop
        self._reading = reading
        # Fetched from the loop together, since each fetch costs two switches.
        self._fetched: deque[T] = deque()

    @property
    def waiting(self) -> int:
        """How many have come and were not read yet."""
        return len(self._fetched) + self._reading.waiting

    def settled(self, timeout_s: float | None = None) -> Self:
        """Wait until it is in force in the whole network, and return it."""
        self._loop.run(self._reading.settled(), timeout_s)
        return self

    def get(self, timeout_s: float | None = None) -> T:
        """The next one.

        Raises:
            TimeoutError: if none comes in time.
            ConnectionLostError: if none will come any more.
        """
        for found in self._next(timeout_s):
            return found
        raise ConnectionLostError("the subscription has ended")

    def get_many(self, count: int = BATCH, timeout_s: float | None = None) -> list[T]:
        """Those that are there, up to so many; waits for one, and is empty at the end.

        Raises:
            TimeoutError: if none comes in time.
        """
        found = self._next(timeout_s)
        while found and len(found) < count and self._fetched:
            found.append(self._fetched.popleft())
        return found

    def within(self, timeout_s: float) -> Iterator[T]:
        """Those that come, until none has come for so many seconds."""
        with contextlib.suppress(TimeoutError):
            while found := self._next(timeout_s):
                yield found[0]

    def __iter__(self) -> Iterator[T]:
        while found := self._next(None):
            yield found[0]

    def close(self) -> None:
        """End it; returns when the broker knows."""
        self._fetched.clear()
        self._loop.run(self._reading.close())

    def __enter__(self) -> Self:
        return self.settled()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._reading)

    def _next(self, timeout_s: float | None) -> list[T]:
        """One, or none at the end."""
        if not self._fetched:
            fetching = self._reading.get_many(timeout_s=timeout_s)
            self._fetched.extend(map(self._handed_over, self._loop.run(fetching)))
        return [self._fetched.popleft()] if self._fetched else []

    def _handed_over(self, one: T) -> T:
        """What the loop has read, for this thread."""
        return one


class Subscription(BlockingReading[T]):
    """What the program wants, and what has come of it; iterate over it."""

    def __init__(self, loop: LoopThread, subscription: AsyncSubscription[T]) -> None:
        super().__init__(loop, subscription)
        self._subscription = subscription

    @property
    def interest(self) -> str:
        """What is wanted, in the words of the language."""
        return self._subscription.interest

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._subscription.number

    @property
    def in_force(self) -> str:
        """What the broker delivers of it: less, where not all of it is granted."""
        return self._subscription.in_force

    @property
    def lost(self) -> int:
        """How many were for it, or may have been, and were lost by whomever."""
        return self._subscription.lost


class Advertising:
    """A promise to publish within an advertisement, and whether it is wanted."""

    def __init__(self, loop: LoopThread, advertising: AsyncAdvertising) -> None:
        self._loop = loop
        self._advertising = advertising

    @property
    def advertisement(self) -> str:
        """What may be published, in the words of the language."""
        return self._advertising.advertisement

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._advertising.number

    @property
    def quenched(self) -> bool:
        """Whether nothing of it is wanted, as far as the broker has said."""
        return self._advertising.quenched

    def settled(self, timeout_s: float | None = None) -> Self:
        """Wait until the broker has said whether it is wanted, and return it."""
        self._loop.run(self._advertising.settled(), timeout_s)
        return self

    def wanted(self, timeout_s: float | None = None) -> None:
        """Wait until something of it is wanted."""
        self._loop.run(self._advertising.wanted(), timeout_s)

    def states(self, timeout_s: float | None = None) -> Iterator[bool]:
        """Whether it is quenched: now, and again whenever that changes.

        Raises:
            TimeoutError: when so many seconds have passed.
        """
        states = self._advertising.states()
        end = self._loop.call(lambda: _end(timeout_s))
        while True:
            try:
                state = self._loop.run(_next_state(states, end))
            except StopAsyncIteration:
                return
            yield state

    def close(self, timeout_s: float | None = None) -> None:
        """Take it back; returns when the broker knows.

        Raises:
            TimeoutError: if that takes longer than this.
        """
        self._loop.run(self._advertising.close(), timeout_s)

    def __enter__(self) -> Self:
        return self.settled()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return repr(self._advertising)


def _end(timeout_s: float | None) -> float | None:
    """The time of the loop when that has passed."""
    if timeout_s is None:
        return None
    return asyncio.get_running_loop().time() + timeout_s


async def _next_state(states: AsyncIterator[bool], end: float | None) -> bool:
    try:
        async with asyncio.timeout_at(end):
            return await anext(states)
    except TimeoutError:
        raise TimeoutError("it did not change in time") from None
