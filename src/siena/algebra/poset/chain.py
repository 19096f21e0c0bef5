"""Chains: things sorted by their bounds, so that a place tells what covers what.

::

    chain of (lower, integer)     x > 1    x > 3    x > 5    x > 9
    above integer x = 5           -------------- upto 2
    below integer x > 4                             since 2 ------

Whatever covers one bound covers all that follow, and whatever a bound covers, all
before it cover: a search by halving finds everything above a condition, another
everything below.
"""

from bisect import bisect_left
from collections.abc import Callable
from typing import Generic, TypeVar

from siena.algebra.poset.simple import Bound

T = TypeVar("T")


class Chain(Generic[T]):
    """Things in the order of their bounds, the most general first.

    Cost: a logarithm for a search; to insert, the list is moved, which for a
    hundred thousand is some microseconds.
    """

    __slots__ = ("_bounds", "items")

    def __init__(self) -> None:
        self._bounds: list[Bound] = []
        self.items: list[T] = []

    def __len__(self) -> int:
        return len(self.items)

    def position(self, bound: Bound) -> int:
        """How many bounds of the chain are before this one."""
        return bisect_left(self._bounds, True, key=bound.reaches)

    def insert(self, bound: Bound, item: T) -> None:
        """Put an item at its place."""
        at = self.position(bound)
        self._bounds.insert(at, bound)
        self.items.insert(at, item)

    def remove(self, bound: Bound) -> None:
        """Take out the item of the bound."""
        at = self.position(bound)
        assert self._bounds[at] == bound
        del self._bounds[at], self.items[at]

    def first(self, holds: Callable[[T], bool]) -> int:
        """Where the items begin of which it holds; it does of all that follow."""
        return bisect_left(self.items, True, key=holds)
