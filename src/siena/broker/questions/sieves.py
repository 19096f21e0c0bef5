"""Sieves: what a filter, a pattern or an advertisement finds among past notifications.

They are given the records of a log in their order, and what of each may be heard.  A
pattern finds whole sequences, which may begin in one record and end in another; what
was generated later is what the log has later, for the order is all that it keeps.
"""

import asyncio
from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from siena.block import decode
from siena.broker.log.filter_cache import RecordFilter
from siena.broker.log.records import Record
from siena.broker.questions.interest_index import Bools
from siena.lang.notification_form import notification_to_json
from siena.matching.pattern import PatternMatcher
from siena.messages import Interest
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate

# Of what a record has, how much is handed on to be shown.
SHOWN_MAX = 50
# Notifications that are read in Python before others have their turn: a millisecond.
READ_AT_ONCE = 100


class Entry(NamedTuple):
    """One notification of a log, not read yet."""

    offset: int
    time: int
    block: bytes

    def form(self) -> dict[str, object]:
        """As a page is told it."""
        notification = Notification(decode(self.block))
        return {
            "offset": self.offset,
            "time": self.time,
            "notification": notification_to_json(notification),
            "text": str(notification),
        }


# One notification; or of a pattern one for each step.
Match = tuple[Entry, ...]


class Entries:
    """The notifications of a record, by their numbers in it."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._bounds = record.offsets()

    def __getitem__(self, index: int) -> Entry:
        start, end = self._bounds[index : index + 2]
        block = bytes(self._record.blocks[start:end])
        return Entry(self._record.first + index, self._record.time, block)


class Sieve(Protocol):
    """What looks through records."""

    async def find(self, record: Record, heard: Bools) -> tuple[int, list[Match]]:
        """How many it finds in the next record, and the last of them."""
        ...


def sieve_of(interest: Interest | Advertisement) -> Sieve:
    """What looks for this."""
    if isinstance(interest, Advertisement):
        return _Admitted(interest)
    if isinstance(interest, Pattern) and not interest.is_simple:
        return _Sequences(interest)
    if isinstance(interest, Pattern):
        (interest,) = interest.steps
    return _Selected(interest)


class _Selected:
    def __init__(self, interest: Filter | Predicate) -> None:
        if isinstance(interest, Filter):
            interest = Predicate([interest])
        self._filter = RecordFilter(interest)

    async def find(self, record: Record, heard: Bools) -> tuple[int, list[Match]]:
        numbers = np.flatnonzero(self._filter.select(record, heard)).tolist()
        entries, shown = Entries(record), numbers[-SHOWN_MAX:]
        return len(numbers), [(entries[number],) for number in shown]


class _Admitted:
    def __init__(self, offer: Advertisement) -> None:
        self._offer = offer

    async def find(self, record: Record, heard: Bools) -> tuple[int, list[Match]]:
        entries, found = Entries(record), list[Match]()
        for place, index in enumerate(np.flatnonzero(heard).tolist(), 1):
            entry = entries[index]
            if self._offer.admits(decode(entry.block)):
                found.append((entry,))
            if not place % READ_AT_ONCE:
                await asyncio.sleep(0)
        return len(found), found[-SHOWN_MAX:]


class _Sequences:
    """As :class:`PatternMatcher` has it; but each step is looked for by the engine."""

    def __init__(self, pattern: Pattern) -> None:
        self._steps = [RecordFilter(step) for step in pattern]
        self._taken: list[Entry] = []

    async def find(self, record: Record, heard: Bools) -> tuple[int, list[Match]]:
        entries, found = Entries(record), list[Match]()
        places: dict[int, np.ndarray] = {}
        at = 0
        while True:
            step = len(self._taken)
            if step not in places:
                selected = self._steps[step].select(record, heard)
                places[step] = np.flatnonzero(selected)
            next_ = int(np.searchsorted(places[step], at))
            if next_ == len(places[step]):
                return len(found), found[-SHOWN_MAX:]
            index = int(places[step][next_])
            self._taken.append(entries[index])
            at = index + 1
            if len(self._taken) == len(self._steps):
                found.append(tuple(self._taken))
                self._taken.clear()


def sequences(
    pattern: Pattern, notifications: Iterable[Notification | None]
) -> list[list[int]]:
    """The places of those that match a pattern together, in the order they came in.

    >>> from siena.lang.parser import parse_pattern
    >>> came = [Notification(x=n) for n in (2, 1, 1, 2, 1, 2)]
    >>> sequences(parse_pattern("x = 1 then x = 2"), came)
    [[1, 3], [4, 5]]
    """
    matcher, found = PatternMatcher(pattern), []
    taken: list[int] = []
    for place, each in enumerate(notifications):
        if each is None:
            continue
        before = len(matcher.progress)
        is_whole = matcher.offer(each, time=place) is not None
        if is_whole or len(matcher.progress) > before:
            taken.append(place)
        if is_whole:
            found.append(taken)
            taken = []
    return found
