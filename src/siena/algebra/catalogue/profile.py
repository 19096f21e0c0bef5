"""Profiles: a filter as a catalogue sees it, one facet for each name."""

from collections.abc import Iterator
from typing import Any

from siena.algebra.catalogue.facet import MISSING, OPEN, PLACED, Facet, Token, facet_of
from siena.model import Filter, Value


class Profile:
    """A filter, its facets in the order of their names, and its place.

    >>> from siena.lang.parser import parse_filter as parse
    >>> profile = Profile(parse("integer x > 3 and s = a"))
    >>> profile.tokens, profile.place
    ((('s', 0, 'a'), ('x', 1)), (4, 9223372036854775807))

    Filters with the same ``key`` select the same.
    """

    __slots__ = ("facets", "filter", "key", "place", "tokens")

    def __init__(self, f: Filter) -> None:
        self.filter = f
        facets = tuple(facet_of(*item) for item in sorted(f.by_name.items()))
        self.facets: tuple[Facet, ...] = facets
        self.tokens: tuple[Token, ...] = tuple([facet.token for facet in facets])
        self.key: tuple[Any, ...] = tuple([facet.key for facet in facets])
        place: list[Any] = []
        for facet in facets:
            if facet.form in PLACED:
                place += facet.low, facet.high
        self.place: tuple[Any, ...] = tuple(place)

    def samples(self) -> dict[str, Value] | None:
        """What a notification may be that the filter selects; ``None`` if not known."""
        found: dict[str, Value] = {}
        for facet in self.facets:
            if facet.sample is not None:
                found[facet.name] = facet.sample
            elif facet.form != MISSING:
                return None
        return found

    def is_sampled_by(self, other: "Profile") -> bool:
        """Whether another filter may select all that this one selects, by a sample."""
        by_name = other.filter.by_name
        for facet in self.facets:
            sample = facet.sample
            if sample is not None:
                for constraint in by_name.get(facet.name, ()):
                    if not constraint.matches(sample):
                        return False
        return True

    def texts(self) -> Iterator[tuple[str, str]]:
        """A string that it selects, for each name where it has one of a simple form."""
        for facet in self.facets:
            if isinstance(facet.sample, str) and facet.form != OPEN:
                yield facet.name, facet.sample
