"""``siena rules backtest``: what rules would have said of history."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

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
    say_aside,
)
from siena.cli.terminal.completion import PERIODS, one_of
from siena.errors import SienaError
from siena.rules.events import checked_nested

if TYPE_CHECKING:
    from siena.spark.rules import RulesBacktest

RULES_SHOWN = 20


def rules_backtest(
    rules: RulesPath,
    history: Events,
    *,
    against: Annotated[
        Path | None,
        typer.Option(
            metavar="RULES",
            help="The rules as they are now: say what the change adds and removes.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="The column of timestamps to count by.", show_default=False),
    ] = None,
    every: Annotated[
        str,
        typer.Option(
            help="The length of a period: hour, day, week or month.",
            autocompletion=one_of(*PERIODS),
        ),
    ] = "day",
    by: Annotated[
        list[str] | None,
        typer.Option(
            help="A column that says whose an event is: names the top offenders.",
            show_default=False,
        ),
    ] = None,
    column: Column = None,
    nested: NestedOption = None,
    dialect: Dialect = "siena",
    many: ManyOption = None,
    logsource: LogsourceOption = "attributes",
    rename: FieldsOption = None,
    pipeline: PipelineOption = None,
    master: Master = LOCAL,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all of it as one JSON object.")
    ] = False,
) -> None:
    """Say what rules would have said of history, before they are in force.

    Alerts per rule and period, who made them fire, and with --against what a change of
    the rules would add and remove, with examples.

    \b
    Examples:
      siena rules backtest rules.csv events.parquet --time at --by host
      siena rules backtest new.csv events.parquet --against rules.csv
      siena rules backtest sigma/ events.ndjson --logsource windows --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    from siena.spark.batch.backtesting import Period
    from siena.spark.files import format_of, read_notifications
    from siena.spark.rules import backtest

    if every not in get_args(Period):
        raise SienaError(f"{every!r} is no period", hint="hour, day, week or month")
    format_of(history)  # before Spark starts: it may be misspelt
    way = checked_nested(nested)
    settings = settings_of(many, logsource, rename, pipeline)
    wanted = live_rules(rules) or rules
    before = None if against is None else live_rules(against) or against
    with session(master) as spark, shown_progress(spark, "counting"):
        rows, whole = read_notifications(spark, history, column=column)
        found = backtest(
            rows,
            wanted,
            time=time,
            every=cast("Period", every),
            by=by or (),
            against=before,
            column=whole,
            nested=way,
            settings=settings,
            dialect=dialect,
        )
    if as_json:
        print(found.to_json())
        return
    say_aside(found.set_aside)
    _show(found)


def _show(found: "RulesBacktest") -> None:
    print(
        f"{found.alerts:,} alerts of {len(found.rules):,} rules on {found.events:,} "
        f"events; {found.bad:,} events cannot be read"
    )
    for rule in found.rules[:RULES_SHOWN]:
        about = f"  ({rule.severity})" if rule.severity else ""
        print(f"  {rule.alerts:>9,}  {rule.rule}{about}")
        for one in found.offenders:
            if one.rule == rule.rule:
                whose = ", ".join(f"{name} = {value}" for name, value in one.of.items())
                print(f"  {one.alerts:>9,}    {whose}")
    if len(found.rules) > RULES_SHOWN:
        print(f"  and {len(found.rules) - RULES_SHOWN:,} more rules; --json has all")
    if found.periods:
        _show_periods(found)
    for change in found.changes:
        sign = "+" if change.change == "added" else "-"
        print(f"\n{sign} {change.rule}: {change.alerts:,} alerts {change.change}")
        for event in change.examples:
            shown = (f"{k} = {v}" for k, v in event.items() if v is not None)
            print(f"    {', '.join(shown)}")
    if found.uncompared:
        names = ", ".join(found.uncompared)
        print(f"\nnot compared, being about several events: {names}")


def _show_periods(found: "RulesBacktest") -> None:
    print(f"\nby {found.every}; --json has it by rule:")
    counts: dict[str, int] = {}
    for period in found.periods:
        start = f"{period.start:%Y-%m-%d %H:%M}"
        counts[start] = counts.get(start, 0) + period.alerts
    for start, count in list(counts.items())[-RULES_SHOWN:]:
        print(f"  {start}  {count:>9,}")
