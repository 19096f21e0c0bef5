"""The log of a broker: read what was published by offset, and publish whole batches.

*Cancellation*: whatever is cancelled may have happened; done again, it changes nothing.

*Connections*: all of this can be asked again, and is, when the connection comes back;
only when the client gives up does it fail.  Use a client of its own to commit: a full
log stops reading from those who publish.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple, TypeVar

from siena.block import Attributes, decode
from siena.client.core.publisher import Publisher
from siena.client.core.session import Session
from siena.errors import ConnectionLostError
from siena.lang.parser import parse_interest
from siena.model import Filter, Notification, Predicate
from siena.protocol.frames import HEAD_BYTES, Body
from siena.protocol.limits import READ_BYTES_MAX, READ_COUNT_MAX
from siena.protocol.log_frames import (
    Batch,
    Commit,
    Entries,
    Entry,
    Extent,
    Log,
    Part,
    Read,
    Stage,
    Taken,
    Unstage,
)

# Everything that is published.
EVERYTHING = "[]"
# What STAGE carries, beside one notification more; and how many.
STAGE_BYTES = READ_BYTES_MAX // 2
STAGE_COUNT = READ_COUNT_MAX

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
A = TypeVar("A", bound=Body)


class Logged(NamedTuple):
    """A notification of the log, and where and when it came."""

    offset: int
    time: datetime
    notification: Notification


class LogClient:
    """What a client can do with the log of its broker; see ``client.log``."""

    def __init__(self, session: Session, publisher: Publisher) -> None:
        self._session = session
        self._publisher = publisher

    # -- reading ---------------------------------------------------------------

    async def extent(self, reader: str | None = None) -> Extent:
        """The offsets that there are, and the one that a reader has committed.

        Raises:
            RequestRefusedError: if the broker keeps no log (120).
        """
        return await self._ask(Log(reader), Extent)

    async def page(
        self,
        interest: str | Filter | Predicate = EVERYTHING,
        start: int = 0,
        end: int | None = None,
        *,
        count_max: int = READ_COUNT_MAX,
    ) -> Entries:
        """Some of what a filter selects, as it travelled, and from where to go on.

        Raises:
            RequestRefusedError: if the offset has expired (121) or is not there yet
                (122), or the filter is none.
        """
        return await self._ask(Read(_text(interest), start, end, count_max), Entries)

    async def read(
        self,
        interest: str | Filter | Predicate = EVERYTHING,
        start: int | None = None,
        end: int | None = None,
    ) -> AsyncIterator[Logged]:
        """What a filter selects, from an offset up to another, or to what is there.

        Without a start, from the first that is there.
        """
        text = _text(interest)
        if start is None or end is None:
            extent = await self.extent()
            start = extent.earliest if start is None else start
            end = extent.latest if end is None else end
        while start < end:
            page = await self.page(text, start, end)
            for entry in page.entries:
                yield logged(entry)
            if page.next == start:
                return  # the log has not come as far
            start = page.next

    async def commit(self, reader: str, offset: int) -> None:
        """Say that a reader needs nothing before this offset any more.

        What a reader has not committed stays in the log, and publishers wait if there
        is no room for more.
        """
        await self._ask(Commit(reader, offset))

    async def forget(self, reader: str) -> None:
        """Say that a reader does not read any more."""
        await self._ask(Commit(reader, None))

    # -- batches ---------------------------------------------------------------

    async def stage(self, part: bytes, notifications: Iterable[Attributes]) -> int:
        """Let the broker have a part of a batch, which is not published yet; how many.

        Args:
            part: its name, 16 bytes drawn at random.
            notifications: what it consists of.
        """
        return await self.stage_blocks(part, self.blocks_of(notifications))

    async def stage_blocks(self, part: bytes, blocks: Iterable[bytes]) -> int:
        """The same of blocks."""
        count = 0
        for pile in piles(blocks):
            await self.stage_pile(part, count, pile)
            count += len(pile)
        return count

    async def stage_pile(self, part: bytes, at: int, blocks: list[bytes]) -> None:
        """Some blocks of a part, of which so many have been staged before."""
        await self._ask(Stage(part, at, blocks))

    def blocks_of(self, notifications: Iterable[Attributes]) -> Iterator[bytes]:
        """The blocks of notifications that the broker would take."""
        for each in notifications:
            yield self._publisher.frame(each)[HEAD_BYTES:]

    async def unstage(self, parts: Sequence[bytes]) -> None:
        """Say that these parts are not needed."""
        await self._ask(Unstage(list(parts)))

    async def batch(
        self, query: str, number: int, parts: Sequence[tuple[bytes, int]]
    ) -> Taken:
        """Publish the parts of a batch, unless that batch was published before.

        Args:
            query: who publishes batches, each with a number above the one before.
            number: which batch it is.
            parts: their names, and how many notifications each has.

        Raises:
            RequestRefusedError: if a part is not there (123); stage it again.
        """
        named = [Part(name, count) for name, count in parts]
        return await self._ask(Batch(query, number, named), Taken)

    # -- asking ----------------------------------------------------------------

    async def _ask(self, body: Body, kind: type[A] | None = None) -> A:
        while True:
            await self._session.room.passed()
            try:
                answer = await asyncio.shield(self._session.ask_for(body))
            except ConnectionLostError:
                if self._session.failure is not None:
                    raise
                continue
            assert kind is None or isinstance(answer, kind)
            return answer  # type: ignore[no-any-return]


def logged(entry: Entry) -> Logged:
    """An entry, read."""
    time = _EPOCH + timedelta(microseconds=entry.time)
    return Logged(entry.offset, time, decode(entry.block))


def _text(interest: str | Filter | Predicate) -> str:
    if isinstance(interest, str):
        interest = parse_interest(interest, residuals=True)  # type: ignore[assignment]
    return str(interest)


def piles(blocks: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Blocks, as many together as one STAGE carries."""
    pile: list[bytes] = []
    size = 0
    for block in blocks:
        pile.append(block)
        size += len(block)
        if size >= STAGE_BYTES or len(pile) == STAGE_COUNT:
            yield pile
            pile, size = [], 0
    if pile:
        yield pile
