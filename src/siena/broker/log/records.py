"""Records: some notifications that were published together, as bytes on a disk.

::

    u32 size | u32 crc | u64 first offset | i64 time | u64 tag | u32 count
             | count times u32 length | blocks

All numbers are little-endian.  The size counts what follows the checksum; the checksum
is of the size and of that (in files of the first form, which have no header, not of the
size).  The time is in microseconds since 1970; the tag is 0, or says which batch of a
sink they are of.  Blocks stand here as they came.
"""

import itertools
import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.broker.log.limits import RECORD_BYTES_MAX, RECORD_COUNT_MAX
from siena.errors import SienaError

_SIZE = struct.Struct("<I")
_START = struct.Struct("<II")
_HEAD = struct.Struct("<QqQI")
START_BYTES = _START.size
HEAD_BYTES = START_BYTES + _HEAD.size
# The form in which files are written; those of the first are still read.
FORM = 2
# A record is at most as long as its bounds make it.
SIZE_MIN = _HEAD.size
SIZE_MAX = _HEAD.size + 4 * RECORD_COUNT_MAX + RECORD_BYTES_MAX

Lengths = npt.NDArray[np.uint32]


class DamagedLogError(SienaError):
    """What is on the disk is not what was written there.

    ``gap`` says which offsets it costs, if that is known: the first, and the one from
    which reading goes on.
    """

    gap: tuple[int, int] | None = None


class Record(NamedTuple):
    """Notifications that follow each other in the log."""

    first: int
    time: int
    tag: int
    lengths: Lengths
    blocks: memoryview

    @property
    def end(self) -> int:
        """The offset behind the last of them."""
        return self.first + len(self.lengths)

    def offsets(self) -> npt.NDArray[np.int64]:
        """Where each block begins, and the last one ends."""
        found = np.zeros(len(self.lengths) + 1, np.int64)
        np.cumsum(self.lengths, out=found[1:])
        return found

    def all_blocks(self) -> list[bytes]:
        """The blocks, one by one."""
        bounds = self.offsets().tolist()
        pairs = itertools.pairwise(bounds)
        return [bytes(self.blocks[start:end]) for start, end in pairs]


def pack_record(
    first: int,
    time: int,
    tag: int,
    lengths: Lengths,
    blocks: bytes | memoryview,
    form: int = FORM,
) -> Sequence[bytes | memoryview]:
    """The bytes of a record, in pieces that are written one behind the other.

    >>> pieces = pack_record(7, 0, 0, np.array([1, 2], np.uint32), b"abc")
    >>> record = read_record(memoryview(b"".join(pieces)), 0)
    >>> record.first, record.end, record.all_blocks()
    (7, 9, [b'a', b'bc'])
    """
    body = _HEAD.pack(first, time, tag, len(lengths)) + lengths.tobytes()
    size = _SIZE.pack(len(body) + len(blocks))
    before = zlib.crc32(size) if form > 1 else 0
    crc = zlib.crc32(blocks, zlib.crc32(body, before))
    return [size + _SIZE.pack(crc) + body, blocks]


def cuts_of(offsets: npt.NDArray[np.int64]) -> list[int]:
    """Where to cut what is too much for one record."""
    cuts, count = [0], len(offsets) - 1
    while cuts[-1] < count:
        start = cuts[-1]
        room = offsets[start] + RECORD_BYTES_MAX
        end = int(np.searchsorted(offsets, room, side="right")) - 1
        cuts.append(max(start + 1, min(end, start + RECORD_COUNT_MAX, count)))
    return cuts


def count_in_head(head: bytes) -> int:
    """How many notifications a head says that there are."""
    return int(_HEAD.unpack_from(head, START_BYTES)[3])


def first_in_head(head: bytes) -> int:
    """The offset with which a head says that its record begins."""
    return int(_HEAD.unpack_from(head, START_BYTES)[0])


def record_size(buffer: bytes | memoryview, at: int) -> int | None:
    """How long the record is that begins at a place; none if not even that is there.

    Raises:
        DamagedLogError: if no record is so long.
    """
    if len(buffer) - at < START_BYTES:
        return None
    size, _ = _START.unpack_from(buffer, at)
    if not _HEAD.size <= size <= SIZE_MAX:
        raise DamagedLogError(f"a record of {size} bytes")
    return START_BYTES + int(size)


def read_record(buffer: memoryview, at: int, *, form: int = FORM) -> Record:
    """The record that begins at a place, and is there as a whole.

    In a file of form 2 the checksum is of the size, too.

    Raises:
        DamagedLogError: if it is not what was written.
    """
    size, crc = _START.unpack_from(buffer, at)
    end = at + START_BYTES + size
    before = zlib.crc32(buffer[at : at + _SIZE.size]) if form > 1 else 0
    if zlib.crc32(buffer[at + START_BYTES : end], before) != crc:
        raise DamagedLogError("a record whose checksum is wrong")
    first, time, tag, count = _HEAD.unpack_from(buffer, at + START_BYTES)
    begin = at + HEAD_BYTES
    lengths = np.frombuffer(buffer[begin : begin + 4 * count], np.uint32)
    blocks = buffer[begin + 4 * count : end]
    if len(lengths) != count or int(lengths.sum(dtype=np.int64)) != len(blocks):
        raise DamagedLogError("a record that does not fit together")
    return Record(first, time, tag, lengths, blocks)
