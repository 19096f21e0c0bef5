"""Publications on their way out: encoded, gathered, held back when there is no room.

Cancellation: a caller that waits for room and is cancelled has sent nothing.
"""

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import NamedTuple

from siena.block import Attributes, encode
from siena.client.core.acked_publisher import no_store
from siena.client.core.session import Session
from siena.client.core.transport import TURN_BYTES
from siena.errors import LimitError
from siena.model import Notification
from siena.protocol.frames import HEAD, Op
from siena.protocol.handshake import DURABLE

# Receipts that are waited for together: enough for several syncs of a disk.
RECEIPTS_AT_ONCE = 65_536


class Packet(NamedTuple):
    """Frames of publications back to back, and how many they are."""

    frames: bytes
    published: int


class Publisher:
    """Sends publications over whatever connection there is."""

    def __init__(self, session: Session) -> None:
        self._session = session

    @property
    def has_room(self) -> bool:
        """Whether there is room at once."""
        return self._session.room.is_open

    def frame(self, attributes: Attributes) -> bytes:
        """The frame of a notification that the broker would take."""
        return publication(attributes, self._session.limits.block_bytes)

    def offer(self, frame: bytes) -> bool:
        """Send, unless that takes waiting."""
        if not self._session.room.is_open:
            return False
        self._session.publish(frame)
        return True

    def send_anyway(self, frames: bytes) -> None:
        """Send what was accepted before, if there is a connection."""
        self._session.publish(frames)

    def send_now(self, attributes: Attributes) -> bytes | None:
        """Send a notification, if there is room at once; otherwise the frame of it."""
        session = self._session
        frame = publication(attributes, session.limits.block_bytes)
        transport = session.transport
        if transport is None or transport.wants_a_turn or not session.room.is_open:
            return frame
        session.has_published = True
        transport.send(frame)
        return None

    async def send(self, frames: bytes) -> None:
        """Send when there is room; give others a turn now and then."""
        if not frames:
            return
        session = self._session
        if session.transport is not None and session.transport.wants_a_turn:
            await asyncio.sleep(0)
        while not session.room.is_open:
            await session.room.passed()
        session.publish(frames)

    async def send_many(
        self, notifications: Iterable[Attributes] | AsyncIterable[Attributes]
    ) -> int:
        """Send all of them, many at a time; how many there were."""
        sent = 0
        if isinstance(notifications, AsyncIterable):
            async for packet in self._packets_as_they_come(notifications):
                await self.send(packet.frames)
                sent += packet.published
        else:
            for packet in self.packets(notifications):
                await self.send(packet.frames)
                sent += packet.published
        return sent

    async def store(self, attributes: Attributes) -> int | None:
        """Publish with a receipt, and wait for it: where it is stored.

        Raises:
            RequestRefusedError: if it is not.
        """
        return await (await self._offer_acked(attributes))

    async def store_many(
        self, notifications: Iterable[Attributes] | AsyncIterable[Attributes]
    ) -> int:
        """Publish all of them with receipts, and wait for all; how many there were.

        Raises:
            RequestRefusedError: the first that is not stored.
        """
        stored = 0
        receipts: list[asyncio.Future[int | None]] = []
        async for attributes in _each_of(notifications):
            receipts.append(await self._offer_acked(attributes))
            if len(receipts) >= RECEIPTS_AT_ONCE:
                stored += len(await asyncio.gather(*receipts))
                receipts.clear()
        return stored + len(await asyncio.gather(*receipts))

    async def _offer_acked(
        self, attributes: Attributes
    ) -> "asyncio.Future[int | None]":
        """A future for where it is stored."""
        await self._session.room.passed()
        if DURABLE not in self._session.features:
            raise no_store()
        return await self._session.acked.publish(self.frame(attributes))

    def packets(self, notifications: Iterable[Attributes]) -> Iterator[Packet]:
        """Their frames, as many together as are written at once.

        If one cannot be published, or the iteration fails, those before it come first.
        """
        pile = _Pile()
        try:
            for attributes in notifications:
                if pile.add(self.frame(attributes)):
                    yield pile.take()
        except Exception:
            yield pile.take()
            raise
        yield pile.take()

    async def _packets_as_they_come(
        self, notifications: AsyncIterable[Attributes]
    ) -> AsyncIterator[Packet]:
        pile = _Pile()
        try:
            async for attributes in notifications:
                if pile.add(self.frame(attributes)):
                    yield pile.take()
        except Exception:
            yield pile.take()
            raise
        yield pile.take()


class _Pile:
    """Frames on their way to one write."""

    def __init__(self) -> None:
        self._frames: list[bytes] = []
        self._bytes = 0

    def add(self, frame: bytes) -> bool:
        """Put it on the pile; whether that is high enough."""
        self._frames.append(frame)
        self._bytes += len(frame)
        return self._bytes >= TURN_BYTES

    def take(self) -> Packet:
        """All of it."""
        frames, self._frames, self._bytes = self._frames, [], 0
        return Packet(b"".join(frames), len(frames))


def publication(attributes: Attributes, block_bytes_max: int) -> bytes:
    """The PUB frame of a notification.

    >>> publication({"x": 1}, 100).hex(" ")
    '05 00 00 00 02 81 a1 78 01'
    >>> publication({"x": "long" * 100}, 100)
    Traceback (most recent call last):
    siena.errors.LimitError: more than 100 bytes in a notification (limit block_bytes)
    """
    block = encode(attributes)
    if len(block) > block_bytes_max:
        raise LimitError("block_bytes", block_bytes_max, "bytes in a notification")
    return HEAD.pack(len(block) + 1, Op.PUB) + block


async def _each_of(
    notifications: Iterable[Attributes] | AsyncIterable[Attributes],
) -> AsyncIterator[Attributes]:
    """One after the other, however they come."""
    if isinstance(notifications, AsyncIterable):
        async for attributes in notifications:
            yield attributes
    else:
        for attributes in notifications:
            yield attributes


def joined(attributes: Attributes | None, more: Attributes) -> Attributes:
    """A mapping and keywords as one set of attributes.

    >>> joined({"x": 1}, {"y": 2})
    <Notification x = 1 and y = 2>
    """
    if not more:
        return {} if attributes is None else attributes
    return more if attributes is None else Notification(attributes, **more)
