"""Questions and replies: two notifications that carry the same token.

A question says where replies are looked for, in ``reply-to``; a reply repeats it in
``correlation``.  The client subscribes once to everything that carries one of its own
tokens, and hands each reply to the caller that waits for it.

While it waits it advertises the question: where brokers quench, they say at once if no
subscription anywhere wants it.
"""

import asyncio
import contextlib
import itertools
import secrets
from typing import TYPE_CHECKING

from siena.block import Attributes
from siena.errors import InvalidNotificationError, NoReplyError, SienaError
from siena.model import Advertisement, Constraint, Filter, Notification, Operator
from siena.protocol.handshake import ADVERTISED

if TYPE_CHECKING:  # the client has replies, and replies need a client
    from siena.client.advertising import Advertising
    from siena.client.client import Client
    from siena.client.subscription import Subscription

REPLY_TO = "reply-to"
CORRELATION = "correlation"
TOKEN_BYTES = 8


class Replies:
    """The questions of one client that wait for a reply.

    No task waits for replies: of those who wait, one reads and hands the others theirs.
    """

    def __init__(self, client: "Client", tasks: asyncio.TaskGroup) -> None:
        self._client = client
        self._tasks = tasks
        # Nobody guesses it, so nobody else's replies come here by mistake.
        self._prefix = f"{secrets.token_hex(TOKEN_BYTES)}/"
        self._numbers = itertools.count(1)
        self._waiting: dict[str, asyncio.Future[Notification]] = {}
        self._subscription: Subscription[Notification] | None = None
        self._reading = asyncio.Lock()

    async def request(self, attributes: Attributes, timeout_s: float) -> Notification:
        """Publish the question, and wait for its first reply."""
        token = f"{self._prefix}{next(self._numbers)}"
        question = Notification(attributes, **{REPLY_TO: token})
        reply: asyncio.Future[Notification] = asyncio.get_running_loop().create_future()
        self._waiting[token] = reply
        try:
            async with asyncio.timeout(timeout_s):
                if self._subscription is None:
                    wanted = Constraint(CORRELATION, Operator.PREFIX, self._prefix)
                    self._subscription = self._client.subscribe(Filter([wanted]))
                await self._subscription.settled()
                return await self._ask(question, reply, self._subscription)
        except TimeoutError:
            raise NoReplyError(f"nobody replied within {timeout_s:g} s") from None
        finally:
            del self._waiting[token]

    async def _ask(
        self,
        question: Notification,
        reply: "asyncio.Future[Notification]",
        subscription: "Subscription[Notification]",
    ) -> Notification:
        """Publish and read, unless no client wants the question.

        Raises:
            NoReplyError: if the brokers say so.
        """
        asked = self._client.advertise(_advertisement_of(question))
        unwanted = asyncio.timeout(None)  # it is over when brokers say so
        try:
            if ADVERTISED in self._client.features:
                await asked.settled()  # nothing else may be published there
            await self._client.publish(question)
            async with unwanted:
                listening = self._tasks.create_task(_listen(asked, unwanted))
                try:
                    return await self._read_until(reply, subscription)
                finally:
                    listening.cancel()
        except TimeoutError:
            if not unwanted.expired():
                raise
            text = "nobody responds: no subscription wants this question"
            raise NoReplyError(text, hint="siena why --server says why not") from None
        finally:
            await asked.close()

    async def _read_until(
        self,
        reply: "asyncio.Future[Notification]",
        subscription: "Subscription[Notification]",
    ) -> Notification:
        while not reply.done():
            async with self._reading:
                if not reply.done():  # else it came while another one read
                    self._hand_out(await subscription.get())
        return reply.result()

    def _hand_out(self, reply: Notification) -> None:
        waiting = self._waiting.get(str(reply.get(CORRELATION)))
        if waiting is not None and not waiting.done():
            waiting.set_result(reply)


async def _listen(asked: "Advertising", unwanted: asyncio.Timeout) -> None:
    """End the waiting as soon as brokers say that no client wants the question."""
    with contextlib.suppress(SienaError):  # who may not advertise may still ask
        await asked.settled()
        if asked.quenched:
            unwanted.reschedule(asyncio.get_running_loop().time())


def _advertisement_of(question: Notification) -> Advertisement:
    return Advertisement(
        Constraint(name, Operator.EQ, value) for name, value in question.items()
    )


def reply_to(request: Notification, attributes: Attributes) -> Notification:
    """The reply to a question.

    >>> asked = Notification({"what": "time", "reply-to": "x/1"})
    >>> print(reply_to(asked, {"hour": 7}))
    correlation = x/1 and hour = 7
    >>> reply_to(Notification(what="time"), {"hour": 7})
    Traceback (most recent call last):
    siena.errors.InvalidNotificationError: nobody asked: it has no reply-to
    """
    token = request.get(REPLY_TO)
    if token is None:
        raise InvalidNotificationError(f"nobody asked: it has no {REPLY_TO}")
    return Notification(attributes, **{CORRELATION: token})
