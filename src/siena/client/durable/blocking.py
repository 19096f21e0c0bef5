"""Durable subscriptions for those who do not await: the same names."""

from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from siena.client.core.loop_thread import LoopThread
from siena.client.durable.subscription import (
    Delivered,
    DurableSubscription as AsyncDurableSubscription,
)
from siena.client.subscription import BATCH
from siena.errors import ConnectionLostError


class DurableSubscription:
    """What a broker remembers for a name, and what has come of it; iterate over it."""

    def __init__(
        self, loop: LoopThread, subscription: AsyncDurableSubscription
    ) -> None:
        self._loop = loop
        self._subscription = subscription
        # Fetched from the loop together, since each fetch costs two switches.
        self._fetched: deque[Delivered] = deque()

    @property
    def name(self) -> str:
        """What it is called at the broker."""
        return self._subscription.name

    @property
    def in_force(self) -> str:
        """What of it the broker grants; all of it, where it asks nobody."""
        return self._subscription.in_force

    @property
    def filter(self) -> str:
        """What is wanted, in the words of the language."""
        return self._subscription.filter

    @property
    def waiting(self) -> int:
        """How many have come and were not read yet."""
        return len(self._fetched) + self._subscription.waiting

    def settled(self, timeout_s: float | None = None) -> Self:
        """Wait until it is remembered, and in force in the whole network."""
        self._loop.run(self._subscription.settled(), timeout_s)
        return self

    def get(self, timeout_s: float | None = None) -> Delivered:
        """The next one.

        Raises:
            TimeoutError: if none comes in time.
            ConnectionLostError: if none will come any more.
        """
        for found in self.get_many(1, timeout_s):
            return found
        raise ConnectionLostError("the subscription has ended")

    def get_many(
        self, count: int = BATCH, timeout_s: float | None = None
    ) -> list[Delivered]:
        """Those that are there, up to so many; waits for one, and is empty at the end.

        Raises:
            TimeoutError: if none comes in time.
        """
        if not self._fetched:
            fetching = self._subscription.get_many(timeout_s=timeout_s)
            for delivered in self._loop.run(fetching):
                self._fetched.append(delivered.called_from(self._loop.call_soon))
        count = min(count, len(self._fetched))
        return [self._fetched.popleft() for _ in range(count)]

    def ack_up_to(self, offset: int) -> None:
        """All up to an offset, not included, are done; never waits."""
        self._loop.call_soon(self._subscription.ack_up_to, offset)

    def __iter__(self) -> Iterator[Delivered]:
        while found := self.get_many(1):
            yield found[0]

    def close(self) -> None:
        """Read no more: what was not acknowledged goes to others, or comes again."""
        self._fetched.clear()
        self._loop.run(self._subscription.close())

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
        return repr(self._subscription)
