"""Losses: who reads durably is told what the log has lost.

A reader that is there hears a GAP; a durable subscription without a reader tells the
next one, as long as the broker runs.
"""

import logging
from collections.abc import Iterable

from siena.broker.clients.session import Session
from siena.broker.durable.cursors.cursor import Cursor
from siena.broker.durable.page import time_before
from siena.broker.log.segment import Gap as LostOffsets
from siena.broker.log.stores.log_store import LogStore
from siena.broker.state import BrokerState
from siena.protocol.control_frames import Gap
from siena.protocol.limits import NAME_CHARACTERS_MAX

log = logging.getLogger("siena.broker")


class Losses:
    """Tells of offsets that cannot be had any more, and counts them."""

    def __init__(self, state: BrokerState, store: LogStore) -> None:
        self._state = state
        self._store = store
        # What no reader was there to hear; of each subscription one interval.
        self._untold: dict[Cursor, Gap] = {}

    def of_log(self, lost: LostOffsets, whose: str) -> Gap:
        """Count some offsets that are damaged; the gap that is told of them."""
        count = lost.end - lost.first
        self._state.counters.log_unreadable += count
        reason = f"the log of {self._state.name} has lost offsets {lost.first} to "
        reason += str(lost.end - 1)
        log.warning("%s, which %s cannot get", reason, whose)
        self._state.counters.gaps += 1
        now = self._state.clock.nanoseconds() // 1_000
        start = min(time_before(self._store, lost.first), now)
        return Gap(start, now, reason[-NAME_CHARACTERS_MAX:])

    def of_cursor(
        self, cursor: Cursor, lost: LostOffsets, readers: Iterable[Session]
    ) -> None:
        """A durable subscription does not get some offsets."""
        gap = self.of_log(lost, repr(cursor.name))
        before = self._untold.pop(cursor, gap)
        gap = Gap(min(before.start, gap.start), gap.end, gap.reason)
        told = [_tell(session, gap) for session in readers]
        if not any(told):
            self._untold[cursor] = gap

    def joined(self, session: Session, cursor: Cursor) -> None:
        """A client reads it: tell what no reader has heard of yet."""
        gap = self._untold.get(cursor)
        if gap is not None and _tell(session, gap):
            del self._untold[cursor]

    def forget(self, cursor: Cursor) -> None:
        """It is not needed any more."""
        self._untold.pop(cursor, None)


def _tell(session: Session, gap: Gap) -> bool:
    if session.sink is None or not session.sink.hears_gaps:
        return False
    session.reply(gap.pack())
    return True
