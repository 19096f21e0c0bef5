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
from siena.algebra.poset import Poset
from siena.model import Advertisement, Filter, Value
from siena.model.filter import ConstraintSet
from siena.routing.options import Covering

# Filters, or advertisements.
F = TypeVar("F", bound=ConstraintSet)


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
    poset = Poset.of_filters(covering)
    return Order(
        covers=covers_filter if covering == "exact" else covers_pairwise,
        add=lambda f: poset.add(f).filter,
        remove=poset.remove,
        above=poset.covering,
        below=poset.covered_by,
        match=poset.match,
        roots=lambda: poset.roots,
        successors=poset.successors,
    )


def order_of_advertisements(covering: Covering) -> Order[Advertisement]:
    """An empty order of advertisements."""
    if covering == "none":
        return _flat(Advertisement.admits)
    poset = Poset.of_advertisements(covering)
    is_exact = covering == "exact"
    return Order(
        covers=covers_advertisement if is_exact else covers_advertisement_pairwise,
        add=lambda a: poset.add(a).filter,
        remove=poset.remove,
        above=poset.covering,
        below=poset.covered_by,
        match=poset.match,
        roots=lambda: poset.roots,
        successors=poset.successors,
    )


def overlap_of(covering: Covering) -> Callable[[Advertisement, Filter], bool]:
    """Whether a subscription is worth telling a neighbour that advertises."""
    return overlaps_pairwise if covering == "pairwise" else overlaps


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
