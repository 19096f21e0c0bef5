"""Pages: some records of a log, and from where reading goes on.

*Damage* ends a page, and is a page of its own then: what it costs is known, and reading
goes on behind it.  What *cannot be read now* (too many files are open, the disk does
not answer) is no damage: it is an ``OSError``, and who reads waits and asks again.
Except for what passes by itself that is not done for ever: a sector may be bad, and
then it is damage, too.
"""

import errno
from typing import NamedTuple

from siena.broker.log.records import DamagedLogError, Record
from siena.broker.log.segment import Gap
from siena.broker.log.stores.log_store import LogStore

# How long who reads waits after that, or after a mistake of ours.
RETRY_SECONDS = 1.0
# How often a place is tried that the disk does not give, until it is taken for lost if
# what is behind can be read; and what passes, however often it comes.
UNREADABLE_TRIES = 60
_PASSING = frozenset(
    {errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EINTR, errno.EAGAIN}
)


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


class Pages:
    """Pages for one who reads, and which places cannot be read.

    Args:
        budget: how many bytes a page has, about.
    """

    def __init__(self, store: LogStore, budget: int) -> None:
        self._store = store
        self._budget = budget
        # How often places were tried in vain; and what was given up last.
        self._tried: dict[int, int] = {}
        self._lost = Gap(0, 0)

    def read(self, start: int) -> Page:
        """Records from an offset on; lost ones, if they cannot be read for long.

        Raises:
            OSError: if not even the first can be read now.
        """
        try:
            page = read_page(self._store, start, self._budget)
        except OSError as error:
            if error.errno in _PASSING:
                raise
            at = max(start, self._store.earliest)
            end = self._lost.end if self._lost.first <= at < self._lost.end else None
            if end is None:
                end = self._given_up(start, at)
            if end is None:
                raise
            page = Page([], end, Gap(at, end))
        self._tried.pop(start, None)
        return page

    def forget(self, offset: int) -> None:
        """What stood there is not asked for any more."""
        self._tried.pop(offset, None)

    def _given_up(self, start: int, at: int) -> int | None:
        """Up to where what could not be read again is lost; none if it is not yet."""
        self._tried[start] = self._tried.get(start, 0) + 1
        if self._tried[start] < UNREADABLE_TRIES:
            return None
        end = self._behind(at)
        if end is not None:
            self._lost = Gap(at, end)
        return end

    def _behind(self, start: int) -> int | None:
        """The first offset behind one that can be read, if there is any."""
        low, step, last = start, 1, self._store.latest - 1
        while not self._can_be_read(min(start + step, last)):
            low, step = start + step, 2 * step
            if low >= last:
                return None
        high = min(start + step, last)
        while high - low > 1:
            middle = (low + high) // 2
            if self._can_be_read(middle):
                high = middle
            else:
                low = middle
        return high

    def _can_be_read(self, offset: int) -> bool:
        """Whether something is there, if it is damaged or not."""
        try:
            return next(iter(self._store.scan(offset, 1)), None) is not None
        except DamagedLogError:
            return True
        except OSError:
            return False


def time_before(store: LogStore, offset: int) -> int:
    """When the last came before an offset, in microseconds since 1970; 0 if unknown."""
    try:
        at = max(offset - 1, store.earliest)
        record = next(iter(store.scan(at, 1)), None)
    except (DamagedLogError, OSError):
        return 0
    return record.time if record is not None and record.first < offset else 0
