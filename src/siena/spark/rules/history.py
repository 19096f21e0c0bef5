"""Rules tried on history: what they would have said, when, and of whom.

And what a change of the rules would add or remove, event by event, with examples.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Row, Window as Over, functions as F, types as T
from pyspark.sql.pandas.types import from_arrow_schema

from siena.errors import LimitError
from siena.rules.entry import SetAside
from siena.rules.events import Nested
from siena.rules.reading import RuleSettings
from siena.spark.batch.attributes import column_of
from siena.spark.batch.backtesting import Period, period_of, utc
from siena.spark.batch.matching import plan_for
from siena.spark.batch.shipping import ship
from siena.spark.rules.alerting import (
    ERROR,
    RULE,
    SEVERITY,
    VERSION,
    AlertTask,
    Fired,
    fired,
)
from siena.spark.rules.applying import Rules, apply, asked_of
from siena.spark.rules.compiled import CompiledRules, compile_rules
from siena.spark.rules.live import Fixed, LiveRules

# Rows that come to the driver: counts of rules and periods, offenders, examples.
ROWS_MAX = 1_000_000
CHANGE, COUNT, PERIOD = "siena_change", "siena_count", "siena_period"
_CHANGED = pa.schema([pa.field(RULE, pa.string()), pa.field(CHANGE, pa.string())])


@dataclass(frozen=True)
class RuleCount:
    """How often a rule would have fired."""

    rule: str
    version: str
    severity: str
    alerts: int


@dataclass(frozen=True)
class PeriodCount:
    """How often a rule would have fired in a period."""

    rule: str
    start: datetime
    alerts: int


@dataclass(frozen=True)
class Offender:
    """Whose events made a rule fire, and how often."""

    rule: str
    of: dict[str, Any]
    alerts: int


@dataclass(frozen=True)
class Change:
    """What a change of a rule would add, or remove, with some of the events."""

    rule: str
    change: str  # added or removed
    alerts: int
    examples: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class RulesBacktest:
    """What rules would have said of history."""

    events: int
    bad: int  # events that cannot be read
    rules: tuple[RuleCount, ...]  # the most frequent first; also those that never fired
    periods: tuple[PeriodCount, ...]
    offenders: tuple[Offender, ...]
    changes: tuple[Change, ...]
    # Rules about several events, of which it is not said what a change would do.
    uncompared: tuple[str, ...]
    set_aside: tuple[SetAside, ...]
    every: Period = "day"

    @property
    def alerts(self) -> int:
        """How many alerts there would have been."""
        return sum(rule.alerts for rule in self.rules)

    def to_json(self) -> str:
        """All of it, for programs."""
        return json.dumps({**asdict(self), "alerts": self.alerts}, default=str)


def backtest(  # noqa: PLR0913 -- all but two have a default
    history: DataFrame,
    rules: Rules,
    *,
    time: str | None = None,
    every: Period = "day",
    by: str | Sequence[str] = (),
    against: Rules | None = None,
    key: str | Sequence[str] | None = None,
    column: str | None = None,
    nested: Nested | None = None,
    settings: RuleSettings | None = None,
    dialect: str = "siena",
    top: int = 5,
    examples: int = 3,
) -> RulesBacktest:
    """What rules would have said of history, and what other rules would change.

    Args:
        history: events, as :func:`siena.spark.rules.apply` has them.
        rules: the rules.
        time: the column of timestamps by which to count.
        every: the length of a period, if there is a time.
        by: the columns that say whose an event is; with them, the ``top`` offenders of
            each rule are named.
        against: the rules as they are now, if ``rules`` are a change of them: for each
            id, what the change would add and remove.
        key: the columns that examples show; all if not given.
        column: the one column that is the whole event.
        nested: what that is, if it is JSON with objects in objects.
        settings: how rules are read.
        dialect: that of rules which name none.
        top: how many offenders of each rule.
        examples: how many events of each change.

    Raises:
        SienaError: if a column is missing, or there are no rules.
        LimitError: if there are more counts than a driver takes.
    """
    compiled = _compiled(rules, settings, dialect)
    who = [by] if isinstance(by, str) else list(by)
    period = None if time is None else period_of(history.schema, time, every)
    found = apply(
        history,
        compiled,
        key=list(dict.fromkeys([*who, *([] if time is None else [time])])),
        column=column,
        nested=nested,
        time=time if compiled.loaded.conditions else None,
        why=False,
    )
    if period is not None:
        found = found.withColumn(PERIOD, period)
    found = found.persist()
    try:
        totals = _counted(found, [RULE, VERSION, SEVERITY, F.isnotnull(ERROR)])
        periods = [] if time is None else _counted(found, [RULE, PERIOD])
        offenders = [] if not who else _offenders(found, who, top)
    finally:
        found.unpersist()
    changes: tuple[Change, ...] = ()
    uncompared: tuple[str, ...] = ()
    if against is not None:
        before = _compiled(against, settings, dialect)
        changes = tuple(
            _changes(history, before, compiled, key, column, nested, examples)
        )
        conditions = (*before.loaded.conditions, *compiled.loaded.conditions)
        uncompared = tuple(sorted({condition.id for condition in conditions}))
    return RulesBacktest(
        events=history.count(),
        bad=sum(row[-1] for row in totals if row[3]),
        rules=tuple(_rule_counts(compiled, totals)),
        periods=tuple(
            PeriodCount(rule, utc(start), count)
            for rule, start, count in sorted(
                periods, key=lambda r: (str(r[1]), str(r[0]))
            )
            if rule is not None and start is not None
        ),
        offenders=tuple(offenders),
        changes=changes,
        uncompared=uncompared,
        set_aside=compiled.rejects,
        every=every,
    )


def _compiled(
    rules: Rules, settings: RuleSettings | None, dialect: str
) -> CompiledRules:
    if isinstance(rules, LiveRules):
        return rules.current()[1]
    return compile_rules(rules, settings=settings, dialect=dialect)


def _few(rows: DataFrame) -> list[Row]:
    found = rows.limit(ROWS_MAX + 1).collect()
    if len(found) > ROWS_MAX:
        raise LimitError("ROWS_MAX", ROWS_MAX, "counts: choose longer periods")
    return found


def _counted(found: DataFrame, by: list[Any]) -> list[Row]:
    return _few(found.groupBy(*by).agg(F.count(F.lit(1)).alias(COUNT)))


def _rule_counts(compiled: CompiledRules, totals: list[Row]) -> Iterator[RuleCount]:
    loaded = compiled.loaded
    counts = {row[0]: row[-1] for row in totals if row[0] is not None}
    rows = [
        *zip(loaded.ids, loaded.versions, loaded.severities, strict=True),
        *((c.id, c.version, c.severity) for c in loaded.conditions),
    ]
    rows.sort(key=lambda row: (-counts.get(row[0], 0), row[0]))
    for rule, version, severity in rows:
        yield RuleCount(rule, version, severity, counts.get(rule, 0))


def _offenders(found: DataFrame, who: list[str], top: int) -> list[Offender]:
    counted = (
        found.where(F.col(RULE).isNotNull())
        .groupBy(RULE, *(column_of((name,)) for name in who))
        .agg(F.count(F.lit(1)).alias(COUNT))
    )
    order = [F.col(COUNT).desc(), *(column_of((name,)) for name in who)]
    place = F.row_number().over(Over.partitionBy(RULE).orderBy(*order))
    rows = _few(counted.withColumn(PERIOD, place).where(F.col(PERIOD) <= top))
    return [
        Offender(row[RULE], {name: row[name] for name in who}, row[COUNT])
        for row in sorted(rows, key=lambda row: (row[RULE], row[PERIOD]))
    ]


# --- What a change would do -----------------------------------------------------------


@dataclass(frozen=True)
class _ChangeTask:
    """What a task does: the rules that fire in one set and not in the other."""

    before: AlertTask
    after: AlertTask

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        (before, _), (after, _) = self.before.rules(), self.after.rules()
        for batch in batches:
            old = fired(self.before, before, batch)
            new = fired(self.after, after, batch)
            yield _changed(batch, self.before.layout.payload, old, new)


def _changed(
    batch: pa.RecordBatch, payload: int, old: Fired, new: Fired
) -> pa.RecordBatch:
    rows = [
        *((row, rule, "added") for row, rule in sorted(new - old)),
        *((row, rule, "removed") for row, rule in sorted(old - new)),
    ]
    places = pa.array([row for row, _, _ in rows], pa.int64())
    return pa.RecordBatch.from_arrays(
        [
            *(batch.column(i).take(places) for i in range(payload)),
            pa.array([rule for _, rule, _ in rows], pa.string()),
            pa.array([change for _, _, change in rows], pa.string()),
        ],
        [*batch.schema.names[:payload], *_CHANGED.names],
    )


def _changes(
    history: DataFrame,
    before: CompiledRules,
    after: CompiledRules,
    key: str | Sequence[str] | None,
    column: str | None,
    nested: Nested | None,
    examples: int,
) -> Iterator[Change]:
    old, new = asked_of(before.loaded), asked_of(after.loaded)
    asked = None if old is None or new is None else {**old, **new}
    shown = (
        history.columns if key is None else [key] if isinstance(key, str) else [*key]
    )
    many = before.loaded.many | after.loaded.many
    plan = plan_for(history, asked, key=shown, column=column, nested=nested, many=many)
    tasks = [
        AlertTask(
            Fixed(ship(history.sparkSession, rules.file)),
            plan.layout,
            "set_aside",
            is_explained=False,
        )
        for rules in (before, after)
    ]
    kept = [
        T.StructField(f"p{i}", field.dataType) for i, field in enumerate(plan.payload)
    ]
    schema = T.StructType([*kept, *from_arrow_schema(_CHANGED)])
    found = history.select(*plan.columns).mapInArrow(_ChangeTask(*tasks), schema)
    event = F.struct(*(F.col(f"p{i}").alias(name) for i, name in enumerate(shown)))
    whole = Over.partitionBy(RULE, CHANGE)
    place = F.row_number().over(whole.orderBy(F.lit(0)))
    rows = _few(
        found.select(
            RULE,
            CHANGE,
            event.alias("event"),
            F.count(F.lit(1)).over(whole).alias(COUNT),
            place.alias(PERIOD),
        ).where(F.col(PERIOD) <= max(1, examples))
    )
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(rows, key=lambda row: row[PERIOD]):
        groups.setdefault((row[RULE], row[CHANGE]), []).append(row)
    for (rule, change), some in sorted(groups.items()):
        events = tuple(row["event"].asDict(recursive=True) for row in some[:examples])
        yield Change(rule, change, some[0][COUNT], events)
