"""The client without ``await``: the same names, on a loop in a thread of its own.

*Ownership*: ``with siena.connect(…)`` owns the thread; when the block is left, it has
ended.  Any thread may call; each call waits for its answer, and Ctrl-C cancels it.
"""

from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self, overload

from siena.block import Attributes
from siena.client.blocking_handles import Advertising, Subscription
from siena.client.blocking_log import LogClient
from siena.client.client import SUSPENDED_QUEUE
from siena.client.core.inbox import BYTES_MAX, COUNT_MAX, Overflow
from siena.client.core.loop_thread import LoopThread
from siena.client.core.publisher import joined
from siena.client.core.traces import TRACE_SECONDS
from siena.client.durable.blocking import DurableSubscription
from siena.client.durable.subscription import (
    Begin,
    DurableSubscription as AsyncDurableSubscription,
)
from siena.client.interests import Wanted, as_interest
from siena.client.settings import DRAIN_SECONDS, REPLY_SECONDS, Settings
from siena.client.subscription import Subscription as AsyncSubscription
from siena.model import (
    Advertisement,
    Filter,
    Notification,
    Pattern,
    Predicate,
    Value,
)
from siena.protocol.address import Address
from siena.protocol.control_frames import Hop
from siena.protocol.durable.reading import ACK_WAIT_SECONDS
from siena.protocol.limits import CREDIT_DEFAULT


class Client:
    """A program's handle on the service; made by ``with siena.connect(…)``.

    See :class:`siena.client.client.Client` for what each method means.
    """

    def __init__(self, addresses: Sequence[Address], settings: Settings) -> None:
        self._loop = LoopThread(addresses, settings)
        self.log = LogClient(self._loop)

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
    def features(self) -> tuple[str, ...]:
        """What that broker can do, and asks for, as its INFO says."""
        return self._loop.client.features

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
    def gaps(self) -> int:
        """How many times something may have been lost on its way, here or elsewhere."""
        return self._loop.client.gaps

    @property
    def lost(self) -> int:
        """How many notifications the broker could not keep for this connection."""
        return self._loop.client.lost

    def publish(
        self,
        attributes: Attributes | None = None,
        /,
        *,
        ack: bool = False,
        timeout_s: float | None = None,
        **more: Value,
    ) -> int | None:
        """Publish a notification: a mapping, keywords, or both.

        With ``ack``, the offset at which it is on the disk of the broker.

        Raises:
            TimeoutError: if there is no room, or no connection, for so long; nothing
                was published, unless it was with ``ack``: then it may be stored.
            RequestRefusedError: with ``ack``, if it is not stored.
        """
        client = self._loop.client
        if ack:
            acked = client.publish(joined(attributes, more), ack=True)
            return self._loop.run(acked, timeout_s)
        publisher = client.publisher
        frame = publisher.frame(joined(attributes, more))
        if not self._loop.thread_queue.offer(frame):
            self._loop.run(publisher.send(frame), timeout_s)
        return None

    def try_publish(
        self, attributes: Attributes | None = None, /, **more: Value
    ) -> bool:
        """Publish a notification if that can be done without waiting for room."""
        client = self._loop.client
        return self._loop.call(lambda: client.try_publish(attributes, **more))

    def publish_many(
        self,
        notifications: Iterable[Attributes],
        *,
        ack: bool = False,
        timeout_s: float | None = None,
    ) -> int:
        """Publish all of them, many to a packet; how many there were.

        With ``ack`` it returns when the broker has all of them on its disk.

        Raises:
            TimeoutError: if a packet has to wait for so long; those before it are sent.
            RequestRefusedError: with ``ack``, the first refusal; others may be stored.
        """
        if ack:
            many = list(notifications)
            acked = self._loop.client.publish_many(many, ack=True)
            return self._loop.run(acked, timeout_s)
        publisher, sent = self._loop.client.publisher, 0
        # Here and not in the loop: whoever makes them may call this client, too.
        for packet in publisher.packets(notifications):
            self._loop.run(publisher.send(packet.frames), timeout_s)
            sent += packet.published
        return sent

    def next_sequence(self, timeout_s: float | None = None) -> int:
        """The number of the next publication with ``ack``; see :class:`Client`.

        Raises:
            RequestRefusedError: if the broker has no store (126).
            TimeoutError: if that takes longer than this.
        """
        return self._loop.run(self._loop.client.next_sequence(), timeout_s)

    def trace(
        self,
        attributes: Attributes | None = None,
        /,
        *,
        timeout_s: float = TRACE_SECONDS,
        **more: Value,
    ) -> list[Hop]:
        """Publish, and hear from every broker on the way what it did."""
        client = self._loop.client
        return self._loop.run(client.trace(attributes, timeout_s=timeout_s, **more))

    def flush(self, timeout_s: float | None = None) -> None:
        """Wait until the broker has handled all that was sent before."""
        self._loop.run(self._loop.client.flush(timeout_s))

    @overload
    def subscribe(
        self,
        interest: str | Filter | Predicate,
        *,
        count_max: int = ...,
        bytes_max: int = ...,
        overflow: Overflow = ...,
        dialect: str | None = ...,
    ) -> Subscription[Notification]: ...
    @overload
    def subscribe(
        self,
        interest: Pattern,
        *,
        count_max: int = ...,
        bytes_max: int = ...,
        overflow: Overflow = ...,
    ) -> Subscription[tuple[Notification, ...]]: ...
    @overload
    def subscribe(
        self,
        interest: str | Filter | Predicate,
        *,
        durable: str,
        start: Begin = ...,
        credit: int = ...,
        ack_wait_s: float = ...,
        max_deliver: int = ...,
        key: str | None = ...,
    ) -> DurableSubscription: ...
    def subscribe(
        self,
        interest: Wanted,
        *,
        durable: str | None = None,
        count_max: int = COUNT_MAX,
        bytes_max: int = BYTES_MAX,
        overflow: Overflow = "drop newest",
        dialect: str | None = None,
        **how: Any,
    ) -> Subscription[Any] | DurableSubscription:
        """Ask for what a filter selects, or for sequences that match a pattern.

        A text may be in another language, a ``dialect``.
        With ``durable``, for what the broker remembers under that name.
        """
        # By now it is known which: a text is read once, and here.
        wanted = as_interest(interest, dialect)
        if durable is not None:
            return self.read_durable(wanted, durable, **how)
        if how:
            raise TypeError(f"for durable subscriptions only: {', '.join(how)}")
        subscribe: Callable[..., AsyncSubscription[Any]] = self._loop.client.subscribe
        bounds = {"count_max": count_max, "bytes_max": bytes_max, "overflow": overflow}
        made = self._loop.call(lambda: subscribe(wanted, **bounds))
        return Subscription(self._loop, made)

    def subscribe_pattern(
        self,
        pattern: str | Pattern,
        *,
        count_max: int = COUNT_MAX,
        bytes_max: int = BYTES_MAX,
        overflow: Overflow = "drop newest",
    ) -> Subscription[tuple[Notification, ...]]:
        """Ask for sequences that match a pattern, also if it has one step only."""

        def subscribe() -> AsyncSubscription[tuple[Notification, ...]]:
            return self._loop.client.subscribe_pattern(
                pattern,
                count_max=count_max,
                bytes_max=bytes_max,
                overflow=overflow,
            )

        return Subscription(self._loop, self._loop.call(subscribe))

    def read_durable(
        self,
        interest: Wanted,
        name: str,
        *,
        start: Begin = "new",
        credit: int = CREDIT_DEFAULT,
        ack_wait_s: float = ACK_WAIT_SECONDS,
        max_deliver: int = 0,
        key: str | None = None,
    ) -> DurableSubscription:
        """Read a durable subscription, which the first to use its name makes."""

        def read() -> AsyncDurableSubscription:
            return self._loop.client.read_durable(
                interest,
                name,
                start=start,
                credit=credit,
                ack_wait_s=ack_wait_s,
                max_deliver=max_deliver,
                key=key,
            )

        return DurableSubscription(self._loop, self._loop.call(read))

    def durables(self) -> list[dict[str, Any]]:
        """The durable subscriptions that one may see, and how far each is."""
        return self._loop.run(self._loop.client.durables())

    def seek_durable(self, name: str, start: Begin) -> None:
        """Let a durable subscription go on from somewhere else."""
        self._loop.run(self._loop.client.seek_durable(name, start))

    def forget_durable(self, name: str) -> None:
        """End a durable subscription: nothing is remembered any more."""
        self._loop.run(self._loop.client.forget_durable(name))

    def advertise(self, advertisement: str | Advertisement) -> Advertising:
        """Say what will be published; the result knows whether it is wanted."""
        client = self._loop.client
        advertising = self._loop.call(lambda: client.advertise(advertisement))
        return Advertising(self._loop, advertising)

    def unsubscribe(self, interest: Wanted) -> list[int]:
        """End every subscription of ours that an interest covers; their numbers."""
        return self._loop.run(self._loop.client.unsubscribe(interest))

    def unadvertise(self, advertisement: str | Advertisement) -> list[int]:
        """Take back every advertisement of ours that this one covers; their numbers."""
        return self._loop.run(self._loop.client.unadvertise(advertisement))

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


__all__ = ["Advertising", "Client", "DurableSubscription", "Subscription"]
