"""What the exchange knows of licences: filters that are matched and go nowhere.

A licence is some filters, and what matches one of them is within it.  Each filter is in
the table once, however many licences have it, and not before there are two, or until
something is not within the others: where a role allows all its identities the same and
each something else, the table does not change with each that comes to publish.
"""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from siena.model import Filter, Predicate
from siena.protocol.fast.delivery_writer import LICENCE_SLOT, Dispatcher

# Of a publication that needs no licence.
NO_LICENCE = -1

Ints = npt.NDArray[np.int32]


class LicenceEntries:
    """The licences that a dispatcher decides, by numbers, which are given again.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> dispatcher = Dispatcher()
    >>> entries = LicenceEntries(dispatcher, on_change=lambda: None)
    >>> entries.add(parse("x = 1 or y = 1")), entries.add(parse("x = 1 or z = 1"))
    (0, 1)
    >>> len(dispatcher.table)
    1
    >>> entries.complete([0, 1]), len(dispatcher.table)
    (True, 3)
    >>> entries.remove(0)
    >>> len(dispatcher.table)
    2
    """

    def __init__(self, dispatcher: Dispatcher, on_change: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._on_change = on_change
        # Of each filter how many licences have it, and its entry if it is in the table.
        self._users: dict[Filter, int] = {}
        self._entries: dict[Filter, int] = {}
        # Of each number its filters, and the entries of those that were in the table
        # when this was asked for.
        self._filters: dict[int, tuple[Filter, ...]] = {}
        self._members: dict[int, Ints] = {}
        self._free: list[int] = []
        self._marked: int | None = None

    def add(self, predicate: Predicate) -> int:
        """Decide from now on what is within a predicate; the number of that."""
        filters = tuple(dict.fromkeys(predicate.filters))
        for each in filters:
            users = self._users[each] = self._users.get(each, 0) + 1
            if users > 1:
                self._enter(each)
        number = self._free.pop() if self._free else len(self._filters)
        self._filters[number] = filters
        return number

    def remove(self, number: int) -> None:
        """And no longer."""
        for each in self._filters.pop(number):
            self._users[each] -= 1
            if not self._users[each]:
                del self._users[each]
                if each in self._entries:
                    self._dispatcher.remove(self._entries.pop(each))
                    self._on_change()
        self._members.pop(number, None)
        self._free.append(number)
        self._marked = None

    def complete(self, numbers: Iterable[int]) -> bool:
        """Have all filters of these in the table; whether more are asked for now."""
        partial = [
            number
            for number in numbers
            if len(self._members_of(number)) < len(self._filters[number])
        ]
        for number in partial:
            # Some may have come since for other licences.
            for each in self._filters[number]:
                self._enter(each)
            del self._members[number]
        self._marked = None
        return bool(partial)

    def _enter(self, each: Filter) -> None:
        if each not in self._entries:
            self._entries[each] = self._dispatcher.add(each, slot=LICENCE_SLOT)
            self._on_change()

    def _members_of(self, number: int) -> Ints:
        """The entries of a licence, of filters that are in the table."""
        found = self._members.get(number)
        if found is None:
            entries = self._entries
            known = [entries[f] for f in self._filters[number] if f in entries]
            found = self._members[number] = np.array(known, np.int32)
        return found

    def mark(self, number: int) -> None:
        """Let the dispatcher count what is within this one."""
        if number != self._marked:
            self._dispatcher.mark(self._members_of(number))
            self._marked = number

    def judge(self, licence: int | Ints, messages: int) -> npt.NDArray[np.bool_] | None:
        """Which messages of the last batch are within their licences; None if all are.

        As far as these are in the table.  What is bad is within: it is refused for
        another reason.
        """
        if isinstance(licence, int):
            numbers, choices = [licence], np.zeros(messages, np.int32)
        else:
            found, inverse = np.unique(licence, return_inverse=True)
            numbers, choices = found.tolist(), inverse.astype(np.int32)
            if numbers and numbers[0] == NO_LICENCE:
                del numbers[0]
                choices -= 1
        members = [self._members_of(number) for number in numbers]
        allowed = self._dispatcher.judge(messages, choices, members)
        self._marked = None
        return None if allowed.all() else allowed
