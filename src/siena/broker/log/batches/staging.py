"""Staging: parts of batches that are not published yet, on disk if there is one.

A part is a file of records, like a segment of the log; the offsets in it are places in
the part.
"""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from siena.broker.log.files import SYSTEM
from siena.broker.log.limits import (
    PARTS_STAGED_MAX,
    STAGED_BYTES_IN_MEMORY,
    STAGED_SECONDS,
)
from siena.broker.log.records import (
    HEAD_BYTES,
    DamagedLogError,
    Record,
    pack_record,
    read_record,
)
from siena.broker.log.segment_file import record_bytes, records_of
from siena.clock import Clock
from siena.model import Predicate
from siena.protocol.error_codes import Fault, ProtocolError

SUFFIX = ".part"
# Parts have no header, and outlive a change of version: they stay in the first form.
_FORM = 1


class _Part:
    """How much there is of a part, and when something was last added."""

    def __init__(self, count: int, size: int, time: float) -> None:
        self.count = count
        self.size = size
        self.time = time
        # What all of it was found to be within; not known of one of another life.
        self.granted: Predicate | None = None
        # What it has, if there is no disk.
        self.pieces: list[bytes] = []


class Staging:
    """All parts that are not published yet.

    Args:
        folder: where they are; without one they are in memory.
        bytes_max: all of them together.
    """

    def __init__(self, folder: Path | None, bytes_max: int, clock: Clock) -> None:
        self._folder = folder
        self._bytes_max = bytes_max if folder else STAGED_BYTES_IN_MEMORY
        self._clock = clock
        self._parts: dict[bytes, _Part] = {}
        self._size = 0
        if folder is not None:
            folder.mkdir(mode=0o700, exist_ok=True)
            self._recover(folder)

    def _recover(self, folder: Path) -> None:
        """Find what was there; half a record at an end is cut off."""
        for path in folder.glob(f"*{SUFFIX}"):
            part = _Part(0, 0, path.stat().st_mtime)
            with suppress(DamagedLogError):
                for place, record in records_of(
                    path, 0, path.stat().st_size, form=_FORM
                ):
                    part.count = record.end
                    part.size = place + HEAD_BYTES + record_bytes(record)
            os.truncate(path, part.size)
            self._parts[bytes.fromhex(path.stem)] = part
            self._size += part.size

    def count(self, name: bytes) -> int | None:
        """How many notifications a part has; none if there is no such part."""
        part = self._parts.get(name)
        return None if part is None else part.count

    def is_within(self, name: bytes, granted: Predicate) -> bool:
        """Whether a part was looked at with this grant; otherwise it is forgotten.

        One that is being published was.
        """
        part = self._parts.get(name)
        if part is None or part.granted == granted or self.is_claimed(name):
            return True  # that it is not there is said by others
        self.drop(name)
        return False

    def add(
        self,
        name: bytes,
        at: int,
        blocks: Sequence[bytes],
        granted: Predicate | None = None,
    ) -> None:
        """Add to a part, unless that was done before.

        What was looked at with another grant is forgotten, and staged again.

        Raises:
            ProtocolError: if something is missing before, or there is no room.
        """
        if granted is not None:
            self.is_within(name, granted)
        part = self._parts.get(name)
        count = 0 if part is None else part.count
        if at > count:
            raise ProtocolError(
                Fault.PART_UNKNOWN, f"the part has {count} notifications, not {at}"
            )
        blocks = blocks[count - at :]
        if part is not None and not blocks:
            return
        if part is not None and part.time == math.inf:
            raise ProtocolError(Fault.PART_UNKNOWN, "the part is being published")
        data = self._record(count, blocks)
        self._check_room(is_new=part is None, more=len(data))
        if part is None:
            part = _Part(0, 0, 0)
            part.granted = granted
        self._write(name, part, data)
        self._parts[name] = part
        part.count += len(blocks)
        part.size += len(data)
        part.time = self._clock.now()
        self._size += len(data)

    def _record(self, first: int, blocks: Sequence[bytes]) -> bytes:
        lengths = np.array([len(block) for block in blocks], np.uint32)
        return b"".join(pack_record(first, 0, 0, lengths, b"".join(blocks), _FORM))

    def _check_room(self, *, is_new: bool, more: int) -> None:
        if is_new or self._size + more > self._bytes_max:
            self.drop_old()
        if is_new and len(self._parts) >= PARTS_STAGED_MAX:
            text = f"more than {PARTS_STAGED_MAX} parts wait to be published"
            raise ProtocolError(Fault.NO_ROOM, text)
        if self._size + more > self._bytes_max:
            where = "on disk" if self._folder else "in memory, without a log"
            raise ProtocolError(
                Fault.NO_ROOM,
                f"more than {self._bytes_max} bytes wait to be published {where}; "
                "make batches smaller",
            )

    def _write(self, name: bytes, part: _Part, data: bytes) -> None:
        if self._folder is None:
            part.pieces.append(data)
            return
        try:
            with self._path(name).open("ab", buffering=0) as file:
                try:
                    view = memoryview(data)
                    while view:
                        view = view[file.write(view) :]
                except OSError:
                    file.truncate(part.size)
                    raise
        except OSError as error:
            raise ProtocolError(
                Fault.NO_ROOM, f"the disk does not take it: {error}"
            ) from None

    def records(self, name: bytes) -> Iterator[Record]:
        """What a part has.

        Raises:
            DamagedLogError: if it is not what was written, or gone.
        """
        part = self._parts.get(name)
        if part is None:
            raise DamagedLogError("a part of a batch is not there")
        if self._folder is None:
            yield from (
                read_record(memoryview(data), 0, form=_FORM) for data in part.pieces
            )
            return
        for _, record in records_of(self._path(name), 0, part.size, form=_FORM):
            yield record

    def sync(self, names: Sequence[bytes]) -> None:
        """Have the disk keep some parts.

        Raises:
            OSError: if it does not.
        """
        if self._folder is None:
            return
        for name in names:
            with self._path(name).open("rb") as file:
                SYSTEM.sync(file.fileno())
        SYSTEM.sync_folder(self._folder)

    def drop(self, name: bytes) -> None:
        """Forget a part, if it is there."""
        part = self._parts.pop(name, None)
        if part is not None:
            self._size -= part.size
            if self._folder is not None:
                with suppress(OSError):  # then it is found, and grows old, another time
                    self._path(name).unlink(missing_ok=True)

    def claim(self, name: bytes) -> None:
        """A part is being published, if it is there: it does not grow old."""
        if name in self._parts:
            self._parts[name].time = math.inf

    def is_claimed(self, name: bytes) -> bool:
        """Whether a part is being published."""
        part = self._parts.get(name)
        return part is not None and part.time == math.inf

    def drop_unclaimed(self, name: bytes) -> None:
        """Forget a part, unless it is being published."""
        if not self.is_claimed(name):
            self.drop(name)

    def drop_old(self) -> None:
        """Forget what has been waiting for too long."""
        limit = self._clock.now() - STAGED_SECONDS
        for name, part in list(self._parts.items()):
            if part.time < limit:
                self.drop(name)

    def _path(self, name: bytes) -> Path:
        assert self._folder is not None
        return self._folder / f"{name.hex()}{SUFFIX}"
