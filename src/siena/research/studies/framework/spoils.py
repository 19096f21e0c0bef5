"""Ways to make rows wrong, so that a check can show that it would notice.

>>> rows = [{"x": 1, "y": 10}, {"x": 2, "y": 20}]
>>> constant("y", 7)(rows)
[{'x': 1, 'y': 7}, {'x': 2, 'y': 7}]
>>> only(lambda row: row["x"] == 2, times("y", 0.5))(rows)
[{'x': 1, 'y': 10}, {'x': 2, 'y': 10.0}]
"""

from collections.abc import Callable, Sequence

from siena.research.studies.framework.claim import Spoil
from siena.research.studies.framework.rows import Cell, Row, number


def each(change: Callable[[Row], Row]) -> Spoil:
    """Some columns of every row become others: what ``change`` returns."""
    return lambda rows: [{**row, **change(row)} for row in rows]


def constant(column: str, cell: Cell) -> Spoil:
    """A column is the same everywhere."""
    return each(lambda _: {column: cell})


def times(column: str, factor: float) -> Spoil:
    """A column is so many times what it was, where it is a number."""
    return each(
        lambda row: {
            column: None if row[column] is None else number(row, column) * factor
        }
    )


def copied(column: str, source: str) -> Spoil:
    """A column is what another one is."""
    return each(lambda row: {column: row[source]})


def only(is_meant: Callable[[Row], bool], spoil: Spoil) -> Spoil:
    """Only some rows are spoilt."""

    def spoilt(rows: Sequence[Row]) -> list[Row]:
        return [spoil([row])[0] if is_meant(row) else row for row in rows]

    return spoilt


def one(spoil: Spoil) -> Spoil:
    """Only the last row is spoilt: a check of all rows must notice a single one."""

    def spoilt(rows: Sequence[Row]) -> list[Row]:
        return [*rows[:-1], *spoil(rows[-1:])]

    return spoilt
