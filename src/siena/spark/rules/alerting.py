"""What a task does with events: which rules fire, and why.

The engine finds candidates by the rules' covering predicates; residuals decide about
those that have one.  Rows are looked at one by one only where a rule fires.

What comes out are rows in one of three roles: alerts; events that cannot be read, with
the ``error``; and, where rules are about several events, *signals*, which are counted
further on (:mod:`siena.spark.rules.remembering`).
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from siena.clock import SystemClock
from siena.errors import SienaError
from siena.model.expression import holds
from siena.model.spelling import spell
from siena.model.values import Value
from siena.spark.batch.columns import Layout, in_utc
from siena.spark.batch.compiling import OnError
from siena.spark.batch.rows import events_of
from siena.spark.batch.worker import Found, match_batch, refuse_bad
from siena.spark.hints import TIME_OF_RULES
from siena.spark.rules.compiled import LoadedRules
from siena.spark.rules.counting import Condition
from siena.spark.rules.distinct import Attributes, Event, Places, columns_of, strings_of
from siena.spark.rules.why import WHY, Held, why

RULE, VERSION, SEVERITY, REASONS = "rule", "version", "severity", "why"
REVISION, ERROR = "revision", "error"
SUPPRESSED, FORGOTTEN = "suppressed", "forgotten"
# Why an event that rules about several events select is put aside.
TIMELESS = "it has no time, and a rule about several events selects it"
AHEAD = "its time is far ahead, and a rule about several events selects it"
# What goes from a task to the one that remembers.
TIME, KEY, SPEC = "siena_time", "siena_key", "siena_spec"
BITS, VALUE = "siena_bits", "siena_value"

ALERT = pa.schema(
    [
        pa.field(RULE, pa.string()),
        pa.field(VERSION, pa.string()),
        pa.field(SEVERITY, pa.string()),
        pa.field(REASONS, WHY),
        pa.field(REVISION, pa.int64()),
        pa.field(ERROR, pa.string()),
    ]
)
SIGNAL = pa.schema(
    [
        pa.field(KEY, pa.string()),
        pa.field(SPEC, pa.string()),
        pa.field(BITS, pa.int64()),
        pa.field(VALUE, pa.string()),
    ]
)


class InForce(Protocol):
    """The rules that a task applies, and which revision they are, if they have any."""

    def __call__(self) -> tuple[LoadedRules, int | None]:
        """Called once by each task."""
        ...


class Remembering(NamedTuple):
    """What the task that remembers has to be told."""

    time: int  # the place of the time among the columns of the payload
    by: tuple[int, ...] = ()  # those of the columns by which alerts are suppressed
    suppress: int | None = None  # microseconds
    # Of a stream: how many microseconds an event may be ahead of the clock.
    ahead: int | None = None

    def latest(self) -> int:
        """The latest time that is believed, in microseconds."""
        if self.ahead is None:
            return 2**63
        return SystemClock().nanoseconds() // 1_000 + self.ahead


@dataclass(frozen=True)
class AlertTask:
    """Applies rules to batches; what Spark's ``mapInArrow`` calls, in a worker."""

    rules: InForce
    layout: Layout
    on_error: OnError
    is_explained: bool
    remembering: Remembering | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The alerts of each batch."""
        rules, revision = self.rules()
        task = self
        if self.layout.form != "wide":
            # Rules that change under a stream may declare other names.
            many = self.layout.many | rules.many
            task = replace(self, layout=replace(self.layout, many=many))
        if rules.conditions and self.remembering is None:
            raise SienaError(
                f'the rule "{rules.conditions[0].id}" is about several events',
                hint=TIME_OF_RULES.program,
            )
        for batch in batches:
            yield _Batch(task, rules, revision, batch).answer()


class _Rows:
    """Rows that go out, collected in columns."""

    def __init__(self) -> None:
        self.places: list[Places] = []
        self.columns: list[dict[str, Any]] = []

    def add(self, places: Sequence[int] | Places, **columns: Any) -> None:  # noqa: ANN401
        """Some rows of the batch, and what is said about them."""
        if len(places):
            self.places.append(np.asarray(places, np.int64))
            self.columns.append(columns)

    def batch(self, payload: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """All of them, each behind its payload."""
        places = np.concatenate([np.empty(0, np.int64), *self.places])
        kept = [column.take(pa.array(places)) for column in payload.columns]
        said = [
            pa.concat_arrays(
                [
                    pa.array([], field.type),
                    *(
                        _column(columns.get(field.name), len(rows), field.type)
                        for rows, columns in zip(self.places, self.columns, strict=True)
                    ),
                ]
            )
            for field in schema
        ]
        return pa.RecordBatch.from_arrays(
            [*kept, *said], [*payload.schema.names, *schema.names]
        )


def _column(value: Any, count: int, kind: pa.DataType) -> pa.Array:  # noqa: ANN401
    if value is None:
        return pa.nulls(count, kind)
    if isinstance(value, pa.Array):
        return value.cast(kind)
    if isinstance(value, list):
        return pa.array(value, kind)
    return pa.array([value] * count, kind)


class _Batch:
    """One batch of events, and the rules that are applied to it."""

    def __init__(
        self,
        task: AlertTask,
        rules: LoadedRules,
        revision: int | None,
        batch: pa.RecordBatch,
    ) -> None:
        self.task, self.rules, self.revision = task, rules, revision
        self.batch = batch
        count = task.layout.payload
        names = batch.schema.names[:count]
        self.payload = pa.RecordBatch.from_arrays(batch.columns[:count], names)
        self.out = _Rows()
        self.events: dict[int, Event] = {}
        self.columns = columns_of(batch, task.layout)

    def answer(self) -> pa.RecordBatch:
        """The alerts, what is bad, and the signals."""
        found = match_batch(self.rules.asked, self.batch, self.task.layout, None)
        if self.task.on_error == "raise":
            refuse_bad(found, self.batch, self.task.layout)
        self.put_aside(found)
        rows, numbers = self.decided(*candidates(found))
        is_alert = self.rules.alerts[numbers]
        self.alert(rows[is_alert], numbers[is_alert])
        remembering = self.task.remembering
        if remembering is None:
            return self.out.batch(self.payload, ALERT)
        if self.rules.parts:
            self.signal(rows, numbers, remembering)
        schema = pa.schema([*ALERT, *SIGNAL])
        return self.out.batch(self.payload, schema)

    def put_aside(self, found: Found) -> None:
        """What cannot be read, with the reason."""
        self.out.add(
            list(found.reasons),
            **{ERROR: list(found.reasons.values()), REVISION: self.revision},
        )

    def decided(self, rows: Places, numbers: Places) -> tuple[Places, Places]:
        """The candidates of which the residual holds, if there is one."""
        is_open = self.rules.has_residual[numbers]
        if not is_open.any():
            return rows, numbers
        is_kept = ~is_open
        places = np.flatnonzero(is_open)
        if self.columns is not None:
            columns = strings_of(self.columns.values())
            may_hold = self.rules.gate.of_columns(
                self.batch.num_rows, columns, rows[places], numbers[places]
            )
            places = places[may_hold]
        if self.task.layout.is_several:
            # Columns have one value each.
            events = self.look_at(rows[places])
            is_kept[places] = [
                holds(self.rules.residual(number), events[row])
                for row, number in zip(
                    rows[places].tolist(), numbers[places].tolist(), strict=True
                )
            ]
            return rows[is_kept], numbers[is_kept]
        # Rule by rule, all its rows at once.
        attributes = Attributes(
            self.batch.num_rows, self.columns, self.look_at, np.unique(rows[places])
        )
        places = places[np.argsort(numbers[places], kind="stable")]
        starts = np.flatnonzero(np.diff(numbers[places], prepend=-1))
        for some in np.split(places, starts[1:]) if len(places) else ():
            test = self.rules.test(int(numbers[some[0]]))
            is_kept[some] = test(attributes, rows[some])
        return rows[is_kept], numbers[is_kept]

    def alert(self, rows: Places, numbers: Places) -> None:
        """A row for each rule that fires."""
        rules = self.rules
        reasons = None
        if self.task.is_explained:
            self.look_at(rows)
            reasons = [
                why(
                    rules.filters(number),
                    rules.residual(number) if rules.has_residual[number] else None,
                    self.events[row],
                )
                for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)
            ]
        fired = pa.array(numbers)
        said: dict[str, Any] = {
            RULE: rules.about["id"].take(fired),
            VERSION: rules.about["version"].take(fired),
            SEVERITY: rules.about["severity"].take(fired),
            REASONS: reasons,
            REVISION: self.revision,
        }
        remembering = self.task.remembering
        if remembering is not None and remembering.suppress is not None:
            said[KEY] = self.suppressed_by(rows, numbers.tolist(), remembering)
            said[SPEC] = suppression(remembering.suppress)
        self.out.add(rows, **said)

    def suppressed_by(
        self, rows: Places, numbers: list[int], remembering: Remembering
    ) -> list[str | None]:
        """Of each alert what it has in common with those it may be suppressed by."""
        places = pa.array(rows)
        times = self.payload.column(remembering.time).take(places).to_pylist()
        columns = [
            in_utc(self.payload.column(i).take(places)).to_pylist()
            for i in remembering.by
        ]
        keys: list[str | None] = []
        latest = remembering.latest()
        for number, time, *values in zip(numbers, times, *columns, strict=True):
            is_known = time is not None and time <= latest and None not in values
            parts = (
                self.rules.ids[number],
                self.rules.marks[number],
                *map(repr, values),
            )
            keys.append("\0".join(parts) if is_known else None)
        return keys

    def signal(self, rows: Places, numbers: Places, remembering: Remembering) -> None:
        """A row for each correlation that an event is part of."""
        rules = self.rules
        is_part = np.isin(numbers, list(rules.parts))
        rows, numbers = rows[is_part], numbers[is_part]
        times = self.payload.column(remembering.time).to_pylist()
        latest = remembering.latest()
        asked = np.unique(rows).tolist()
        timeless = {row: TIMELESS for row in asked if times[row] is None}
        ahead = {row: AHEAD for row in asked if (times[row] or 0) > latest}
        wrong = {**timeless, **ahead}
        self.out.add(
            list(wrong), **{ERROR: list(wrong.values()), REVISION: self.revision}
        )
        self.look_at(rows)
        bits: dict[tuple[int, int, tuple[Value, ...]], int] = {}
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            if row in wrong:
                continue
            for place, step in rules.parts[number]:
                condition = rules.conditions[place]
                group = condition.group(rules.ids[number], self.events[row])
                if group is not None:
                    key = row, place, group
                    bits[key] = bits.get(key, 0) | 1 << step
        said = [(rules.conditions[place], row, group) for row, place, group in bits]
        suppress = remembering.suppress
        self.out.add(
            [row for row, _, _ in bits],
            **{
                RULE: [condition.id for condition, _, _ in said],
                VERSION: [condition.version for condition, _, _ in said],
                SEVERITY: [condition.severity for condition, _, _ in said],
                REASONS: [grouped(condition, group) for condition, _, group in said],
                REVISION: self.revision,
                KEY: [
                    "\0".join((condition.id, condition.mark, *map(spell, group)))
                    for condition, _, group in said
                ],
                SPEC: [correlation(condition, suppress) for condition, _, _ in said],
                BITS: list(bits.values()),
                VALUE: [
                    value_of(condition, self.events[r]) for condition, r, _ in said
                ],
            },
        )

    def look_at(self, rows: Places) -> Mapping[int, Event]:
        """Have some rows as events."""
        new = [row for row in np.unique(rows).tolist() if row not in self.events]
        if new:
            found = events_of(self.batch, self.task.layout, new)
            self.events.update(zip(new, found, strict=True))
        return self.events


def candidates(found: Found) -> tuple[Places, Places]:
    """The rows, and the numbers of the rules whose predicates match them."""
    counts = np.maximum(found.matches.counts, 0)
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return rows, found.matches.filters[: len(rows)].astype(np.int64)


Fired = set[tuple[int, str]]


def fired(task: AlertTask, rules: LoadedRules, batch: pa.RecordBatch) -> Fired:
    """The rows of a batch, and the ids of the rules about one event that fire."""
    looking = _Batch(task, rules, None, batch)
    found = match_batch(rules.asked, batch, task.layout, None)
    rows, numbers = looking.decided(*candidates(found))
    return {
        (row, rules.ids[number])
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True)
    }


def suppression(span: int) -> str:
    """What is to be remembered of an alert."""
    return json.dumps({"suppress": span})


def correlation(condition: Condition, suppress: int | None) -> str:
    """What is to be remembered of a signal."""
    said: dict[str, Any] = {"condition": condition._asdict()}
    if suppress is not None:
        said["suppress"] = suppress
    return json.dumps(said)


def grouped(
    condition: Condition, group: tuple[Value, ...]
) -> list[dict[str, str | None]]:
    """Why a correlation fires: which group, and what has to be."""
    held = [
        Held(name, f"{name} = {spell(value)}", spell(value))
        for name, value in zip(condition.group_by, group, strict=True)
    ]
    held.append(Held(None, condition.told(), None))
    return [each._asdict() for each in held]


def value_of(condition: Condition, event: Event) -> str | None:
    """What tells one event from another, where values are counted."""
    if not condition.fields or any(name not in event for name in condition.fields):
        return None
    return "\0".join(spell(event[name]) for name in condition.fields)
