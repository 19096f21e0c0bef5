"""Pages: some records of a log, and from where reading goes on.

*Damage* ends a page, and is a page of its own then: what it costs is known, and reading
goes on behind it.  What *cannot be read now* (too many files are open, the disk does
not answer) is no damage: it is an ``OSError``, and who reads waits and asks again.
"""

from typing import NamedTuple

from siena.broker.log.records import DamagedLogError, Record
from siena.broker.log.segment import Gap
from siena.broker.log.stores.log_store import LogStore

# How long who reads waits after that, or after a mistake of ours.
RETRY_SECONDS = 1.0


class Page(NamedTuple):
    """Records, from where to go on, and what was lost instead of them."""

    records: list[Record]
    end: int
    lost: Gap | None = None


def read_page(store: LogStore, start: int, budget: int) -> Page:
    """Records from an offset on, of about so many bytes together.

    Raises:
        OSError: if not even the first can be read now.
    """
    at = max(start, store.earliest)
    found: list[Record] = []
    try:
        for record in store.scan(at, budget):
            found.append(record)
            at = record.end
    except DamagedLogError as error:
        if not found:
            end = at + 1 if error.gap is None else error.gap[1]
            return Page([], end, Gap(at, end))
    except OSError:
        if not found:
            raise
    # Behind the last record there may be offsets that were never given.
    return Page(found, at if found else store.latest)


def time_before(store: LogStore, offset: int) -> int:
    """When the last came before an offset, in microseconds since 1970; 0 if unknown."""
    try:
        at = max(offset - 1, store.earliest)
        record = next(iter(store.scan(at, 1)), None)
    except (DamagedLogError, OSError):
        return 0
    return record.time if record is not None and record.first < offset else 0
