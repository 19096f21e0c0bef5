"""Reading beyond damage: where in a file the next good record is.

A record that is damaged takes no others with it.  If its head is whole, the next one
stands behind it.  Otherwise its size may be wrong, and the next one is looked for byte
by byte: it has a size and a first offset that can be, and its checksum is right.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from siena.broker.log.limits import RECORD_COUNT_MAX
from siena.broker.log.records import (
    FORM,
    HEAD_BYTES,
    SIZE_MAX,
    SIZE_MIN,
    START_BYTES,
    DamagedLogError,
    Record,
    count_in_head,
    first_in_head,
    read_record,
)
from siena.broker.log.segment_file import (
    HEADER_BYTES,
    MAGIC,
    Header,
    end_of,
    read_header,
    records_of,
)

# What is searched at a time.
_WINDOW = 1024 * 1024
# The first offset is in the eight bytes behind the checksum.
_WORD = 4
_OFFSET_BYTES = 8

Places = npt.NDArray[np.int64]


def form_of(path: Path) -> tuple[int, Header | None]:
    """The form of a file, and its header, if that is good.

    A file without one is of the first form if a record of that form is in it.
    """
    with path.open("rb", buffering=0) as file:
        data = os.pread(file.fileno(), HEADER_BYTES, 0)
    header = read_header(data)
    half = len(MAGIC) // 2
    is_like_one = data[:half] == MAGIC[:half] or data[half : 2 * half] == MAGIC[half:]
    if header is not None or is_like_one or len(data) < HEAD_BYTES:
        return FORM, header
    old = good_records_of(path, 0, path.stat().st_size, 0, form=1)
    return (FORM if next(old, None) is None else 1), None


def good_records_of(
    path: Path, place: int, size: int, expected: int, *, form: int = FORM
) -> Iterator[tuple[int, Record]]:
    """The good records of a file from a place on, each with its place.

    Offsets ascend; those that are not ``expected`` are of records that are damaged.
    """
    while place < size:
        try:
            for at, record in records_of(path, place, size, form=form):
                if record.first < expected:  # which was there before
                    break
                yield at, record
                expected, place = record.end, end_of(at, record)
        except DamagedLogError:
            pass
        if place < size:
            start = _behind(path, place, size, expected) or place + 1
            found = next_good(path, start, size, expected, form=form)
            if found is None:
                return
            place = found


def _behind(path: Path, place: int, size: int, expected: int) -> int | None:
    """Where a record ends that is damaged, or half there, if its head can be believed.

    It begins with the offset that is expected, and is as long as its lengths say that
    its blocks are.  So what a publisher has written into these is not looked at: it
    could be made to look like a record.
    """
    with path.open("rb", buffering=0) as file:
        head = os.pread(file.fileno(), HEAD_BYTES, place)
        if len(head) < HEAD_BYTES or first_in_head(head) != expected:
            return None
        count = count_in_head(head)
        if not 1 <= count <= RECORD_COUNT_MAX:
            return None
        lengths = os.pread(file.fileno(), 4 * count, place + HEAD_BYTES)
    if len(lengths) < 4 * count:
        return None
    blocks = int(np.frombuffer(lengths, np.uint32).sum(dtype=np.int64))
    end = place + HEAD_BYTES + 4 * count + blocks
    length = int.from_bytes(head[:_WORD], "little")
    return min(end, size) if end == place + START_BYTES + length else None


def next_good(
    path: Path, place: int, size: int, expected: int, *, form: int = FORM
) -> int | None:
    """Where the next record is, from a place on, that begins at an offset or later."""
    with path.open("rb", buffering=0) as file:
        while size - place >= HEAD_BYTES:
            window = os.pread(file.fileno(), _WINDOW, place)
            for at in _candidates(window, expected).tolist():
                length = int.from_bytes(window[at : at + _WORD], "little")
                wanted = START_BYTES + length
                if place + at + wanted > size:
                    continue
                data = os.pread(file.fileno(), wanted, place + at)
                try:
                    read_record(memoryview(data), 0, form=form)
                except DamagedLogError:
                    continue
                return int(place + at)
            # A head may stand across the end of what was searched.
            place += max(1, len(window) - HEAD_BYTES + 1)
    return None


def _candidates(window: bytes, expected: int) -> Places:
    """Where a head may stand whose size and first offset can be."""
    octets = np.frombuffer(window, np.uint8)
    heads = len(octets) - HEAD_BYTES + 1
    if heads <= 0:
        return np.empty(0, np.int64)
    sizes = _numbers(octets, 0, _WORD, heads)
    firsts = _numbers(octets, START_BYTES, _OFFSET_BYTES, heads)
    fits = (sizes >= SIZE_MIN) & (sizes <= SIZE_MAX)
    return np.flatnonzero(fits & (firsts >= expected) & (firsts < 2**63))


def _numbers(
    octets: npt.NDArray[np.uint8], skip: int, width: int, count: int
) -> npt.NDArray[np.uint64]:
    """The number that begins at each place, so many bytes further on."""
    found = np.zeros(count, np.uint64)
    for i in range(width):
        part = octets[skip + i : skip + i + count].astype(np.uint64)
        found |= part << np.uint64(8 * i)
    return found


def offsets_in(path: Path, place: int, size: int) -> tuple[int, bool]:
    """How many offsets the record may have had with which a file ends, damaged.

    They are not given again: a reader may have committed them.  Of less than a head
    nothing was ever read.  And whether it is half a record, as a process leaves it that
    ends while it writes; a whole one that is wrong was written, and is lost.
    """
    with path.open("rb", buffering=0) as file:
        head = os.pread(file.fileno(), HEAD_BYTES, place)
        if len(head) < HEAD_BYTES:
            return 0, True
        count = count_in_head(head)
        fits = 1 <= count <= RECORD_COUNT_MAX
        wanted = 4 * count if fits else 0
        lengths = os.pread(file.fileno(), wanted, place + HEAD_BYTES)
    left = size - place
    length = int.from_bytes(head[:_WORD], "little")
    is_half = SIZE_MIN <= length <= SIZE_MAX and START_BYTES + length > left
    if is_half and fits and len(lengths) == wanted:
        # Its size may be what is wrong: its blocks say how long it is as well.
        blocks = int(np.frombuffer(lengths, np.uint32).sum(dtype=np.int64))
        is_half = HEAD_BYTES + wanted + blocks > left
    return (count if fits else RECORD_COUNT_MAX), is_half
