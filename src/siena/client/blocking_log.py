"""The log of a broker, without ``await``; see :mod:`siena.client.log`."""

from collections.abc import Iterable, Iterator, Sequence

from siena.block import Attributes
from siena.client.core.loop_thread import LoopThread
from siena.client.log import EVERYTHING, Logged, logged, piles
from siena.model import Filter, Predicate
from siena.protocol.limits import READ_COUNT_MAX
from siena.protocol.log_frames import Entries, Extent, Taken


class LogClient:
    """What a client can do with the log of its broker."""

    def __init__(self, loop: LoopThread) -> None:
        self._loop = loop

    def extent(self, reader: str | None = None) -> Extent:
        """The offsets that there are, and the one that a reader has committed."""
        return self._loop.run(self._loop.client.log.extent(reader))

    def page(
        self,
        interest: str | Filter | Predicate = EVERYTHING,
        start: int = 0,
        end: int | None = None,
        *,
        count_max: int = READ_COUNT_MAX,
    ) -> Entries:
        """Some of what a filter selects, and from where to go on."""
        log = self._loop.client.log
        return self._loop.run(log.page(interest, start, end, count_max=count_max))

    def read(
        self,
        interest: str | Filter | Predicate = EVERYTHING,
        start: int | None = None,
        end: int | None = None,
    ) -> Iterator[Logged]:
        """What a filter selects, from an offset up to another."""
        if start is None or end is None:
            extent = self.extent()
            start = extent.earliest if start is None else start
            end = extent.latest if end is None else end
        while start < end:
            page = self.page(interest, start, end)
            yield from map(logged, page.entries)
            if page.next == start:
                return  # the log has not come as far
            start = page.next

    def commit(self, reader: str, offset: int) -> None:
        """Say that a reader needs nothing before this offset any more."""
        self._loop.run(self._loop.client.log.commit(reader, offset))

    def forget(self, reader: str) -> None:
        """Say that a reader does not read any more."""
        self._loop.run(self._loop.client.log.forget(reader))

    def stage(self, part: bytes, notifications: Iterable[Attributes]) -> int:
        """Let the broker have a part of a batch, not published yet; how many."""
        return self.stage_blocks(part, self._loop.client.log.blocks_of(notifications))

    def stage_blocks(self, part: bytes, blocks: Iterable[bytes]) -> int:
        """The same of blocks."""
        count = 0
        # Here and not in the loop: whoever makes them may take a while.
        for pile in piles(blocks):
            self._loop.run(self._loop.client.log.stage_pile(part, count, pile))
            count += len(pile)
        return count

    def unstage(self, parts: Sequence[bytes]) -> None:
        """Say that these parts are not needed."""
        self._loop.run(self._loop.client.log.unstage(parts))

    def batch(
        self, query: str, number: int, parts: Sequence[tuple[bytes, int]]
    ) -> Taken:
        """Publish the parts of a batch, unless that batch was published before."""
        return self._loop.run(self._loop.client.log.batch(query, number, parts))
