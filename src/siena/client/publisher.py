"""Publications on their way out: encoded, gathered, held back when there is no room.

Cancellation: whoever waits for room and is cancelled has sent nothing.
"""

import asyncio
from collections.abc import AsyncIterable, Iterable

from siena.client.coding import Attributes, publication
from siena.client.talk import Talk
from siena.client.wire import TURN_BYTES
from siena.model import Notification


class Publisher:
    """Sends publications over whatever connection there is."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk

    @property
    def has_room(self) -> bool:
        """Whether nobody has to wait."""
        return self._talk.room.is_open

    def frame(self, attributes: Attributes) -> bytes:
        """The frame of a notification that the broker would take."""
        return publication(attributes, self._talk.limits.block_bytes)

    def offer(self, frame: bytes) -> bool:
        """Send, unless that takes waiting."""
        if not self._talk.room.is_open:
            return False
        self._talk.publish(frame)
        return True

    def send_anyway(self, frames: bytes) -> None:
        """Send what was accepted before, if there is a connection."""
        self._talk.publish(frames)

    async def send(self, frames: bytes) -> None:
        """Send when there is room; give others a turn now and then."""
        talk = self._talk
        if talk.wire is not None and talk.wire.wants_a_turn:
            await asyncio.sleep(0)
        while not talk.room.is_open:
            await talk.room.passed()
        talk.publish(frames)

    async def send_many(
        self, notifications: Iterable[Attributes] | AsyncIterable[Attributes]
    ) -> int:
        """Send all of them, many at a time; how many there were."""
        batch = _Batch(self)
        try:
            if isinstance(notifications, AsyncIterable):
                async for attributes in notifications:
                    await batch.add(attributes)
            else:
                for attributes in notifications:
                    await batch.add(attributes)
        except Exception:
            await batch.send()
            raise
        await batch.send()
        return batch.sent


class _Batch:
    """Publications on their way to one write."""

    def __init__(self, publisher: Publisher) -> None:
        self._publisher = publisher
        self._frames: list[bytes] = []
        self._bytes = 0
        self.sent = 0

    async def add(self, attributes: Attributes) -> None:
        frame = self._publisher.frame(attributes)
        self._frames.append(frame)
        self._bytes += len(frame)
        if self._bytes >= TURN_BYTES:
            await self.send()

    async def send(self) -> None:
        if self._frames:
            await self._publisher.send(b"".join(self._frames))
            self.sent += len(self._frames)
            self._frames = []
            self._bytes = 0


def joined(attributes: Attributes | None, more: Attributes) -> Attributes:
    """A mapping and keywords as one set of attributes.

    >>> joined({"x": 1}, {"y": 2})
    <Notification x = 1 and y = 2>
    """
    if not more:
        return {} if attributes is None else attributes
    return more if attributes is None else Notification(attributes, **more)
