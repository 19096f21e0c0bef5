"""The client without ``await``: the same names, on a loop in a thread of its own.

*Ownership*: ``with siena.connect(…)`` owns the thread; when the block is left, it has
ended.  Any thread may call; each call waits for its answer, and Ctrl-C cancels it.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from siena.client.address import Address
from siena.client.advertising import Advertising as AsyncAdvertising
from siena.client.client import SUSPENDED_QUEUE
from siena.client.coding import Attributes
from siena.client.inbox import BYTES_MAX, COUNT_MAX, Overflow
from siena.client.loop_thread import LoopThread
from siena.client.publisher import joined
from siena.client.settings import DRAIN_SECONDS, REPLY_SECONDS, Settings
from siena.client.subscription import Subscription as AsyncSubscription
from siena.errors import ConnectionLostError
from siena.model import (
    Advertisement,
    Filter,
    Notification,
    Pattern,
    Predicate,
    Value,
)

T = TypeVar("T")


class Client:
    """A program's handle on the service; made by ``with siena.connect(…)``.

    See :class:`siena.client.client.Client` for what each method means.
    """

    def __init__(self, addresses: Sequence[Address], settings: Settings) -> None:
        self._loop = LoopThread(addresses, settings)

    def __enter__(self) -> Self:
        self._loop.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.stop(is_good=error is None)

    @property
    def url(self) -> str:
        """The address of the broker that we are, or were last, connected to."""
        return self._loop.client.url

    @property
    def broker(self) -> str:
        """The name of that broker."""
        return self._loop.client.broker

    @property
    def resumed(self) -> bool:
        """Whether that broker had kept something for our identity."""
        return self._loop.client.resumed

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._loop.client.is_connected

    @property
    def reconnects(self) -> int:
        """How many times the connection was lost and made again."""
        return self._loop.client.reconnects

    @property
    def lost(self) -> int:
        """How many notifications the broker could not keep for this connection."""
        return self._loop.client.lost

    def publish(self, attributes: Attributes | None = None, /, **more: Value) -> None:
        """Publish a notification: a mapping, keywords, or both."""
        publisher = self._loop.client.publisher
        frame = publisher.frame(joined(attributes, more))
        if not self._loop.handover.offer(frame):
            self._loop.run(publisher.send(frame))

    def try_publish(
        self, attributes: Attributes | None = None, /, **more: Value
    ) -> bool:
        """Publish a notification if that can be done without waiting for room."""
        client = self._loop.client
        return self._loop.call(lambda: client.try_publish(attributes, **more))

    def publish_many(self, notifications: Iterable[Attributes]) -> int:
        """Publish all of them, many to a packet; how many there were."""
        publisher, sent = self._loop.client.publisher, 0
        # Here and not in the loop: whoever makes them may call this client, too.
        for packet in publisher.packets(notifications):
            self._loop.run(publisher.send(packet.frames))
            sent += packet.published
        return sent

    def flush(self) -> None:
        """Wait until the broker has handled all that was sent before."""
        self._loop.run(self._loop.client.flush())

    def subscribe(
        self,
        interest: str | Filter | Predicate | Pattern,
        *,
        count_max: int = COUNT_MAX,
        bytes_max: int = BYTES_MAX,
        overflow: Overflow = "drop newest",
    ) -> "Subscription[Any]":
        """Ask for what a filter selects, or for sequences that match a pattern."""

        def subscribe() -> AsyncSubscription[Any]:
            return self._loop.client.subscribe(
                interest,
                count_max=count_max,
                bytes_max=bytes_max,
                overflow=overflow,
            )

        return Subscription(self._loop, self._loop.call(subscribe))

    def advertise(self, advertisement: str | Advertisement) -> "Advertising":
        """Say what will be published; the result knows whether anybody wants it."""
        client = self._loop.client
        advertising = self._loop.call(lambda: client.advertise(advertisement))
        return Advertising(self._loop, advertising)

    def suspend(self, queue: int = SUSPENDED_QUEUE) -> None:
        """Let the broker keep what is for our identity."""
        self._loop.run(self._loop.client.suspend(queue))

    def resume(self) -> None:
        """Get what was kept, and from then on whatever comes."""
        self._loop.run(self._loop.client.resume())

    def move(self, url: str) -> None:
        """Make this broker the home of our identity, which was at another's."""
        self._loop.run(self._loop.client.move(url))

    def request(
        self,
        attributes: Attributes | None = None,
        /,
        *,
        timeout_s: float = REPLY_SECONDS,
        **more: Value,
    ) -> Notification:
        """Publish a question and wait for the first reply."""
        client = self._loop.client
        return self._loop.run(client.request(attributes, timeout_s=timeout_s, **more))

    def reply(
        self,
        request: Notification,
        attributes: Attributes | None = None,
        /,
        **more: Value,
    ) -> None:
        """Answer a question that came through a subscription."""
        self._loop.run(self._loop.client.reply(request, attributes, **more))

    def drain(self, timeout_s: float = DRAIN_SECONDS) -> None:
        """End in good order: ask for nothing more, let readers finish, then close."""
        self._loop.run(self._loop.client.drain(timeout_s))

    def close(self) -> None:
        """Hang up: subscriptions end, and so do all who wait for something."""
        self._loop.run(self._loop.client.close())


class Subscription(Generic[T]):
    """What somebody wants, and what has come of it; iterate over it."""

    def __init__(self, loop: LoopThread, subscription: AsyncSubscription[T]) -> None:
        self._loop = loop
        self._subscription = subscription
        # Fetched from the loop together, since each fetch costs two switches.
        self._fetched: deque[T] = deque()

    @property
    def interest(self) -> str:
        """What is wanted, in the words of the language."""
        return self._subscription.interest

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._subscription.number

    @property
    def lost(self) -> int:
        """How many were for it, or may have been, and were lost by whomever."""
        return self._subscription.lost

    @property
    def waiting(self) -> int:
        """How many have come and were not read yet."""
        return len(self._fetched) + self._subscription.waiting

    def settled(self, timeout_s: float | None = None) -> Self:
        """Wait until it is in force in the whole network, and return it."""
        self._loop.run(self._subscription.settled(), timeout_s)
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

    def get_many(self, count: int, timeout_s: float | None = None) -> list[T]:
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
        """End it: what was not read is gone; returns when the broker knows."""
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

    def _next(self, timeout_s: float | None) -> list[T]:
        """One, or none at the end."""
        if not self._fetched:
            fetching = self._subscription.get_many(timeout_s=timeout_s)
            self._fetched.extend(self._loop.run(fetching))
        return [self._fetched.popleft()] if self._fetched else []


class Advertising:
    """A promise to publish within an advertisement, and whether anybody listens."""

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
        """Whether nobody wants anything of it, as far as the broker has said."""
        return self._advertising.quenched

    def settled(self, timeout_s: float | None = None) -> Self:
        """Wait until the broker has said whether somebody wants it, and return it."""
        self._loop.run(self._advertising.settled(), timeout_s)
        return self

    def wanted(self, timeout_s: float | None = None) -> None:
        """Wait until somebody wants something of it."""
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

    def close(self) -> None:
        """Take it back; returns when the broker knows."""
        self._loop.run(self._advertising.close())

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
    async with asyncio.timeout_at(end):
        return await anext(states)
