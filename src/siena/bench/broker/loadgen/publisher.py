"""A publisher of ``siena bench broker``: stamps prepared frames, and sends them."""

import socket
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.kernels.checking import NUMBER_BITS
from siena.bench.broker.kernels.stamping import stamp
from siena.bench.broker.workload import Workload, symbol_name

# What a client library gathers before it sends, in bytes.
BATCH_BYTES = 65_536
READ_BYTES = 65_536
# Where the stamps are in a block: the time is its last eight bytes, and before the
# running number's end stand the name and the type of the time.
SENT_BYTES = 8
BETWEEN_BYTES = len(b"\xa4sent\xcf")
NUMBER_BYTES = 8


def number_at(block_bytes: int) -> int:
    """Where the running number is in a block."""
    return block_bytes - SENT_BYTES - BETWEEN_BYTES - NUMBER_BYTES


def sent_at(block_bytes: int) -> int:
    """Where the time is in a block."""
    return block_bytes - SENT_BYTES


@dataclass(frozen=True)
class Frames:
    """The pool as a server wants it: frames of one size, back to back."""

    data: npt.NDArray[np.uint8]
    size: int
    number_at: int
    sent_at: int

    @classmethod
    def of(cls, contender: Contender, workload: Workload) -> "Frames":
        """Put what the protocol needs around each block."""
        frames = []
        for symbol, block in zip(
            workload.symbol.tolist(), workload.blocks, strict=True
        ):
            head, tail = contender.publication(symbol_name(symbol), block)
            frames.append(head + block + tail)
        size = len(frames[0])
        head_bytes = frames[0].index(workload.blocks[0])
        assert {len(frame) for frame in frames} == {size}
        block_bytes = len(workload.blocks[0])
        return cls(
            np.frombuffer(b"".join(frames), np.uint8),
            size,
            head_bytes + number_at(block_bytes),
            head_bytes + sent_at(block_bytes),
        )


class Publisher:
    """One connection that publishes.

    Attributes:
        made: how many publications were made, most of which are sent.
        begun: the position in the pool of the first.
        asked, answered: barriers.
    """

    def __init__(
        self,
        number: int,
        connection: socket.socket,
        contender: Contender,
        frames: Frames,
        *,
        begun: int,
        unbatched: bool,
    ) -> None:
        self.number = number
        self.socket = connection
        self.begun = begun
        self.made = 0
        self.asked = 0
        self.answered = 0
        self.batch = max(1, BATCH_BYTES // frames.size)
        self._contender = contender
        self._frames = frames
        self._unbatched = unbatched
        self._out = np.empty(self.batch * frames.size, np.uint8)
        self._view = self._out.data
        self._at = self._end = 0
        self._last = b""  # to be sent behind all that was made
        self._rest = b""

    @property
    def is_idle(self) -> bool:
        """Whether all that was made is sent."""
        return self._at == self._end and not self._last

    def make(self, count: int, sent: int, step: float) -> None:
        """Make publications, to be sent at these times, in nanoseconds."""
        assert self.is_idle
        assert count <= self.batch
        frames = self._frames
        stamp(
            frames.data,
            frames.size,
            frames.number_at,
            frames.sent_at,
            self.begun + self.made,
            count,
            (self.number << NUMBER_BITS) + self.made,
            sent,
            step,
            self._out,
        )
        self.made += count
        self._at, self._end = 0, count * frames.size

    def ask(self) -> None:
        """Ask to be told when all that was made has been worked off."""
        self.asked += 1
        self._last += self._contender.barrier

    def push(self) -> bool:
        """Send one batch, or without batches one frame; whether any of it was taken."""
        end = self._end
        if self._unbatched:
            size = self._frames.size
            end = min(end, self._at - self._at % size + size)
        try:
            if self._at < end:
                self._at += self.socket.send(self._view[self._at : end])
            elif self._last:
                self._last = self._last[self.socket.send(self._last) :]
        except BlockingIOError:
            return False
        return True

    def receive(self) -> None:
        """Read what the server answers."""
        data = self.socket.recv(READ_BYTES)
        if not data:
            raise ConnectionResetError
        count, self._rest = self._contender.answers(self._rest + data)
        self.answered += count
