"""Patterns over tables and streams: sequences of notifications, greedily found.

The meaning is that of :class:`siena.matching.pattern.PatternMatcher`, for each pattern
and, with ``by``, for each value of some columns.  Notifications are offered in *match
order*: in a table that of ``order``, in a stream the same inside each micro-batch, and
micro-batches one after the other.  So a late notification of a stream is offered late,
and is ignored if it was generated before the last one that was accepted.

Reference:
    A.6.1 of our specification.
"""

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, functions as F, types as T
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
)

from siena.errors import LimitError, SienaError
from siena.spark.batch.attributes import column_of
from siena.spark.batch.compiling import OnError
from siena.spark.batch.matching import answer_type, plan_for
from siena.spark.batch.shipping import ship
from siena.spark.streams.sequences import Search
from siena.spark.streams.steps import (
    PATTERN,
    STEPS,
    CompiledPatterns,
    StepsTask,
    compile_patterns,
)

# Groups of a stream, each with the state of many searches in one piece: asking Spark
# for a state takes longer than reading it.
SHARDS = 32
# Searches of one shard that have begun: what a stream may remember.
SEARCHES_MAX = 1_000_000
# Rows of a batch that goes out.
ROWS_OUT_MAX = 8_192


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
        by: columns whose values have searches of their own.
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
    plan = _Plan(
        time=time,
        by=_names(by, []),
        order=_names(order, [time, *(n for n in wanted if _is_sortable(schema, n))]),
        kept=tuple(wanted),
        within=_within(within, schema, time),
    )
    needed = list(dict.fromkeys([*wanted, time, *plan.by, *plan.order]))
    steps = _steps(notifications, compiled, needed, column, on_error)
    matched = T.ArrayType(T.StructType([schema[name] for name in plan.kept]))
    answer = T.StructType(
        [
            T.StructField(PATTERN, T.LongType()),
            *(schema[name] for name in plan.by),
            T.StructField("matched", matched),
        ]
    )
    steps = steps.withColumn(TIME, _instant(schema, time))
    if notifications.isStreaming:
        found = _over_stream(steps, plan, compiled, answer)
    else:
        found = _over_table(steps, plan, compiled, answer)
    return _named(found, plan, compiled)


TIME, SHARD = "siena_time", "siena_shard"


class _Plan(NamedTuple):
    """What the searches need to know."""

    time: str
    by: tuple[str, ...]
    order: tuple[str, ...]
    kept: tuple[str, ...]
    within: int | None


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


def _instant(schema: T.StructType, time: str) -> Column:
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


def _steps(
    notifications: DataFrame,
    compiled: CompiledPatterns,
    needed: list[str],
    column: str | None,
    on_error: OnError,
) -> DataFrame:
    """The notifications that are a step of something, and of what."""
    asked = compiled.steps.table.compared()
    plan = plan_for(notifications, asked, key=needed, column=column)
    task = StepsTask(
        ship(notifications.sparkSession, compiled.steps), plan.layout, on_error
    )
    inner = [T.StructField(f"p{i}", f.dataType) for i, f in enumerate(plan.payload)]
    added = [T.StructField(PATTERN, T.LongType()), T.StructField(STEPS, T.LongType())]
    found = notifications.select(*plan.columns).mapInArrow(
        task, T.StructType([*inner, *added])
    )
    outer = [
        column_of((f"p{i}",)).alias(field.name) for i, field in enumerate(plan.payload)
    ]
    return found.select(*outer, PATTERN, STEPS)


def _named(found: DataFrame, plan: _Plan, compiled: CompiledPatterns) -> DataFrame:
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


def _over_table(
    steps: DataFrame, plan: _Plan, compiled: CompiledPatterns, answer: T.StructType
) -> DataFrame:
    groups = [PATTERN, *plan.by]
    by = [column_of((name,)) for name in groups]
    order = [column_of((name,)) for name in plan.order]
    ordered = steps.repartition(*by).sortWithinPartitions(*by, *order)
    task = _TableTask(plan, compiled.lengths, answer)
    return ordered.mapInArrow(task, answer)


@dataclass(frozen=True)
class _TableTask:
    """Searches in sorted rows, in which those of one search stand together."""

    plan: _Plan
    lengths: tuple[int, ...]
    answer: T.StructType

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        kinds = to_arrow_schema(self.answer, timezone="UTC")
        found: list[tuple[Any, ...]] = []
        current: object = None
        search: Search | None = None
        for batch in batches:
            columns = batch.to_pydict()
            groups = list(
                zip(*(columns[n] for n in (PATTERN, *self.plan.by)), strict=True)
            )
            kept = [columns[name] for name in self.plan.kept]
            for row, group in enumerate(groups):
                if search is None or group != current:
                    current = group
                    search = Search(self.lengths[group[0]], self.plan.within)
                time = columns[TIME][row]
                if time is None:
                    continue  # when it was, nobody knows
                what = tuple(column[row] for column in kept)
                sequence = search.offer(columns[STEPS][row], time, what)
                if sequence is not None:
                    found.append((*group, [w for _, w in sequence]))
            while len(found) >= ROWS_OUT_MAX:
                yield self._batch(found[:ROWS_OUT_MAX], kinds)
                del found[:ROWS_OUT_MAX]
        yield self._batch(found, kinds)

    def _batch(self, found: list[tuple[Any, ...]], kinds: pa.Schema) -> pa.RecordBatch:
        rows = [
            {
                **dict(zip((PATTERN, *self.plan.by), group, strict=True)),
                "matched": [
                    dict(zip(self.plan.kept, w, strict=True)) for w in sequence
                ],
            }
            for *group, sequence in found
        ]
        return pa.RecordBatch.from_pylist(rows, schema=kinds)


# --- Streams ------------------------------------------------------------------------


def _over_stream(
    steps: DataFrame, plan: _Plan, compiled: CompiledPatterns, answer: T.StructType
) -> DataFrame:
    groups = [column_of((name,)) for name in (PATTERN, *plan.by)]
    sharded = steps.withColumn(SHARD, F.pmod(F.hash(*groups), F.lit(SHARDS)))
    return sharded.groupBy(SHARD).transformWithState(
        statefulProcessor=_StreamTask(plan, compiled.lengths),
        outputStructType=answer,
        outputMode="Append",
        timeMode="None",
    )


class _StreamTask(StatefulProcessor):
    """Searches of one shard, whose state is one value: those that have begun."""

    def __init__(self, plan: _Plan, lengths: tuple[int, ...]) -> None:
        self._plan = plan
        self._lengths = lengths

    def init(self, handle: StatefulProcessorHandle) -> None:
        schema = T.StructType([T.StructField("searches", T.BinaryType())])
        self._state = handle.getValueState("searches", schema)

    def handleInputRows(  # noqa: N802 -- Spark's name
        self,
        key: Any,  # noqa: ANN401, ARG002 -- the shard
        rows: Iterator[Row],
        timerValues: Any,  # noqa: ANN401, ARG002, N803 -- Spark's name
    ) -> Iterator[Row]:
        plan = self._plan
        # A pickle, of a checkpoint of our own: rows may hold whatever columns hold.
        begun: dict[tuple[Any, ...], list[tuple[int, Any]]] = {}
        stored = self._state.get()
        if stored is not None:
            begun = pickle.loads(stored[0])  # noqa: S301
        for row in sorted(rows, key=lambda row: _sortable(row, plan.order)):
            if row[TIME] is None:
                continue
            group = tuple(row[name] for name in (PATTERN, *plan.by))
            search = Search(self._lengths[group[0]], plan.within, begun.get(group, []))
            what = tuple(row[name] for name in plan.kept)
            sequence = search.offer(row[STEPS], row[TIME], what)
            if search.accepted:
                begun[group] = search.accepted
            else:
                begun.pop(group, None)
            if sequence is not None:
                matched = [
                    Row(**dict(zip(plan.kept, w, strict=True))) for _, w in sequence
                ]
                names = (PATTERN, *plan.by, "matched")
                yield Row(**dict(zip(names, (*group, matched), strict=True)))
        if len(begun) > SEARCHES_MAX:
            raise LimitError("SEARCHES_MAX", SEARCHES_MAX, "searches of one shard")
        self._state.update((pickle.dumps(begun),))

    def close(self) -> None:
        pass


def _sortable(row: Row, order: tuple[str, ...]) -> tuple[tuple[bool, Any], ...]:
    """As Spark sorts: nulls first."""
    return tuple((row[name] is not None, row[name]) for name in order)
