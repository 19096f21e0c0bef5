"""Durable subscriptions: what comes is acknowledged, or comes again.

*Connections*: when the connection is lost, what was not acknowledged comes again over
the next one.  What the program has not read of the old one is dropped before.  If the
next one is to another broker, which has a log of its own, answers to what came from the
first are not sent: they would acknowledge other notifications.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Literal, Self

from siena.block import decode
from siena.client.core.inbox import Item
from siena.client.core.reading import Reading
from siena.client.core.registered_durable import RegisteredDurable
from siena.client.core.session import Session
from siena.errors import SienaError
from siena.model import Notification, Value
from siena.protocol.durable.reading import Start, unpack_deliver

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# From where a durable subscription begins that is not there yet.
Begin = Literal["new", "all"] | int | datetime


class Delivered:
    """A notification for a durable subscription, to be acknowledged.

    ``message["price"]`` is short for ``message.notification["price"]``.
    """

    __slots__ = ("_ack", "_nak", "attempt", "notification", "offset", "time")

    def __init__(
        self,
        body: bytes,
        ack: Callable[[int], None],
        nak: Callable[[int, float], None],
    ) -> None:
        _, self.offset, time, self.attempt, block = unpack_deliver(body)
        self.time = _EPOCH + timedelta(microseconds=time)
        self.notification: Notification = decode(block)
        self._ack = ack
        self._nak = nak

    def __getitem__(self, name: str) -> Value:
        return self.notification[name]

    def ack(self) -> None:
        """It is done, and does not come again; never waits."""
        self._ack(self.offset)

    def nak(self, delay_s: float = 0.0) -> None:
        """It is not done, and shall come again, after so many seconds; never waits."""
        self._nak(self.offset, delay_s)

    def called_from(self, call_soon: Callable[..., None]) -> Self:
        """The same for another thread, which calls through this."""
        ack, nak = self._ack, self._nak
        self._ack = lambda offset: call_soon(ack, offset)
        self._nak = lambda offset, delay_s: call_soon(nak, offset, delay_s)
        return self

    def __repr__(self) -> str:
        return f"<Delivered {self.offset}: {self.notification}>"


class DurableSubscription(Reading[Delivered]):
    """What a broker remembers for a name, and what has come of it.

    Iterate over it, and acknowledge what you have dealt with.  It outlives the program:
    :meth:`close` ends the reading, and not the subscription, which
    ``siena durable rm`` ends, or :meth:`siena.client.client.Client.forget_durable`.
    """

    def __init__(self, session: Session, registered: RegisteredDurable) -> None:
        super().__init__(session, registered)
        self._registered = registered

    @property
    def name(self) -> str:
        """What it is called at the broker."""
        return self._registered.name

    @property
    def in_force(self) -> str:
        """What of it the broker grants; all of it, where there are no grants."""
        return self._registered.in_force or self._registered.interest

    @property
    def filter(self) -> str:
        """What is wanted, in the words of the language."""
        return self._registered.interest

    async def settled(self) -> Self:
        """Wait until it is remembered, and in force in the whole network.

        Raises:
            RequestRefusedError: if the broker does not want it.
            NotSettledError: if other brokers did not answer in time.
        """
        return await super().settled()

    def ack_up_to(self, offset: int) -> None:
        """All up to an offset, not included, are done; never waits."""
        self._registered.ack_up_to(offset)

    async def close(self) -> None:
        """Read no more: what was not acknowledged goes to others, or comes again."""
        await super().close()

    def _end(self) -> asyncio.Future[None] | None:
        return self._session.leave_durable(self._registered)

    def _read(self, item: Item) -> Delivered:
        assert isinstance(item, bytes)
        asked = self._registered
        # After a change to another broker, which has another log, it answers nothing.
        ack, nak = partial(asked.ack, log=asked.log), partial(asked.nak, log=asked.log)
        return Delivered(item, ack, nak)

    def __repr__(self) -> str:
        return f"<DurableSubscription {self.name}: {self.filter}>"


def begin_of(start: Begin) -> tuple[Start, int]:
    """Where to begin, as it travels.

    >>> begin_of("all"), begin_of(7)
    (('all', 0), ('offset', 7))
    """
    if isinstance(start, datetime):
        if start.tzinfo is None:
            raise SienaError("a time to start at has a zone")
        return "time", max(0, (start - _EPOCH) // timedelta(microseconds=1))
    if isinstance(start, int):
        return "offset", start
    if start not in {"new", "all"}:
        raise SienaError(f"to start at {start!r}: new, all, an offset or a time")
    return start, 0
