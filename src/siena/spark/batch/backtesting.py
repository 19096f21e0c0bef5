"""What would I have got?  A filter or a pattern against history, before one subscribes.

All parts of the interest are matched in one pass: the whole, each step, and each
constraint alone, so that one sees which of them lets little through.
"""

import json
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, functions as F, types as T

from siena.errors import LimitError, SienaError
from siena.extras import how_to_get
from siena.lang.parser import parse_interest
from siena.model import Filter, Pattern, Predicate
from siena.spark.batch.asking import MismatchedKindsWarning, MissingAttributesWarning
from siena.spark.batch.attributes import column_of
from siena.spark.batch.columns import NaN, check_nan
from siena.spark.batch.compiling import compile_rows
from siena.spark.batch.matching import match
from siena.spark.hints import TIME_COLUMN
from siena.spark.streams.patterns import match_patterns

Period = Literal["hour", "day", "week", "month"]

SAMPLE = 5
# Periods that a result may have: a plot of more would show nothing.
PERIODS_MAX = 100_000
# Counts that come to the driver, one for each period and part of the interest.
COUNTS_MAX = 4_000_000

# The numbers of the subscriptions that are matched: everything, the whole interest,
# and then its parts.
_EVERYTHING, _WHOLE, _PARTS = 0, 1, 2
LONGER = "of which longer ones (every=, or --every) have fewer"


@dataclass(frozen=True)
class Part:
    """A part of the interest: how many notifications match it alone."""

    text: str
    matched: int


@dataclass(frozen=True)
class InPeriod:
    """How much there was, and how much of it would have come, in a period."""

    start: datetime
    rows: int
    matched: int


@dataclass(frozen=True)
class Backtest:
    """What an interest would have got of history."""

    interest: str
    rows: int
    matched: int  # notifications, or sequences of a pattern
    periods: tuple[InPeriod, ...]
    steps: tuple[Part, ...]  # of a pattern
    constraints: tuple[Part, ...]
    sample: tuple[dict[str, Any], ...]
    every: Period = "day"

    @property
    def is_pattern(self) -> bool:
        """Whether sequences were counted, and not notifications."""
        return bool(self.steps)

    @property
    def selective(self) -> Part | None:
        """The constraint that fewest notifications satisfy."""
        return min(self.constraints, key=lambda part: part.matched, default=None)

    def to_json(self) -> str:
        """All of it, for programs."""
        form = {**asdict(self), "selective": self.selective and asdict(self.selective)}
        return json.dumps(form, default=str)

    def outline(self) -> Iterator[tuple[datetime, int]]:
        """Where the drawing goes: up at a start, and down at an end before a gap."""
        end = None
        for period in self.periods:
            if end is not None and end < period.start:
                yield end, 0
            yield period.start, period.matched
            end = end_of(period.start, self.every)
        if end is not None:
            yield end, 0

    def plot(self, path: str | Path) -> None:
        """Draw what would have come when, as PNG, SVG or PDF.

        Raises:
            SienaError: if there are no periods, or matplotlib is not installed.
        """
        if not self.periods:
            raise SienaError("there is nothing to draw", hint=TIME_COLUMN.program)
        try:
            from matplotlib.figure import Figure  # noqa: PLC0415 -- an extra
        except ImportError:
            raise SienaError(
                "matplotlib is not installed", hint=how_to_get("plot")
            ) from None
        figure = Figure(figsize=(9, 3.5), layout="constrained")
        axes = figure.subplots()
        moments, counts = zip(*self.outline(), strict=True)
        x: Any = moments
        axes.fill_between(x, counts, step="post", alpha=0.3)
        axes.plot(x, counts, drawstyle="steps-post")
        axes.set_title(self.interest[:100], fontsize=9)
        what = "sequences" if self.is_pattern else "notifications"
        axes.set_ylabel(f"{what} per {self.every}")
        axes.set_ylim(bottom=0)
        figure.savefig(path)


def end_of(start: datetime, every: Period) -> datetime:
    """Where a period ends, and the next one begins.

    >>> print(end_of(datetime(2026, 12, 1), "month"))
    2027-01-01 00:00:00
    """
    if every == "month":
        return (start + timedelta(days=31)).replace(day=1)
    return start + timedelta(**{f"{every}s": 1})


def backtest(  # noqa: PLR0913 -- all but two have a default
    interest: str | Filter | Predicate | Pattern,
    history: DataFrame,
    *,
    time: str | None = None,
    every: Period = "day",
    key: str | Sequence[str] | None = None,
    column: str | None = None,
    nan: NaN = "refuse",
    sample: int = SAMPLE,
    **pattern_options: Any,  # noqa: ANN401 -- by, within, order
) -> Backtest:
    """How much of history an interest would have got, when, and because of what.

    Args:
        interest: a filter, a predicate or a pattern, or the text of one.
        history: notifications, as :func:`~siena.spark.batch.matching.match` has them.
        time: the column of timestamps by which to count; a pattern needs it.
        every: the length of a period, if there is a time.
        key: the columns that the sample shows; all if not given.
        column: the one column that is the whole notification, as in ``match``.
        nan: what NaN in a column of floats is: a mistake, for which its row matches
            nothing, or ``absent``, as a null.
        sample: how many notifications, or sequences, to show.
        pattern_options: ``by``, ``within`` and ``order`` of ``match_patterns``.

    Raises:
        SienaError: if the interest cannot be read, or a column is missing.
        LimitError: if there are more periods than a result may have.
    """
    wanted = parse_interest(interest) if isinstance(interest, str) else interest
    is_pattern = isinstance(wanted, Pattern) and not wanted.is_simple
    if is_pattern and time is None:
        raise SienaError("a pattern needs a time", hint=TIME_COLUMN.program)
    check_nan(nan)
    if nan == "absent":
        history = _without_nan(history)
    whole = _filter_of(wanted)
    steps = list(wanted.steps) if is_pattern and isinstance(wanted, Pattern) else []
    constraints = _constraints(whole)
    texts = [
        "[]",
        "[]" if is_pattern else str(whole),
        *map(str, [*steps, *constraints]),
    ]
    period = None if time is None else period_of(history.schema, time, every)
    counts = _counts(history, texts, period, column, nan)
    totals = {number: sum(at.values()) for number, at in counts.items()}
    parts = [
        Part(text, totals.get(number, 0))
        for number, text in enumerate(texts[_PARTS:], start=_PARTS)
    ]
    with warnings.catch_warnings():
        # What history lacks was said when the parts were counted.
        warnings.simplefilter("ignore", MissingAttributesWarning)
        warnings.simplefilter("ignore", MismatchedKindsWarning)
        if is_pattern:
            assert time is not None
            found = match_patterns(
                history,
                _one(history, "pattern", str(wanted)),
                time=time,
                key=key,
                column=column,
                on_error="set_aside",
                **pattern_options,
            )
            matched = _sequences(found, history, time, every, key)
        else:
            some = _one(history, "filter", str(whole))
            options: dict[str, Any] = {"key": key, "column": column, "nan": nan}
            found = match(history, some, on_error="set_aside", **options)
            matched = counts.get(_WHOLE, {})
    return Backtest(
        interest=str(wanted),
        rows=totals.get(_EVERYTHING, 0),
        matched=sum(matched.values()),
        periods=_periods(counts.get(_EVERYTHING, {}), matched) if time else (),
        steps=tuple(parts[: len(steps)]),
        constraints=tuple(parts[len(steps) :]),
        sample=tuple(
            row.asDict(recursive=True) for row in found.limit(sample).collect()
        ),
        every=every,
    )


def _without_nan(history: DataFrame) -> DataFrame:
    """The same rows, with nulls for NaN."""
    floats = [
        field.name
        for field in history.schema
        if isinstance(field.dataType, (T.FloatType, T.DoubleType))
    ]
    columns = {name: column_of([name]) for name in floats}
    return history.withColumns(
        {name: F.when(~F.isnan(column), column) for name, column in columns.items()}
    )


Counts = dict[datetime | None, int]


def _counts(
    history: DataFrame,
    texts: list[str],
    period: Column | None,
    column: str | None,
    nan: NaN,
) -> dict[int, Counts]:
    """Of each text, how many notifications match it in each period."""
    rows = pa.table({"subscriber": ["backtest"] * len(texts), "filter": texts})
    placed = history.withColumn(
        "siena_period", F.lit(None).cast("timestamp") if period is None else period
    )
    found = (
        match(
            placed,
            compile_rows(rows),
            key="siena_period",
            column=column,
            output="filters",
            on_error="set_aside",
            nan=nan,
        )
        .select("siena_period", F.explode("filters").alias("number"))
        .groupBy("siena_period", "number")
        .count()
    )
    counts: dict[int, Counts] = {}
    for start, number, count in _few(
        found, COUNTS_MAX, "COUNTS_MAX", "counts of parts and periods"
    ):
        counts.setdefault(number, {})[start] = count
    if len(counts.get(_EVERYTHING, ())) > PERIODS_MAX:
        raise LimitError("PERIODS_MAX", PERIODS_MAX, f"periods, {LONGER}")
    return counts


def _few(found: DataFrame, most: int, limit: str, what: str) -> list[Row]:
    """All rows, or an error if there are too many: what is cut would count wrongly."""
    rows = found.limit(most + 1).collect()
    if len(rows) > most:
        raise LimitError(limit, most, f"{what}, {LONGER}")
    return rows


def _sequences(
    found: DataFrame,
    history: DataFrame,
    time: str,
    every: Period,
    key: str | Sequence[str] | None,
) -> Counts:
    """How many sequences were complete in each period, by the time of the last step."""
    names = history.columns if key is None else [key] if isinstance(key, str) else key
    if time not in names:  # then a sequence does not say when it was
        return {None: found.count()}
    last = F.element_at("matched", -1).getField(time)
    period = _period_at(last, history.schema[time], every)
    counted = found.groupBy(period.alias("start")).count()
    rows = _few(counted, PERIODS_MAX, "PERIODS_MAX", "periods")
    return {row["start"]: row["count"] for row in rows}


def _periods(everything: Counts, matched: Counts) -> tuple[InPeriod, ...]:
    starts = sorted(start for start in everything if start is not None)
    return tuple(
        InPeriod(utc(start), everything[start], matched.get(start, 0))
        for start in starts
    )


def utc(moment: datetime) -> datetime:
    """A moment in UTC; without a zone it is one of UTC already."""
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def period_of(schema: T.StructType, time: str, every: Period) -> Column:
    """The start of the period in which a row is."""
    if time not in schema.names:
        raise SienaError(f"the history has no column {time!r}")
    return _period_at(column_of((time,)), schema[time], every)


def _period_at(column: Column, field: T.StructField, every: Period) -> Column:
    kind = field.dataType
    if not isinstance(kind, T.TimestampType | T.TimestampNTZType | T.DateType):
        raise SienaError(
            f"one cannot count by a {kind.simpleString()}, which {field.name} is",
            hint="a timestamp is wanted; timestamp_micros makes one of microseconds",
        )
    # Without a zone: a period is one of UTC, whatever the zone of the session is.
    if isinstance(kind, T.TimestampType):
        return F.date_trunc(every, F.convert_timezone(None, F.lit("UTC"), column))
    return F.date_trunc(every, column.cast(T.TimestampNTZType()))


def _filter_of(wanted: Filter | Predicate | Pattern) -> Filter | Predicate:
    if isinstance(wanted, Pattern):
        return wanted.steps[0] if wanted.is_simple else _union(wanted)
    return wanted


def _union(pattern: Pattern) -> Predicate:
    return Predicate(f for step in pattern.steps for f in step)


def _constraints(whole: Filter | Predicate) -> list[Filter]:
    """The constraints of an interest, each once and alone."""
    filters = whole.filters if isinstance(whole, Predicate) else (whole,)
    found = dict.fromkeys(c for f in filters for c in f.constraints)
    return [Filter([constraint]) for constraint in found]


def _one(history: DataFrame, what: str, text: str) -> DataFrame:
    return history.sparkSession.createDataFrame(
        [("backtest", text)], f"subscriber string, {what} string"
    )
