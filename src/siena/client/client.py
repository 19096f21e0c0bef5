"""The client: publish, subscribe and advertise over a connection that comes back.

*Ownership*: ``async with siena.connect(…)`` owns the client, and the client owns the
connection and the one task that keeps it.  When the block is left, all are gone.

*Cancellation*: whatever is cancelled has either happened or not, never half: a
publication is sent in one piece or not at all, a subscription exists once
:meth:`Client.subscribe` has returned, a reader takes nothing with it.

*Back-pressure*: publications wait while the socket takes no more, and while there is
no connection; :meth:`Client.try_publish` never waits.

Why one module: one class, which is all that programs see.
"""

import asyncio
from collections.abc import AsyncIterable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self, overload

from siena.block import Attributes
from siena.client.advertising import Advertising
from siena.client.core.acked_publisher import no_store
from siena.client.core.inbox import BYTES_MAX, COUNT_MAX, Inbox, Overflow
from siena.client.core.publisher import Publisher, joined
from siena.client.core.reconnect import Reconnector
from siena.client.core.session import Session
from siena.client.core.timing import timed
from siena.client.core.traces import TRACE_SECONDS
from siena.client.durable.subscription import (
    Begin,
    DurableSubscription,
    begin_of,
)
from siena.client.facts import Facts
from siena.client.interests import Wanted, as_advertisement, as_interest, as_pattern
from siena.client.log import LogClient
from siena.client.request_reply import Replies, reply_to
from siena.client.settings import DRAIN_SECONDS, REPLY_SECONDS, Settings
from siena.client.subscription import Subscription
from siena.errors import ConnectionLostError, RequestRefusedError, SienaError
from siena.model import (
    Advertisement,
    Filter,
    Notification,
    Pattern,
    Predicate,
    Value,
)
from siena.protocol.address import Address
from siena.protocol.control_frames import (
    Hop,
    Look,
    Move,
    Resume,
    Suspend,
    UnadvertiseCovered,
    UnsubscribeCovered,
)
from siena.protocol.durable.reading import (
    ACK_WAIT_SECONDS,
    DurableSubscribe,
    Forget,
    Seek,
)
from siena.protocol.frames import HEAD_BYTES
from siena.protocol.handshake import COVERED, DURABLE
from siena.protocol.limits import CREDIT_DEFAULT, LOOK_MAX

# What a broker keeps for a suspended identity, unless more or less is wanted.
SUSPENDED_QUEUE = 1_000


class Client(Facts):
    """A program's handle on the service; made by :func:`siena.connect`."""

    def __init__(self, addresses: Sequence[Address], settings: Settings) -> None:
        self._session = Session(
            has_identity=settings.identity is not None, publisher=settings.publisher
        )
        self._close_s = settings.close_s
        self._reconnector = Reconnector(addresses, settings, self._session)
        self.publisher = Publisher(self._session)
        self.log = LogClient(self._session, self.publisher)
        """What the broker keeps on its disk, if it keeps something."""
        self._tasks = asyncio.TaskGroup()
        self._keeping: asyncio.Task[None] | None = None
        self._replies = Replies(self, self._tasks)

    # -- publishing ------------------------------------------------------------

    async def publish(
        self,
        attributes: Attributes | None = None,
        /,
        *,
        ack: bool = False,
        timeout_s: float | None = None,
        **more: Value,
    ) -> int | None:
        """Publish a notification: a mapping, keywords, or both.

        Returns when it is on its way, at most a turn of the loop from the socket;
        :meth:`flush` waits until the broker has it.  Waits while there is no room, and
        while there is no connection.

        With ``ack`` it returns when the broker has it on its disk, and where: its
        offset in the log.  Until then it is sent again after every reconnection, and
        is stored once all the same.

        Raises:
            TimeoutError: if that takes longer than this; nothing was published, unless
                it was with ``ack``: then it may be stored, now or later.
            RequestRefusedError: with ``ack``, if the broker has no store (126), its
                disk has failed (127), or it does not take this notification.
        """
        if ack:
            stored = self.publisher.store(joined(attributes, more))
            return await timed(stored, timeout_s)
        waiting = self.publisher.send_now(joined(attributes, more))
        if waiting is not None:
            await timed(self.publisher.send(waiting), timeout_s)
        return None

    def try_publish(
        self, attributes: Attributes | None = None, /, **more: Value
    ) -> bool:
        """Publish a notification if that can be done without waiting."""
        return self.publisher.offer(self.publisher.frame(joined(attributes, more)))

    async def publish_many(
        self,
        notifications: Iterable[Attributes] | AsyncIterable[Attributes],
        *,
        ack: bool = False,
    ) -> int:
        """Publish all of them, many to a packet; how many there were.

        If one cannot be published, those before it are.  Those of a stream are sent
        when enough have come, or at its end; the wish to see each at once is
        :meth:`publish`.

        With ``ack`` it returns when the broker has all of them on its disk.

        Raises:
            RequestRefusedError: with ``ack``, the first refusal; others may be stored.
        """
        if ack:
            return await self.publisher.store_many(notifications)
        return await self.publisher.send_many(notifications)

    async def next_sequence(self) -> int:
        """The number of the next publication with ``ack``, from 0 on.

        With ``publisher=``, what was published under that name counts, also by other
        lives of this program: all with lower numbers are on the disk of this broker,
        or were refused.

        Raises:
            RequestRefusedError: if the broker has no store (126).
        """
        await self._session.room.passed()
        if DURABLE not in self._session.features:
            raise no_store()
        return await self._session.acked.next_sequence()

    async def flush(self, timeout_s: float | None = None) -> None:
        """Wait until the broker has handled all that was sent before.

        Raises:
            TimeoutError: if that takes longer than this.
            RequestRefusedError: what the broker had against a publication before.
            ConnectionLostError: if the connection broke; what was published shortly
                before may be lost.
        """
        await timed(self._flushed(), timeout_s)
        refused = self._session.take_refusal()
        if refused is not None:
            raise refused

    async def _flushed(self) -> None:
        await self._session.room.passed()
        self._session.has_published = False
        await asyncio.shield(self._session.ping())

    async def trace(
        self,
        attributes: Attributes | None = None,
        /,
        *,
        timeout_s: float = TRACE_SECONDS,
        **more: Value,
    ) -> list[Hop]:
        """Publish, and hear from every broker on the way what it did.

        Returns when all have answered, or with those that have when the time is over.
        """
        block = self.publisher.frame(joined(attributes, more))[HEAD_BYTES:]
        await self._session.room.passed()
        token, trace = self._session.trace(block, self.broker)
        try:
            async with asyncio.timeout(timeout_s):
                await trace.complete()
        except TimeoutError:
            pass
        finally:
            del self._session.traces[token]
        return trace.hops

    # -- subscribing and advertising -------------------------------------------

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

        ``async for`` over the result gives notifications, or tuples of them for a
        pattern; of a text only who wrote it knows which, and a type checker takes it
        for a filter: :meth:`subscribe_pattern` is for the other.

        To be sure that nothing published from now on is missed, wait for
        :meth:`Subscription.settled` first.

        Args:
            interest: a value, or text in the language.
            count_max: so many wait to be read at most.
            bytes_max: and so many bytes of them, as they travelled.
            overflow: what to do with more: ``"drop newest"``, ``"drop oldest"``, or
                end the subscription with an ``"error"``.  What is dropped is counted
                in :attr:`Subscription.lost`.
            dialect: the language of the text, if another (:mod:`siena.dialects`).
            durable: the name under which the broker remembers what was acknowledged.
            how: what can be said besides then; see :meth:`read_durable`.
        """
        wanted = as_interest(interest, dialect, self.features)
        if durable is not None:
            return self.read_durable(wanted, durable, **how)
        if how:
            raise TypeError(f"for durable subscriptions only: {', '.join(how)}")
        inbox = Inbox(count_max=count_max, bytes_max=bytes_max, overflow=overflow)
        registered = self._session.subscribe(
            str(wanted), inbox, is_pattern=isinstance(wanted, Pattern)
        )
        return Subscription(self._session, registered)

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
        """Read a durable subscription, which the first to use its name makes.

        Args:
            interest: a filter; another than before holds for what is published later.
            name: under which the broker remembers what was acknowledged.
            start: where it begins if it is not there yet: ``"new"``, ``"all"``, an
                offset of the log, or a time.
            credit: so many come before one has to be acknowledged.
            ack_wait_s: what is not acknowledged for so long comes again; the second
                time after twice as long, and so on.
            max_deliver: after so many deliveries without an acknowledgement it becomes
                a dead letter: a notification with ``siena.dead = true``; 0: never.
            key: an attribute; of those with the same value, the next comes when the one
                before is acknowledged, however many read.
        """
        wanted = as_interest(interest)
        if isinstance(wanted, Pattern):
            raise SienaError("a durable subscription has a filter, not a pattern")
        kind, at = begin_of(start)
        body = DurableSubscribe(
            *(0, str(wanted), name, kind, at, credit, float(ack_wait_s)),
            *(max_deliver, key),
        )
        return DurableSubscription(self._session, self._session.read_durable(body))

    async def durables(self) -> list[dict[str, Any]]:
        """The durable subscriptions that one may see, and how far each is.

        ``low`` is the first offset that it needs, and ``lag`` how many of the log that
        are; the first 1 000 of them.

        Raises:
            RequestRefusedError: if nothing may be seen.
        """
        look = Look("durables", LOOK_MAX)
        answer = await asyncio.shield(self._session.ask_for(look))
        found: list[dict[str, Any]] = answer.seen["durables"]
        return found

    async def seek_durable(self, name: str, start: Begin) -> None:
        """Let a durable subscription go on from somewhere else.

        Raises:
            RequestRefusedError: if there is none of this name (129), or the log has not
                what it is to go on from (121, 122).
        """
        await asyncio.shield(self._session.ask(Seek(name, *begin_of(start))))

    async def forget_durable(self, name: str) -> None:
        """End a durable subscription: nothing is remembered any more.

        Raises:
            RequestRefusedError: if there is none of this name (129).
        """
        await asyncio.shield(self._session.ask(Forget(name)))

    def subscribe_pattern(
        self,
        pattern: str | Pattern,
        *,
        count_max: int = COUNT_MAX,
        bytes_max: int = BYTES_MAX,
        overflow: Overflow = "drop newest",
    ) -> Subscription[tuple[Notification, ...]]:
        """Ask for sequences that match a pattern, also if it has one step only."""
        inbox = Inbox(count_max=count_max, bytes_max=bytes_max, overflow=overflow)
        wanted = str(as_pattern(pattern))
        registered = self._session.subscribe(wanted, inbox, is_pattern=True)
        return Subscription(self._session, registered)

    def advertise(self, advertisement: str | Advertisement) -> Advertising:
        """Say what will be published; the result knows whether it is wanted."""
        registered = self._session.advertise(str(as_advertisement(advertisement)))
        return Advertising(self._session, registered)

    async def unsubscribe(self, interest: Wanted) -> list[int]:
        """End every subscription of ours that an interest covers; their numbers.

        Also those that our identity made over other connections.  What has come can
        still be read.  No subscription is ever narrowed.

        Raises:
            SienaError: if the broker can end subscriptions by their numbers only.
        """
        return await self._cancel(UnsubscribeCovered(str(as_interest(interest))))

    async def unadvertise(self, advertisement: str | Advertisement) -> list[int]:
        """Take back every advertisement of ours that this one covers; their numbers."""
        offered = str(as_advertisement(advertisement))
        return await self._cancel(UnadvertiseCovered(offered))

    async def _cancel(self, body: UnsubscribeCovered | UnadvertiseCovered) -> list[int]:
        if COVERED not in self.features:
            text = "this broker does not know how to end what a filter covers"
            raise SienaError(text, hint="close what is to end, one by one")
        numbers: list[int] = await asyncio.shield(self._session.ask_for(body))
        return numbers

    # -- coming and going ------------------------------------------------------

    async def suspend(self, queue: int = SUSPENDED_QUEUE) -> None:
        """Let the broker keep what is for our identity, up to so many notifications.

        It does so until :meth:`resume`, also while we are not connected; another
        program with the same identity may resume as well.
        """
        suspend = Suspend(queue)
        done = self._session.ask(suspend)
        self._session.suspended = suspend
        try:
            await asyncio.shield(done)
        except RequestRefusedError:
            self._session.suspended = None
            raise

    async def resume(self) -> None:
        """Get what was kept, and from then on whatever comes.

        A program that starts anew does so when it first waits for something to read.
        Subscribe before, in the same order as ever: what was kept comes by number.
        """
        done = self._session.ask(Resume())
        self._session.suspended = None
        await asyncio.shield(done)

    async def move(self, url: str) -> None:
        """Make this broker the home of our identity, which was at another's until now.

        What was kept there, and the subscriptions, come along.
        """
        await asyncio.shield(self._session.ask(Move(url)))

    async def request(
        self,
        attributes: Attributes | None = None,
        /,
        *,
        timeout_s: float = REPLY_SECONDS,
        **more: Value,
    ) -> Notification:
        """Publish a question and wait for the first reply; see :meth:`reply`.

        Raises:
            NoReplyError: if none comes in time; at once if none wants the question.
        """
        return await self._replies.request(joined(attributes, more), timeout_s)

    async def reply(
        self,
        request: Notification,
        attributes: Attributes | None = None,
        /,
        **more: Value,
    ) -> None:
        """Answer a question that came through a subscription."""
        await self.publish(reply_to(request, joined(attributes, more)))

    # -- the end ---------------------------------------------------------------

    async def drain(self, timeout_s: float = DRAIN_SECONDS) -> None:
        """End in good order: ask for nothing more, let readers finish, then close.

        Subscriptions are ended at the broker, what was on its way still comes, and
        iterations end after the last of it.

        Raises:
            TimeoutError: if not everything was read in time; closed then, too.
        """
        interests = list(self._session.interests.values())
        try:
            async with asyncio.timeout(timeout_s):
                self._session.leave()
                await self.flush()
                for interest in interests:
                    interest.inbox.finish()
                for interest in interests:
                    await interest.inbox.emptied()
        finally:
            await self.close()

    async def close(self) -> None:
        """Hang up: subscriptions end, and so do all who wait for something."""
        if self._keeping is not None:
            self._keeping.cancel()
        for interest in list(self._session.interests.values()):
            interest.inbox.finish()
        await self._reconnector.close(ConnectionLostError("the client is closed"))

    async def __aenter__(self) -> Self:
        await self._reconnector.start()
        await self._tasks.__aenter__()
        self._keeping = self._tasks.create_task(
            self._reconnector.run(), name="siena: keep the connection"
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None and self.is_connected:
                async with asyncio.timeout(self._close_s):
                    await self._part()
        except TimeoutError:
            raise ConnectionLostError(
                f"{self.url} did not take everything within {self._close_s:g} s"
            ) from None
        finally:
            await self.close()
            await self._tasks.__aexit__(None, None, None)

    async def _part(self) -> None:
        """What is to be done before hanging up, so that nothing is lost by it."""
        if self._session.is_to_be_kept:
            # Or the broker sends on until it has noticed that nobody is there.
            await self.suspend()
        if self._session.has_published:
            # A socket that is closed with something unread may take back what was
            # written last.
            await self.flush()
