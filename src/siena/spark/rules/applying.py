"""Rules applied to events: DataFrame in, alerts out, of tables and of streams.

Where nothing is remembered from event to event this is one ``mapInArrow``, without a
shuffle.  Correlations and suppression need a second stage, by key: sorted rows of a
table, or the state of a stream.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, functions as F, types as T
from pyspark.sql.pandas.types import from_arrow_schema

from siena.errors import SienaError
from siena.model import Kind
from siena.rules.events import Nested
from siena.rules.reading import RuleSettings
from siena.spark.batch.attributes import column_of
from siena.spark.batch.compiling import OnError
from siena.spark.batch.matching import Plan, plan_for
from siena.spark.batch.shipping import ship
from siena.spark.batch.spreading import spread
from siena.spark.hints import TIME_COLUMN, TIME_OF_RULES
from siena.spark.rules.alerting import (
    ALERT,
    ERROR,
    FORGOTTEN,
    KEY,
    REVISION,
    RULE,
    SEVERITY,
    SIGNAL,
    SUPPRESSED,
    TIME,
    VERSION,
    AlertTask,
    InForce,
    Remembering,
)
from siena.spark.rules.compiled import CompiledRules, LoadedRules, compile_rules
from siena.spark.rules.live import Fixed, LiveRules, Newest
from siena.spark.rules.remembering import (
    Memory,
    forgotten_row,
    keys_of,
    passed_rows,
)
from siena.spark.rules.sources import RuleSource
from siena.spark.streams.patterns import instant
from siena.spark.streams.searching import match_order
from siena.spark.streams.shards import (
    SHARDED,
    SHARDS,
    ShardTask,
    as_answer,
    cut_into_shards,
    over_shards,
)

Rules = RuleSource | CompiledRules | LiveRules
# How far the events of a stream may be ahead of the clock of this machine, to be
# remembered: clocks differ, and some are hours off.
AHEAD_MAX = timedelta(days=1)
MICROSECOND = timedelta(microseconds=1)


class Suppression(NamedTuple):
    """After an alert, those of the same rule and the same values of ``by`` wait.

    For so long as ``span`` says they are held back, and the next one that goes on says
    in ``suppressed`` how many they were.  An alert in which a column of ``by`` is null
    goes on; that of a correlation has its group instead of ``by``.
    """

    by: tuple[str, ...]
    span: timedelta


def apply(  # noqa: PLR0913 -- all but two have a default
    events: DataFrame,
    rules: Rules,
    *,
    key: str | Sequence[str] | None = None,
    column: str | None = None,
    nested: Nested | None = None,
    time: str | None = None,
    suppress: Suppression | None = None,
    why: bool = True,
    settings: RuleSettings | None = None,
    dialect: str = "siena",
    on_error: OnError = "set_aside",
) -> DataFrame:
    """The alerts of rules on events, of a table or a stream.

    Args:
        events: a row each, as :func:`siena.spark.match` has notifications.
        rules: a table of rules (a DataFrame, or the path of a file or folder), what
            :func:`compile_rules` made of one, or :class:`LiveRules`, of which a stream
            applies the newest revision to each micro-batch.
        key: the columns of the event that are wanted in an alert; all if not given.
        column: the one column that is the whole event: JSON, a map, a variant.
        nested: what that JSON is, if it has objects in objects: attributes by their
            ``path``, with several values where there are arrays, or an event of
            ``windows``.  Rows are then read one by one.
        time: the column that says when an event was, a timestamp or an integer of
            microseconds; rules about several events, and suppression, need it.
        suppress: which alerts are held back.
        why: whether alerts say which constraints held, and of which values.
        settings: how rules are read: log sources and fields of Sigma's.
        dialect: that of rules which name none.
        on_error: ``set_aside``: bad rules are in ``CompiledRules.rejects``, and an
            event that cannot be read is a row without a rule, whose ``error`` is not
            null; or ``raise``.

    Returns:
        The columns of the key, and ``rule``, ``version``, ``severity``, ``why`` (an
        array of ``attribute``, ``constraint`` and ``value``), ``revision`` (of live
        rules) and ``error``; with ``time``, also ``suppressed`` and ``forgotten``,
        which is null but in a row without a rule, where a stream had no room for all
        that it should remember: how many windows it has let go.

    Raises:
        SienaError: if a column is missing, or there are no rules.
    """
    if suppress is not None and time is None:
        raise SienaError("suppression needs a time", hint=TIME_COLUMN.program)
    in_force, loaded, many = _in_force(events, rules, settings, dialect, on_error)
    if loaded is not None and loaded.conditions and time is None:
        raise SienaError(
            f'the rule "{loaded.conditions[0].id}" is about several events',
            hint=TIME_OF_RULES.program,
        )
    wanted = _names(key, events.columns)
    _require_free(wanted, is_timed=time is not None)
    remembering = added = None
    needed = list(wanted)
    if time is not None:
        added = TIME
        events = events.withColumn(TIME, instant(events.schema, time))
        by = suppress.by if suppress is not None else ()
        needed = list(dict.fromkeys([*wanted, *by, TIME]))
        remembering = Remembering(
            needed.index(TIME),
            tuple(needed.index(name) for name in by),
            suppress and suppress.span // MICROSECOND,
            AHEAD_MAX // MICROSECOND if events.isStreaming else None,
        )
    # What we have added is not to be found by rules that look everywhere.
    asked = asked_of(loaded)
    plan = plan_for(
        events,
        asked,
        key=needed,
        column=column,
        nested=nested,
        many=many,
        added=added,
    )
    task = AlertTask(in_force, plan.layout, on_error, why, remembering)
    applied = _Applied(events, plan, task, wanted, needed)
    return applied.alerts() if remembering is None else applied.remembered()


def alerts(applied: DataFrame) -> DataFrame:
    """What rules have said of what :func:`apply` gives."""
    return applied.where(F.col(RULE).isNotNull()).drop(ERROR, FORGOTTEN)


def bad_events(applied: DataFrame) -> DataFrame:
    """The events that could not be read, of what :func:`apply` gives."""
    said = [field.name for field in ALERT if field.name != ERROR]
    return applied.where(F.col(ERROR).isNotNull()).drop(*said, SUPPRESSED, FORGOTTEN)


def metrics(applied: DataFrame) -> DataFrame:
    """How often each rule has fired, of what :func:`apply` gives, or has written.

    The columns are ``rule``, ``version``, ``severity``, ``revision``, ``alerts``,
    ``suppressed`` (how many were held back, as far as alerts have said it),
    ``bad_events`` and ``forgotten``, which are those of the row without a rule.
    """
    held, forgotten = (
        F.coalesce(F.sum(name) if name in applied.columns else F.lit(0), F.lit(0))
        for name in (SUPPRESSED, FORGOTTEN)
    )
    return applied.groupBy(RULE, VERSION, SEVERITY, REVISION).agg(
        F.count(RULE).alias("alerts"),
        held.cast("long").alias(SUPPRESSED),
        F.count(ERROR).alias("bad_events"),
        forgotten.cast("long").alias(FORGOTTEN),
    )


def _in_force(
    events: DataFrame,
    rules: Rules,
    settings: RuleSettings | None,
    dialect: str,
    on_error: OnError,
) -> tuple[InForce, LoadedRules | None, frozenset[str]]:
    """What tasks are given, the rules if they are known, and what is multi-valued."""
    revision = None
    if isinstance(rules, LiveRules):
        if events.isStreaming:
            # Or an error, now and not in the stream.
            _, compiled = rules.current()
            return Newest(os.fspath(rules.folder)), None, compiled.loaded.many
        revision, compiled = rules.current()
    else:
        compiled = compile_rules(
            rules, settings=settings, dialect=dialect, on_error=on_error
        )
    name = ship(events.sparkSession, compiled.file)
    return Fixed(name, revision), compiled.loaded, compiled.loaded.many


def asked_of(loaded: LoadedRules | None) -> Mapping[str, frozenset[Kind]] | None:
    """The attributes that rules look at; none if that may be any."""
    if loaded is None or loaded.names is None:
        return None
    return {**dict.fromkeys(loaded.names, frozenset()), **loaded.table.compared()}


def _names(names: str | Sequence[str] | None, default: list[str]) -> list[str]:
    if names is None:
        return default
    return [names] if isinstance(names, str) else list(names)


def _require_free(names: list[str], *, is_timed: bool) -> None:
    ours = {field.name for field in ALERT}
    ours |= {SUPPRESSED, FORGOTTEN} if is_timed else set()
    taken = ours.intersection(names)
    if taken:
        raise SienaError(
            f"the events have a column {min(taken)!r} already",
            hint="rename it, or name the key columns",
        )


class _Applied(NamedTuple):
    """Events, and what is to be done with them."""

    events: DataFrame
    plan: Plan
    task: AlertTask
    wanted: list[str]
    needed: list[str]

    def _mapped(self, task: Any, schema: T.StructType) -> DataFrame:  # noqa: ANN401
        rows = spread(self.events.select(*self.plan.columns), self.events)
        return rows.mapInArrow(task, schema)

    def alerts(self) -> DataFrame:
        """Where nothing is remembered."""
        found = self._mapped(self.task, self._inner(ALERT))
        return found.select(*self._outer(), *ALERT.names)

    def remembered(self) -> DataFrame:
        """Where windows are counted, or alerts suppressed."""
        inner = self._inner(pa.schema([*ALERT, *SIGNAL]))
        names = [f"p{i}" for i in range(len(self.needed))]
        time = names[self.needed.index(TIME)]
        kept = [*(names[self.needed.index(n)] for n in self.wanted), *ALERT.names]
        added = [T.StructField(name, T.LongType()) for name in (SUPPRESSED, FORGOTTEN)]
        answer = T.StructType([*(inner[name] for name in kept), *added])
        order = tuple(
            name
            for name, field in zip(names, self.plan.payload, strict=True)
            if not isinstance(field.dataType, T.MapType | T.VariantType | T.NullType)
        )
        stage = _Stage(time, (time, *order), tuple(kept), answer)
        if self.events.isStreaming:
            sharded = self._mapped(_Pack(self.task), SHARDED)
            found = over_shards(sharded, _StreamMemory(stage), answer)
        else:
            rows = self._mapped(self.task, inner)
            by = [F.col(KEY), *(F.col(name) for name in (time, *order))]
            ordered = rows.repartition(F.col(KEY)).sortWithinPartitions(*by)
            found = ordered.mapInArrow(_TableMemory(stage), answer)
        shown = [
            column_of((names[self.needed.index(n)],)).alias(n) for n in self.wanted
        ]
        return found.select(*shown, *ALERT.names, SUPPRESSED, FORGOTTEN)

    def _inner(self, added: pa.Schema) -> T.StructType:
        kept = [
            T.StructField(f"p{i}", field.dataType)
            for i, field in enumerate(self.plan.payload)
        ]
        return T.StructType([*kept, *from_arrow_schema(added)])

    def _outer(self) -> list[Any]:
        return [
            column_of((f"p{i}",)).alias(field.name, metadata=field.metadata or {})
            for i, field in enumerate(self.plan.payload)
        ]


class _Stage(NamedTuple):
    """What the second stage needs to know."""

    time: str  # the column of times
    order: tuple[str, ...]
    kept: tuple[str, ...]
    answer: T.StructType

    def passed(
        self, memory: Memory, rows: pa.Table, order: pa.Array | None
    ) -> pa.Table:
        """The rows that are alerts."""
        timed = rows.append_column(TIME, rows[self.time])
        return passed_rows(rows, memory.pass_on(timed, order), list(self.kept))


@dataclass(frozen=True)
class _TableMemory:
    """The second stage over sorted rows, in which those of one key stand together."""

    stage: _Stage

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        memory = Memory()
        for batch in batches:
            rows = pa.Table.from_batches([batch])
            found = self.stage.passed(memory, rows, None)
            yield from as_answer(found, self.stage.answer)
            if rows.num_rows:
                memory.forget_but(rows[KEY][-1].as_py())


@dataclass(frozen=True)
class _Pack:
    """The rows of each shard in one piece: Spark moves few rows, and large ones."""

    task: AlertTask

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self.task(batches):
            rows = pa.Table.from_batches([batch])
            shards = [
                (place if key is None else crc32(key.encode())) % SHARDS
                for place, key in enumerate(keys_of(rows))
            ]
            yield cut_into_shards(rows, np.array(shards, np.int64))


class _StreamMemory(ShardTask):
    """The second stage of a stream."""

    def __init__(self, stage: _Stage) -> None:
        super().__init__("memory")
        self._stage = stage

    def advance(self, memory: bytes | None, rows: pa.Table) -> tuple[pa.Table, bytes]:
        remembered = Memory() if memory is None else Memory.load(memory)
        order = match_order(rows, self._stage.order)
        found = self._stage.passed(remembered, rows, order)
        state = remembered.save()
        if remembered.forgotten:
            notice = forgotten_row(rows, list(self._stage.kept), remembered.forgotten)
            found = pa.concat_tables([found, notice])
        return found, state
