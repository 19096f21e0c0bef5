"""Storing: a table as one file of aligned arrays, which many processes map.

The one module of the core that touches the disk.  The file::

    8 bytes   SIENATBL
    4         the version of the format, 9
    4         the size of the directory
    32        SHA-256 of all else: the file's name among others
    4         CRC-32 of what stands before it, and of the directory
    12        0
    …         the directory, JSON: of each array its name, type, length and place
    …         the arrays, each at a multiple of 64 bytes

Integers are little-endian.  The kernels read arrays without checking bounds, so a file
is trusted as code is, if it has the checksum that it says: that finds damage, not
malice.  A process that loads files of strangers runs what they wrote.
"""

import hashlib
import os
import struct
import tempfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from siena.errors import TableFileError
from siena.matching.engine.columns import Snapshot
from siena.matching.engine.operands import Texts
from siena.matching.engine.ranks import Arrays, Ints, Longs

MAGIC = b"SIENATBL"
VERSION = 9
# Arrays begin at lines of the cache.
ALIGNMENT = 64
_FIXED = struct.Struct("<8sII32sI12x")
_CHECKED = 48  # the bytes of it that come before the CRC

# Every array of a file, with its type: what a kernel is given was written as that.
_BYTES, _INTS, _LONGS, _DOUBLES, _WORDS = "|u1", "<i4", "<i8", "<f8", "<u8"
TYPES = {
    **{
        f"engine.{name}": kind
        for kind, names in {
            _LONGS: "header number_wholes dense time_keys",
            _DOUBLES: "number_rests",
            _WORDS: "row_masks",
            _BYTES: "name_bytes break_bytes reverse_bytes node_ends",
            _INTS: "arena name_slots break_starts reverse_starts edges node_links"
            " local_starts local_ranks number_starts dense_ranks"
            " time_starts row_places fold_edges fold_links fold_atoms fold_pages"
            " fold_shifts atom_tokens atom_bounds atom_flags atom_names name_uses"
            " check_owners check_starts check_ways check_tests",
        }.items()
        for name in names.split()
    },
    **dict.fromkeys(("rows.offsets", "rows.whole"), _LONGS),
    "rows.rest": _DOUBLES,
    **{
        f"rows.{name}": _INTS
        for name in (
            "members",
            "owners",
            "name",
            "dimension",
            "kind",
            "closed",
            "upper",
        )
    },
    **{
        f"{texts}.{part}": kind
        for texts in ("names", "strings", "spellings")
        for part, kind in (("pool", _BYTES), ("starts", _LONGS))
    },
    "interfaces": _LONGS,
    "labels": _INTS,
    "gone": _BYTES,
    "always": _INTS,
    "note": _BYTES,
}


class StoredTable(NamedTuple):
    """What there is to know of a table whose filters are all in one engine."""

    engine: Arrays
    rows: Snapshot
    spellings: Texts  # of each constraint of the rows
    interfaces: Longs  # in the order of their labels
    labels: Ints  # of each interest
    gone: npt.NDArray[np.uint8]  # of each interest whether it was removed
    always: Ints
    note: npt.NDArray[np.uint8]  # what somebody wanted to go with the table
    interests: int  # how many there have been
    several: int  # how many have more than one row


class _Entry(msgspec.Struct, array_like=True):
    name: str
    kind: str
    length: int
    place: int


class _Directory(msgspec.Struct):
    size: int
    interests: int
    several: int
    arrays: list[_Entry]


def write(path: Path, table: StoredTable) -> str:
    """Write a table to a file; its SHA-256, by which it can be named.

    The file is complete before it has its name: no reader ever sees half of it.
    """
    arrays = {name: np.ascontiguousarray(a) for name, a in _named(table).items()}
    assert {name: a.dtype.str for name, a in arrays.items()} == TYPES
    start, plan = _planned(table, arrays)
    digest = hashlib.sha256(plan)
    parts: list[bytes | memoryview] = [bytes(start - _FIXED.size - len(plan))]
    for array in arrays.values():
        parts += [array.data.cast("B") if array.size else b""]
        parts += [bytes(-array.nbytes % ALIGNMENT)]
    for part in parts:
        digest.update(part)
    fixed = _FIXED.pack(MAGIC, VERSION, len(plan), digest.digest(), 0)
    crc = zlib.crc32(plan, zlib.crc32(fixed[:_CHECKED]))
    fixed = _FIXED.pack(MAGIC, VERSION, len(plan), digest.digest(), crc)
    _replace(path, [fixed, plan, *parts])
    return digest.hexdigest()


def read(path: Path, *, verify: bool) -> StoredTable:
    """Map a file that :func:`write` has written.

    With ``verify`` all bytes are compared with their checksum; otherwise only the
    directory is, and whether the file is as long as it should be.

    Raises:
        TableFileError: if it is another file, damaged, or newer than this version.
    """
    if path.stat().st_size < _FIXED.size:
        raise TableFileError(f"{path} is not a table")
    data = np.memmap(path, np.uint8, "r").view(np.ndarray)
    directory = _checked(path, data, verify=verify)
    arrays = {
        entry.name: data[
            entry.place : entry.place + entry.length * np.dtype(entry.kind).itemsize
        ].view(entry.kind)
        for entry in directory.arrays
    }
    columns: dict[str, Any] = {
        name: arrays[f"rows.{name}"]
        for name in Snapshot._fields
        if f"rows.{name}" in TYPES
    }
    texts = {
        name: Texts(arrays[f"{name}.pool"], arrays[f"{name}.starts"])
        for name in ("names", "strings", "spellings")
    }
    return StoredTable(
        engine={
            name.removeprefix("engine."): array
            for name, array in arrays.items()
            if name.startswith("engine.")
        },
        rows=Snapshot(
            **columns,
            numbers=np.arange(0, dtype=np.int32),  # they are 0, 1, 2, … now
            names=texts["names"],
            strings=texts["strings"],
        ),
        spellings=texts["spellings"],
        interfaces=arrays["interfaces"],
        labels=arrays["labels"],
        gone=arrays["gone"],
        always=arrays["always"],
        note=arrays["note"],
        interests=directory.interests,
        several=directory.several,
    )


def digest_of(path: Path) -> str:
    """The SHA-256 that a file says it has, as :func:`write` gave it.

    Raises:
        TableFileError: if it is another file.
    """
    with path.open("rb") as file:
        fixed = file.read(_FIXED.size)
    if len(fixed) < _FIXED.size or not fixed.startswith(MAGIC):
        raise TableFileError(f"{path} is not a table")
    digest: bytes = _FIXED.unpack(fixed)[3]
    return digest.hex()


def _named(table: StoredTable) -> Arrays:
    rows = table.rows
    arrays = {f"engine.{name}": array for name, array in table.engine.items()}
    for name, column in zip(Snapshot._fields, rows, strict=True):
        if f"rows.{name}" in TYPES:
            arrays[f"rows.{name}"] = column
    for name, texts in (
        ("names", rows.names),
        ("strings", rows.strings),
        ("spellings", table.spellings),
    ):
        arrays[f"{name}.pool"], arrays[f"{name}.starts"] = texts
    arrays["interfaces"], arrays["labels"] = table.interfaces, table.labels
    arrays["gone"], arrays["always"] = table.gone, table.always
    arrays["note"] = table.note
    return arrays


def _planned(table: StoredTable, arrays: Arrays) -> tuple[int, bytes]:
    """Where the arrays begin, and the directory.

    The directory grows with the numbers in it, so it is made until it fits.
    """
    start = ALIGNMENT
    while True:
        at, entries = start, []
        for name, array in arrays.items():
            entries.append(_Entry(name, array.dtype.str, len(array), at))
            at += _aligned(array.nbytes)
        plan = msgspec.json.encode(
            _Directory(at, table.interests, table.several, entries)
        )
        needed = _aligned(_FIXED.size + len(plan))
        if needed == start:
            return start, plan
        start = max(start, needed)
        if start > needed:
            plan += b" " * (start - _FIXED.size - len(plan))
            return start, plan


def _replace(path: Path, parts: list[bytes | memoryview]) -> None:
    """Write a file beside its place, and put it there when it is complete."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)  # as any other file, not as a temporary one
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _checked(path: Path, data: npt.NDArray[np.uint8], *, verify: bool) -> _Directory:
    """The directory of a file, if all is as it should be."""
    fixed = data[: _FIXED.size].tobytes()
    magic, version, size, digest, crc = _FIXED.unpack(fixed)
    if magic != MAGIC:
        raise TableFileError(f"{path} is not a table")
    if version != VERSION:
        hint = f"this one reads version {VERSION}"
        raise TableFileError(
            f"{path} was written by another version of Siena: {version}", hint=hint
        )
    plan = data[_FIXED.size : _FIXED.size + size].tobytes()
    if zlib.crc32(plan, zlib.crc32(fixed[:_CHECKED])) != crc:
        raise TableFileError(f"{path} is damaged: its directory is not what it was")
    try:
        directory = msgspec.json.decode(plan, type=_Directory)
    except msgspec.MsgspecError as error:
        raise TableFileError(f"{path} is damaged: {error}") from None
    if directory.size != len(data):
        message = f"it has {len(data)} bytes rather than {directory.size}"
        raise TableFileError(f"{path} is damaged: {message}")
    if not _fits(directory, _FIXED.size + size):
        raise TableFileError(f"{path} is damaged: its arrays are not those of a table")
    if verify and hashlib.sha256(data[_FIXED.size :].data).digest() != digest:
        raise TableFileError(f"{path} is damaged: its contents are not what they were")
    return directory


def _fits(directory: _Directory, start: int) -> bool:
    """Whether the arrays are those of a table, one behind the other in the file."""
    if {entry.name: entry.kind for entry in directory.arrays} != TYPES:
        return False
    at = _aligned(start)
    for entry in directory.arrays:
        if entry.place != at or entry.length < 0:
            return False
        at += _aligned(entry.length * np.dtype(entry.kind).itemsize)
    return len(directory.arrays) == len(TYPES) and at == directory.size


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT
