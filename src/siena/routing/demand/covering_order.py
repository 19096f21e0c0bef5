"""The order in which a broker keeps filters, or advertisements: by covering, or none.

Covering is exact, pairwise as in the papers, or absent: then only equal filters are
one, and every filter is told to every neighbour.
"""

from collections.abc import Callable, Mapping, Set as AbstractSet
from dataclasses import dataclass
from typing import Generic, TypeVar

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.overlap import overlaps
from siena.algebra.pairwise import (
    covers_advertisement_pairwise,
    covers_pairwise,
    overlaps_pairwise,
)
from siena.algebra.poset.poset import Poset
from siena.model import Advertisement, Filter, Value
from siena.model.filter import ConstraintSet
from siena.routing.options import Covering

# Filters, or advertisements.
F = TypeVar("F", bound=ConstraintSet)
P = TypeVar("P", Filter, Advertisement)

# How many answers of each kind a broker remembers: a message is about one filter or a
# few, and an answer may be as long as the table.
ANSWERS_MAX = 64


@dataclass(frozen=True, slots=True)
class Order(Generic[F]):
    """Filters that come and go, and which of them cover a given one.

    ``add`` answers the filter that stands for the new one, the first of its equals.
    ``above`` and ``below`` are those that cover a filter and those that it covers, an
    equal included; ``match`` those that match, or admit, a notification.  ``roots`` are
    those that no other covers, and ``successors`` those right below one.
    """

    covers: Callable[[F, F], bool]
    add: Callable[[F], F]
    remove: Callable[[F], object]
    above: Callable[[F], AbstractSet[F]]
    below: Callable[[F], AbstractSet[F]]
    match: Callable[[Mapping[str, Value]], AbstractSet[F]]
    roots: Callable[[], AbstractSet[F]]
    successors: Callable[[F], AbstractSet[F]]


def order_of_filters(covering: Covering) -> Order[Filter]:
    """An empty order of filters.

    >>> from siena.lang.parser import parse_filter as parse
    >>> order = order_of_filters("exact")
    >>> for text in ("x > 3", "x > 5"):
    ...     _ = order.add(parse(text))
    >>> order.below(parse("x > 4"))
    frozenset({<Filter x > 5>})
    """
    if covering == "none":
        return _flat(Filter.matches)
    covers = covers_filter if covering == "exact" else covers_pairwise
    return _Remembered(Poset.of_filters(covering)).order(covers)


def order_of_advertisements(covering: Covering) -> Order[Advertisement]:
    """An empty order of advertisements."""
    if covering == "none":
        return _flat(Advertisement.admits)
    is_exact = covering == "exact"
    covers = covers_advertisement if is_exact else covers_advertisement_pairwise
    return _Remembered(Poset.of_advertisements(covering)).order(covers)


def overlap_of(covering: Covering) -> Callable[[Advertisement, Filter], bool]:
    """Whether a subscription is worth telling a neighbour that advertises."""
    return overlaps_pairwise if covering == "pairwise" else overlaps


class _Remembered(Generic[P]):
    """A poset, and its answers since it last changed: every neighbour asks the same."""

    def __init__(self, poset: Poset[P]) -> None:
        self._poset: Poset[P] = poset
        self._above: dict[P, AbstractSet[P]] = {}
        self._below: dict[P, AbstractSet[P]] = {}

    def order(self, covers: Callable[[P, P], bool]) -> Order[P]:
        return Order(
            covers=covers,
            add=self.add,
            remove=self.remove,
            above=self.above,
            below=self.below,
            match=self._poset.match,
            roots=lambda: self._poset.roots,
            successors=self._poset.successors,
        )

    def add(self, item: P) -> P:
        change = self._poset.add(item)
        if change.changed:
            self._forget()
        return change.filter

    def remove(self, item: P) -> None:
        if self._poset.remove(item).changed:
            self._forget()

    def above(self, item: P) -> AbstractSet[P]:
        found = self._above.get(item)
        if found is None:
            found = self._above[item] = self._poset.covering(item)
            self._limit(self._above)
        return found

    def below(self, item: P) -> AbstractSet[P]:
        found = self._below.get(item)
        if found is None:
            found = self._below[item] = self._poset.covered_by(item)
            self._limit(self._below)
        return found

    def _forget(self) -> None:
        self._above.clear()
        self._below.clear()

    @staticmethod
    def _limit(answers: dict[P, AbstractSet[P]]) -> None:
        if len(answers) > ANSWERS_MAX:
            del answers[next(iter(answers))]


def _flat(selects: Callable[[F, Mapping[str, Value]], bool]) -> Order[F]:
    """No order: each covers itself."""
    items: dict[F, None] = {}

    def add(item: F) -> F:
        items[item] = None
        return item

    def itself(item: F) -> AbstractSet[F]:
        return {item} & items.keys()

    def match(notification: Mapping[str, Value]) -> AbstractSet[F]:
        return {item for item in items if selects(item, notification)}

    return Order(
        covers=lambda general, specific: general == specific,
        add=add,
        remove=lambda item: items.pop(item, None),
        above=itself,
        below=itself,
        match=match,
        roots=items.keys,
        successors=lambda _: frozenset(),
    )
