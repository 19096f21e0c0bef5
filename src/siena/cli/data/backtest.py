"""``siena backtest``: what would I have got?"""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from siena.cli.common.spark_jobs import (
    LOCAL,
    Master,
    require_spark,
    session,
    shown_progress,
)
from siena.cli.terminal.completion import PERIODS, one_of
from siena.errors import SienaError

if TYPE_CHECKING:
    from siena.spark.batch.backtesting import Backtest

# Characters of the longest bar.
BAR = 40
# Periods that are shown in the terminal; --json has them all.
PERIODS_SHOWN = 40
FULL, EMPTY = "█", "·"


def backtest(
    interest: Annotated[
        str, typer.Argument(help="A filter, or a pattern: F1 then F2 then F3.")
    ],
    history: Annotated[
        Path,
        typer.Argument(
            help="Parquet, CSV, JSON lines, ORC or Delta: a file, or a folder of files."
        ),
    ],
    *,
    time: Annotated[
        str | None,
        typer.Option(
            help="The column of timestamps by which to count; a pattern needs it.",
            show_default=False,
        ),
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
            help="A column whose values have searches of their own (patterns).",
            show_default=False,
        ),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            help="Seconds from the first step of a pattern to the last.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="The one column that is the whole notification.", show_default=False
        ),
    ] = None,
    nan: Annotated[
        Literal["refuse", "absent"],
        typer.Option(
            help="What NaN in a column is: a mistake, for which its row counts for "
            "nothing; or absent, as null."
        ),
    ] = "refuse",
    sample: Annotated[int, typer.Option(min=0, help="How many to show.")] = 3,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw it: a file that ends in .png, .svg or .pdf.", show_default=False
        ),
    ] = None,
    master: Master = LOCAL,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Say how much of history an interest would have got, before you subscribe.

    How many notifications, when, a sample, and which of the constraints lets the fewest
    through.  For a pattern, how many sequences, and how often each step was there.

    \b
    Examples:
      siena backtest 'carrier = UA and dep_delay > 30' flights.parquet
      siena backtest 'dest = DEN' flights.parquet --time time_hour --plot den.png
      siena backtest 'dep_delay > 60 then arr_delay < 0' flights.parquet \\
          --time time_hour --by tailnum --within 86400 --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    from siena.lang.parser import parse_interest
    from siena.spark.batch.backtesting import Period, backtest as test
    from siena.spark.files import format_of, read_notifications

    if every not in get_args(Period):
        raise SienaError(f"{every!r} is no period", hint="hour, day, week or month")
    # Before Spark starts: both may be misspelt.
    wanted = parse_interest(interest)
    format_of(history)
    options: dict[str, Any] = {"time": time, "every": every, "nan": nan}
    if by:
        options["by"] = by
    if within is not None:
        options["within"] = timedelta(seconds=within)
    with session(master) as spark, shown_progress(spark, "counting"):
        rows, whole = read_notifications(spark, history, column=column)
        found = test(wanted, rows, column=whole, sample=sample, **options)
    if plot is not None:
        found.plot(plot)
    if as_json:
        print(found.to_json())
    else:
        _show(found)


def _show(found: "Backtest") -> None:
    share = found.matched / max(found.rows, 1)
    print(f"{found.interest}")
    if found.is_pattern:
        print(f"{found.matched:,} sequences in {found.rows:,} notifications")
    else:
        print(f"{found.matched:,} of {found.rows:,} notifications ({share:.2%})")
    for title, parts in (("steps", found.steps), ("constraints", found.constraints)):
        if parts:
            print(f"\n{title}, each alone:")
        for part in parts:
            mark = "  the selective one" if part == found.selective else ""
            print(f"  {part.matched:>12,}  {part.text}{mark}")
    _show_periods(found)
    if found.sample:
        print("\nfor example:")
        for row in found.sample:
            shown = (f"{k} = {v}" for k, v in row.items() if v is not None)
            print(f"  {', '.join(shown)}")


def _show_periods(found: "Backtest") -> None:
    periods = found.periods[-PERIODS_SHOWN:]
    if not periods:
        return
    left_out = len(found.periods) - len(periods)
    note = f" (the last {len(periods)} of {len(found.periods)})" if left_out else ""
    print(f"\nwhen{note}:")
    most = max(1, *(period.matched for period in periods))
    for period in periods:
        bar = FULL * round(BAR * period.matched / most) or EMPTY
        print(f"  {period.start:%Y-%m-%d %H:%M}  {period.matched:>9,}  {bar}")
