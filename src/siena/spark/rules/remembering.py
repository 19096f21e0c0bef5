"""What is remembered from event to event: windows, and what was alerted already.

Rows come with a *key*, what they are remembered under, and a *spec*, what is to be done
with them: count them in a window, or let one pass and hold back those that follow soon.
Rows without a key pass.  The memory is bounded: a window holds no more than it counts
to, what has no business with the present is forgotten, and so is, beyond a limit, what
was not asked for the longest time.

Clocks of those that send events may be wrong, so no single row says what the present
is: it is the median of the times of the last rows.  And an event that is further from a
window than its span begins another one, beside it.  Of too many those are kept that the
most of the last rows are near; so it is with alerts that hold others back.
"""

import json
import pickle
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

from siena.errors import SienaError
from siena.spark.rules.alerting import (
    ALERT,
    BITS,
    FORGOTTEN,
    KEY,
    SPEC,
    SUPPRESSED,
    TIME,
    VALUE,
)
from siena.spark.rules.counting import Condition, Window

# Windows, and alerts that hold others back, of one shard.
REMEMBERED_MAX = 1_000_000
# Of one key, windows that are further from each other than their span, and so of
# alerts: the present one, one of a clock that is wrong, and one that comes late.
WINDOWS_MAX = 3
# Rows whose times say what the present is; and so within a micro-batch, whose rows may
# be far from each other.
CLOCK_ROWS = 101
PRESENT_ROWS = 5
# How many spans it is known how many were held back, if no alert comes to say it.
SPANS_KEPT = 100
MAGIC = b"SIENARU3"


class Spec(NamedTuple):
    """What is to be done with a row."""

    condition: Condition | None
    suppress: int | None


class Passed(NamedTuple):
    """An alert that goes on."""

    place: int
    suppressed: int  # since the last that went on


@dataclass(slots=True)
class _Alert:
    """When an alert went on, how many it held back, and for how long it does that."""

    time: int
    count: int
    span: int

    def is_over(self, now: int) -> bool:
        """Whether it holds back none that comes now, and has no count to tell."""
        return now - self.time > (SPANS_KEPT if self.count else 1) * self.span


@dataclass(slots=True)
class _Kept:
    """What is remembered under a key: windows, and alerts that went on."""

    spec: str
    windows: list[Window] = field(default_factory=list)
    alerts: list[_Alert] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.windows) + len(self.alerts)

    def forget(self, now: int) -> None:
        """Let go what has no business with the present."""
        if self.windows:
            self.windows = [each for each in self.windows if not each.is_over(now)]
        if self.alerts:
            self.alerts = [each for each in self.alerts if not each.is_over(now)]

    def make_room(self, last_times: list[int]) -> int:
        """Of too much, let go what the fewest of the last rows are near.

        Of what has as few, that which came first; what has just come stays, for the
        next rows may be near.  What was not over is counted.
        """
        times = sorted(last_times)
        now = _median(last_times[-PRESENT_ROWS:])
        count = 0
        if len(self.windows) > WINDOWS_MAX:
            window = min(
                self.windows[:-1],
                key=lambda each: _rows_near(times, each.last, each.span),
            )
            self.windows.remove(window)
            count += not window.is_over(now)
        if len(self.alerts) > WINDOWS_MAX:
            alert = min(
                self.alerts[:-1],
                key=lambda each: _rows_near(times, each.time, each.span),
            )
            self.alerts.remove(alert)
            count += not alert.is_over(now)
        return count


class Memory:
    """What is remembered of many keys.

    >>> memory = Memory()
    >>> rows = [("k", '{"suppress": 10}', at, 0, None) for at in (1, 5, 12)]
    >>> [memory.offer(*row) for row in rows]
    [0, None, 1]
    """

    def __init__(self) -> None:
        # By the key; what was asked last stands behind all others.
        self._kept: dict[str, _Kept] = {}
        # The times of some of the last rows, and of those that came since.
        self._clock: list[int] = []
        self._times: list[int] = []
        # Windows and alerts that there was no room for beside others of their key.
        self._left_out = 0
        # How many there was no room for at all until it was saved last.
        self.forgotten = 0

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))

    def pass_on(self, rows: pa.Table, order: pa.Array | None = None) -> list[Passed]:
        """The rows that are alerts, looked at in an order."""
        if order is not None:
            rows = rows.take(order)
        columns = [rows[name].to_pylist() for name in (KEY, SPEC, TIME, BITS, VALUE)]
        found: list[Passed] = []
        places = range(rows.num_rows) if order is None else order.to_pylist()
        for place, key, spec, time, bits, value in zip(places, *columns, strict=True):
            held = 0 if key is None else self.offer(key, spec, time, bits, value)
            if held is not None:
                found.append(Passed(place, held))
        return found

    def offer(
        self, key: str, spec: str, time: int, bits: int | None, value: str | None
    ) -> int | None:
        """How many were held back, if it is an alert that goes on; else none."""
        condition, suppress = read_spec(spec)
        self._times.append(time)
        kept = self._kept.pop(key, None) or _Kept(spec)
        is_reached = condition is None or _counted(kept, condition, bits, time, value)
        held = None
        if is_reached:
            held = 0 if suppress is None else _let_pass(kept, time, suppress)
        if max(len(kept.windows), len(kept.alerts)) > WINDOWS_MAX:
            self._left_out += kept.make_room(self._last_times())
        if len(kept):
            self._kept[key] = kept
        return held

    # --- Between batches --------------------------------------------------------------

    def forget_but(self, key: str | None) -> None:
        """Keep one key only; the rows of all others have been."""
        self._kept = {k: kept for k, kept in self._kept.items() if k == key}
        self._times.clear()

    def save(self) -> bytes:
        """The state, as bytes, without what has no business with the present.

        Where that is more than may be remembered, what was not asked for the longest
        time is left out.  ``forgotten`` says how much that was since it was saved last.
        """
        self._tell_time()
        now = _median(self._clock)
        for kept in self._kept.values():
            kept.forget(now)
        self._kept = {key: kept for key, kept in self._kept.items() if len(kept)}
        excess, gone = len(self) - REMEMBERED_MAX, 0
        # A dictionary finds its first key by a walk over all that were before it.
        for key in [*islice(self._kept, max(0, excess))]:
            if gone >= excess:
                break
            gone += len(self._kept.pop(key))
        self.forgotten, self._left_out = self._left_out + gone, 0
        # A pickle, of a checkpoint of our own.
        state = [
            (
                key,
                kept.spec,
                [window.state for window in kept.windows],
                [(each.time, each.count, each.span) for each in kept.alerts],
            )
            for key, kept in self._kept.items()
        ]
        return MAGIC + pickle.dumps((state, self._clock))

    @classmethod
    def load(cls, state: bytes) -> "Memory":
        """The memory of a state that :meth:`save` has given.

        Raises:
            SienaError: if it is something else.
        """
        if not state.startswith(MAGIC):
            hint = "start the stream with a new checkpoint"
            raise SienaError("this checkpoint is not one of rules", hint=hint)
        listed, clock = pickle.loads(state[len(MAGIC) :])  # noqa: S301
        found = cls()
        for key, spec, states, alerts in listed:
            condition = read_spec(spec).condition
            assert condition is not None or not states
            windows = [Window(condition, each) for each in states if condition]
            found._kept[key] = _Kept(spec, windows, [_Alert(*a) for a in alerts])
        found._clock = clock
        return found

    def _last_times(self) -> list[int]:
        return [*self._clock, *self._times[-CLOCK_ROWS:]][-CLOCK_ROWS:]

    def _tell_time(self) -> None:
        """Take the times of the last rows; of very many, some that lie evenly."""
        times = [*self._clock, *self._times][-max(CLOCK_ROWS, len(self._times)) :]
        self._clock = (
            [times[place * len(times) // CLOCK_ROWS] for place in range(CLOCK_ROWS)]
            if len(times) > CLOCK_ROWS
            else times
        )
        self._times.clear()


def _median(times: list[int]) -> int:
    """What no single one moves: the earlier one of two in the middle."""
    return sorted(times)[(len(times) - 1) // 2] if times else -(2**63)


def _rows_near(times: list[int], time: int, span: int) -> int:
    """How many of some times, which ascend, are within a span of one."""
    return bisect_right(times, time + span) - bisect_left(times, time - span)


def _counted(
    kept: _Kept, condition: Condition, bits: int | None, time: int, value: str | None
) -> bool:
    """Whether an event completes what a window of a key counts to."""
    near = [w for w in kept.windows if abs(time - w.last) <= condition.span]
    window = max(near, key=lambda each: each.last) if near else Window(condition)
    is_reached = window.offer(bits or 0, time, value)
    others = [each for each in kept.windows if each is not window]
    kept.windows = others if window.is_empty else [*others, window]
    return is_reached


def _let_pass(kept: _Kept, time: int, span: int) -> int | None:
    """How many alerts were held back before this one, unless it is, too."""
    # One that is much later than this is of a clock that is wrong, or this comes late.
    for alert in kept.alerts:
        if abs(time - alert.time) <= span:
            alert.count, alert.span = alert.count + 1, span
            return None
    held = 0
    before = [each for each in kept.alerts if each.time < time]
    if before:
        last = max(before, key=lambda each: each.time)
        held, last.count = last.count, 0
    kept.alerts.append(_Alert(time, 0, span))
    return held


@lru_cache(4_096)
def read_spec(text: str) -> Spec:
    """What a spec says."""
    said = json.loads(text)
    form = said.get("condition")
    condition = None if form is None else Condition.of(form)
    return Spec(condition, said.get("suppress"))


def passed_rows(rows: pa.Table, passed: list[Passed], names: list[str]) -> pa.Table:
    """The alerts that go on, with how many were held back."""
    kept = rows.select(names).take(pa.array([p.place for p in passed], pa.int64()))
    held = pa.array([p.suppressed for p in passed], pa.int64())
    kept = kept.append_column(SUPPRESSED, held)
    return kept.append_column(FORGOTTEN, pa.nulls(len(passed), pa.int64()))


def forgotten_row(rows: pa.Table, names: list[str], count: int) -> pa.Table:
    """A row without a rule, behind the last event: how much there was no room for."""
    row = rows.select(names).slice(rows.num_rows - 1)
    for place, name in enumerate(names):
        if name in ALERT.names:
            row = row.set_column(place, name, pa.nulls(1, row.field(name).type))
    row = row.append_column(SUPPRESSED, pa.nulls(1, pa.int64()))
    return row.append_column(FORGOTTEN, pa.array([count], pa.int64()))


def keys_of(rows: pa.Table) -> Iterator[str | None]:
    """The keys of rows."""
    return iter(rows[KEY].to_pylist())
