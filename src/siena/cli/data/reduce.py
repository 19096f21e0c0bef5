"""``siena reduce``: fewer subscriptions that want the same."""

import json
from pathlib import Path
from typing import Annotated

import typer

from siena.cli.common.spark_jobs import (
    LOCAL,
    Master,
    require_spark,
    session,
    shown_progress,
)
from siena.errors import SienaError

# Interfaces that are shown; --json has them all.
INTERFACES_SHOWN = 20


def reduce(
    subscriptions: Annotated[
        Path,
        typer.Argument(
            help="Parquet, CSV, JSON lines or ORC with the column filter, and perhaps "
            "interface."
        ),
    ],
    *,
    by: Annotated[
        str | None,
        typer.Option(
            help="The column that says whose filters are put together; interface if "
            "there is one, else all are.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(help="A folder for what is left, as parquet.", show_default=False),
    ] = None,
    pairwise: Annotated[
        bool,
        typer.Option(
            "--pairwise", help="Compare constraint by constraint, as in the paper."
        ),
    ] = False,
    master: Master = LOCAL,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each interface.")
    ] = False,
) -> None:
    """Leave out the subscriptions that others cover, interface by interface.

    What is left wants the same notifications.  The advantage is what is left over what
    there was, in constraints: the alpha of TR 2006/05.

    \b
    Examples:
      siena reduce subscriptions.csv
      siena reduce subscriptions.parquet --by subscriber --output fewer --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    from siena.spark.batch.reducing import reduce as reduce_rows
    from siena.spark.files import subscription_rows

    if output is not None and output.exists():
        raise SienaError(f"{output} is there already")
    table = subscription_rows(subscriptions)
    with session(master) as spark, shown_progress(spark, "reducing"):
        filters, advantage = reduce_rows(
            spark.createDataFrame(table),
            by=by,
            covering="pairwise" if pairwise else "exact",
        )
        rows = [row.asDict() for row in advantage.orderBy("interface").collect()]
        if output is not None:
            filters.write.parquet(str(output))
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    for row in rows[:INTERFACES_SHOWN]:
        print(
            f"{row['interface']}: "
            f"{row['filters']:,} filters to {row['filters_left']:,}, "
            f"{row['constraints']:,} constraints to {row['constraints_left']:,}, "
            f"alpha {row['alpha']:.3f}"
        )
    if len(rows) > INTERFACES_SHOWN:
        print(f"and {len(rows) - INTERFACES_SHOWN:,} more interfaces (--json)")
    before = sum(row["constraints"] for row in rows)
    after = sum(row["constraints_left"] for row in rows)
    print(f"together {before:,} constraints to {after:,}")
