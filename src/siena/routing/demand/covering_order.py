"""The order in which a broker keeps filters, or advertisements: by covering, or none.

Covering is exact, pairwise as in the papers, or absent: then only equal filters are
one, and every filter is told to every neighbour.

An *order* knows what is in a table, and which of equals stands for all of them.  It
makes *collections*: some of what is in the table, for instance all that one neighbour
was told, in which to find what covers a filter and what it covers.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import attrgetter
from typing import Generic, Protocol, TypeVar

from siena.algebra.catalogue.catalogue import Catalogue
from siena.algebra.catalogue.profile import Profile
from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.overlap import overlaps
from siena.algebra.pairwise import (
    covers_advertisement_pairwise,
    covers_pairwise,
    overlaps_pairwise,
)
from siena.algebra.poset.poset import Poset
from siena.algebra.sat import satisfiable
from siena.model import Advertisement, Filter, Value
from siena.model.filter import ConstraintSet
from siena.routing.options import Covering

# Filters, or advertisements.
F = TypeVar("F", bound=ConstraintSet)

_FILTER = attrgetter("filter")
# How many profiles are remembered of filters that are in no table: a message is about
# one filter or a few.
PROFILES_MAX = 64


class Collection(Protocol[F]):
    """Some of the items of a table; what covers one, and what one covers.

    An item, or its equal, is above and below itself, if it is there.
    """

    def add(self, item: F) -> None:
        """Enter an item that is not there."""
        ...

    def remove(self, item: F) -> None:
        """Take an item out that is there."""
        ...

    def above(self, item: F, turn: int = 0) -> Iterator[F]:
        """What covers an item; which is the first may depend on the ``turn``."""
        ...

    def below(self, item: F) -> Iterator[F]:
        """What an item covers."""
        ...


class Order(Protocol[F]):
    """The items of one table, each of which stands for all its equals."""

    @property
    def covers(self) -> Callable[[F, F], bool]:
        """How two are compared."""
        ...

    def find(self, item: F) -> F | None:
        """The item that stands for this one, if one does."""
        ...

    def add(self, item: F) -> F:
        """Enter an item; the one that stands for it, the first of its equals."""
        ...

    def remove(self, item: F) -> None:
        """Take an item out."""
        ...

    def match(self, notification: Mapping[str, Value]) -> Iterable[F]:
        """What matches, or admits, a notification."""
        ...

    def collection(self) -> Collection[F]:
        """An empty collection."""
        ...


def order_of_filters(covering: Covering) -> Order[Filter]:
    """An empty order of filters.

    >>> from siena.lang.parser import parse_filter as parse
    >>> order = order_of_filters("exact")
    >>> for text in ("integer x > 3", "integer x >= 4"):
    ...     order.add(parse(text))
    <Filter integer x > 3>
    <Filter integer x > 3>
    """
    if covering == "none":
        return _Unordered(Filter.matches)
    return _Filters(covers_filter if covering == "exact" else covers_pairwise)


def order_of_advertisements(covering: Covering) -> Order[Advertisement]:
    """An empty order of advertisements."""
    if covering == "none":
        return _Unordered(Advertisement.admits)
    return _Advertisements(covering)


def is_satisfiable(order: Order[Filter], f: Filter) -> bool:
    """Whether some notification matches a filter; a no is shown.

    Most often its profile says so, which a table needs anyway.

    >>> from siena.lang.parser import parse_filter as parse
    >>> order = order_of_filters("exact")
    >>> [is_satisfiable(order, parse(text)) for text in ("x > 3", "x > 3 and x < 1")]
    [True, False]
    """
    is_sampled = isinstance(order, _Filters) and order.profile(f).is_sampled
    return is_sampled or satisfiable(f)


def overlap_of(covering: Covering) -> Callable[[Advertisement, Filter], bool]:
    """Whether a subscription is worth telling a neighbour that advertises."""
    return overlaps_pairwise if covering == "pairwise" else overlaps


class _Filters:
    """Filters, with their profiles."""

    def __init__(self, covers: Callable[[Filter, Filter], bool]) -> None:
        self.covers = covers
        self._profiles: dict[Filter, Profile] = {}
        # The filters with one key: one, but for the pairwise rule, which sees less.
        self._by_key: dict[object, Filter | tuple[Filter, ...]] = {}
        self._recent: dict[Filter, Profile] = {}
        # The one that was asked for last, for it is most often asked for again; and
        # whether it is in the table, and need not be remembered otherwise.
        self._last = Profile(Filter())
        self._is_last_there = False
        # All of them, once a notification has been asked about.
        self._all: Catalogue | None = None

    def profile(self, f: Filter) -> Profile:
        """The profile of a filter, in the table or not."""
        if self._last.filter is f:
            return self._last
        if not self._is_last_there:
            if len(self._recent) >= PROFILES_MAX:
                self._recent.clear()
            self._recent[self._last.filter] = self._last
        found = self._profiles.get(f)
        self._is_last_there = found is not None
        if found is None:
            found = self._recent.get(f) if self._recent else None
            if found is None:
                found = Profile(f)
        self._last = found
        return found

    def find(self, item: Filter) -> Filter | None:
        if item in self._profiles:
            return item
        return self._equal(item, self._by_key.get(self.profile(item).key()))

    def add(self, item: Filter) -> Filter:
        profile = self.profile(item)
        if self._is_last_there:
            return item
        key = profile.key()
        there = self._by_key.get(key)
        if there is None:  # most often
            self._by_key[key] = item
        else:
            known = self._equal(item, there)
            if known is not None:
                return known
            self._by_key[key] = (*_several(there), item)
        self._profiles[item] = profile
        self._is_last_there = True
        if self._all is not None:
            self._all.add(profile)
        return item

    def remove(self, item: Filter) -> None:
        profile = self._profiles.pop(item)
        if profile is self._last:
            self._is_last_there = False
        key = profile.key()
        others = tuple(f for f in _several(self._by_key[key]) if f != item)
        if others:
            self._by_key[key] = others if len(others) > 1 else others[0]
        else:
            del self._by_key[key]
        if self._all is not None:
            self._all.remove(profile)

    def _equal(
        self, item: Filter, there: Filter | tuple[Filter, ...] | None
    ) -> Filter | None:
        """Of filters with the same key, the one that stands for an item."""
        for equal in _several(there) if there is not None else ():
            if self.covers(equal, item) and self.covers(item, equal):
                return equal
        return None

    def match(self, notification: Mapping[str, Value]) -> list[Filter]:
        if self._all is None:
            self._all = Catalogue(self.covers)
            for profile in self._profiles.values():
                self._all.add(profile)
        return [profile.filter for profile in self._all.match(notification)]

    def collection(self) -> Collection[Filter]:
        return _Catalogued(self)


class _Catalogued:
    """Some filters of an order."""

    __slots__ = ("_catalogue", "_profile")

    def __init__(self, order: _Filters) -> None:
        self._profile = order.profile
        self._catalogue = Catalogue(order.covers)

    def add(self, item: Filter) -> None:
        self._catalogue.add(self._profile(item))

    def remove(self, item: Filter) -> None:
        self._catalogue.remove(self._profile(item))

    def above(self, item: Filter, turn: int = 0) -> Iterator[Filter]:
        return map(_FILTER, self._catalogue.above(self._profile(item), turn))

    def below(self, item: Filter) -> Iterator[Filter]:
        return map(_FILTER, self._catalogue.below(self._profile(item)))


class _Advertisements:
    """Advertisements, which are few, in a poset."""

    def __init__(self, covering: Covering) -> None:
        assert covering != "none"
        is_exact = covering == "exact"
        self.covers = (
            covers_advertisement if is_exact else covers_advertisement_pairwise
        )
        self._covering = covering
        self._poset = Poset.of_advertisements(covering)

    def find(self, item: Advertisement) -> Advertisement | None:
        return self._poset.find(item)

    def add(self, item: Advertisement) -> Advertisement:
        return self._poset.add(item).filter

    def remove(self, item: Advertisement) -> None:
        self._poset.remove(item)

    def match(self, notification: Mapping[str, Value]) -> Iterable[Advertisement]:
        return self._poset.match(notification)

    def collection(self) -> Collection[Advertisement]:
        return _InPoset(Poset.of_advertisements(self._covering))


class _InPoset:
    """Some advertisements."""

    __slots__ = ("_poset",)

    def __init__(self, poset: Poset[Advertisement]) -> None:
        self._poset = poset

    def add(self, item: Advertisement) -> None:
        self._poset.add(item)

    def remove(self, item: Advertisement) -> None:
        self._poset.remove(item)

    def above(self, item: Advertisement, turn: int = 0) -> Iterator[Advertisement]:  # noqa: ARG002 -- there are few
        return iter(self._poset.covering(item))

    def below(self, item: Advertisement) -> Iterator[Advertisement]:
        return iter(self._poset.covered_by(item))


class _Unordered(Generic[F]):
    """No order: each covers itself.  What is in a table is a collection, too."""

    def __init__(self, selects: Callable[[F, Mapping[str, Value]], bool]) -> None:
        self.covers: Callable[[F, F], bool] = _is_equal
        self._selects = selects
        self._items: dict[F, None] = {}

    def find(self, item: F) -> F | None:
        return item if item in self._items else None

    def add(self, item: F) -> F:
        self._items[item] = None
        return item

    def remove(self, item: F) -> None:
        del self._items[item]

    def match(self, notification: Mapping[str, Value]) -> list[F]:
        return [item for item in self._items if self._selects(item, notification)]

    def collection(self) -> Collection[F]:
        return _Unrelated()


class _Unrelated(Generic[F]):
    """Items of which none covers another."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: set[F] = set()

    def add(self, item: F) -> None:
        self._items.add(item)

    def remove(self, item: F) -> None:
        self._items.remove(item)

    def above(self, item: F, turn: int = 0) -> Iterator[F]:  # noqa: ARG002 -- only itself
        return iter((item,) if item in self._items else ())

    def below(self, item: F) -> Iterator[F]:
        return self.above(item)


def _is_equal(general: ConstraintSet, specific: ConstraintSet) -> bool:
    return general == specific


def _several(there: Filter | tuple[Filter, ...]) -> tuple[Filter, ...]:
    return there if isinstance(there, tuple) else (there,)
