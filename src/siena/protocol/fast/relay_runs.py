"""RELAY frames: acknowledged publications that one broker has the next one store.

::

    u64 frame | u64 broker | u64 life | u64 number | u64 time | u32 n | n times u32 |
    n PUB frames

Frames are counted on each link, so that RELAYED can say up to which all is on the disk.
A publication is known, wherever it comes, by the broker where it entered, that broker's
life, and its offset there, which is its number: that of the first, and of each by how
much it is greater.  The time is that of the first, in microseconds since 1970.
"""

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.forward_runs import RUN_MAX
from siena.protocol.fast.kernels import framing
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.frames import HEAD, Op
from siena.protocol.limits import OFFSET_MAX, SEQUENCE_NUMBER_MAX

Words = npt.NDArray[np.uint32]

_RELAY = struct.Struct("<QQQQQI")
_WORD_BYTES = 4
# From the number of the first to that of the last.
SPAN_MAX = 2**32 - 1


class RelayRun(NamedTuple):
    """Acknowledged publications of one broker's clients, on their way.

    >>> from siena.protocol.fast.split_frames import run_of
    >>> numbers = np.array([0, 5], np.uint32)
    >>> run = RelayRun(1, 2, 3, 4, 5, numbers, run_of([b"X", b"Y"]))
    >>> again = unpack_relay(run.pack()[5:], 100)
    >>> again[:5] == run[:5], again.numbers.tolist(), again.publications.blocks()
    (True, [0, 5], [b'X', b'Y'])
    """

    frame: int
    broker: int
    life: int
    number: int
    time: int
    numbers: Words
    """By how much the number of each is greater than that of the first."""
    publications: PublishRun

    def pack(self) -> bytes:
        """The RELAY frame."""
        frames, start, end, total = self.publications
        size = 1 + _RELAY.size + _WORD_BYTES * total + end - start
        return b"".join(
            (
                HEAD.pack(size, Op.RELAY),
                _RELAY.pack(*self[:5], total),
                self.numbers.tobytes(),
                frames[start:end],
            )
        )


def unpack_relay(body: bytes, block_bytes: int) -> RelayRun:
    """What a RELAY frame says.

    Raises:
        ProtocolError: if it is not as it should be.
    """
    if len(body) < _RELAY.size:
        raise _bad("that ends too early")
    frame, broker, life, number, time, total = _RELAY.unpack_from(body)
    start = _RELAY.size + _WORD_BYTES * total
    if not 1 <= total <= RUN_MAX or len(body) < start:
        raise _bad(f"of {total} publications")
    numbers = np.frombuffer(body, "<u4", total, _RELAY.size)
    if numbers[0] or (numbers[1:] <= numbers[:-1]).any():
        raise _bad("whose numbers do not ascend")
    is_great = number + int(numbers[-1]) >= SEQUENCE_NUMBER_MAX
    if is_great or max(frame, broker, life, time) > OFFSET_MAX:
        raise _bad("whose numbers are too great")
    count, end, _ = framing.cut(body, start, len(body), block_bytes + 1, block_bytes)
    if count != total or end != len(body):
        raise _bad(f"of {total} publications, which it has not")
    run = PublishRun(body, start, end, total)
    return RelayRun(frame, broker, life, number, time, numbers, run)


def _bad(what: str) -> ProtocolError:
    return ProtocolError(Fault.BAD_FRAME, f"a RELAY frame {what}")
