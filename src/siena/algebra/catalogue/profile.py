"""Profiles: a filter as a catalogue sees it, one facet for each name."""

from collections.abc import Iterator
from typing import Any

from siena.algebra.catalogue.facet import (
    MISSING,
    OPEN,
    PLACED,
    Facet,
    Token,
    facet_of,
)
from siena.model import Filter, Value


class Profile:
    """A filter, its facets in the order of their names, and its place.

    >>> from siena.lang.parser import parse_filter as parse
    >>> profile = Profile(parse("integer x > 3 and s = a"))
    >>> profile.tokens(), profile.place()
    ((('s', 0, 'a'), ('x', 1)), (4, 9223372036854775807))

    Filters with the same :meth:`key` select the same.
    """

    __slots__ = ("facets", "filter")

    def __init__(self, f: Filter) -> None:
        self.filter = f
        constraints = f.constraints
        last = len(constraints) - 1
        if not last:  # most often
            self.facets: tuple[Facet, ...] = (
                facet_of(constraints[0].name, constraints),
            )
            return
        facets: list[Facet] = []
        since = 0
        # The constraints on each name follow each other.
        for at, constraint in enumerate(constraints):
            name = constraint.name
            if at == last or constraints[at + 1].name != name:
                facets.append(facet_of(name, constraints[since : at + 1]))
                since = at + 1
        self.facets = tuple(facets)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Profile) and self.filter == other.filter

    def __hash__(self) -> int:
        return hash(self.filter)

    def tokens(self) -> tuple[Token, ...]:
        """Where it is found."""
        return tuple([facet.token for facet in self.facets])

    def key(self) -> tuple[Any, ...]:
        """What it has in common with its equals."""
        if len(self.facets) == 1:
            return self.facets[0].key
        return tuple([facet.key for facet in self.facets])

    @property
    def is_sampled(self) -> bool:
        """Whether it is known what the filter selects: then it selects something."""
        for facet in self.facets:
            if facet.sample is None and facet.form != MISSING:
                return False
        return True

    def place(self) -> tuple[Any, ...]:
        """The ends of its facets that have some."""
        place: list[Any] = []
        for facet in self.facets:
            if facet.form in PLACED:
                place += facet.low, facet.high
        return tuple(place)

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
