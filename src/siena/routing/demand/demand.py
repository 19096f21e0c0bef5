"""The demand on one neighbour: the least that it must be told, kept up to date.

What others announced concerns a neighbour ``n`` if it lies downstream of them; these
are the pairs ``N(n)`` of a filter and its origin.  Of them only the undominated ones,
``D(n)``, are told: a pair is dominated where a filter that covers it is told as well,
and reaches every broker behind ``n`` that the pair would reach.

    N(n) ──▶ maximal under (covers, reach) ──▶ D(n) ──▶ what is told

In an acyclic network all pairs have one origin and one reach, and ``D(n)`` is the
papers' set of roots without those of which ``n`` itself is the only source.

*Theory of operation.*  Domination is transitive.  Each pair that is dominated knows one
that dominates it, its *cover*, so pairs are trees, and their roots are ``D(n)``::

    (x > 1, 1)                      told
      ├── (x > 3, 1)
      │     └── (x > 5, 1)
      └── (x = 9, 1)

A pair that comes looks for one root that dominates it; if there is none, it becomes a
root, and the cover of those that it dominates, whatever is below these.  A pair that
goes leaves those below it to its own cover; below a root, each looks for another, and
nothing else is looked at.  Where many would do as a cover, pairs take turns: if all
hung below one root, all would have to move to the next when it goes, and again.
:mod:`siena.routing.demand.declarative` says the same from scratch, and the tests
compare the two.

Reference:
    CU-CS-888-99, section 5.2.3, equation (1); our specification, B.3 and B.6.
"""

from collections.abc import Callable
from typing import Generic

from siena.routing.demand.covering_order import F, Order

# Whether every broker that one origin reaches through the neighbour, another reaches
# through it too.
Reach = Callable[[int, int], bool]
Gate = Callable[[F], bool]
Pair = tuple[F, int]

# Turns: a sequence of numbers without a pattern, the same in every router.
TURN_FACTOR, TURN_STEP, TURN_MAX = 6364136223846793005, 1442695040888963407, 2**64
# The lower half of such a number has one.
TURN_SHIFT = 32


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
    >>> demand.pairs(), demand.cover_of(parse("x > 5"), 1)
    ({(<Filter x > 3>, 1)}, (<Filter x > 3>, 1))
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
        # How many entries there are of each pair; of most items there is one entry,
        # and only its origin is kept.
        self._wanted: dict[F, int | dict[int, int]] = {}
        self._closed: set[F] = set()
        # The roots: the origins of each item, and the items by covering.
        self._origins: dict[F, tuple[int, ...]] = {}
        self._roots = order.collection()
        # Of every other pair its cover, and of covers what they cover.
        self._cover: dict[Pair[F], Pair[F]] = {}
        self._covered: dict[Pair[F], dict[Pair[F], None]] = {}
        self._changed: set[Pair[F]] = set()
        self._turn = 0

    def __contains__(self, pair: Pair[F]) -> bool:
        item, origin = pair
        return origin in self._origins.get(item, ())

    def pairs(self) -> set[Pair[F]]:
        """``D(n)``."""
        return {(item, o) for item, found in self._origins.items() for o in found}

    def take_changes(self) -> set[Pair[F]]:
        """The pairs that may have come into ``D(n)`` or left it since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    def covers(self, item: F, origin: int) -> bool:
        """Whether ``D(n)`` has, from this origin, what covers the item."""
        root = self._root_of((item, origin))
        if root is not None and root[1] == origin:
            return True
        return any((wide, origin) in self for wide in self._roots.above(item))

    def cover_of(self, item: F, origin: int) -> Pair[F] | None:
        """A pair of ``D(n)`` that covers an item, and reaches as far as an origin."""
        item = self._order.find(item) or item
        root = self._root_of((item, origin))
        if root is not None:
            return root
        for wide in self._roots.above(item):
            for other in self._origins[wide]:
                if self._reach(origin, other):
                    return wide, other
        return None

    def enter(self, item: F, origin: int) -> None:
        """One more entry of this pair."""
        counts = self._wanted.get(item)
        is_new = True
        if counts is None:
            self._wanted[item] = origin
            if self._gate is not None and not self._gate(item):
                self._closed.add(item)
        else:
            if isinstance(counts, int):
                counts = self._wanted[item] = {counts: 1}
            is_new = origin not in counts
            counts[origin] = counts.get(origin, 0) + 1
        if is_new and item not in self._closed:
            self._rise((item, origin))

    def leave(self, item: F, origin: int) -> None:
        """One entry of this pair less."""
        counts = self._wanted[item]
        if isinstance(counts, dict):
            counts[origin] -= 1
            if counts[origin]:
                return
            del counts[origin]
        if item not in self._closed:
            self._fall((item, origin))
        if isinstance(counts, int) or not counts:
            del self._wanted[item]
            self._closed.discard(item)

    def reconsider(self, item: F) -> None:
        """Ask the gate again about an item, after what it depends on has changed."""
        if self._gate is None or item not in self._wanted:
            return
        is_open = self._gate(item)
        if is_open != (item in self._closed):
            return
        wanted = self._wanted[item]
        origins = [wanted] if isinstance(wanted, int) else sorted(wanted)
        if is_open:
            self._closed.discard(item)
            for origin in origins:
                self._rise((item, origin))
        else:
            self._closed.add(item)
            for origin in origins:
                self._fall((item, origin))

    # --- Trees ------------------------------------------------------------------------

    def _rise(self, pair: Pair[F]) -> None:
        """Put a pair below a root that dominates it, or make it a root."""
        item, origin = pair
        self._turn = (self._turn * TURN_FACTOR + TURN_STEP) % TURN_MAX
        for wide in self._roots.above(item, self._turn >> TURN_SHIFT):
            for other in self._origins[wide]:
                if self._dominates(wide, other, item, origin):
                    self._hang(pair, (wide, other))
                    return
        for narrow in list(self._roots.below(item)):
            for other in self._origins[narrow]:
                if self._dominates(item, origin, narrow, other):
                    self._uproot((narrow, other))
                    self._hang((narrow, other), pair)
        origins = self._origins.get(item)
        if origins is None:
            self._roots.add(item)
        self._origins[item] = (*(origins or ()), origin)
        self._changed.add(pair)

    def _fall(self, pair: Pair[F]) -> None:
        """Take a pair out; what it covered finds another cover, or is a root."""
        covered = self._covered.pop(pair, {})
        cover = self._cover.pop(pair, None)
        if cover is None:
            self._uproot(pair)
            for narrow in covered:
                del self._cover[narrow]
            for narrow in covered:
                self._rise(narrow)
            return
        beside = self._covered[cover]
        del beside[pair]
        for narrow in covered:
            self._cover[narrow] = cover
        beside.update(covered)
        if not beside:
            del self._covered[cover]

    def _hang(self, pair: Pair[F], cover: Pair[F]) -> None:
        self._cover[pair] = cover
        self._covered.setdefault(cover, {})[pair] = None

    def _uproot(self, pair: Pair[F]) -> None:
        item, origin = pair
        origins = tuple(o for o in self._origins[item] if o != origin)
        if origins:
            self._origins[item] = origins
        else:
            del self._origins[item]
            self._roots.remove(item)
        self._changed.add(pair)

    def _root_of(self, pair: Pair[F]) -> Pair[F] | None:
        """The root above a pair, or itself; ``None`` if it is not wanted."""
        while (cover := self._cover.get(pair)) is not None:
            pair = cover
        return pair if pair in self else None

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
