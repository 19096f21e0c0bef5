"""Points: the values of equalities on one name, sorted when a range asks for them."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from siena.algebra.catalogue.facet import Token, point_value

# How many values a run has at most: to insert one, a run is moved.
RUN_MAX = 1_024


class Points:
    """The tokens of points, by their values: numbers, strings and times apart.

    >>> points = Points()
    >>> points.sort([("x", 0, 5), ("x", 0, 3), ("x", 0, "b")])
    >>> points.add(("x", 0, 4.5))
    >>> list(points.between(3.5, 9))
    [('x', 0, 4.5), ('x', 0, 5)]

    Until a range asks for some of them, none is sorted: most names have points only.
    """

    __slots__ = ("_by_ending", "_by_value")

    def __init__(self) -> None:
        self._by_value: dict[type, SortedRuns] = {}
        self._by_ending = SortedRuns(_reversed)

    def sort(self, tokens: Iterable[Token]) -> None:
        """Enter the first tokens."""
        listed = list(tokens)
        for token in sorted(listed, key=_kind_and_value):
            self._sorted_like(point_value(token)).append(token)
        texts = [token for token in listed if type(token[2]) is str]
        for token in sorted(texts, key=_reversed):
            self._by_ending.append(token)

    def add(self, token: Token) -> None:
        """Enter the token of a point."""
        self._sorted_like(point_value(token)).add(token)
        if type(token[2]) is str:
            self._by_ending.add(token)

    def remove(self, token: Token) -> None:
        """Take it out."""
        self._sorted_like(point_value(token)).remove(token)
        if type(token[2]) is str:
            self._by_ending.remove(token)

    def between(self, low: Any, high: Any) -> Iterator[Token]:  # noqa: ANN401
        """The tokens with values from one to another, of their kind."""
        return self._sorted_like(low).between(low, high)

    def ending(self, low: str, high: str) -> Iterator[Token]:
        """The tokens of strings that, reversed, are from one to another."""
        return self._by_ending.between(low, high)

    def _sorted_like(self, value: Any) -> "SortedRuns":  # noqa: ANN401
        kind = float if type(value) is int else type(value)
        found = self._by_value.get(kind)
        if found is None:
            found = self._by_value[kind] = SortedRuns(point_value)
        return found


class SortedRuns:
    """Things sorted by a key, in runs of some length."""

    __slots__ = ("_key", "_runs")

    def __init__(self, key: Callable[[Any], Any]) -> None:
        self._key = key
        self._runs: list[list[Token]] = []

    def append(self, item: Token) -> None:
        """Enter the last of all."""
        if not self._runs or len(self._runs[-1]) >= RUN_MAX // 2:
            self._runs.append([])
        self._runs[-1].append(item)

    def add(self, item: Token) -> None:
        """Enter a thing at its place."""
        if not self._runs:
            self._runs.append([item])
            return
        at = self._run_of(self._key(item))
        run = self._runs[at]
        insort(run, item, key=self._key)
        if len(run) > RUN_MAX:
            half = len(run) // 2
            self._runs[at : at + 1] = [run[:half], run[half:]]

    def remove(self, item: Token) -> None:
        """Take a thing out; no other has the same key."""
        value = self._key(item)
        at = self._run_of(value)
        run = self._runs[at]
        del run[bisect_left(run, value, key=self._key)]
        if not run:
            del self._runs[at]

    def between(self, low: Any, high: Any) -> Iterator[Token]:  # noqa: ANN401
        """The things with keys from one to another."""
        if not self._runs:
            return
        for run in self._runs[self._run_of(low) :]:
            if self._key(run[0]) > high:
                return
            since = bisect_left(run, low, key=self._key)
            yield from run[since : bisect_right(run, high, key=self._key)]

    def _run_of(self, value: Any) -> int:  # noqa: ANN401
        """The first run whose last is not before the value, or the last run."""
        at = bisect_left(self._runs, value, key=lambda run: self._key(run[-1]))
        return min(at, len(self._runs) - 1)


def _kind_and_value(token: Token) -> tuple[int, Any]:
    value = point_value(token)
    if isinstance(value, str):
        return 0, value
    if isinstance(value, datetime):
        return 1, value
    return (2 if type(value) is bool else 3), value


def _reversed(token: Token) -> str:
    return str(token[2][::-1])
