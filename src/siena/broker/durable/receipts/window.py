"""Which publications of one publisher are stored: stretches of its sequence numbers."""

from array import array
from bisect import bisect_right
from typing import NamedTuple

from siena.broker.durable.limits import STRETCHES_MAX


class NumberedRow(NamedTuple):
    """Sequence numbers in a row, and what is known of them.

    ``is_known`` are those that were accepted before.  Their offset is that of the
    first; there is none while they are not written yet, or if it is not remembered
    where they are: then ``is_stored`` says which.
    """

    first: int
    end: int
    is_known: bool
    is_stored: bool
    offset: int | None


class Window:
    """What is remembered of the sequence numbers of one publisher.

    >>> window = Window()
    >>> window.accept(0, 3)
    >>> window.store(0, 3, 100)
    >>> window.split(2, 5)
    [NumberedRow(first=2, end=3, is_known=True, is_stored=True, offset=102),
     NumberedRow(first=3, end=5, is_known=False, is_stored=False, offset=None)]
    """

    def __init__(self, floor: int = 0, stretches_max: int = STRETCHES_MAX) -> None:
        self.floor = floor
        """What is below is not remembered, and taken for stored."""
        self.has_several_ways = False
        """Whether numbers come by several ways, and so in any order.

        Then what is below the floor is not taken for stored: it may come for the first
        time.  Rather it is there twice than not at all.
        """
        self._stretches_max = stretches_max
        # In ascending order, and apart; an offset of -1 is of what is not written yet.
        self._firsts = array("q")
        self._ends = array("q")
        self._offsets = array("q")

    @property
    def end(self) -> int:
        """The number behind the last that was accepted."""
        return self._ends[-1] if self._ends else self.floor

    def split(self, first: int, end: int) -> list[NumberedRow]:
        """Some numbers in a row, by what is known of them."""
        found = []
        floor = 0 if self.has_several_ways else self.floor
        if first < floor:
            found.append(NumberedRow(first, min(end, floor), True, True, None))
        at = max(first, floor)
        place = max(0, bisect_right(self._firsts, at) - 1)
        while at < end:
            while place < len(self._ends) and self._ends[place] <= at:
                place += 1
            if place == len(self._ends) or self._firsts[place] >= end:
                found.append(NumberedRow(at, end, False, False, None))
                break
            known, offset = self._firsts[place], self._offsets[place]
            if known > at:
                found.append(NumberedRow(at, known, False, False, None))
                at = known
            upto = min(end, self._ends[place])
            is_stored = offset >= 0
            where = offset + at - known if is_stored else None
            found.append(NumberedRow(at, upto, True, is_stored, where))
            at = upto
        return found

    def accept(self, first: int, end: int) -> None:
        """These are about to be written; none of them was accepted before."""
        place = bisect_right(self._firsts, first)
        self._firsts.insert(place, first)
        self._ends.insert(place, end)
        self._offsets.insert(place, -1)

    def store(self, first: int, end: int, offset: int) -> None:
        """These are written, from an offset on."""
        self._take_out(first, end)
        place = bisect_right(self._firsts, first)
        before = place - 1
        is_next = (
            before >= 0
            and self._ends[before] == first
            and self._offsets[before] >= 0
            and self._offsets[before] + first - self._firsts[before] == offset
        )
        if is_next:
            self._ends[before] = end
            return
        self._firsts.insert(place, first)
        self._ends.insert(place, end)
        self._offsets.insert(place, offset)
        if len(self._firsts) > self._stretches_max:
            self._forget_some()

    def _forget_some(self) -> None:
        """Forget the lowest, some at once: one by one would be slow."""
        some = 0
        while some <= self._stretches_max // 64 and self._offsets[some] >= 0:
            some += 1
        if some:
            self.floor = max(self.floor, self._ends[some - 1])
            del self._firsts[:some], self._ends[:some], self._offsets[:some]

    def withdraw(self, first: int, end: int) -> None:
        """What is not written of these will not be; they may come again."""
        for stretch in self.split(first, end):
            if stretch.is_known and not stretch.is_stored:
                self._take_out(stretch.first, stretch.end)

    def _take_out(self, first: int, end: int) -> None:
        """Forget these, of which none is written."""
        place = bisect_right(self._firsts, first) - 1
        if place < 0 or self._ends[place] <= first:
            return
        assert self._offsets[place] == -1, "it is written"
        assert end <= self._ends[place], "they were accepted together"
        begun, ended = self._firsts[place], self._ends[place]
        del self._firsts[place], self._ends[place], self._offsets[place]
        rest = [(a, b) for a, b in ((begun, first), (end, ended)) if a < b]
        for shift, (a, b) in enumerate(rest):
            self._firsts.insert(place + shift, a)
            self._ends.insert(place + shift, b)
            self._offsets.insert(place + shift, -1)
