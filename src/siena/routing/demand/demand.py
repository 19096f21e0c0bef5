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

*In parts.*  A wide pair may have very many below it.  With a ``part_max``, those above
which it comes stay roots for a while, and so does a root that goes, until all below it
have found another place; :meth:`Demand.work` does some of that.  Meanwhile ``D(n)`` is
more than the least, and never less.  If a wide pair goes before all others are below
it, those have to be told *again*: the neighbour gave them up when it heard of the wide
one.
:mod:`siena.routing.demand.declarative` says the same from scratch, and the tests
compare the two.

Reference:
    CU-CS-888-99, section 5.2.3, equation (1); our specification, B.3 and B.6.
"""

from collections.abc import Callable
from itertools import islice
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


def _last(items: list[F], count: int) -> list[F]:
    """Take the last of these."""
    return [items.pop() for _ in items[:count]]


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
        self.part_max: int | None = None
        # Roots that have gone, as soon as nothing is below them; and pairs that came,
        # with the items that may belong below them and were roots then.
        # Of those that go, what had not come below them.
        self._leaving: dict[Pair[F], list[F]] = {}
        self._sinking: dict[Pair[F], list[F]] = {}
        self._again: set[Pair[F]] = set()

    def __contains__(self, pair: Pair[F]) -> bool:
        return pair[1] in self._origins.get(pair[0], ())

    def told_of(self, pairs: set[Pair[F]]) -> set[Pair[F]]:
        """Those of some pairs that are in ``D(n)``, and do not stay for others only."""
        leaving, origins = self._leaving, self._origins
        return {
            pair
            for pair in pairs
            if pair[1] in origins.get(pair[0], ()) and pair not in leaving
        }

    def pairs(self) -> set[Pair[F]]:
        """``D(n)``."""
        return {(item, o) for item, found in self._origins.items() for o in found}

    def take_changes(self) -> set[Pair[F]]:
        """The pairs that may have come into ``D(n)`` or left it since the last call."""
        changed, self._changed = self._changed, set()
        return changed

    @property
    def is_behind(self) -> bool:
        """Whether there is more in ``D(n)`` than has to be."""
        return bool(self._leaving or self._sinking)

    def work(self) -> None:
        """Do a part of what was put off."""
        assert self.part_max is not None
        for pair, given_up in self._leaving.items():
            self._leave_some(pair, given_up, self.part_max)
            return
        for pair, items in self._sinking.items():
            if pair not in self:
                items.clear()
            for item in _last(items, self.part_max):
                if self._order.covers(pair[0], item):
                    self._sink(item, pair)
            if not items:
                del self._sinking[pair]
            return

    def is_leaving(self, pair: Pair[F]) -> bool:
        """Whether a root has gone, and stays only as long as it covers something."""
        return bool(self._leaving) and pair in self._leaving

    def let_go(self, pair: Pair[F]) -> None:
        """Let a root go at once, for it was not told, and never will be."""
        while pair in self._leaving:
            self._leave_some(pair, self._leaving[pair], len(self._wanted))

    def _leave_some(self, pair: Pair[F], given_up: list[F], part_max: int) -> None:
        """Let a root go, once what it covers does not need it any more."""
        for item in _last(given_up, part_max):
            if self._order.covers(pair[0], item):
                self._again.update((item, o) for o in self._origins.get(item, ()))
        below = self._covered.get(pair, {})
        for narrow in list(islice(below, part_max)):
            del below[narrow]
            del self._cover[narrow]
            self._rise(narrow)
        if not below and not given_up:
            self._covered.pop(pair, None)
            del self._leaving[pair]
            self._again.discard(pair)
            self._uproot(pair)

    def take_again(self) -> set[Pair[F]]:
        """The pairs of ``D(n)`` that the neighbour may have given up by itself."""
        again, self._again = self._again, set()
        return again

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
        wanted = self._wanted
        size = len(wanted)
        counts = wanted.setdefault(item, origin)
        is_new = True
        if len(wanted) > size:
            if self._gate is not None and not self._gate(item):
                self._closed.add(item)
        else:
            if isinstance(counts, int):
                counts = wanted[item] = {counts: 1}
            is_new = origin not in counts
            counts[origin] = counts.get(origin, 0) + 1
        if is_new and not (self._closed and item in self._closed):
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
        leaving = self._leaving
        if leaving and pair in leaving:  # it has come back
            del self._leaving[pair]
            self._sinking[pair] = list(self._origins)
            self._changed.add(pair)
            return
        self._turn = (self._turn * TURN_FACTOR + TURN_STEP) % TURN_MAX
        for wide in self._roots.above(item, self._turn >> TURN_SHIFT):
            for other in self._origins[wide]:
                if leaving and (wide, other) in leaving:
                    continue
                if self._dominates(wide, other, item, origin):
                    self._hang(pair, (wide, other))
                    return
        below = self._roots.below(item)
        if self.part_max is None:
            found = list(below)
        else:
            found = list(islice(below, self.part_max + 1))
            if len(found) > self.part_max:
                self._sinking[pair], found = list(self._origins), []
        for narrow in found:
            self._sink(narrow, pair)
        alone = (origin,)
        origins = self._origins.setdefault(item, alone)
        if origins is alone:
            self._roots.add(item)
        else:
            self._origins[item] = (*origins, origin)
        self._changed.add(pair)

    def _sink(self, narrow: F, pair: Pair[F]) -> None:
        """Put the roots of an item, which a pair covers, below it, if it may be."""
        item, origin = pair
        for other in self._origins.get(narrow, ()):
            lower = narrow, other
            if lower != pair and self._dominates(item, origin, narrow, other):
                if lower in self._leaving:
                    self._leave_to(lower, pair)
                else:
                    self._uproot(lower)
                    self._hang(lower, pair)

    def _leave_to(self, gone: Pair[F], cover: Pair[F]) -> None:
        """A root that goes leaves what is below it to a pair that covers it."""
        del self._leaving[gone]
        for narrow in self._covered.pop(gone, {}):
            self._hang(narrow, cover)
        self._uproot(gone)

    def _fall(self, pair: Pair[F]) -> None:
        """Take a pair out; what it covered finds another cover, or is a root."""
        given_up = self._sinking.pop(pair, [])
        if pair not in self._cover and self.part_max is not None:
            below = self._covered.get(pair, ())
            if given_up or len(below) > self.part_max:
                self._leaving[pair] = given_up
                return
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
