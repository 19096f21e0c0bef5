"""Subscriptions: the handle that yields notifications."""

import asyncio
import contextlib
import weakref
from typing import Self, TypeVar, cast

from siena.block import decode
from siena.client.core.inbox import Item
from siena.client.core.reading import Reading
from siena.client.core.registrations import RegisteredInterest
from siena.client.core.session import Session
from siena.errors import ConnectionLostError

# What a subscription yields: a notification, or of a pattern a tuple of them.
T = TypeVar("T")


class Subscription(Reading[T]):
    """What the program wants, and what has come of it.

    Iterate over it, as often as you like; several readers share what comes.  It ends
    when it is closed, when its client is, or when the program lets go of it.  That of a
    client with an identity outlives even its program, and ends only when it is closed.

    Cancellation: a reader that is cancelled loses nothing; the next gets it.
    """

    def __init__(self, session: Session, registered: RegisteredInterest) -> None:
        super().__init__(session, registered)
        self._registered = registered
        # The collector may run anywhere; the session lives in the loop.
        loop = asyncio.get_running_loop()
        self._forgotten = weakref.finalize(self, _forget, loop, session, registered)
        self._forgotten.atexit = False
        if session.has_identity:
            self._forgotten.detach()

    @property
    def interest(self) -> str:
        """What is wanted, in the words of the language."""
        return self._registered.interest

    @property
    def in_force(self) -> str:
        """What the broker delivers of it: less, where not all of it is granted."""
        return self._registered.in_force or self._registered.interest

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._registered.number

    @property
    def lost(self) -> int:
        """How many were for it, or may have been, and were lost by whomever."""
        return self._registered.inbox.lost + self._registered.lost_before

    async def settled(self) -> Self:
        """Wait until it is in force in the whole network, and return it.

        Raises:
            RequestRefusedError: if the broker does not want it.
            NotSettledError: if other brokers did not answer in time; it stands, and
                they are asked again when this is.
        """
        if self._registered.silent:
            self._session.ask_again(self._registered)
        return await super().settled()

    async def close(self) -> None:
        """End it: what was not read is gone; returns when the broker knows."""
        await super().close()

    def _end(self) -> asyncio.Future[None] | None:
        self._forgotten.detach()
        self._registered.inbox.finish(at_once=True)
        self._registered.settled.fail(
            ConnectionLostError("the subscription was closed")
        )
        return self._session.unsubscribe(self._registered)

    def _read(self, item: Item) -> T:
        """From bytes to what was promised when it was made; see Client.subscribe."""
        if isinstance(item, bytes):
            return cast("T", decode(item))
        return cast("T", tuple(map(decode, item)))

    def __repr__(self) -> str:
        return f"<Subscription {self.number}: {self.interest}>"


# Kept out of the class: a method would hold what is to be forgotten.
def _forget(
    loop: asyncio.AbstractEventLoop, session: Session, registered: RegisteredInterest
) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed, and the session
        loop.call_soon_threadsafe(session.unsubscribe, registered)
