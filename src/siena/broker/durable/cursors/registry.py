"""All cursors of a broker, and the file in which they outlive it.

The file has a record for each cursor, whole, and then what was acknowledged.  A cursor
that is defined, sought or has another filter is written whole again; the last counts.
"""

import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from siena.broker.durable.cursors.cursor import Cursor, Epoch, Spec
from siena.broker.durable.cursors.record_file import RecordFile
from siena.broker.durable.cursors.record_form import check_undamaged, read_file
from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.group_commit import Synced
from siena.errors import SienaError

log = logging.getLogger("siena.broker")

FILE = "cursors.state"
# How many notifications the log has grown by when cursors are written down again.
REWRITE_OFFSETS = 100_000
_WHOLE, _ACKED, _GONE = range(3)


class Cursors:
    """Cursors by whose they are and what they are called.

    Ownership: of the file, from making it to :meth:`close`.
    """

    def __init__(self, folder: Path, latest: int, files: Files = SYSTEM) -> None:
        self._named: dict[tuple[str, str], Cursor] = {}
        self.tail = latest
        """Where cursors without a position are."""
        self._rewritten = latest
        self._file = RecordFile(folder / FILE, self._contents, files)
        self._numbered, self._last = _replayed(self._file.read())
        for cursor in self._numbered.values():
            self._named[cursor.owner, cursor.name] = cursor
        self.known = max(map(_known, self._numbered.values()), default=0)
        """Every offset below was there, whatever the machine has forgotten."""
        try:
            self._file.begin()
        except OSError as error:
            text = f"{folder / FILE} cannot be written: {error}"
            raise SienaError(text) from None

    def __len__(self) -> int:
        return len(self._named)

    def __iter__(self) -> Iterator[Cursor]:
        return iter(list(self._named.values()))

    def find(self, owner: str, name: str) -> Cursor | None:
        """The cursor of a name."""
        return self._named.get((owner, name))

    def make(self, owner: str, name: str, epoch: Epoch, spec: Spec) -> Cursor:
        """A cursor that begins with its epoch; it is to be saved."""
        self._last += 1
        cursor = Cursor(self._last, owner, name, [epoch], spec)
        cursor.position = epoch.begins
        self._named[owner, name] = self._numbered[cursor.number] = cursor
        return cursor

    def save(self, cursor: Cursor, then: Synced | None = None) -> None:
        """Write a cursor down, and call this when the disk has it."""
        self._file.append(self._whole(cursor), then)

    def acked(self, cursor: Cursor, offsets: list[int]) -> None:
        """Write down what was acknowledged; it is synced some time later."""
        if offsets:
            record = [_ACKED, cursor.number, offsets]
            self._file.append(msgspec.msgpack.encode(record))
        if self.tail - self._rewritten >= REWRITE_OFFSETS:
            self._rewritten = self.tail
            self._file.rewrite()

    def forget(self, cursor: Cursor, then: Synced) -> None:
        """It is not needed any more."""
        del self._named[cursor.owner, cursor.name]
        del self._numbered[cursor.number]
        record = msgspec.msgpack.encode([_GONE, cursor.number])
        self._file.append(record, then)

    def floor(self, latest: int) -> int:
        """The first offset that a cursor needs."""
        lows = (cursor.low(self.tail) for cursor in self._named.values())
        return min(lows, default=latest)

    def lowest(self) -> Cursor | None:
        """The cursor that needs most of the log."""
        return min(
            self._named.values(), key=lambda cursor: cursor.low(self.tail), default=None
        )

    async def close(self) -> None:
        """Write all of them down."""
        await self._file.close()

    # --- The file -------------------------------------------------------------------

    def _contents(self) -> list[bytes]:
        return [self._whole(cursor) for cursor in self._numbered.values()]

    def _whole(self, cursor: Cursor) -> bytes:
        position = self.tail if cursor.position is None else cursor.position
        # What the log has lost, or let go, is not found any more, and not asked about.
        cursor.acked_ahead = {o for o in cursor.acked_ahead if o >= position}
        return msgspec.msgpack.encode(
            [
                *(_WHOLE, cursor.number, cursor.owner, cursor.name, cursor.epochs),
                *(cursor.spec, position, cursor.unacked, list(cursor.acked_ahead)),
            ]
        )


def _replayed(records: Iterable[bytes]) -> tuple[dict[int, Cursor], int]:
    """The cursors that records tell of, and the highest number that one had."""
    found: dict[int, Cursor] = {}
    last = 0
    for record in records:
        kind, number, *rest = msgspec.msgpack.decode(record)
        last = max(last, number)
        if kind == _WHOLE:
            found[number] = _cursor_of(number, rest)
        elif number not in found:
            log.warning(
                "%s tells of the durable subscription number %d, which is not known",
                *(FILE, number),
            )
        elif kind == _GONE:
            del found[number]
        else:
            cursor = found[number]
            for offset in rest[0]:
                if cursor.ack(offset) is False and offset >= (cursor.position or 0):
                    cursor.acked_ahead.add(offset)
    return found, last


def _cursor_of(number: int, fields: list[Any]) -> Cursor:
    owner, name, epochs, spec, position, unacked, ahead = fields
    cursor = Cursor(number, owner, name, [Epoch(*e) for e in epochs], Spec(*spec))
    cursor.reset(position, unacked)
    cursor.acked_ahead = set(ahead)
    return cursor


def needed_from(folder: Path) -> int | None:
    """The first offset that a durable subscription needs of a log that no broker has.

    One that was never written down with a position needs everything.
    """
    path = folder / FILE
    found = read_file(path)
    if found is None:
        return None
    check_undamaged(path, found)
    cursors, _ = _replayed(found.records)
    return min((cursor.low(0) for cursor in cursors.values()), default=None)


def _known(cursor: Cursor) -> int:
    """The offset behind the last of which a cursor was told."""
    assert cursor.position is not None
    told = [*cursor.unacked, *cursor.acked_ahead]
    return max([cursor.position, *(offset + 1 for offset in told)])
