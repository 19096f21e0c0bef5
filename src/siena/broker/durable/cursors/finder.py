"""What durable subscriptions select of the log, found for all of them together.

One table has the filters of all cursors, and is asked once for each record, however
many there are.  A record that is appended is looked at where it is; cursors that are
not at the tail are brought there by *sweeps* through the log, some of it at a time,
which take along all that are on the way.
"""

import asyncio
import logging
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.broker.durable.cursors.cursor import Cursor, Epoch
from siena.broker.durable.limits import SWEEP_BYTES
from siena.broker.durable.page import RETRY_SECONDS, Pages
from siena.broker.log.records import Record
from siena.broker.log.segment import Gap
from siena.broker.log.stores.log_store import LogStore
from siena.lang.parser import parse_interest
from siena.matching.table import ForwardingTable
from siena.model import Filter, Predicate

log = logging.getLogger("siena.broker")

Longs = npt.NDArray[np.int64]


class _Entry(NamedTuple):
    """A filter of a cursor, and the offsets for which it holds."""

    cursor: Cursor
    begins: int
    ends: int


_NEVER = 2**63


class Finder:
    """Finds what is for which cursor.

    Args:
        store: where sweeps read.
        on_found: called with cursors for which something was found.
        on_lost: called with cursors that do not get some offsets, which are damaged.
    """

    def __init__(
        self,
        store: LogStore,
        on_found: Callable[[set[Cursor]], None],
        on_lost: Callable[[set[Cursor], Gap], None],
    ) -> None:
        self._store = store
        self._pages = Pages(store, SWEEP_BYTES)
        self._on_found = on_found
        self._on_lost = on_lost
        self._table = ForwardingTable()
        self._entries: dict[int, _Entry] = {}
        # Of each cursor the numbers of its filters in the table, as its epochs.
        self._numbers: dict[Cursor, list[int]] = {}
        self.tail = store.latest
        """Everything below has been matched, for cursors without a position."""
        # Cursors that want more of the log, by their position.
        self._hungry: dict[int, set[Cursor]] = {}
        self._at = 0
        self._is_due = False
        # Where the log cannot be read now.
        self._troubled: set[int] = set()
        self._has_trouble = False
        self.is_closed = False

    # --- Filters come and go --------------------------------------------------------

    def add(self, cursor: Cursor) -> None:
        """Look for what a cursor wants, from its position on."""
        self._numbers[cursor] = [self._enter(epoch) for epoch in cursor.epochs]
        self._arrange(cursor)
        self.wake(cursor)

    def begin_epoch(self, cursor: Cursor, epoch: Epoch) -> None:
        """From here on another filter holds for a cursor."""
        cursor.epochs.append(epoch)
        self._numbers[cursor].append(self._enter(epoch))
        self._arrange(cursor)

    def remove(self, cursor: Cursor) -> None:
        """Look for nothing any more."""
        for number in self._numbers.pop(cursor):
            self._table.remove(number)
            del self._entries[number]
        for cursors in self._hungry.values():
            cursors.discard(cursor)

    def consolidate(self) -> None:
        """Compile all filters at once, before a publication waits for it."""
        self._table.consolidate()

    def _enter(self, epoch: Epoch) -> int:
        interest = parse_interest(epoch.filter)
        assert isinstance(interest, Filter | Predicate), "a cursor has no pattern"
        return self._table.add(0, interest)

    def _arrange(self, cursor: Cursor) -> None:
        """Say for which offsets each of its filters holds, and forget old ones."""
        low = self.tail if cursor.position is None else cursor.position
        numbers, epochs = self._numbers[cursor], cursor.epochs
        while len(epochs) > 1 and epochs[1].begins <= low:
            self._table.remove(numbers[0])
            self._entries.pop(numbers[0], None)
            del numbers[0], epochs[0]
        ends = [*(epoch.begins for epoch in epochs[1:]), _NEVER]
        begins = [0, *ends[:-1]]
        for number, begin, end in zip(numbers, begins, ends, strict=True):
            self._entries[number] = _Entry(cursor, begin, end)

    # --- At the tail ----------------------------------------------------------------

    def appended(self, first: int, blocks: bytes, bounds: Longs) -> None:
        """A record was written: find it for those who are at the tail."""
        end = first + len(bounds) - 1
        touched: set[Cursor] = set()
        if self._entries and first >= self.tail:
            for cursor, offset in self._matches(first, blocks, bounds):
                if cursor.position is not None:
                    continue  # a sweep finds it
                if cursor.found(offset):
                    touched.add(cursor)
                else:
                    cursor.position = offset
        self.tail = max(self.tail, end)
        if touched:
            self._on_found(touched)

    def stumbled(self) -> None:
        """A record could not be looked at when it was written: sweeps find it."""
        for cursor in self._numbers:
            if cursor.position is None:
                cursor.position = self.tail
                self.wake(cursor)
        self.tail = self._store.latest

    def _matches(
        self, first: int, blocks: bytes | memoryview, bounds: Longs
    ) -> list[tuple[Cursor, int]]:
        """Who wants what, of some blocks that stand back to back."""
        found = self._table.match_buffer(blocks, bounds)
        if not len(found.filters):
            return []
        end = first + len(found.counts)
        counts = np.maximum(found.counts, 0)
        offsets = np.repeat(np.arange(first, end), counts).tolist()
        matches: list[tuple[Cursor, int]] = []
        for number, offset in zip(found.filters.tolist(), offsets, strict=False):
            cursor, begins, ends = self._entries[number]
            if begins <= offset < ends:
                matches.append((cursor, offset))
        return matches

    # --- Behind it ------------------------------------------------------------------

    def wake(self, cursor: Cursor) -> None:
        """Bring a cursor on, if it is not at the tail and has room."""
        if cursor not in self._numbers:
            return  # it was forgotten, and what was under way then ends now
        if cursor.position == self.tail and self.tail == self._store.latest:
            cursor.position = None
            self._arrange(cursor)
        if cursor.is_hungry:
            assert cursor.position is not None
            self._hungry.setdefault(cursor.position, set()).add(cursor)
            self._schedule()

    def skip(self, cursor: Cursor, offset: int) -> bool:
        """Go on behind what is done, if that has not been looked at; whether it has."""
        if cursor.position is None or cursor.position >= offset:
            return False
        for cursors in self._hungry.values():
            cursors.discard(cursor)
        cursor.position = min(offset, self.tail)
        self._arrange(cursor)
        self.wake(cursor)
        return True

    def _schedule(self) -> None:
        if not self._is_due and self._hungry and not self.is_closed:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        """Sweep through some of the log, with all cursors that are on the way."""
        self._is_due = False
        if self.is_closed or not self._hungry:
            return
        # Upwards, and then again from the lowest: everybody has their turn.
        positions = sorted(self._hungry)
        start = next((p for p in positions if p >= self._at), positions[0])
        riders = self._hungry.pop(start)
        touched: set[Cursor] = set()
        try:
            at = self._sweep(start, riders, touched)
        except Exception as error:  # noqa: BLE001 -- said, and tried again
            for cursor in riders:
                self._hungry.setdefault(cursor.position or 0, set()).add(cursor)
            self._at = start + 1  # others have their turn, if this stays so
            self._pause(start, error)
            return
        self._troubled.discard(start)
        self._say_if_all_is_well()
        self._at = at
        for cursor in riders:
            cursor.position = at
            if len(cursor.epochs) > 1:
                self._arrange(cursor)
            self.wake(cursor)
        if touched:
            self._on_found(touched)
        self._schedule()

    def _say_if_all_is_well(self) -> None:
        """Say that the log can be read, where it could not and is still wanted."""
        if not self._has_trouble:
            return
        for place in self._troubled - self._hungry.keys():
            self._troubled.discard(place)
            self._pages.forget(place)
        if not self._troubled:
            log.warning("the log can be read again")
            self._has_trouble = False

    def _pause(self, start: int, error: Exception) -> None:
        """Go on a little later, and not before."""
        if not isinstance(error, OSError):
            log.error(
                "a mistake of ours, while looking through the log", exc_info=error
            )
        else:
            self._troubled.add(start)
            if not self._has_trouble:  # said once, not every second
                log.warning(
                    "durable subscriptions wait: the log cannot be read: %s", error
                )
            self._has_trouble = True
        self._is_due = True
        asyncio.get_running_loop().call_later(RETRY_SECONDS, self._step)

    def _sweep(self, start: int, riders: set[Cursor], touched: set[Cursor]) -> int:
        """Find what is for the riders, and for whom they meet; where this ended.

        Raises:
            OSError: if the log cannot be read now; then nothing has changed.
        """
        page = self._pages.read(start)
        at = start
        for record in page.records:
            if record.first >= self.tail:
                return self.tail
            self._take_along(riders, at, record.end)
            self._offer(record, riders, touched)
            at = record.end
            if not riders:
                return at
        end = min(page.end, self.tail)
        if page.lost is not None:
            self._take_along(riders, at, end)
            self._on_lost(riders, page.lost)
        return end

    def _take_along(self, riders: set[Cursor], start: int, end: int) -> None:
        """Those who are on the way ride along."""
        for position in [p for p in self._hungry if start <= p < end]:
            riders |= self._hungry.pop(position)

    def _offer(self, record: Record, riders: set[Cursor], touched: set[Cursor]) -> None:
        for cursor, offset in self._matches(
            record.first, record.blocks, record.offsets()
        ):
            if cursor not in riders:
                continue
            assert cursor.position is not None
            if offset < cursor.position:
                continue
            if cursor.found(offset):
                touched.add(cursor)
            else:
                cursor.position = offset
                riders.discard(cursor)
