"""The delivery of a durable subscription: what its handler takes is acknowledged.

It reads as every client does that reads one (:mod:`siena.broker.durable.reading`), and
always answers: what a handler has thanked for is acknowledged, and what it has not
comes again, later and later, until it is a dead letter.  So what a broker that dies has
not brought comes again when it is back.
"""

import asyncio
import logging
import random
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Annotated, Literal

from msgspec import Meta, Struct

from siena.broker.clients.in_process_entry import InProcessEntry, InProcessSession
from siena.broker.webhooks.delivery import Tries, Way
from siena.broker.webhooks.http import GiveUpError, TryAgainError
from siena.broker.webhooks.letters import Letter, form_of
from siena.broker.webhooks.limits import (
    ANSWER_SECONDS_MAX,
    LETTER_MAX,
    RETRY_SECONDS,
    RETRY_SECONDS_MAX,
)
from siena.broker.webhooks.targets import Target
from siena.protocol.control_frames import Error, Settled, unpack
from siena.protocol.durable.reading import (
    Ack,
    DurableDelivery,
    DurableSubscribe,
    Nak,
    Offset,
    Start,
    unpack_deliver,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Name, Op, Splitter

log = logging.getLogger("siena.broker")

# The number of the subscription in the session of its delivery.
NUMBER = 1


class WantedDurable(Struct, frozen=True, forbid_unknown_fields=True):
    """The durable subscription that a handler reads, as it is asked for."""

    name: Name
    filter: str
    start: Literal["new", "all"] | Offset = "new"
    max_deliver: Annotated[int, Meta(ge=0, le=1_000_000)] = 0
    key: Name | None = None

    def request(self) -> DurableSubscribe:
        """What its delivery asks for: no more than a letter without an answer.

        >>> WantedDurable("billing", "x any", 7).request()
        DurableSubscribe(number=1, filter='x any', name='billing', start='offset', \
at=7, credit=100, ack_wait=1000.0, max_deliver=0, key=None)
        """
        start: Start = "offset" if isinstance(self.start, int) else self.start
        at = self.start if isinstance(self.start, int) else 0
        return DurableSubscribe(
            *(NUMBER, self.filter, self.name),
            start=start,
            at=at,
            credit=LETTER_MAX,
            ack_wait=ANSWER_SECONDS_MAX,
            max_deliver=self.max_deliver,
            key=self.key,
        )


class DurableHandlerDelivery:
    """Brings what a durable subscription has, one letter after the other.

    Ownership: the in-process session; :meth:`run` is a task of its maker, and ends
    with the session.
    """

    def __init__(
        self,
        entry: InProcessEntry,
        in_process_session: InProcessSession,
        identity: str,
        target: Target,
        way: Way,
        wanted: WantedDurable,
    ) -> None:
        self.in_process_session = in_process_session
        self.target, self.way = target, way
        self.wanted = wanted
        self.tries = Tries()
        self._entry = entry
        self._identity = identity
        self._random = random.Random()
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def begun(self, seconds: float) -> None:
        """Wait until it reads; if the network takes longer to know, not for that.

        Raises:
            ProtocolError: if it may not, or cannot.
        """
        session = self.in_process_session.client.session
        self._entry.broker.requests.handle(session, self.wanted.request())
        await asyncio.wait([self._begun], timeout=seconds)
        if self._begun.done():
            self._begun.result()
        self._begun.cancel()  # what is said from now on, is said in the log

    async def run(self) -> None:
        """Bring everything that comes, until the subscription is forgotten."""
        while frames := await self.in_process_session.in_process_client.read():
            found: list[DurableDelivery] = []
            for op, body in Splitter().feed(frames):
                if op == Op.DELIVER:
                    found.append(unpack_deliver(body))
                elif self._is_over(op, body):
                    return
            for together in letters_of(found):
                await self._bring(together)

    def _is_over(self, op: int, body: bytes) -> bool:
        """Hear an answer: whether nothing follows."""
        said = unpack(op, body)
        if isinstance(said, Settled) and not self._begun.done():
            self._begun.set_result(None)
        if not isinstance(said, Error):
            return False
        if not self._begun.done():
            self._begun.set_exception(ProtocolError(Fault.of(said.fault), said.text))
        elif said.fault != Fault.DRAINING.number:
            log.warning("the handler of %s ends: %s", self._identity, said.text)
        return True

    async def _bring(self, found: list[DurableDelivery]) -> None:
        letter = Letter(self._identity, self._entry.broker.name)
        letter.durable = self.wanted.name
        letter.offsets = offsets = [each.offset for each in found]
        letter.attempt = attempt = found[0].attempt
        letter.notifications = [form_of(each.block) for each in found]
        answer: Ack | Nak
        try:
            await self.way.send(self.target, letter)
        except (TryAgainError, GiveUpError) as error:
            log.info("%s of %r: %s", offsets, self.wanted.name, error)
            answer = Nak(NUMBER, offsets, self._missed(len(found), attempt))
        else:
            self.tries.delivered += len(found)
            answer = Ack(NUMBER, offsets)
        # It may have been forgotten, and then nothing waits for an answer.
        with suppress(ProtocolError):
            self._entry.broker.requests.handle(
                self.in_process_session.client.session, answer
            )

    def _missed(self, count: int, attempt: int) -> float:
        """An attempt was in vain: when the next is due, or the dead letter."""
        if attempt == self.wanted.max_deliver:
            self.tries.failed += count
            return 0.0
        self.tries.retried += 1
        # Not all at the same time, after a handler has come back.
        delay: float = RETRY_SECONDS * 2.0 ** min(attempt - 1, 16)
        return min(delay, RETRY_SECONDS_MAX) * self._random.uniform(0.5, 1)


def letters_of(found: Iterable[DurableDelivery]) -> Iterator[list[DurableDelivery]]:
    """What goes together: what comes for the first time; all else alone.

    So one that its handler cannot bear takes no other with it.

    >>> tries = enumerate((1, 1, 2, 1, 3))
    >>> some = [DurableDelivery(1, offset, 0, times, b"") for offset, times in tries]
    >>> [[each.offset for each in together] for together in letters_of(some)]
    [[2], [4], [0, 1, 3]]
    """
    fresh: list[DurableDelivery] = []
    for each in found:
        if each.attempt == 1:
            fresh.append(each)
        else:
            yield [each]
    if fresh:
        yield fresh
