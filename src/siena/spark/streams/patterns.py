"""Patterns over tables and streams: sequences of notifications, greedily found.

The meaning is that of :class:`siena.matching.pattern.PatternMatcher`, for each pattern
and, with ``by``, for each value of some columns.  Notifications are offered in *match
order*: in a table that of ``order``, in a stream the same inside each micro-batch, and
micro-batches one after the other.  So a late notification of a stream is offered late,
and is ignored if it was generated before the last one that was accepted.

Reference:
    A.6.1 of our specification.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, functions as F, types as T

from siena.errors import SienaError
from siena.spark.batch.attributes import column_of
from siena.spark.batch.compiling import OnError
from siena.spark.batch.matching import Plan, answer_type, plan_for
from siena.spark.batch.shipping import ship
from siena.spark.streams.searching import (
    PATTERN,
    STEPS,
    TIME,
    Columns,
    Searches,
    grouped,
)
from siena.spark.streams.shards import SHARDED, ShardTask, as_answer, over_shards
from siena.spark.streams.steps import (
    CompiledPatterns,
    PackTask,
    StepsTask,
    compile_patterns,
)

HASH = "siena_hash"


def match_patterns(  # noqa: PLR0913 -- all but two have a default
    notifications: DataFrame,
    patterns: DataFrame | CompiledPatterns,
    *,
    time: str,
    key: str | Sequence[str] | None = None,
    by: str | Sequence[str] = (),
    within: timedelta | int | None = None,
    order: str | Sequence[str] | None = None,
    column: str | None = None,
    on_error: OnError = "raise",
) -> DataFrame:
    """The sequences of notifications that match patterns.

    Args:
        notifications: a row each, as :func:`~siena.spark.batch.matching.match` has it.
        patterns: a DataFrame with the columns ``subscriber`` and ``pattern``.
        time: the column that says when a notification was generated, a timestamp or an
            integer; each step must be later than the one before, strictly.
        key: the columns that are wanted of the notifications; all if not given.
        by: columns whose values have searches of their own.  A notification in which
            one of them is null belongs to no search.
        within: how much later than the first step the last may be.
        order: the columns of the match order; if not given, the time and then the key.
        column: the one column that is the whole notification, as in ``match``.
        on_error: as in ``match``.

    Returns:
        ``subscriber``, ``pattern`` (its number, from 0), the columns ``by``, and
        ``matched``, an array of the notifications, a struct each.

    Raises:
        SienaError: if a pattern is bad, or a column is missing or of another type.
    """
    compiled = (
        patterns
        if isinstance(patterns, CompiledPatterns)
        else compile_patterns(patterns, on_error=on_error)
    )
    schema = notifications.schema
    wanted = _names(key, schema.names)
    plan = Columns(
        by=_names(by, []),
        order=_names(order, [time, *(n for n in wanted if _is_sortable(schema, n))]),
        kept=tuple(wanted),
        within=_within(within, schema, time),
        lengths=compiled.lengths,
        marks=compiled.marks,
    )
    matched = T.ArrayType(T.StructType([schema[name] for name in plan.kept]))
    answer = T.StructType(
        [
            T.StructField(PATTERN, T.LongType()),
            *(schema[name] for name in plan.by),
            T.StructField("matched", matched),
        ]
    )
    needed = list(dict.fromkeys([*wanted, *plan.by, *plan.order, TIME]))
    over = _over_stream if notifications.isStreaming else _over_table
    timed = notifications.withColumn(TIME, instant(schema, time))
    steps = _Steps(timed, compiled, needed, column, on_error)
    return _named(over(steps, plan, answer), plan, compiled)


def _names(names: str | Sequence[str] | None, default: list[str]) -> tuple[str, ...]:
    if names is None:
        return tuple(default)
    return (names,) if isinstance(names, str) else tuple(names) or tuple(default)


def _is_sortable(schema: T.StructType, name: str) -> bool:
    unsortable = (T.MapType, T.VariantType, T.NullType)
    return not isinstance(schema[name].dataType, unsortable)


def _within(
    within: timedelta | int | None, schema: T.StructType, time: str
) -> int | None:
    is_integer = isinstance(_time_type(schema, time), T.IntegralType)
    if within is None:
        return None
    if isinstance(within, timedelta) == is_integer:
        wanted = "an integer" if is_integer else "a timedelta"
        raise SienaError(f"within is {wanted}, as the column {time!r} is")
    if isinstance(within, timedelta):
        return within // timedelta(microseconds=1)
    return within


def _time_type(schema: T.StructType, time: str) -> T.DataType:
    if time not in schema.names:
        raise SienaError(f"the notifications have no column {time!r}")
    kind = schema[time].dataType
    if not isinstance(kind, T.IntegralType | T.TimestampType | T.TimestampNTZType):
        raise SienaError(
            f"the column {time!r} is {kind.simpleString()}, and no time",
            hint="a timestamp or an integer is",
        )
    return kind


def instant(schema: T.StructType, time: str) -> Column:
    """The time as an integer, in microseconds if it is a timestamp."""
    column = column_of((time,))
    match _time_type(schema, time):
        case T.TimestampType():
            return F.unix_micros(column)
        case T.TimestampNTZType():
            epoch = F.expr("timestamp_ntz'1970-01-01 00:00:00'")
            return F.timestamp_diff("MICROSECOND", epoch, column)
        case _:
            return column.cast("long")


class _Steps(NamedTuple):
    """The notifications that are a step of something, before it is said how."""

    notifications: DataFrame
    compiled: CompiledPatterns
    needed: list[str]
    column: str | None
    on_error: OnError

    def planned(self, needed: list[str]) -> tuple[Plan, StepsTask]:
        """What goes to the workers, and what they do."""
        asked = self.compiled.steps.table.compared()
        plan = plan_for(self.notifications, asked, key=needed, column=self.column)
        table = ship(self.notifications.sparkSession, self.compiled.steps)
        return plan, StepsTask(table, plan.layout, self.on_error)

    def as_rows(self) -> DataFrame:
        """A row for each notification and pattern of which it is a step."""
        plan, task = self.planned(self.needed)
        inner = [T.StructField(f"p{i}", f.dataType) for i, f in enumerate(plan.payload)]
        added = [
            T.StructField(PATTERN, T.LongType()),
            T.StructField(STEPS, T.LongType()),
        ]
        found = self.notifications.select(*plan.columns).mapInArrow(
            task, T.StructType([*inner, *added])
        )
        outer = [
            column_of((f"p{i}",)).alias(field.name)
            for i, field in enumerate(plan.payload)
        ]
        return found.select(*outer, PATTERN, STEPS)

    def as_shards(self, by: tuple[str, ...]) -> DataFrame:
        """The same rows, those of a shard in one piece."""
        hashed = F.hash(*(column_of((name,)) for name in by)) if by else F.lit(0)
        steps = self._replace(notifications=self.notifications.withColumn(HASH, hashed))
        plan, task = steps.planned([*self.needed, HASH])
        pack = PackTask(task, tuple(plan.payload.names), self.compiled.marks)
        return steps.notifications.select(*plan.columns).mapInArrow(pack, SHARDED)


def _named(found: DataFrame, plan: Columns, compiled: CompiledPatterns) -> DataFrame:
    """With the subscribers instead of numbers that only we know."""
    kind = answer_type(compiled.subscribers)
    names = F.lit(list(compiled.subscribers.to_pylist())).cast(T.ArrayType(kind))
    return found.select(
        F.get(names, F.col(PATTERN).cast("int")).alias("subscriber"),
        F.col(PATTERN).alias("pattern"),
        *(column_of((name,)) for name in plan.by),
        "matched",
    )


# --- Tables -------------------------------------------------------------------------


def _over_table(steps: _Steps, plan: Columns, answer: T.StructType) -> DataFrame:
    by = [column_of((name,)) for name in (PATTERN, *plan.by)]
    order = [column_of((name,)) for name in plan.order]
    rows = steps.as_rows().repartition(*by).sortWithinPartitions(*by, *order)
    return rows.mapInArrow(_TableTask(plan, answer), answer)


@dataclass(frozen=True)
class _TableTask:
    """Searches in sorted rows, in which those of one search stand together."""

    plan: Columns
    answer: T.StructType

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        searches = Searches(self.plan)
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            yield from as_answer(searches.offer(rows, is_sorted=True), self.answer)
            if rows.num_rows:
                names = (PATTERN, *self.plan.by)
                last = rows.slice(rows.num_rows - 1)
                searches.forget_but(tuple(grouped(last[name])[0] for name in names))
                searches.compact()


# --- Streams ------------------------------------------------------------------------


def _over_stream(steps: _Steps, plan: Columns, answer: T.StructType) -> DataFrame:
    return over_shards(steps.as_shards(plan.by), _StreamTask(plan), answer)


class _StreamTask(ShardTask):
    """Searches of one shard, of which those that have begun are remembered."""

    def __init__(self, plan: Columns) -> None:
        super().__init__("searches")
        self._plan = plan

    def advance(self, memory: bytes | None, rows: pa.Table) -> tuple[pa.Table, bytes]:
        plan = self._plan
        searches = Searches(plan) if memory is None else Searches.load(plan, memory)
        return searches.offer(rows, is_sorted=False), searches.save()
