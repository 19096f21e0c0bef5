"""Traced publications: what every broker on the way did, put together again."""

import asyncio

from siena.errors import SienaError
from siena.protocol.control_frames import Hop

# How long to wait for brokers that do not answer.
TRACE_SECONDS = 5.0


class TraceInProgress:
    """The hops of one publication, as they come.

    It begins at our own broker, and each hop names those that the publication was sent
    on to: of those who are missing, one is always named, so it is known when all have
    answered, whatever the order.
    """

    def __init__(self, first: str) -> None:
        self._missing = {first}
        self._answered: set[str] = set()
        self.hops: list[Hop] = []
        self._complete: asyncio.Future[None] = (
            asyncio.get_running_loop().create_future()
        )

    def add(self, hop: Hop) -> None:
        """One broker has answered."""
        self.hops.append(hop)
        self._answered.add(hop.broker)
        self._missing |= set(hop.went_to)
        self._missing -= self._answered
        if not self._missing and not self._complete.done():
            self._complete.set_result(None)

    def fail(self, reason: SienaError) -> None:
        """No more answers will come."""
        if not self._complete.done():
            self._complete.set_exception(reason)
            self._complete.exception()  # seen, even if nobody waits any more

    async def complete(self) -> None:
        """Wait until all have answered."""
        await asyncio.shield(self._complete)
