"""An axis: all the conditions on one attribute, and which of them cover which.

Large sets of filters are made of far fewer conditions, and whether one filter
covers another depends only on theirs.  So each pair of conditions on a name is
compared once, when the second of them comes; afterwards a comparison of filters
is a look at one bit per name.

*Theory of operation.*  Where conditions are many they are simple
(:mod:`siena.algebra.poset.simple`): points such as ``id = user-7``, and bounds such as
``price > 7``.  For pairs of these nothing is compared and nothing stored: points
are found by their operand, bounds by their place in a chain.  The other pairs
have a bit in a row of each::

                     points              bounds             the others
    points           equal operands      a bit              a bit
    bounds           a bit               place in chain     a bit
    the others       a bit               a bit              a bit

    number of the condition      0          2          4           1
                                 x any      x > 3      x != 5      x = 9
    row above x = 9, as bits     1          1          1           .
    row below x != 5             .          .          .           1

Points have odd numbers and all others have even ones, so that the rows of points,
which are many, are as short as the others are few.

Conditions that cover each other are one condition: ``integer x = 4`` and
``integer x > 3, integer x < 5`` have the same number.
"""

from collections.abc import Iterable

from siena.algebra.poset.bits import bits_of, ones
from siena.algebra.poset.chain import Chain
from siena.algebra.poset.conditions import Condition, Reading
from siena.algebra.poset.likely import Likely, Sketch, sketch_of
from siena.algebra.poset.location import Location, Place
from siena.algebra.poset.simple import (
    Bound,
    ChainKey,
    PointKey,
    bound_of,
    kin_key,
    point_key,
)


class Axis:
    """The conditions on one attribute, numbered; numbers are used again."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._conditions: dict[int, Condition] = {}
        self._uses: dict[int, int] = {}
        # Even numbers and odd numbers that are free again.
        self._free: tuple[list[int], list[int]] = [], []
        self._fresh = [0, 1]
        # Every spelling of a condition that is in use: its number, and how often.
        self._numbers: dict[Condition, int] = {}
        self._spelled: dict[Condition, int] = {}
        self._points: dict[PointKey, list[int]] = {}
        self.bounds: dict[int, Bound] = {}
        self._bound_sketches: dict[int, Sketch] = {}
        self._bound_bits = 0
        self._chains: dict[ChainKey, Chain[int]] = {}
        self._likely_points = Likely(is_tested=False)
        self._likely_others = Likely(is_tested=True)
        # For each condition the others above and below it, as bits, except for
        # pairs of points and pairs of bounds.
        self._above: dict[int, int] = {}
        self._below: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._conditions)

    @property
    def spellings(self) -> int:
        """How many spellings its conditions have at present."""
        return len(self._numbers)

    def locate(self, condition: Condition) -> Location:
        """Where the condition stands, whether or not it is on the axis.

        Cost: nothing for a condition that is there.  Otherwise two searches in each
        chain, a test of a sample against each condition that is neither point nor
        bound, and a proof for those that neither the samples refute nor the order
        itself decides.  What is no point is tested against all points as well.
        """
        number = self._numbers.get(condition)
        if number is not None:
            return self.location(number)
        bound, sketch = bound_of(condition), sketch_of(condition, self._reading)
        if bound is None:
            found = self._locate_other(sketch)
        else:
            found = self._locate_bound(sketch, bound)
        return found if found.number is None else self.location(found.number)

    def location(self, number: int) -> Location:
        """Where a condition of the axis stands."""
        above, below = self._above[number], self._below[number]
        bound = self.bounds.get(number)
        if bound is None:
            above_of_kin, below_of_kin = self._among_kin(number)
            return Location(number, above | above_of_kin, below | below_of_kin)
        chain = self._chains[bound.chain]
        at = chain.position(bound)
        beside = self._places_beside(self._bound_sketches[number], bound)
        return Location(
            number, above, below, bound, (Place(chain, at + 1, at), *beside)
        )

    def covers(self, general: int, specific: int) -> bool:
        """Whether one condition of the axis covers another."""
        if general & specific & 1:
            return bool(self._among_kin(specific)[0] >> general & 1)
        wide, narrow = self.bounds.get(general), self.bounds.get(specific)
        if wide is None or narrow is None:
            return general == specific or bool(self._above[specific] >> general & 1)
        if wide.chain == narrow.chain:
            return wide.reaches(narrow)
        wider, narrower = self._conditions[general], self._conditions[specific]
        return self._reading.covers(wider, narrower)

    def reach(self, number: int) -> int:
        """About how many conditions a condition covers."""
        count = self._below[number].bit_count() + 1
        bound = self.bounds.get(number)
        if bound is not None:
            chain = self._chains[bound.chain]
            count += len(chain) - chain.position(bound) - 1
        return count

    def enter(self, condition: Condition, location: Location) -> int:
        """The number of the condition, which is on the axis from now on.

        ``location`` is what :meth:`locate` said of it.  Each ``enter`` is paired
        with one :meth:`leave`.
        """
        number = location.number
        if number is None:
            number = self._add(location)
        self._numbers[condition] = number
        self._spelled[condition] = self._spelled.get(condition, 0) + 1
        self._uses[number] += 1
        return number

    def leave(self, condition: Condition) -> None:
        """One use less; after the last, the condition is forgotten."""
        number = self._numbers[condition]
        self._spelled[condition] -= 1
        if self._spelled[condition] == 0:
            del self._spelled[condition], self._numbers[condition]
        self._uses[number] -= 1
        if self._uses[number] == 0:
            self._forget(number)

    def check(self) -> None:
        """Verify the invariants, comparing every condition with every other."""
        for i, mine in self._conditions.items():
            where = self.location(i)
            above, below = where.above, where.below
            assert bool(i & 1) == (point_key(mine) is not None)
            for j, other in self._conditions.items():
                covers = self._reading.covers(other, mine)
                assert covers == bool(above >> j & 1), (mine, other)
                assert covers == self.covers(j, i), (mine, other)
                reverse = self._reading.covers(mine, other)
                assert reverse == bool(below >> j & 1), (mine, other)
                assert i == j or not (covers and reverse)
            assert above < 1 << (max(self._conditions) + 1)
            spellings = [s for s, number in self._numbers.items() if number == i]
            assert self._uses[i] == sum(map(self._spelled.__getitem__, spellings))
            assert self._uses[i] > 0
        assert self._numbers.keys() == self._spelled.keys()
        assert set(self._uses) == set(self._conditions)
        assert self._bound_bits == bits_of(self.bounds)
        assert sum(map(len, self._chains.values())) == len(self.bounds)

    # --- Finding what is above and what is below ----------------------------------

    def _locate_other(self, sketch: Sketch) -> Location:
        is_point = point_key(sketch.condition) is not None
        above, below = self._covering(sketch), self._covered(sketch, is_point=is_point)
        both = above & below
        number = both.bit_length() - 1 if both else None
        return Location(number, above, below, sketch=sketch)

    def _locate_bound(self, sketch: Sketch, bound: Bound) -> Location:
        chain = self._chains.get(bound.chain) or Chain[int]()
        at = chain.position(bound)
        before, after = chain.items[max(at - 1, 0) : at], chain.items[at : at + 1]
        # Only neighbours may be equal, as `> 3` and `>= 4` are among integers.
        for number in before:
            if self._shows(sketch, self._bound_sketches[number]):
                return Location(number, 0, 0)
        for number in after:
            if self._shows(self._bound_sketches[number], sketch):
                return Location(number, 0, 0)
        # What covers the one before covers this one too.
        above = self._proven(
            self._likely_others.covering(sketch),
            sketch,
            is_upward=True,
            found=self._above[before[0]] if before else 0,
        )
        likely = (
            self._likely_others.covered(sketch),
            self._likely_points.covered(sketch),
        )
        below = self._proven(
            (*likely[0], *likely[1]),
            sketch,
            is_upward=False,
            found=self._below[after[0]] if after else 0,
        )
        both = above & below
        if both:
            return Location(both.bit_length() - 1, above, below)
        rest = ~self._bound_bits
        places = Place(chain, at, at), *self._places_beside(sketch, bound)
        return Location(None, above & rest, below & rest, bound, places, sketch)

    def _among_kin(self, number: int) -> tuple[int, int]:
        """What is above and below among the kin of a point; itself, of all others."""
        above = below = 1 << number
        condition, covers = self._conditions[number], self._reading.covers
        point = point_key(condition)
        for kin in self._points[point] if point is not None else ():
            if kin != number:
                above |= covers(self._conditions[kin], condition) << kin
                below |= covers(condition, self._conditions[kin]) << kin
        return above, below

    def _places_beside(self, sketch: Sketch, bound: Bound) -> Iterable[Place]:
        """The places in the chains of other kinds and the same direction."""
        for key, chain in self._chains.items():
            if key != bound.chain and key[0] == bound.chain[0]:
                yield self._place_on(chain, sketch)

    def _place_on(self, chain: Chain[int], sketch: Sketch) -> Place:
        return Place(chain, self._upto(chain, sketch), self._since(chain, sketch))

    def _upto(self, chain: Chain[int], sketch: Sketch) -> int:
        """How many bounds of the chain cover the condition."""
        sketches = self._bound_sketches
        return chain.first(lambda n: not self._shows(sketches[n], sketch))

    def _since(self, chain: Chain[int], sketch: Sketch) -> int:
        """Where the bounds of the chain begin that the condition covers."""
        sketches = self._bound_sketches
        return chain.first(lambda n: self._shows(sketch, sketches[n]))

    def _covering(self, sketch: Sketch) -> int:
        """What covers a condition that is no bound, as bits."""
        found = 0
        for chain in self._chains.values():
            bounds = chain.items[: self._upto(chain, sketch)]
            if bounds:
                found |= bits_of(bounds) | self._above[bounds[-1]]
        if sketch.samples:
            likely = self._points.get(kin_key(sketch.samples[0]), [])
        else:
            likely = [n for points in self._points.values() for n in points]
        likely = [*likely, *self._likely_others.covering(sketch)]
        return self._proven(likely, sketch, is_upward=True, found=found)

    def _covered(self, sketch: Sketch, *, is_point: bool) -> int:
        """What a condition covers that is no bound, as bits."""
        found = 0
        if is_point:
            likely = self._points.get(kin_key(sketch.samples[0]), [])
        else:
            likely = self._likely_points.covered(sketch)
            for chain in self._chains.values():
                bounds = chain.items[self._since(chain, sketch) :]
                if bounds:
                    found |= bits_of(bounds) | self._below[bounds[0]]
        likely = [*likely, *self._likely_others.covered(sketch)]
        return self._proven(likely, sketch, is_upward=False, found=found)

    def _proven(
        self, likely: Iterable[int], sketch: Sketch, *, is_upward: bool, found: int
    ) -> int:
        """What was found, and those of the likely that are proven, as bits."""
        rows = self._above if is_upward else self._below
        condition, covers = sketch.condition, self._reading.covers
        # The nearest first: what is beyond them need not be looked at.
        for number in sorted(likely, key=lambda n: rows[n].bit_count(), reverse=True):
            if not found >> number & 1:
                other = self._conditions[number]
                pair = (other, condition) if is_upward else (condition, other)
                if covers(*pair):
                    found |= rows[number] | 1 << number
        return found

    def _shows(self, general: Sketch, specific: Sketch) -> bool:
        return general.may_cover(specific) and self._reading.covers(
            general.condition, specific.condition
        )

    # --- Coming and going ---------------------------------------------------------

    def _add(self, location: Location) -> int:
        _, above, below, bound, _, sketch = location
        assert sketch is not None
        point = point_key(sketch.condition)
        is_odd = point is not None
        if point is not None:
            rest = ~bits_of(self._points.get(point, ()))
            above, below = above & rest, below & rest
        number = self._free[is_odd].pop() if self._free[is_odd] else self._fresh[is_odd]
        if number == self._fresh[is_odd]:
            self._fresh[is_odd] += 2
        self._conditions[number] = sketch.condition
        self._uses[number] = 0
        self._above[number] = above
        self._below[number] = below
        bit = 1 << number
        for other in ones(above):
            self._below[other] |= bit
        for other in ones(below):
            self._above[other] |= bit
        if bound is not None:
            self.bounds[number] = bound
            self._bound_sketches[number] = sketch
            self._bound_bits |= bit
            self._chains.setdefault(bound.chain, Chain()).insert(bound, number)
        elif point is not None:
            self._points.setdefault(point, []).append(number)
            self._likely_points.add(number, sketch)
        else:
            self._likely_others.add(number, sketch)
        return number

    def _forget(self, number: int) -> None:
        rest = ~(1 << number)
        for other in ones(self._above.pop(number)):
            self._below[other] &= rest
        for other in ones(self._below.pop(number)):
            self._above[other] &= rest
        point = point_key(self._conditions.pop(number))
        del self._uses[number]
        bound = self.bounds.pop(number, None)
        if bound is not None:
            del self._bound_sketches[number]
            self._bound_bits &= rest
            self._chains[bound.chain].remove(bound)
            if not self._chains[bound.chain]:
                del self._chains[bound.chain]
        elif point is not None:
            self._points[point].remove(number)
            if not self._points[point]:
                del self._points[point]
            self._likely_points.remove(number)
        else:
            self._likely_others.remove(number)
        self._free[number & 1].append(number)
