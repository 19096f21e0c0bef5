"""``siena match``: who gets what, of tables and of streams, on Spark."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Annotated, Literal

import typer

from siena.cli.common.spark_jobs import LOCAL, require_spark, session
from siena.cli.data.match_job import MatchJob
from siena.cli.rules.event_options import ManyOption, NestedOption
from siena.cli.terminal.completion import dialects, one_of
from siena.errors import SienaError
from siena.rules.events import checked_nested

ANSWERS = ("deliveries", "interfaces", "filters", "counts")


def match(
    subscriptions: Annotated[
        Path,
        typer.Argument(
            help="CSV, JSON lines, parquet or ORC with the columns subscriber and "
            "filter; or a table that siena compile has written."
        ),
    ],
    notifications: Annotated[
        Path,
        typer.Argument(
            help="Parquet, CSV, JSON lines, ORC or Delta: a file, or a folder of files."
        ),
    ],
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="A column that is wanted in the answer; all of them if none is named.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="The one column that is the whole notification: JSON, map, variant "
            "or struct.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the answers, as parquet; without it they are counted, "
            "and the first are shown.",
            show_default=False,
        ),
    ] = None,
    answer: Annotated[
        str,
        typer.Option(
            help="deliveries, a row for each subscriber; or a row for each "
            "notification: interfaces, filters or counts.",
            autocompletion=one_of(*ANSWERS),
        ),
    ] = "deliveries",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is in the output folder.")
    ] = False,
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
    nested: NestedOption = None,
    set_aside: Annotated[
        bool,
        typer.Option(
            "--set-aside",
            help="Pass over what is bad; bad subscriptions are named on stderr.",
        ),
    ] = False,
    nan: Annotated[
        Literal["refuse", "absent"],
        typer.Option(help="What NaN in a column is: a mistake, or absent, as null."),
    ] = "refuse",
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Go on with what is added to the folder."),
    ] = False,
    until_idle: Annotated[
        bool,
        typer.Option(
            "--until-idle", help="A stream that ends when it has seen all there is."
        ),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(
            help="Where Spark runs: local[*,4], this machine with all its cores; or "
            "spark://…, yarn, k8s://…, or sc://… for Spark Connect.  If not given, "
            "little is matched without Spark, and much on this machine.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object.")
    ] = False,
) -> None:
    """Find out who wants which rows of a table, or of a stream, with Spark if need be.

    Columns are attributes, and null means absent; lines of JSON are notifications in
    their JSON form.  What comes out is the key, or all columns of the notification, and
    the subscriber.  A stream writes every delivery once, also when it is stopped and
    started again: what it has seen is in the output folder, under _checkpoint.

    Little (64 MB of text, 16 MB of parquet) is matched at once, without Java; the
    Python packages of Spark, the extra spark, are needed all the same.

    \b
    Examples:
      siena match subscriptions.csv flights.parquet
      siena match flights.siena flights/ --key flight --output deliveries
      siena match subscriptions.csv incoming/ --stream --output delivered
      siena match selectors.csv flights.parquet --dialect sql
      siena match subscriptions.csv trail.ndjson --nested --many detail.tags
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    if answer not in ANSWERS:
        raise SienaError(
            f"{answer!r} is no answer", hint=f"one of {', '.join(ANSWERS)}"
        )
    if (stream or until_idle) and output is None:
        raise SienaError("a stream needs --output")
    from siena.spark.files import format_of

    format_of(notifications)  # before Spark starts: it may be misspelt
    _free(output, overwrite=overwrite, goes_on=stream or until_idle)
    job = MatchJob(
        notifications,
        key,
        column,
        output,
        answer,
        nan,
        nested=checked_nested(nested),
        set_aside=set_aside,
    )
    job.compile(subscriptions, dialect, frozenset(many or ()))
    if master is None and not (stream or until_idle) and job.run_here():
        if as_json:
            print(json.dumps(asdict(job.summary)))
        else:
            job.tell()
        return
    job.check()
    master = master or LOCAL
    start = perf_counter()
    with session(master) as spark:
        job.summary.start_s = perf_counter() - start
        start = perf_counter()
        if stream or until_idle:
            job.follow(spark, until_idle=until_idle)
        else:
            job.run(spark, is_local=master.startswith("local["))
        job.summary.match_s = perf_counter() - start
        if as_json:
            print(json.dumps(asdict(job.summary)))
        else:
            job.tell()


def _free(output: Path | None, *, overwrite: bool, goes_on: bool) -> None:
    """Make sure that nothing is mixed with what was there."""
    if output is None or goes_on or not output.exists():
        return
    if not overwrite:
        raise SienaError(f"{output} is there already", hint="--overwrite replaces it")
    if output.is_dir():
        shutil.rmtree(output)
    else:
        raise SienaError(f"{output} is not a folder")
