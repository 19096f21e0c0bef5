"""RUN frames: publications that one broker forwards to another, many at once.

::

    u64 broker | u64 epoch | u64 number | u64 root | f64 time | u16 ttl | u8 flags |
    u32 n | n times u32 | n times u32 | n PUB frames

One head holds for all of them, as in FORWARD.  The first column says by how much the
number of each is greater than that of the first, and the second how much later it is,
in :data:`TIME_UNIT`.  What follows are PUB frames as a client sends them: they are
matched where they came, and forwarded as they are.
"""

import math
import struct
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.messages import Stamp, Window
from siena.messages.interface import TTL_MAX
from siena.protocol.data_frames import Forwarded
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.kernels import framing
from siena.protocol.fast.split_frames import Octets, PublishRun, run_of
from siena.protocol.frames import HEAD, HEAD_BYTES, LENGTH, LENGTH_BYTES, Op
from siena.protocol.limits import FRAME_BYTES_MAX

Words = npt.NDArray[np.uint32]
Ints = npt.NDArray[np.int32]

_RUN = struct.Struct("<QQQQdHBI")
_COLUMNS = 2
_WORD_BYTES = 4
_NUMBER_MAX = 2**64 - 1

# What two times of one broker differ by at least: a double of these decades has them
# exactly, and no broker publishes as many in a second.
TIME_UNIT = 2.0**-22
# PUB frames of one run, unless a single one is longer: what is routed together fits
# into a cache, and the frame around it is far from the longest allowed.
RUN_BYTES_MAX = 131_072
# From the number of the first to that of the last: their stamps are remembered as bits.
RUN_SPAN_MAX = 65_536
# Publications in one run: each has the head of a frame, and a word in both columns.
RUN_MAX = FRAME_BYTES_MAX // (HEAD.size + _COLUMNS * _WORD_BYTES)

_ASCENDING = np.arange(4_096, dtype=np.uint32)
_ASCENDING.flags.writeable = False


def ascending(count: int) -> Words:
    """0, 1, 2 and so on; read only."""
    if count <= len(_ASCENDING):
        return _ASCENDING[:count]
    return np.arange(count, dtype=np.uint32)


class RunHead(NamedTuple):
    """What holds for all publications of a run; number and time are of the first."""

    broker: int
    epoch: int
    number: int
    root: int
    time: float
    ttl: int
    flags: int


class ForwardRun(NamedTuple):
    """Publications between two brokers.

    >>> run = ForwardRun.of(Forwarded(Stamp(1, 2, 3), 4, 5.0, 6, 0, b"X"))
    >>> run.stamp(0), run.time(0)
    (Stamp(broker=1, epoch=2, number=3), 5.0)
    >>> body = run.pack(run.head)[5:]
    >>> [*unpack_run(body, 100).forwarded()] == [*run.forwarded()]
    True
    """

    head: RunHead
    numbers: Words
    """By how much the number of each is greater than that of the first."""
    times: Words
    """How much later it is, in :data:`TIME_UNIT`."""
    publications: PublishRun

    @classmethod
    def of(cls, one: Forwarded) -> "ForwardRun":
        """One publication as a run."""
        (broker, epoch, number), root, time, ttl, flags, block = one
        head = RunHead(broker, epoch, number, root, time, ttl, flags)
        return cls(head, ascending(1), ascending(1), run_of([block]))

    def stamp(self, index: int) -> Stamp:
        """The stamp of one of them."""
        head = self.head
        return Stamp(head.broker, head.epoch, head.number + int(self.numbers[index]))

    def time(self, index: int) -> float:
        """When one of them was published."""
        return self.head.time + int(self.times[index]) * TIME_UNIT

    @property
    def window(self) -> Window:
        """Their stamps together, as a broker remembers them."""
        broker, epoch, number = self.head[:3]
        span = int(self.numbers[-1]) + 1
        if span == len(self.numbers):
            return Window(broker, epoch, number + span - 1, (1 << span) - 1)
        bits = np.zeros(span, np.uint8)
        bits[span - 1 - self.numbers] = 1
        packed = np.packbits(bits, bitorder="little").tobytes()
        return Window(
            broker, epoch, number + span - 1, int.from_bytes(packed, "little")
        )

    def only(self, bits: int) -> "ForwardRun":
        """Those of whom a bit is set, in a window of theirs; at least one."""
        last = int(self.numbers[-1])
        chosen = [
            i for i, n in enumerate(self.numbers.tolist()) if bits >> last - n & 1
        ]
        return self.pick(np.array(chosen, np.int32))

    def pick(self, indices: Ints) -> "ForwardRun":
        """Some of them, in ascending order; at least one."""
        if len(indices) == self.publications.total:
            return self
        first = int(indices[0])
        head = self.head._replace(
            number=self.stamp(first).number, time=self.time(first)
        )
        return ForwardRun(
            head,
            self.numbers[indices] - self.numbers[first],
            self.times[indices] - self.times[first],
            picked(self.publications, indices),
        )

    def part(self, first: int, count: int, start: int, end: int) -> "ForwardRun":
        """So many of them in a row, whose frames stand from start to end."""
        last = first + count
        head = self.head._replace(
            number=self.stamp(first).number, time=self.time(first)
        )
        return ForwardRun(
            head,
            self.numbers[first:last] - self.numbers[first],
            self.times[first:last] - self.times[first],
            PublishRun(self.publications.frames, start, end, count),
        )

    def forwarded(self) -> Iterator[Forwarded]:
        """One by one, as FORWARD frames have them."""
        _, _, _, root, _, ttl, flags = self.head
        for index, block in enumerate(self.publications.blocks()):
            yield Forwarded(
                self.stamp(index), root, self.time(index), ttl, flags, block
            )

    def pack(self, head: RunHead) -> bytes:
        """The RUN frame, with another head."""
        frames, start, end, total = self.publications
        size = 1 + _RUN.size + _COLUMNS * _WORD_BYTES * total + end - start
        return b"".join(
            (
                HEAD.pack(size, Op.RUN),
                _RUN.pack(*head, total),
                self.numbers.tobytes(),
                self.times.tobytes(),
                frames[start:end],
            )
        )


def picked(run: PublishRun, indices: Ints) -> PublishRun:
    """Some publications of a run, in ascending order.

    >>> picked(run_of([b"a", b"bc", b"d"]), np.array([0, 2], np.int32)).blocks()
    [b'a', b'd']
    """
    frames = framing.pick(run.frames, run.start, indices)
    return PublishRun(frames, 0, len(frames), len(indices))


def in_pieces(run: ForwardRun) -> Iterator[ForwardRun]:
    """A run as several, none longer than a run may be unless it is of one.

    They stay where they are: nothing is copied.
    """
    frames, at, end, total = run.publications
    is_short = end - at <= RUN_BYTES_MAX and run.numbers[-1] < RUN_SPAN_MAX
    if is_short or total == 1:
        yield run
        return
    first = 0
    while first < total:
        # As many as are near enough, and of these as many as are short enough.
        span = int(run.numbers[first]) + RUN_SPAN_MAX
        most = total - first
        if run.numbers[-1] >= span:
            most = int(np.searchsorted(run.numbers, span)) - first
        count, behind = framing.skip(frames, at, at + RUN_BYTES_MAX, most)
        yield run.part(first, count, at, behind)
        first, at = first + count, behind


def runs_in(frames: memoryview, block_bytes: int) -> Iterator[tuple[ForwardRun, int]]:
    """The RUN frames with which some frames begin, and where each ends.

    They are where they came; up to the first that is none, or not as it should be.
    """
    at, size = 0, len(frames)
    while size - at >= HEAD_BYTES and frames[at + LENGTH_BYTES] == Op.RUN:
        (length,) = LENGTH.unpack_from(frames, at)
        end = at + LENGTH_BYTES + length
        if end > size or length > FRAME_BYTES_MAX:
            return
        try:
            run = unpack_run(frames[at + HEAD_BYTES : end], block_bytes)
        except ProtocolError:
            return
        yield run, end
        at = end


def unpack_run(body: Octets, block_bytes: int) -> ForwardRun:
    """What a RUN frame says.

    Raises:
        ProtocolError: if it is not as it should be.
    """
    if len(body) < _RUN.size:
        raise _bad("that ends too early")
    *fields, total = _RUN.unpack_from(body)
    head = RunHead(*fields)
    start = _RUN.size + _COLUMNS * _WORD_BYTES * total
    if not 1 <= total <= RUN_MAX or len(body) < start:
        raise _bad(f"of {total} publications")
    if not math.isfinite(head.time):
        raise _bad("of no time")
    if head.flags:
        raise _bad("with flags: what is traced comes in FORWARD frames")
    if head.ttl > TTL_MAX:
        raise _bad(f"with {head.ttl} hops to go")
    columns = np.frombuffer(body, "<u4", _COLUMNS * total, _RUN.size)
    numbers, times = columns[:total], columns[total:]
    if numbers[0] or times[0] or (numbers[1:] <= numbers[:-1]).any():
        raise _bad("whose numbers do not ascend")
    if (times[1:] < times[:-1]).any():
        # A broker's clock does not go back, and parts of a run are told by differences.
        raise _bad("whose times go back")
    if numbers[-1] >= RUN_SPAN_MAX or head.number + int(numbers[-1]) > _NUMBER_MAX:
        raise _bad("whose numbers are too great")
    count, end, _ = framing.cut(body, start, len(body), block_bytes + 1, block_bytes)
    if count != total or end != len(body):
        raise _bad(f"of {total} publications, which it has not")
    return ForwardRun(head, numbers, times, PublishRun(body, start, end, total))


def _bad(what: str) -> ProtocolError:
    return ProtocolError(Fault.BAD_FRAME, f"a RUN frame {what}")
