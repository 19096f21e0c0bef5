"""Likely pairs: which conditions may cover which, as far as samples tell.

A sample is a value that satisfies a condition.  What rejects it does not cover
that condition; nearly all pairs are told apart so, by one call into Python's own
code, and what remains is left to a proof.
"""

from functools import lru_cache

from siena.algebra.poset.conditions import (
    Condition,
    Reading,
    Test,
    quick_tests,
    samples,
)
from siena.model import Kind, Value
from siena.model.values import CONCRETE_KINDS

# How many sketches are remembered.
SKETCHES_MAX = 16_384


class Sketch:
    """A condition with values that satisfy it, and quick tests of other values."""

    __slots__ = ("condition", "samples", "tests")

    def __init__(self, condition: Condition, reading: Reading) -> None:
        self.condition = condition
        self.samples: tuple[Value, ...] = samples(condition, reading)
        self.tests: dict[Kind, Test] = quick_tests(condition, reading)

    def may_cover(self, other: "Sketch") -> bool:
        """Whether all the samples of the other pass the tests of this."""
        tests = self.tests
        return all(
            (test := tests.get(Kind.of(v))) is not None and test(v)
            for v in other.samples
        )


# In a simulation, a thousand brokers of one process meet the same conditions.
@lru_cache(maxsize=SKETCHES_MAX)
def sketch_of(condition: Condition, reading: Reading) -> Sketch:
    """The sketch of a condition; it is never changed."""
    return Sketch(condition, reading)


class Likely:
    """Conditions by number, with their samples and, if asked for, their tests.

    Without tests, :meth:`covering` is not to be asked.
    """

    __slots__ = ("_firsts", "_is_tested", "_numbers", "_others", "_tests", "_unsampled")

    def __init__(self, *, is_tested: bool) -> None:
        self._is_tested = is_tested
        self._numbers: dict[int, None] = {}
        # For each kind, the tests of the conditions that admit values of it.
        self._tests: dict[Kind, dict[int, Test]] = {k: {} for k in CONCRETE_KINDS}
        # A first sample of each, by its kind, and the others.
        self._firsts: dict[Kind, dict[int, Value]] = {k: {} for k in CONCRETE_KINDS}
        self._others: dict[int, tuple[Value, ...]] = {}
        self._unsampled: dict[int, None] = {}

    def add(self, number: int, sketch: Sketch) -> None:
        """From now on the condition is among those that may be found."""
        mine = sketch.samples
        self._numbers[number] = None
        self._others[number] = mine[1:]
        if mine:
            self._firsts[Kind.of(mine[0])][number] = mine[0]
        else:
            self._unsampled[number] = None
        if self._is_tested:
            for kind, test in sketch.tests.items():
                self._tests[kind][number] = test

    def remove(self, number: int) -> None:
        """The condition is not found any longer."""
        del self._numbers[number], self._others[number]
        for kind in CONCRETE_KINDS:
            self._tests[kind].pop(number, None)
            self._firsts[kind].pop(number, None)
        self._unsampled.pop(number, None)

    def covering(self, sketch: Sketch) -> list[int]:
        """The conditions that admit all the samples of this one."""
        found = list(self._numbers)
        for sample in sketch.samples:
            tests = self._tests[Kind.of(sample)]
            found = [n for n in found if n in tests and tests[n](sample)]
        return found

    def covered(self, sketch: Sketch) -> list[int]:
        """The conditions all of whose samples pass the tests of this one."""
        tests = sketch.tests
        likely = [
            number
            for kind, test in tests.items()
            for number, sample in self._firsts[kind].items()
            if test(sample)
        ]
        return [
            number
            for number in (*likely, *self._unsampled)
            if all(
                (test := tests.get(Kind.of(v))) and test(v)
                for v in self._others[number]
            )
        ]
