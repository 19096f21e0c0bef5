"""The demand on one neighbour: the least that it must be told, kept up to date.

What others announced concerns a neighbour ``n`` if it lies downstream of them; these
are the pairs ``N(n)`` of a filter and its origin.  Of them only the undominated ones,
``D(n)``, are told: a pair is dominated where a filter that covers it is told as well,
and reaches every broker behind ``n`` that the pair would reach.

    N(n) ──▶ maximal under (covers, reach) ──▶ D(n) ──▶ what is told

In an acyclic network all pairs have one origin and one reach, and ``D(n)`` is the
papers' set of roots without those of which ``n`` itself is the only source.

*Theory of operation.*  Domination is transitive, so a pair that comes is compared only
with those in ``D(n)`` above it, and takes those below it away; a pair that goes lets
those come that it alone held down.  :mod:`siena.routing.demand.declarative` says the
same from scratch, and the tests compare the two.

Reference:
    CU-CS-888-99, section 5.2.3, equation (1); our specification, B.3 and B.6.
"""

from collections.abc import Callable, Set as AbstractSet
from typing import Generic

from siena.routing.demand.covering_order import F, Order

# Whether every broker that one origin reaches through the neighbour, another reaches
# through it too.
Reach = Callable[[int, int], bool]
Gate = Callable[[F], bool]


def reaches_all(_origin: int, _other: int) -> bool:
    """The reach of an acyclic network: what is behind a neighbour is all behind it."""
    return True


class Demand(Generic[F]):
    """``N(n)`` and ``D(n)`` for one neighbour.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.routing.demand.covering_order import order_of_filters
    >>> order = order_of_filters("exact")
    >>> demand = Demand(order)
    >>> for text in ("x > 5", "x > 3"):
    ...     demand.enter(order.add(parse(text)), 1)
    >>> demand.pairs()
    {(<Filter x > 3>, 1)}
    >>> demand.leave(parse("x > 3"), 1)
    >>> demand.pairs()
    {(<Filter x > 5>, 1)}

    ``gate`` keeps back filters that the neighbour need not hear of, however maximal;
    it must open for what covers a filter that it opens for.
    """

    def __init__(
        self,
        order: Order[F],
        reach: Reach = reaches_all,
        gate: Gate[F] | None = None,
    ) -> None:
        self._order = order
        self._reach = reach
        self._gate = gate
        # How many entries there are of each pair.
        self._wanted: dict[F, dict[int, int]] = {}
        self._open: set[F] = set()
        self._maximal: dict[F, set[int]] = {}
        self._changed: set[tuple[F, int]] = set()

    def __contains__(self, pair: tuple[F, int]) -> bool:
        item, origin = pair
        return origin in self._maximal.get(item, ())

    def pairs(self) -> set[tuple[F, int]]:
        """``D(n)``."""
        return {(item, o) for item, found in self._maximal.items() for o in found}

    def take_changes(self) -> set[tuple[F, int]]:
        """The pairs that may have come into ``D(n)`` or left it since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def covers(self, item: F, origin: int) -> bool:
        """Whether ``D(n)`` has, from this origin, what covers the item."""
        return any((wide, origin) in self for wide in self._order.above(item))

    def above(self, item: F) -> AbstractSet[F]:
        """The filters that cover an item, also where they concern others only."""
        return self._order.above(item)

    def origins(self, item: F) -> AbstractSet[int]:
        """The origins from which ``D(n)`` has an item."""
        return self._maximal.get(item, frozenset())

    def enter(self, item: F, origin: int) -> None:
        """One more entry of this pair."""
        if item not in self._wanted:
            self._wanted[item] = {}
            if self._gate is None or self._gate(item):
                self._open.add(item)
        counts = self._wanted[item]
        counts[origin] = counts.get(origin, 0) + 1
        if counts[origin] == 1 and item in self._open:
            self._rise(item, origin)

    def leave(self, item: F, origin: int) -> None:
        """One entry of this pair less."""
        counts = self._wanted[item]
        counts[origin] -= 1
        if counts[origin]:
            return
        del counts[origin]
        if item in self._open:
            self._fall(item, origin)
        if not counts:
            del self._wanted[item]
            self._open.discard(item)

    def reconsider(self, item: F) -> None:
        """Ask the gate again about an item, after what it depends on has changed."""
        if self._gate is None or item not in self._wanted:
            return
        is_open = self._gate(item)
        if is_open == (item in self._open):
            return
        origins = sorted(self._wanted[item])
        if is_open:
            self._open.add(item)
            for origin in origins:
                self._rise(item, origin)
        else:
            self._open.discard(item)
            for origin in origins:
                self._fall(item, origin)

    def _rise(self, item: F, origin: int) -> None:
        """Take a pair in, unless it is dominated; then take out what it dominates."""
        maximal = self._maximal
        for wide in self._order.above(item):
            if wide in maximal and any(
                self._dominates(wide, other, item, origin) for other in maximal[wide]
            ):
                return
        for narrow in self._order.below(item):
            if narrow in maximal:
                for other in list(maximal[narrow]):
                    if self._dominates(item, origin, narrow, other):
                        self._remove(narrow, other)
        self._maximal.setdefault(item, set()).add(origin)
        self._changed.add((item, origin))

    def _fall(self, item: F, origin: int) -> None:
        """Take a pair out, and in what it held down."""
        if (item, origin) not in self:
            return
        self._remove(item, origin)
        # Itself among them, while others hold it: it may be wanted from other origins.
        for narrow in self._order.below(item) & self._open:
            for other in sorted(self._wanted[narrow]):
                if self._dominates(item, origin, narrow, other):
                    self._rise(narrow, other)

    def _remove(self, item: F, origin: int) -> None:
        self._maximal[item].remove(origin)
        if not self._maximal[item]:
            del self._maximal[item]
        self._changed.add((item, origin))

    def _dominates(self, wide: F, other: int, narrow: F, origin: int) -> bool:
        """Whether ``(wide, other)`` makes ``(narrow, origin)`` superfluous.

        That ``wide`` covers ``narrow`` is known.  Of pairs that dominate each other the
        one with the smaller origin stays.
        """
        if not self._reach(origin, other):
            return False
        if wide != narrow:
            return True
        return other != origin and (other < origin or not self._reach(other, origin))
