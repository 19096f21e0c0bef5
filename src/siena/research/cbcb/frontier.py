"""A frontier: filters of which none covers another.

What a table must remember of a disjunction.  The
:class:`~siena.algebra.poset.poset.Poset` knows more, which filter is between which;
here filters come and go by the thousand, and no order is asked for.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from siena.algebra.covering import covers_filter
from siena.algebra.sat import satisfiable
from siena.model import Filter, Operator, Value


class Frontier:
    """Filters of which none covers another; those that nothing matches are left out.

    >>> from siena.lang.parser import parse_filter as parse
    >>> frontier = Frontier()
    >>> frontier.add(parse("x > 5 and y = 1")), frontier.add(parse("x > 3"))
    ([], [<Filter x > 5 and y = 1>])
    >>> frontier.add(parse("x = 7")) is None
    True

    Cost: a filter can be covered only by filters without names that it lacks, and
    covers only filters that have all of its names; it matches only notifications that
    have them.  Each is filed under one of its names for the first question and the
    last, the rarest, and under all of them for the second.
    """

    def __init__(self) -> None:
        self._key: dict[Filter, str | None] = {}
        self._by_key: dict[str | None, dict[Filter, None]] = {}
        self._by_name: dict[str, dict[Filter, None]] = {}

    def __iter__(self) -> Iterator[Filter]:
        return iter(self._key)

    def __len__(self) -> int:
        return len(self._key)

    def covers(self, f: Filter) -> bool:
        """Whether one of the filters covers this one; always, if nothing matches it."""
        if f in self._key or not _is_satisfiable(f):
            return True
        return any(
            _covers(g, f)
            for name in (None, *f.by_name)
            for g in self._by_key.get(name, ())
            if g.by_name.keys() <= f.by_name.keys()
        )

    def matches(self, notification: Mapping[str, Value]) -> bool:
        """Whether one of the filters does; only those are asked whose name it has."""
        return any(
            f.matches(notification)
            for name in (None, *notification)
            for f in self._by_key.get(name, ())
        )

    def is_just(self, wanted: Sequence[Filter]) -> bool:
        """Whether these are the filters, all of them and no other."""
        return len(wanted) == len(self._key) and all(f in self._key for f in wanted)

    @property
    def bytes(self) -> int:
        """How long all filters are, as text."""
        return sum(map(_length, self._key))

    def add(self, f: Filter) -> list[Filter] | None:
        """Add a filter; those it covers, which are gone, or None if it is covered."""
        if self.covers(f):
            return None
        gone = [g for g in self._with_names_of(f) if _covers(f, g)]
        for g in gone:
            self._remove(g)
        names = f.by_name
        for name in names:
            self._by_name.setdefault(name, {})[f] = None
        # What wants a name absent matches notifications without it: it is always asked.
        filed = () if any(c.operator is Operator.ABSENT for c in f) else names
        rarest = min(filed, key=lambda name: len(self._by_name[name]), default=None)
        self._key[f] = rarest
        self._by_key.setdefault(rarest, {})[f] = None
        return gone

    def _with_names_of(self, f: Filter) -> list[Filter]:
        """The filters that have all names of this one, and maybe more."""
        filed = [self._by_name.get(name, {}) for name in f.by_name]
        fewest = min(filed, key=len, default=self._key)
        return [g for g in fewest if f.by_name.keys() <= g.by_name.keys()]

    def _remove(self, f: Filter) -> None:
        del self._by_key[self._key.pop(f)][f]
        for name in f.by_name:
            del self._by_name[name][f]


# The same filters meet again at every broker that hears of them.
@lru_cache(maxsize=1 << 17)
def _covers(general: Filter, specific: Filter) -> bool:
    return covers_filter(general, specific)


@lru_cache(maxsize=1 << 14)
def _is_satisfiable(f: Filter) -> bool:
    return satisfiable(f)


@lru_cache(maxsize=1 << 14)
def _length(f: Filter) -> int:
    return len(str(f).encode())
