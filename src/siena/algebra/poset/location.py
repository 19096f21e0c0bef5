"""Locations: where a condition stands among the others on its attribute.

What is above and below is told by rows of bits and, for a bound, by its places in
chains.  The places become bits only when all of them are asked for: next to a
known neighbour, only what lies between the two is of interest.
"""

from itertools import repeat
from typing import NamedTuple

from siena.algebra.poset.bits import bits_of
from siena.algebra.poset.chain import Chain
from siena.algebra.poset.likely import Sketch
from siena.algebra.poset.simple import Bound


class Place(NamedTuple):
    """What a chain has above a condition, ``[:upto]``, and below it, ``[since:]``."""

    chain: Chain[int]
    upto: int
    since: int


class Location(NamedTuple):
    """Where a condition stands, as long as its axis does not change.

    ``number`` is None where no equal condition is on the axis; then ``sketch`` is
    there for entering it.
    """

    number: int | None
    row_above: int
    row_below: int
    bound: Bound | None = None
    places: tuple[Place, ...] = ()
    sketch: Sketch | None = None

    @property
    def above(self) -> int:
        """A bit for each condition that covers this one."""
        return self.above_until(None)

    @property
    def below(self) -> int:
        """A bit for each condition that this one covers."""
        return self.below_until(None)

    def above_until(self, limit: "Location | None") -> int:
        """What covers this bound and not ``limit``, of the same chain above it."""
        row = self.row_above & ~limit.row_above if limit else self.row_above
        if not self.places:
            return row
        starts = [p.upto for p in limit.places] if limit else repeat(0)
        pairs = zip(self.places, starts, strict=False)
        return row | bits_of(n for p, i in pairs for n in p.chain.items[i : p.upto])

    def below_until(self, limit: "Location | None") -> int:
        """What this bound covers and not ``limit``, of the same chain below it."""
        row = self.row_below & ~limit.row_below if limit else self.row_below
        if not self.places:
            return row
        stops = [p.since for p in limit.places] if limit else repeat(None)
        pairs = zip(self.places, stops, strict=False)
        return row | bits_of(n for p, i in pairs for n in p.chain.items[p.since : i])
