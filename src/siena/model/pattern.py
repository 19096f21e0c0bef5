"""Patterns: sequences of filters, matched by several notifications.

A pattern is a value; what it does to a stream of notifications is
:mod:`siena.matching.pattern`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from siena.errors import FilterError, LimitError
from siena.model.filter import Filter, Predicate
from siena.model.limits import STEPS_MAX


@dataclass(frozen=True, slots=True)
class Pattern:
    """A sequence of steps, each a predicate that one notification must match.

    >>> from siena.lang.parser import parse_pattern as parse
    >>> rally = parse("symbol = MSFT and change > 0 then symbol = NSCP and change > 0")
    >>> len(rally)
    2
    >>> print(rally)
    change > 0 and symbol = MSFT then change > 0 and symbol = NSCP

    A pattern of one step is *simple*: it behaves like its predicate.
    """

    steps: tuple[Predicate, ...]

    def __init__(
        self, steps: Filter | Predicate | Iterable[Filter | Predicate]
    ) -> None:
        several = (steps,) if isinstance(steps, (Filter, Predicate)) else tuple(steps)
        given = tuple(Predicate(s) if isinstance(s, Filter) else s for s in several)
        if any(type(step) is not Predicate for step in given):
            raise TypeError("filters are wanted; siena.parse_pattern reads a text")
        if not given:
            raise FilterError("a pattern has at least one step")
        if len(given) > STEPS_MAX:
            raise LimitError("STEPS_MAX", STEPS_MAX, "steps in a pattern")
        object.__setattr__(self, "steps", given)

    @property
    def is_simple(self) -> bool:
        """Whether one notification is enough."""
        return len(self.steps) == 1

    def __iter__(self) -> Iterator[Predicate]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __reduce__(self) -> tuple[type["Pattern"], tuple[tuple[Predicate, ...]]]:
        return Pattern, (self.steps,)

    def __str__(self) -> str:
        return " then ".join(map(str, self.steps))

    def __repr__(self) -> str:
        return f"<Pattern {self}>"
