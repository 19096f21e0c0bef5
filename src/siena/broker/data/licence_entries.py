"""What the exchange knows of licences: filters that are matched and go nowhere.

A licence is some filters, and what matches one of them is within it.  Each filter is in
the table once, however many licences have it: where a role allows all its identities
the same and each something else, a publication matches no more than with one identity.
"""

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
    >>> entries = LicenceEntries(dispatcher)
    >>> entries.add(parse("x = 1 or y = 1")), entries.add(parse("x = 1 or z = 1"))
    (0, 1)
    >>> len(dispatcher.table)
    3
    >>> entries.remove(0)
    >>> len(dispatcher.table)
    2
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self._dispatcher = dispatcher
        # Of each filter its entry in the table, and how many licences have it.
        self._entries: dict[Filter, int] = {}
        self._users: dict[Filter, int] = {}
        # Of each number its filters, and their entries.
        self._filters: dict[int, tuple[Filter, ...]] = {}
        self._members: dict[int, Ints] = {}
        self._free: list[int] = []
        self._marked: int | None = None

    def add(self, predicate: Predicate) -> int:
        """Decide from now on what is within a predicate; the number of that."""
        filters = tuple(dict.fromkeys(predicate.filters))
        for each in filters:
            if each not in self._entries:
                added = self._dispatcher.add(each, slot=LICENCE_SLOT)
                self._entries[each] = added
            self._users[each] = self._users.get(each, 0) + 1
        number = self._free.pop() if self._free else len(self._filters)
        self._filters[number] = filters
        members = [self._entries[each] for each in filters]
        self._members[number] = np.array(members, np.int32)
        return number

    def remove(self, number: int) -> None:
        """And no longer."""
        del self._members[number]
        for each in self._filters.pop(number):
            self._users[each] -= 1
            if not self._users[each]:
                del self._users[each]
                self._dispatcher.remove(self._entries.pop(each))
        self._free.append(number)
        self._marked = None

    def mark(self, number: int) -> None:
        """Let the dispatcher count what is within this one."""
        if number != self._marked:
            self._dispatcher.mark(self._members[number])
            self._marked = number

    def judge(self, licence: int | Ints, messages: int) -> npt.NDArray[np.bool_] | None:
        """Which messages of the last batch are within their licences; None if all are.

        What is bad is: it is refused for another reason.
        """
        if isinstance(licence, int):
            numbers, choices = [licence], np.zeros(messages, np.int32)
        else:
            found, inverse = np.unique(licence, return_inverse=True)
            numbers, choices = found.tolist(), inverse.astype(np.int32)
            if numbers and numbers[0] == NO_LICENCE:
                del numbers[0]
                choices -= 1
        members = [self._members[number] for number in numbers]
        allowed = self._dispatcher.judge(messages, choices, members)
        self._marked = None
        return None if allowed.all() else allowed
