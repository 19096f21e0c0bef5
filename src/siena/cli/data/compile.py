"""``siena compile``: subscriptions in a file that jobs share and use again."""

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from siena.cli.common.progress import Progress
from siena.cli.common.spark_jobs import report_to, require_spark
from siena.cli.rules.event_options import ManyOption
from siena.cli.terminal.completion import dialects


def compile_(
    subscriptions: Annotated[
        Path,
        typer.Argument(
            help="CSV, JSON lines, parquet or ORC with the columns subscriber and "
            "filter, and perhaps interface and id."
        ),
    ],
    table: Annotated[Path, typer.Argument(help="The file to write.")],
    *,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="The language of filters that name none: sql, amqp, eventbridge, "
            "cesql, …; a row may name its own in a column dialect.",
            show_default=False,
            autocompletion=dialects,
        ),
    ] = None,
    many: ManyOption = None,
    set_aside: Annotated[
        bool,
        typer.Option(
            "--set-aside", help="Leave bad subscriptions out, and name them on stderr."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Compile subscriptions into a file, for siena match and for siena.spark.match.

    A job that is given the file starts at once; the file is mapped by all workers of a
    machine, and shared between them.

    \b
    Examples:
      siena compile subscriptions.parquet flights.siena
      siena flights --subscriptions 10000 > subscriptions.ndjson
      siena compile subscriptions.ndjson flights.siena --set-aside --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    from siena.spark.files import read_subscriptions

    start = perf_counter()
    progress = Progress(sys.stderr)
    compiled = read_subscriptions(
        subscriptions,
        dialect=dialect,
        many=frozenset(many or ()),
        on_error="set_aside" if set_aside else "raise",
        report=report_to(progress, "subscriptions"),
    )
    kept = compiled.keep(table)
    progress.clear()
    for reject in compiled.rejects:
        print(f"siena: set aside: {reject}", file=sys.stderr)
    summary = {
        "table": str(table),
        "subscriptions": len(kept),
        "subscribers": len(kept.owners.subscribers.names),
        "rejects": len(compiled.rejects),
        "bytes": table.stat().st_size,
        "sha256": kept.digest,
        "seconds": round(perf_counter() - start, 3),
    }
    if as_json:
        print(json.dumps(summary))
        return
    print(
        f"{table}: {summary['subscriptions']:,} subscriptions of "
        f"{summary['subscribers']:,} subscribers, {summary['bytes']:,} bytes, "
        f"{summary['rejects']:,} set aside, {summary['seconds']:.1f} s"
    )
