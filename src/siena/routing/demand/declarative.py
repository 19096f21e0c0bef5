"""The demand on a neighbour, from scratch: the rule as it is written down.

The slow twin of :mod:`siena.routing.demand.demand`: it remembers nothing but the
entries, and compares everything with everything whenever it is asked.
"""

from typing import Generic

from siena.routing.demand.covering_order import F, Order
from siena.routing.demand.demand import Gate, Reach, reaches_all


class DeclarativeDemand(Generic[F]):
    """``N(n)`` as a list, and ``D(n)`` as its maximal elements.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.routing.demand.covering_order import order_of_filters
    >>> demand = DeclarativeDemand(order_of_filters("exact"))
    >>> for text in ("x > 5", "x > 3"):
    ...     demand.enter(parse(text), 1)
    >>> demand.pairs()
    {(<Filter x > 3>, 1)}

    Cost: every pair of pairs, each time.
    """

    def __init__(
        self, order: Order[F], reach: Reach = reaches_all, gate: Gate[F] | None = None
    ) -> None:
        self._covers = order.covers
        self._reach = reach
        self._gate = gate
        self._entries: list[tuple[F, int]] = []
        self._before: set[tuple[F, int]] = set()

    def __contains__(self, pair: tuple[F, int]) -> bool:
        return pair in self.pairs()

    def told_of(self, pairs: set[tuple[F, int]]) -> set[tuple[F, int]]:
        """Those of some pairs that are in ``D(n)``."""
        return pairs & self.pairs()

    part_max: int | None = None  # it does all at once

    @property
    def is_behind(self) -> bool:
        """It never is."""
        return False

    def take_again(self) -> set[tuple[F, int]]:
        """Nothing is given up."""
        return set()

    def is_leaving(self, _pair: tuple[F, int]) -> bool:
        """Nothing stays that has gone."""
        return False

    def let_go(self, _pair: tuple[F, int]) -> None:
        """So there is nothing to let go."""

    def work(self) -> None:
        """There is nothing to do."""

    def pairs(self) -> set[tuple[F, int]]:
        """``D(n)``."""
        wanted = {
            (item, origin)
            for item, origin in self._entries
            if self._gate is None or self._gate(item)
        }
        return {
            pair
            for pair in wanted
            if not any(self._dominates(other, pair) for other in wanted)
        }

    def take_changes(self) -> set[tuple[F, int]]:
        """The pairs that have come into ``D(n)`` or left it since the last call."""
        before, self._before = self._before, self.pairs()
        return before ^ self._before

    def covers(self, item: F, origin: int) -> bool:
        """Whether ``D(n)`` has, from this origin, what covers the item."""
        return any(
            other == origin and self._covers(wide, item) for wide, other in self.pairs()
        )

    def cover_of(self, item: F, origin: int) -> tuple[F, int] | None:
        """A pair of ``D(n)`` that covers an item, and reaches as far as an origin."""
        covers = [
            (wide, other)
            for wide, other in self.pairs()
            if self._covers(wide, item) and self._reach(origin, other)
        ]
        return min(covers, key=lambda pair: (str(pair[0]), pair[1]), default=None)

    def enter(self, item: F, origin: int) -> None:
        """One more entry of this pair."""
        self._entries.append((item, origin))

    def leave(self, item: F, origin: int) -> None:
        """One entry of this pair less."""
        self._entries.remove((item, origin))

    def reconsider(self, item: F) -> None:
        """Nothing is remembered that could be out of date."""

    def _dominates(self, one: tuple[F, int], other: tuple[F, int]) -> bool:
        (wide, of_wide), (narrow, of_narrow) = one, other
        if one == other or not self._reach(of_narrow, of_wide):
            return False
        if wide == narrow:
            return of_wide < of_narrow or not self._reach(of_wide, of_narrow)
        return self._covers(wide, narrow)
