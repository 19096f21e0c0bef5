"""``siena rules apply``: alerts, of tables and of streams, on Spark."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from siena.cli.common.spark_jobs import (
    LOCAL,
    Master,
    require_spark,
    session,
    shown_progress,
)
from siena.cli.rules.event_options import ManyOption, NestedOption
from siena.cli.rules.options import (
    FieldsOption,
    LogsourceOption,
    PipelineOption,
    settings_of,
)
from siena.cli.rules.spark_options import (
    Column,
    Dialect,
    Events,
    RulesPath,
    live_rules,
    read_suppression,
    say_aside,
)
from siena.errors import SienaError
from siena.rules.events import checked_nested

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Rules that are shown; --json has them all.
RULES_SHOWN = 20


def rules_apply(
    rules: RulesPath,
    events: Events,
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="A column that is wanted in an alert; all of them if none is named.",
            show_default=False,
        ),
    ] = None,
    column: Column = None,
    time: Annotated[
        str | None,
        typer.Option(
            help="The column of times; correlations and --suppress need it.",
            show_default=False,
        ),
    ] = None,
    suppress: Annotated[
        str | None,
        typer.Option(
            help="Hold back alerts of a rule for the same values: host,user:5m.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="A folder for alerts, as parquet; without it they are counted.",
            show_default=False,
        ),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is in the output folder.")
    ] = False,
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
    nested: NestedOption = None,
    dialect: Dialect = "siena",
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: FieldsOption = None,
    pipeline: PipelineOption = None,
    master: Master = LOCAL,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the counts as one JSON object.")
    ] = False,
) -> None:
    """Apply rules to events, and say which fire, how often, and why.

    An alert has the rule's id, version and severity, and the constraints that held with
    their values.  An event that cannot be read is a row without a rule, with the error.
    A stream applies the newest revision of siena rules publish to what comes, and
    writes every alert once, also when it is stopped and started again.

    \b
    Examples:
      siena rules apply rules.csv events.parquet --key host
      siena rules apply sigma/ events.ndjson --nested windows --logsource windows \
          --output found
      siena rules apply live incoming/ --stream --output alerts
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    from siena.spark.files import format_of, read_notifications
    from siena.spark.rules import apply, compile_rules

    is_stream = stream or until_idle
    if is_stream and output is None:
        raise SienaError("a stream needs --output")
    format_of(events)  # before Spark starts: it may be misspelt
    if not is_stream:
        _free(output, overwrite=overwrite)
    held = read_suppression(suppress)
    way = checked_nested(nested)
    settings = settings_of(many, logsource, rename, pipeline)
    wanted: Any = live_rules(rules)
    if wanted is None:
        wanted = compile_rules(rules, settings=settings, dialect=dialect)
        say_aside(wanted.rejects)
    with session(master) as spark:
        rows, whole = read_notifications(spark, events, column=column, stream=is_stream)
        found = apply(
            rows,
            wanted,
            key=key or None,
            column=whole,
            nested=way,
            time=time,
            suppress=held,
        )
        if is_stream:
            assert output is not None
            _follow(found, output, until_idle=until_idle)
            return
        if output is not None:
            with shown_progress(spark, "applying"):
                found.write.parquet(str(output))
            found = spark.read.parquet(str(output))
        counted = _counted(found)
    if as_json:
        print(json.dumps(_form(counted)))
    else:
        _show(counted, output)


# The rule, its severity, whether it is a bad event instead, and how many those are.
Counts = list[tuple[str | None, str | None, bool, int]]


def _free(output: Path | None, *, overwrite: bool) -> None:
    """Make sure that nothing is mixed with what was there."""
    if output is not None and output.exists():
        if not overwrite:
            raise SienaError(
                f"{output} is there already", hint="--overwrite replaces it"
            )
        shutil.rmtree(output)


def _form(counted: Counts) -> dict[str, Any]:
    return {
        "rules": [
            {"rule": rule, "severity": severity, "alerts": count}
            for rule, severity, _, count in counted
            if rule is not None
        ],
        "bad_events": sum(count for _, _, is_bad, count in counted if is_bad),
    }


def _show(counted: Counts, output: Path | None) -> None:
    fired = [(rule, about, n) for rule, about, _, n in counted if rule is not None]
    bad = sum(count for _, _, is_bad, count in counted if is_bad)
    total = sum(count for _, _, count in fired)
    print(f"{total:,} alerts of {len(fired):,} rules; {bad:,} events cannot be read")
    for rule, severity, count in fired[:RULES_SHOWN]:
        print(f"  {count:>9,}  {rule}" + (f"  ({severity})" if severity else ""))
    if len(fired) > RULES_SHOWN:
        print(f"  and {len(fired) - RULES_SHOWN:,} more rules")
    if output is not None:
        print(f"  as parquet in {output}")


def _counted(found: "DataFrame") -> Counts:
    is_bad = found["error"].isNotNull().alias("is_bad")
    rows = found.groupBy("rule", "severity", is_bad).count().collect()
    counted = [(r["rule"], r["severity"], r["is_bad"], r["count"]) for r in rows]
    return sorted(counted, key=lambda row: (-row[3], str(row[0])))


def _follow(found: "DataFrame", output: Path, *, until_idle: bool) -> None:
    writer = (
        found.writeStream.format("parquet")
        .option("path", str(output))
        .option("checkpointLocation", str(output / "_checkpoint"))
    )
    if until_idle:
        writer = writer.trigger(availableNow=True)
    query = writer.start()
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()
    print(f"alerts are in {output}, as parquet")
