"""What has come for one subscription and was not read yet: bounded, and in order."""

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Literal

from siena.errors import OverflowedError, SienaError

# What happens to a notification for which there is no room.
Overflow = Literal["drop newest", "drop oldest", "error"]

# Of one subscription: a second of a fast broker, and no machine is brought down by it.
COUNT_MAX = 65_536
BYTES_MAX = 67_108_864

# A notification as it travelled, or several that match a pattern together.
Item = bytes | tuple[bytes, ...]


class Inbox:
    """A bounded queue of items, for readers who may be cancelled.

    >>> inbox = Inbox(count_max=2, overflow="drop oldest")
    >>> [inbox.put(item) for item in (b"one", b"two", b"three")]
    [True, True, True]
    >>> inbox.take(10), inbox.lost
    ([b'two', b'three'], 1)

    What an item is worth is its length: blocks are decoded when they are read, so
    that what is dropped costs little.

    Cancellation: an item leaves the inbox only in the turn in which its reader goes on,
    so a reader that is cancelled takes none with it.
    """

    def __init__(
        self,
        *,
        count_max: int = COUNT_MAX,
        bytes_max: int = BYTES_MAX,
        overflow: Overflow = "drop newest",
    ) -> None:
        if count_max < 1 or bytes_max < 1:
            raise SienaError("a subscription keeps at least one notification")
        self.count_max = count_max
        self.bytes_max = bytes_max
        self.overflow = overflow
        self.lost = 0
        self.bytes = 0
        self.end: SienaError | bool = False
        self._items: deque[Item] = deque()
        self._readers: deque[asyncio.Future[None]] = deque()
        self._emptied: list[asyncio.Future[None]] = []

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Item) -> bool:
        """Keep the item if there is room or room can be made; otherwise count it."""
        if self.end is not False:
            return False
        size = _size(item)
        if not self._make_room(size):
            return False
        self._items.append(item)
        self.bytes += size
        self._wake()
        return True

    def put_all(self, items: Sequence[Item]) -> bool:
        """Keep each of them as :meth:`put` does; whether all were kept."""
        size = sum(map(_size, items))
        if (
            self.end is not False
            or len(self._items) + len(items) > self.count_max
            or self.bytes + size > self.bytes_max
        ):
            kept = [self.put(item) for item in items]
            return all(kept)
        self._items += items
        self.bytes += size
        if self._readers:
            self._wake(len(items))
        return True

    def pop(self) -> Item | None:
        """The next item, if one is there."""
        if not self._items:
            return None
        item = self._items.popleft()
        self.bytes -= _size(item)
        if self._emptied and not self._items:
            self._say_emptied()
        return item

    def take(self, count: int) -> list[Item]:
        """Up to so many items that are there; none does not mean the end."""
        if count < len(self._items):
            taken = [self._items.popleft() for _ in range(count)]
            self.bytes -= sum(map(_size, taken))
            return taken
        taken = [*self._items]
        self._items.clear()
        self.bytes = 0
        self._say_emptied()
        return taken

    def finish(
        self, reason: SienaError | None = None, *, at_once: bool = False
    ) -> None:
        """Let readers end, with a reason or none, after what is there or at once."""
        if self.end is False:
            self.end = True if reason is None else reason
        if at_once:
            self._items.clear()
            self.bytes = 0
            self._say_emptied()
        for reader in self._readers:
            _resolve(reader)

    async def get(self, count: int = 1) -> list[Item]:
        """At least one item and up to so many; none at the end.

        Raises:
            SienaError: the reason of the end, if there was one.
        """
        while not self._items:
            if isinstance(self.end, SienaError):
                raise self.end
            if self.end:
                return []
            await self._wait()
        return self.take(count)

    async def emptied(self) -> None:
        """Wait until everything that is there has been read."""
        if self._items:
            waiting = asyncio.get_running_loop().create_future()
            self._emptied.append(waiting)
            await waiting

    async def _wait(self) -> None:
        reader = asyncio.get_running_loop().create_future()
        self._readers.append(reader)
        try:
            await reader
        except asyncio.CancelledError:
            if reader.done() and self._items:  # it was this one's turn: the next, then
                self._wake()
            raise
        finally:
            self._readers.remove(reader)

    def _wake(self, count: int = 1) -> None:
        """Let so many readers look."""
        for reader in self._readers:
            if not reader.done():
                reader.set_result(None)
                count -= 1
                if not count:
                    return

    def _make_room(self, size: int) -> bool:
        if self._fits(size):
            return True
        if self.overflow == "drop oldest" and size <= self.bytes_max:
            while not self._fits(size):
                self.take(1)
                self.lost += 1
            return True
        self.lost += 1
        if self.overflow == "error":
            self.finish(self._overflowed())
        return False

    def _fits(self, size: int) -> bool:
        return len(self._items) < self.count_max and self.bytes + size <= self.bytes_max

    def _overflowed(self) -> OverflowedError:
        return OverflowedError(
            f"more than {self.count_max} notifications or {self.bytes_max} bytes wait "
            "to be read",
            hint="read faster, or allow more with count_max and bytes_max",
        )

    def _say_emptied(self) -> None:
        for waiting in self._emptied:
            _resolve(waiting)
        self._emptied.clear()


def _size(item: Item) -> int:
    return len(item) if isinstance(item, bytes) else sum(map(len, item))


def _resolve(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
