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
        # By how many origins a hop wants a filter: the exchange needs to know it once.
        self._wanted: Counter[Entry] = Counter()
        self._limits: dict[int, Predicate] = {}
        # Of hops with limits: what is sent for a filter, and for how many filters.
        self._parts: dict[Entry, tuple[Filter, ...]] = {}
        self._sent: Counter[Entry] = Counter()

    def changed(self, entry: Entry, *, gained: bool) -> None:
        """A hop wants a filter, for the sake of one more or one less origin."""
        self._wanted[entry] += 1 if gained else -1
        if gained and self._wanted[entry] == 1:
            self._enter(entry)
        elif not self._wanted[entry]:
            del self._wanted[entry]
            self._drop(entry)

    def limit(self, hop: int, exports: Predicate | None) -> None:
        """A neighbour may have so much from now on, whatever it wants; None: all."""
        if self._limits.get(hop) == exports:
            return
        wanted = [entry for entry in self._wanted if entry[0] == hop]
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
        limited = [f for number, f in self._sent if number == hop]
        plain = [
            f for entry in self._wanted if entry not in self._parts for f in entry[1:]
            if entry[0] == hop
        ]  # fmt: skip
        return sorted([*limited, *plain], key=str)

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
        parts = self._parts.pop(entry, None)
        if parts is None:
            self._exchange.unwatch(hop, f)
            return
        for part in parts:
            self._sent[hop, part] -= 1
            if not self._sent[hop, part]:
                del self._sent[hop, part]
                self._exchange.unwatch(hop, part)
