"""An axis: all the conditions on one attribute, and which of them cover which.

Large sets of filters are made of far fewer conditions, and whether one filter
covers another depends only on theirs.  So each pair of conditions on a name is
compared once, when the second of them comes; afterwards a comparison of filters
is a look at one bit per name.

::

    number of the condition     0        1        2          3
                                x any    x > 3    x > 5      x = 9
    above[3], as bits           1        1        1          1        all cover x = 9
    below[1], as bits           0        1        1          1        x > 3 covers these

Conditions that cover each other are one condition: ``integer x = 4`` and
``integer x > 3, integer x < 5`` have the same number.
"""

from collections.abc import Iterator
from typing import NamedTuple

from siena.algebra.conditions import Condition, Reading, Test, quick_tests, samples
from siena.model import Kind, Value
from siena.model.values import CONCRETE_KINDS


class Location(NamedTuple):
    """Where a condition stands among those of its axis.

    ``number`` is None where no equal condition is on the axis.  ``above`` has a
    bit for each condition that covers it, ``below`` for each that it covers.
    """

    number: int | None
    above: int = 0
    below: int = 0
    samples: tuple[Value, ...] = ()


class Axis:
    """The conditions on one attribute, numbered; numbers are used again."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._conditions: dict[int, Condition] = {}
        self._uses: dict[int, int] = {}
        self._free: list[int] = []
        # Every spelling of a condition that is in use, and its number.
        self._numbers: dict[Condition, int] = {}
        self._spellings: dict[int, list[Condition]] = {}
        # For each kind, the tests of the conditions that admit values of it.
        self._tests: dict[Kind, dict[int, Test]] = {k: {} for k in CONCRETE_KINDS}
        # A first sample of each, by its kind, and the others.
        self._firsts: dict[Kind, dict[int, Value]] = {k: {} for k in CONCRETE_KINDS}
        self._samples: dict[int, tuple[Value, ...]] = {}
        self._unsampled: dict[int, None] = {}
        self.above: dict[int, int] = {}
        self.below: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._conditions)

    def locate(self, condition: Condition) -> Location:
        """Where the condition stands, whether or not it is on the axis.

        Cost: nothing for a condition that is there; otherwise a test of a sample
        against each, and a proof for those that neither the samples refute nor
        the order itself decides.
        """
        number = self._numbers.get(condition)
        if number is not None:
            return Location(number, self.above[number], self.below[number])
        mine = samples(condition, self._reading)
        above = self._covering(condition, mine)
        below = self._covered(condition)
        both = above & below
        return Location(both.bit_length() - 1 if both else None, above, below, mine)

    def enter(self, condition: Condition, location: Location) -> int:
        """The number of the condition, which is on the axis from now on.

        ``location`` is what :meth:`locate` said of it.  Each ``enter`` is paired
        with one :meth:`leave`.
        """
        number = location.number
        if number is None:
            number = self._place(condition, location)
        if condition not in self._numbers:
            self._numbers[condition] = number
            self._spellings[number].append(condition)
        self._uses[number] += 1
        return number

    def leave(self, number: int) -> None:
        """One use less; after the last, the condition is forgotten."""
        self._uses[number] -= 1
        if self._uses[number] == 0:
            self._forget(number)

    def check(self) -> None:
        """Verify the invariants, comparing every condition with every other."""
        for i, mine in self._conditions.items():
            assert self._uses[i] > 0
            for j, other in self._conditions.items():
                covers = self._reading.covers(other, mine)
                assert covers == bool(self.above[i] >> j & 1), (mine, other)
                assert covers == bool(self.below[j] >> i & 1), (mine, other)
                assert i == j or not (covers and self._reading.covers(mine, other))
            assert self.above[i] < 1 << (max(self._conditions) + 1)
            assert all(self._numbers[s] == i for s in self._spellings[i])

    def _covering(self, condition: Condition, mine: tuple[Value, ...]) -> int:
        """The conditions that cover this one, as bits."""
        open_ = list(self._conditions)
        for sample in mine:
            tests = self._tests[Kind.of(sample)]
            open_ = [n for n in open_ if n in tests and tests[n](sample)]
        # The least first: whatever covers them need not be looked at.
        open_.sort(key=lambda n: self.above[n].bit_count(), reverse=True)
        found = 0
        for number in open_:
            if not found >> number & 1 and self._reading.covers(
                self._conditions[number], condition
            ):
                found |= self.above[number]
        return found

    def _covered(self, condition: Condition) -> int:
        """The conditions that this one covers, as bits."""
        tests = quick_tests(condition, self._reading)
        likely = [
            number
            for kind, test in tests.items()
            for number, sample in self._firsts[kind].items()
            if test(sample)
        ]
        open_ = [
            number
            for number in (*likely, *self._unsampled)
            if all(
                (test := tests.get(Kind.of(v))) and test(v)
                for v in self._samples[number]
            )
        ]
        open_.sort(key=lambda n: self.below[n].bit_count(), reverse=True)
        found = 0
        for number in open_:
            if not found >> number & 1 and self._reading.covers(
                condition, self._conditions[number]
            ):
                found |= self.below[number]
        return found

    def _place(self, condition: Condition, location: Location) -> int:
        _, above, below, mine = location
        number = self._free.pop() if self._free else len(self._conditions)
        self._conditions[number] = condition
        self._samples[number] = mine[1:]
        if mine:
            self._firsts[Kind.of(mine[0])][number] = mine[0]
        else:
            self._unsampled[number] = None
        for kind, test in quick_tests(condition, self._reading).items():
            self._tests[kind][number] = test
        self._uses[number] = 0
        self._spellings[number] = []
        bit = 1 << number
        self.above[number] = above | bit
        self.below[number] = below | bit
        for other in ones(above):
            self.below[other] |= bit
        for other in ones(below):
            self.above[other] |= bit
        return number

    def _forget(self, number: int) -> None:
        rest = ~(1 << number)
        for other in ones(self.above[number]):
            self.below[other] &= rest
        for other in ones(self.below[number]):
            self.above[other] &= rest
        for spelling in self._spellings.pop(number):
            del self._numbers[spelling]
        del self._conditions[number], self._samples[number], self._uses[number]
        del self.above[number], self.below[number]
        for kind in CONCRETE_KINDS:
            self._tests[kind].pop(number, None)
            self._firsts[kind].pop(number, None)
        self._unsampled.pop(number, None)
        self._free.append(number)


def ones(bits: int) -> Iterator[int]:
    """The positions of the bits that are set, ascending.

    >>> list(ones(0b10110))
    [1, 2, 4]
    """
    # Through text: finding a character is far quicker than shifting a long integer.
    text = f"{bits:b}"[::-1]
    position = text.find("1")
    while position >= 0:
        yield position
        position = text.find("1", position + 1)
