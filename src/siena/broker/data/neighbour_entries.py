"""What the exchange knows of neighbours: what they want, as far as they may have it.

A neighbour's own table, and what others are told because of it, is the router's; here
is what it is sent.  A neighbour that may not have everything is sent what it wants and
may have, the conjunction of both, and so its ``export`` is decided where publications
are matched, at no cost for each of them.
"""

from collections import Counter

from siena.algebra.conjunction import conjoin
from siena.broker.data.exchange import Exchange
from siena.model import Filter, Predicate
from siena.model.limits import FILTERS_MAX

Entry = tuple[int, Filter]


class NeighbourEntries:
    """Enters what neighbours and monitors want.

    >>> from siena.lang.parser import parse_filter, parse_predicate
    >>> entries = NeighbourEntries(Exchange())
    >>> entries.limit(7, parse_predicate("x < 9 or y any"))
    >>> entries.changed((7, parse_filter("x > 3")), gained=True)
    >>> [str(f) for f in entries.sent(7)]
    ['x < 9 and x > 3', 'x > 3 and y any']
    >>> entries.limit(7, None)
    >>> [str(f) for f in entries.sent(7)]
    ['x > 3']
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        # By how many more origins than one a hop wants a filter: the exchange has it
        # once.
        self._again: Counter[Entry] = Counter()
        self._limits: dict[int, Predicate] = {}
        # Of hops with limits: what is sent for a filter, and for how many filters.
        self._parts: dict[Entry, tuple[Filter, ...]] = {}
        self._sent: Counter[Entry] = Counter()

    def changed(self, entry: Entry, *, gained: bool) -> None:
        """A hop wants a filter, for the sake of one more or one less origin."""
        if gained:
            if self._has(entry):
                self._again[entry] += 1
            else:
                self._enter(entry)
        elif entry not in self._again:
            self._drop(entry)
        elif self._again[entry] == 1:
            del self._again[entry]
        else:
            self._again[entry] -= 1

    def limit(self, hop: int, exports: Predicate | None) -> None:
        """A neighbour may have so much from now on, whatever it wants; None: all."""
        before = self._limits.get(hop)
        if before == exports:
            return
        if before is None:
            wanted = [(hop, f) for f in self._exchange.watched_by(hop)]
        else:
            wanted = [entry for entry in self._parts if entry[0] == hop]
        for entry in wanted:
            self._drop(entry)
        if exports is None:
            del self._limits[hop]
        else:
            self._limits[hop] = exports
        for entry in wanted:
            self._enter(entry)

    def is_limited(self, hop: int) -> bool:
        """Whether a neighbour may not have everything."""
        return hop in self._limits

    def sent(self, hop: int) -> list[Filter]:
        """The filters because of which a neighbour is sent something."""
        return sorted(self._exchange.watched_by(hop), key=str)

    def _has(self, entry: Entry) -> bool:
        if self._limits and entry[0] in self._limits:
            return entry in self._parts
        return self._exchange.is_watched(*entry)

    def _enter(self, entry: Entry) -> None:
        hop, f = entry
        exports = self._limits.get(hop)
        if exports is None:
            self._exchange.watch(hop, f)
            return
        parts = conjoin(Predicate([f]), exports, FILTERS_MAX).filters
        self._parts[entry] = parts
        for part in parts:
            self._sent[hop, part] += 1
            if self._sent[hop, part] == 1:
                self._exchange.watch(hop, part)

    def _drop(self, entry: Entry) -> None:
        hop, f = entry
        if hop not in self._limits:
            self._exchange.unwatch(hop, f)
            return
        for part in self._parts.pop(entry):
            self._sent[hop, part] -= 1
            if not self._sent[hop, part]:
                del self._sent[hop, part]
                self._exchange.unwatch(hop, part)
