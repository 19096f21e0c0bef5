"""Who asked for what: the list that every matcher keeps beside its structure."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from siena.matching.matcher import UnknownFilterError
from siena.model import Filter, Predicate


class Held(NamedTuple):
    """An interest, and the interface that it was added for."""

    interface: int
    interest: Filter | Predicate


class Registry:
    """Interests by number.

    >>> registry = Registry()
    >>> registry.enter(3, Filter()), registry.enter(4, Filter())
    (0, 1)
    >>> registry.leave(0)
    Held(interface=3, interest=<Filter []>)
    >>> registry.enter(3, Filter()), len(registry)
    (2, 2)
    >>> registry.leave(0)
    Traceback (most recent call last):
    siena.matching.matcher.UnknownFilterError: nothing is held under number 0
    """

    __slots__ = ("_held", "_next")

    def __init__(self) -> None:
        # Numbers only grow, so the dictionary stays in ascending order by itself.
        self._held: dict[int, Held] = {}
        self._next = 0

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[tuple[int, Held]]:
        return iter(self._held.items())

    def enter(self, interface: int, interest: Filter | Predicate) -> int:
        """The number under which the interest is held from now on."""
        number = self._next
        self._held[number] = Held(interface, interest)
        self._next += 1
        return number

    def leave(self, number: int) -> Held:
        """What was held under the number until now."""
        held = self._held.pop(number, None)
        if held is None:
            raise UnknownFilterError(number)
        return held

    def interface(self, number: int) -> int:
        """The interface that the interest was added for."""
        return self._held[number].interface

    def interfaces(self, numbers: Iterable[int]) -> frozenset[int]:
        """The interfaces that these interests were added for."""
        return frozenset(self._held[number].interface for number in numbers)
