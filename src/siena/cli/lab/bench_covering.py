"""``siena bench covering``: what a router spends on interests, by their shape."""

import json
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from siena.bench.covering.routers import Row, measure
from siena.bench.network.shapes import Shape

INTERESTS_MAX = 1_000_000


@dataclass(frozen=True)
class Column:
    """One column: its title, and how it is written."""

    title: str
    form: str


COLUMNS = {
    "interests": Column("interests", "{:,}"),
    "told": Column("told", "{:,}"),
    "first": Column("first tenth, µs", "{:.0f}"),
    "last": Column("last tenth, µs", "{:.0f}"),
    "growth": Column("growth", "n^{:.2f}"),
    "uncovered": Column("told again, µs", "{:.0f}"),
    "cancelled": Column("cancelled, µs", "{:.0f}"),
}


def bench_covering(
    *,
    shape: Annotated[
        list[Shape] | None,
        typer.Option(help="How interests look; may be repeated [default: all]."),
    ] = None,
    interests: Annotated[
        int, typer.Option(min=10, max=INTERESTS_MAX, help="How many of each shape.")
    ] = 10_000,
    seed: Annotated[int, typer.Option(help="Decides what is drawn.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Measure what two routers spend on interests, without sockets.

    A client of the first wants one interest after the other.  Each is parsed,
    registered, announced to the second router as brokers do it, and settled.  Then it
    wants everything, and no longer: all that was covered is told again.  In the end
    everything is cancelled.  Times are of the processor, for each of the two.

    \b
    Examples:
      siena bench covering
      siena bench covering --shape bands --shape w --interests 100000
    """  # noqa: D301 -- Typer needs the backspace itself
    rows = [measure(each, interests, seed) for each in shape or list(Shape)]
    if as_json:
        print(json.dumps({"rows": [_object(row) for row in rows]}))
        return
    table = Table("shape", title="Interests through two routers", title_justify="left")
    for column in COLUMNS.values():
        table.add_column(column.title, justify="right")
    for row in rows:
        cells = (c.form.format(getattr(row, key)) for key, c in COLUMNS.items())
        table.add_row(row.shape, *cells)
    Console().print(table)


def _object(row: Row) -> dict[str, object]:
    return {**row._asdict(), "growth": row.growth}
