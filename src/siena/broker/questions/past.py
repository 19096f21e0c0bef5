"""The past: the last notifications of the log, and an interest tried on them.

The log is read on the broker's loop, a little at a time, so that others have their
turns; and only as far back as the question says, within a time.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from time import perf_counter
from typing import Any

import numpy as np

from siena.broker.access.grants.sight import Sight
from siena.broker.log.filter_cache import RecordFilter
from siena.broker.log.journal import Journal
from siena.broker.log.records import DamagedLogError, Record
from siena.broker.questions.sieves import Entries, Match, sieve_of
from siena.messages import Interest
from siena.model import Advertisement, Filter, Predicate
from siena.protocol.error_codes import Fault, ProtocolError

# How far back a question may look, in notifications; and how long it may take.
LOOKED_AT_MAX = 200_000
SECONDS_MAX = 2.0
# Bytes that are read before others have their turn: a millisecond or two.
BYTES_AT_ONCE = 128 * 1_024
# Of what was found: how many are shown, and into how many spans of time it falls.
SHOWN_MAX = 50
SPANS = 48

Form = dict[str, Any]
NO_LOG = "this broker keeps no log; start it with --log"


class Past:
    """What a log has, as far as one principal may hear it."""

    def __init__(self, journal: Journal | None, sight: Sight) -> None:
        if journal is None:
            raise ProtocolError(Fault.NO_LOG, NO_LOG)
        self._store = journal.store
        heard = Predicate([Filter()]) if sight.is_whole else sight.grant.subscribe
        self._heard = RecordFilter(heard)

    async def latest(self, count: int) -> list[Form]:
        """The last notifications, the newest first."""
        found: deque[Form] = deque(maxlen=min(count, SHOWN_MAX))
        async for record in self._records(count):
            entries = Entries(record)
            for index in np.flatnonzero(self._heard.select(record)).tolist():
                found.append(entries[index].form())
        return list(reversed(found))

    async def try_on(self, interest: Interest | Advertisement, count: int) -> Form:
        """What it would have selected of the last so many notifications.

        Of a pattern these are sequences, each of which counts where it ends; of an
        advertisement what a publisher who made it might have published.
        """
        sieve = sieve_of(interest)
        looked_at = matched = 0
        found: deque[Match] = deque(maxlen=SHOWN_MAX)
        times: list[tuple[int, int, int]] = []
        last = None
        async for record in self._records(count):
            heard = self._heard.select(record)
            several, shown = await sieve.find(record, heard)
            looked_at += int(heard.sum())
            matched += several
            times.append((record.time, int(heard.sum()), several))
            found.extend(shown)
            last = record
        return {
            "looked_at": looked_at,
            "matched": matched,
            "shown": [_form(match) for match in reversed(found)],
            "spans": spans(times),
            "complete": last is None or last.end >= self._store.latest,
        }

    async def _records(self, count: int) -> AsyncIterator[Record]:
        """The records of the last so many, in their order."""
        store = self._store
        at = max(store.earliest, store.latest - min(count, LOOKED_AT_MAX))
        end, until = store.latest, perf_counter() + SECONDS_MAX
        while at < end and perf_counter() < until:
            before = at
            try:
                for record in list(store.scan(at, BYTES_AT_ONCE)):
                    yield record
                    at = record.end
            except (DamagedLogError, OSError) as error:
                text = f"the log cannot be read: {error}"
                raise ProtocolError(Fault.LOG_DAMAGED, text) from None
            if at == before:
                return
            await asyncio.sleep(0)


def spans(times: list[tuple[int, int, int]]) -> list[Form]:
    """Counts of notifications over time, in spans of equal length.

    >>> spans([(0, 5, 1), (10, 5, 2)])[0]
    {'from': 0.0, 'all': 5, 'matched': 1}
    >>> len(spans([(7, 1, 1)])), spans([])
    (1, [])
    """
    if not times:
        return []
    first, last = times[0][0], max(time for time, _, _ in times)
    count = SPANS if last > first else 1
    length = (last - first) / count or 1
    found: list[Form] = [
        {"from": first + at * length, "all": 0, "matched": 0} for at in range(count)
    ]
    for time, everything, matched in times:
        span = found[min(count - 1, max(0, int((time - first) / length)))]
        span["all"] += everything
        span["matched"] += matched
    return found


def _form(match: Match) -> Form:
    """The last notification of a match; and of a sequence the texts of all."""
    *before, last = match
    texts = [str(each.form()["text"]) for each in match]
    return last.form() | ({"sequence": texts} if before else {})
