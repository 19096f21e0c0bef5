"""Deliveries in runs: a stream of frames as a client gets them.

A broker lays out what one connection gets in one tick back to back, and nearly all of
it is for the same subscription.  So MSG frames in a row that are for the same
subscriptions are one run, which is handed on in one piece.
"""

import struct
from collections.abc import Iterator
from typing import NamedTuple

from siena.protocol.data_frames import MSG_HEAD_BYTES, Delivery
from siena.protocol.frames import (
    HEAD_BYTES,
    LENGTH,
    LENGTH_BYTES,
    Cutter,
    Frame,
    Op,
    frame_at,
)

_MSG = int(Op.MSG)


class DeliveryRun(NamedTuple):
    """Notifications in a row, and the subscriptions that want every one of them."""

    subscriptions: tuple[int, ...]
    blocks: list[bytes]

    def deliveries(self) -> Iterator[Delivery]:
        """One by one."""
        return (Delivery(self.subscriptions, block) for block in self.blocks)


class RunSplitter(Cutter[Frame | DeliveryRun]):
    """Cuts a stream into frames and runs.

    >>> from siena.protocol.data_frames import pack_msg
    >>> stream = pack_msg([7], b"X") + pack_msg([7], b"Y") + pack_msg([8], b"Z")
    >>> splitter = RunSplitter()
    >>> [*splitter.feed(stream[:-1])]
    [DeliveryRun(subscriptions=(7,), blocks=[b'X', b'Y'])]
    >>> [*splitter.feed(stream[-1:])]
    [DeliveryRun(subscriptions=(8,), blocks=[b'Z'])]

    A MSG frame that ends too early is a frame as any other.
    """

    def _cut(self, data: bytes, at: int, end: int) -> tuple[Frame | DeliveryRun, int]:
        start = _block_start(data, at, end)
        if start:
            return _gather(data, at, start, end, self.limit)
        return frame_at(data, at, end), end


def _block_start(data: bytes, at: int, end: int) -> int:
    """Where the block of a frame begins, if it is MSG and long enough; otherwise 0."""
    if data[at + LENGTH_BYTES] != _MSG or end - at < MSG_HEAD_BYTES:
        return 0
    count = data[at + HEAD_BYTES] | data[at + HEAD_BYTES + 1] << 8
    start = at + MSG_HEAD_BYTES + 4 * count
    return start if start <= end else 0


def _gather(
    data: bytes, at: int, start: int, end: int, limit: int
) -> tuple[DeliveryRun, int]:
    """The run that begins with a MSG frame, and where it ends."""
    numbers = data[at + MSG_HEAD_BYTES : start]
    # What stands between the length and the block is the same in all of them.
    head = data[at + LENGTH_BYTES : start]
    skipped = LENGTH_BYTES + len(head)
    blocks: list[bytes] = []
    size = len(data)
    while True:
        blocks.append(data[start:end])
        if size - end < skipped:
            break
        start = end + skipped
        (length,) = LENGTH.unpack_from(data, end)
        next_end = end + LENGTH_BYTES + length
        if (
            not start <= next_end <= size
            or length > limit
            or data[end + LENGTH_BYTES : start] != head
        ):
            break
        end = next_end
    subscriptions = struct.unpack(f"<{len(numbers) // 4}I", numbers)
    return DeliveryRun(subscriptions, blocks), end
