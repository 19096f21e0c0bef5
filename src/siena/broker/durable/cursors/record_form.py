"""Records back to back: how a file of small records looks, and what is read of it.

Each record has its length and a checksum before it.  The first says how many follow
that were written and synced as a whole, and up to which byte; a *mark* says up to which
byte everything was synced since.  So a record that a loss of power took, which no
client was told of, is told from one that the disk had and has no more.

Files of the version before begin with a record of theirs, or have none: what of them
cannot be read is taken for torn.
"""

import re
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from siena.errors import SienaError

_HEAD = struct.Struct("<II")  # of a record: how long it is, and its checksum
# Of the first record, and of marks: what no MessagePack begins with; up to which byte
# all is synced; and how many records that are, if it is the first.
_SYNCED = struct.Struct("<BQI")
_OURS = 0xC1
_MARK = int.from_bytes(b"mark")
# How each file begins that says so, and what each record of others begins with: an
# array of MessagePack, short as it is.
_BEGINNING = _SYNCED.size.to_bytes(4, "little")
_SHORT_ARRAY = range(0x90, 0xA0)
# No record is smaller: a few zeros, or ones, would be taken for some.
RECORD_BYTES_MIN = 3
# What is shown of damage: texts of so many letters, and so many of them.
_LETTERS_MIN, _TEXTS_MAX = 3, 5
_TEXT = re.compile(rb"[ -~]{%d,}" % _LETTERS_MIN)


class Damage(NamedTuple):
    """Bytes of a file that are no records."""

    first: int
    end: int
    texts: tuple[str, ...]
    """What can be read in them."""

    def __str__(self) -> str:
        where = f"bytes {self.first} to {self.end - 1}"
        shown = ", ".join(repr(text) for text in self.texts)
        return f"{where}, which have {shown}" if shown else where


class RecordsRead(NamedTuple):
    """What a file has."""

    records: list[bytes]
    damaged: list[Damage]
    """What the disk had, and has no more."""
    torn: list[Damage]
    """What it need not have had: a crash left it."""
    missing: int
    """How many records are damaged, of those that were written as a whole."""


def packed(records: Iterable[bytes]) -> bytes:
    r"""Records as they stand in a file.

    >>> read(snapshot([b"first", b"second"])).records
    [b'first', b'second']
    >>> packed([b"first"])
    b'\x05\x00\x00\x00W\xeeq\x92first'
    """
    parts: list[bytes] = []
    for record in records:
        assert len(record) >= RECORD_BYTES_MIN
        parts += (_HEAD.pack(len(record), zlib.crc32(record)), record)
    return b"".join(parts)


def snapshot(records: Sequence[bytes]) -> bytes:
    """A file that has these records, and is synced before it has its name."""
    data = packed(records)
    end = _HEAD.size + _SYNCED.size + len(data)
    return packed([_SYNCED.pack(_OURS, end, len(records))]) + data


def mark(end: int) -> bytes:
    """What is appended when all up to a byte is synced."""
    return packed([_SYNCED.pack(_OURS, end, _MARK)])


def read(data: bytes) -> RecordsRead:
    """All that is good in a file, and what is not.

    Behind damage it goes on with the next good record.
    """
    records: list[bytes] = []
    places: list[int] = []
    bad: list[tuple[int, int]] = []
    synced = count = 0
    at = 0
    while at < len(data):
        record = _record_at(data, at)
        if record is None:
            after = _next_good(data, at + 1)
            bad.append((at, after))
            at = after
            continue
        if len(record) == _SYNCED.size and record[0] == _OURS:
            _, end, said = _SYNCED.unpack(record)
            synced = max(synced, end)
            count = count if said == _MARK else said
        else:
            records.append(record)
            places.append(at)
        at += _HEAD.size + len(record)
    if synced > len(data):
        bad.append((len(data), synced))
    stretches = [Damage(a, b, _texts(data[a:b])) for a, b in bad]
    if bad != [(0, len(data))] or not _is_torn_before_any(data):
        synced = max(synced, 1)  # a file has its first record before it has its name
    damaged = [each for each in stretches if each.first < synced]
    whole = _whole(data)
    missing = 0
    if whole is not None:
        missing = max(0, whole[1] - sum(place < whole[0] for place in places))
    torn = [each for each in stretches if each not in damaged]
    return RecordsRead(records, damaged, torn, missing)


def _is_torn_before_any(data: bytes) -> bool:
    """Whether half of the first record is what the version before can leave."""
    if len(data) > _HEAD.size:
        return data[_HEAD.size] in _SHORT_ARRAY
    return not _BEGINNING.startswith(data[: len(_BEGINNING)])


def _whole(data: bytes) -> tuple[int, int] | None:
    """Up to where the file was written as a whole, and with how many records."""
    first = _record_at(data, 0)
    if first is None or len(first) != _SYNCED.size or first[0] != _OURS:
        return None
    _, end, count = _SYNCED.unpack(first)
    return end, count


def _record_at(data: bytes, at: int) -> bytes | None:
    if len(data) - at < _HEAD.size:
        return None
    size, crc = _HEAD.unpack_from(data, at)
    start = at + _HEAD.size
    if not RECORD_BYTES_MIN <= size <= len(data) - start:
        return None
    record = data[start : start + size]
    return record if zlib.crc32(record) == crc else None


def _next_good(data: bytes, at: int) -> int:
    """Where the next good record begins, or the end."""
    while at < len(data) and _record_at(data, at) is None:
        at += 1
    return at


def _texts(data: bytes) -> tuple[str, ...]:
    return tuple(t.decode() for t in _TEXT.findall(data)[:_TEXTS_MAX])


def read_file(path: Path) -> RecordsRead | None:
    """What a file has; none if there is no such file."""
    try:
        return read(path.read_bytes())
    except FileNotFoundError:
        return None


def check_undamaged(path: Path, found: RecordsRead) -> None:
    """Refuse a file that has not what the disk had.

    To go on without would let durable subscriptions begin anew, and their part of the
    log go, without a word to those who read them.

    Raises:
        SienaError: if it is damaged.
    """
    if found.damaged:
        shown = "; ".join(map(str, found.damaged[:_TEXTS_MAX]))
        raise SienaError(
            f"{path} is damaged: {shown}",
            hint=f"`siena log repair {path.parent}` keeps what is good of it, and says "
            "what is lost; or bring the file back from a copy",
        )
