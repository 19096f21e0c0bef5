"""The table of ``siena bench covering``, and its object."""

from collections.abc import Sequence

from rich.table import Table

from siena.bench.covering.routers import Row

# Of each field its title, and how it is written.
COLUMNS = {
    "interests": ("interests", "{:,}"),
    "told": ("told", "{:,}"),
    "first": ("first tenth, µs", "{:.0f}"),
    "last": ("last tenth, µs", "{:.0f}"),
    "growth": ("growth", "n^{:.2f}"),
    "uncovered": ("told again, µs", "{:.0f}"),
    "cancelled": ("cancelled, µs", "{:.0f}"),
}


def table_of(rows: Sequence[Row]) -> Table:
    """A line for each shape."""
    table = Table("shape", title="Interests through two routers", title_justify="left")
    for title, _ in COLUMNS.values():
        table.add_column(title, justify="right")
    for row in rows:
        cells = (form.format(getattr(row, key)) for key, (_, form) in COLUMNS.items())
        table.add_row(row.shape, *cells)
    return table


def object_of(rows: Sequence[Row]) -> dict[str, object]:
    """The same for a program."""
    return {"rows": [{**row._asdict(), "growth": row.growth} for row in rows]}
