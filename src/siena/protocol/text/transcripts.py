"""Deliveries as text, written once for all who read it.

A hundred readers of one filter get the same frames in one tick, and readers of several
filters mostly the same blocks.  So a transcript remembers what it wrote last: batches
by their frames, and of each block its JSON, whatever kind of reader it is for.  What it
remembers is bounded, and forgotten all at once: only the readers of the same tick ask
for the same again.
"""

import struct
from abc import ABC, abstractmethod
from typing import ClassVar

import msgspec

from siena.block import decode
from siena.lang import notification_to_json
from siena.protocol.data_frames import MSG_HEAD_BYTES
from siena.protocol.frames import HEAD, HEAD_BYTES, LENGTH_BYTES, Op

# Of blocks, and of batches, so much is remembered with what it became: what a tick
# lays out for one reader, several times over.
REMEMBERED_BYTES_MAX = 8 * 1024 * 1024

_MSG_HEAD = struct.Struct(f"{HEAD.format}H")
_MSG = int(Op.MSG)


class Remembered:
    """Bytes by bytes, until they are too many: then none.

    >>> remembered = Remembered(limit=4)
    >>> remembered.put(b"a", b"A"), remembered.put(b"b", b"B")
    (b'A', b'B')
    >>> remembered.known
    {b'a': b'A', b'b': b'B'}
    >>> remembered.put(b"c", b"C"), remembered.known
    (b'C', {b'c': b'C'})
    """

    def __init__(self, limit: int = REMEMBERED_BYTES_MAX) -> None:
        self.known: dict[bytes, bytes] = {}
        self._limit = limit
        self._size = 0

    def put(self, key: bytes, value: bytes) -> bytes:
        """Remember a value, and return it."""
        size = len(key) + len(value)
        if self._size + size > self._limit:
            self.known.clear()
            self._size = 0
            if size > self._limit:
                return value
        self.known[key] = value
        self._size += size
        return value


class BlockTexts(Remembered):
    """The JSON of blocks.

    >>> BlockTexts().json(bytes.fromhex("81 a1 78 01"))
    b'{"x":1}'
    """

    def json(self, block: bytes) -> bytes:
        """The notification of a good block, as JSON in one line."""
        known = self.known.get(block)
        if known is not None:
            return known
        form = notification_to_json(decode(block))
        return self.put(block, msgspec.json.encode(form))


class Transcript(ABC):
    """Frames of a broker as the text that one kind of reader gets."""

    behind: ClassVar[bytes]
    """What stands behind the JSON of a delivery."""
    end: ClassVar[bytes]
    """What the text of each frame ends with, and does not have inside."""

    def __init__(self, blocks: BlockTexts) -> None:
        self._blocks = blocks
        self._batches = Remembered()

    @abstractmethod
    def before(self, subscriptions: bytes) -> bytes:
        """What stands before it, if these want it: numbers, 4 bytes each."""

    @abstractmethod
    def other(self, op: int, body: bytes) -> bytes:
        """What is said of a frame that is no delivery of a notification."""

    def deliveries(self, frames: bytes) -> bytes:
        """The same as :meth:`write`, remembered for those who get the same."""
        known = self._batches.known.get(frames)
        if known is not None:
            return known
        return self._batches.put(frames, self.write(frames))

    def write(self, frames: bytes) -> bytes:
        """Complete frames as text."""
        parts: list[bytes] = []
        at, end, behind = 0, len(frames), self.behind
        texts, json = self._blocks.known, self._blocks.json
        while at < end:
            length, op = HEAD.unpack_from(frames, at)
            stop = at + LENGTH_BYTES + length
            assert stop <= end, "half a frame"
            if op == _MSG:
                count = _MSG_HEAD.unpack_from(frames, at)[2]
                numbers = at + MSG_HEAD_BYTES
                start = numbers + 4 * count
                block = frames[start:stop]
                text = texts.get(block) or json(block)
                parts += (self.before(frames[numbers:start]), text, behind)
            else:
                parts.append(self.other(op, frames[at + HEAD_BYTES : stop]))
            at = stop
        return b"".join(parts)
