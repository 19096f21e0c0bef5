"""Rows: what studies plan, compute and keep, and how to look at many of them.

A row is a dictionary of plain values, so that it can be written as JSON, CSV and
parquet.  Parameters and results are both in it, under different names.
"""

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from statistics import fmean

Cell = str | int | float | bool | None
Row = dict[str, Cell]


def number(row: Row, name: str) -> float:
    """A cell that must be a number.

    >>> number({"x": 3}, "x")
    3.0
    """
    cell = row[name]
    assert isinstance(cell, int | float), f"{name} is {cell!r}, and no number"
    return float(cell)


def text(row: Row, name: str) -> str:
    """A cell that must be a text."""
    cell = row[name]
    assert isinstance(cell, str), f"{name} is {cell!r}, and no text"
    return cell


def integer(row: Row, name: str) -> int:
    """A cell that must be an integer."""
    cell = row[name]
    assert isinstance(cell, int), f"{name} is {cell!r}, and no integer"
    return cell


def where(rows: Iterable[Row], **wanted: Cell) -> list[Row]:
    """The rows with these cells.

    >>> where([{"x": 1, "y": 2}, {"x": 2, "y": 2}], x=2, y=2)
    [{'x': 2, 'y': 2}]
    """
    items = wanted.items()
    return [row for row in rows if all(row.get(n) == cell for n, cell in items)]


def distinct(rows: Iterable[Row], name: str) -> list[float]:
    """The different numbers in a column, ascending.

    >>> distinct([{"x": 3}, {"x": 1}, {"x": 3}], "x")
    [1.0, 3.0]
    """
    return sorted({number(row, name) for row in rows})


def curve(
    rows: Iterable[Row],
    x: str,
    y: str,
    join: Callable[[Sequence[float]], float] = fmean,
) -> dict[float, float]:
    """For each x the mean, or another summary, of all y; by ascending x.

    >>> curve([{"x": 1, "y": 2}, {"x": 1, "y": 4}, {"x": 0, "y": 7}], "x", "y")
    {0.0: 7.0, 1.0: 3.0}
    """
    found: dict[float, list[float]] = {}
    for row in rows:
        found.setdefault(number(row, x), []).append(number(row, y))
    return {at: join(found[at]) for at in sorted(found)}


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which a share of all values is, between its neighbours.

    >>> [quantile([4, 1, 3, 2], share) for share in (0, 0.5, 1)]
    [1, 2.5, 4]
    """
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    if below == place:
        return ordered[below]
    part = place - below
    return ordered[below] * (1 - part) + ordered[below + 1] * part


def digest(parts: Iterable[object]) -> str:
    """A short text that is another one if any part, or their order, is.

    So that rows can tell not only how many things were found, but which.

    >>> digest(["ab", "c"])
    '1b10891da7a8bc41'
    >>> digest(["a", "bc"]) == digest(["ab", "c"])
    False
    """
    found = sha256()
    for part in parts:
        found.update(f"{part}\n".encode())
    return found.hexdigest()[:16]
