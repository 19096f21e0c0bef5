"""What is remembered from event to event: windows, and what was alerted already.

Rows come with a *key*, what they are remembered under, and a *spec*, what is to be done
with them: count them in a window, or let one pass and hold back those that follow soon.
Rows without a key pass.  The memory is bounded: a window holds no more than it counts
to, and what has no business with the present is forgotten.
"""

import json
import pickle
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from siena.errors import LimitError, SienaError
from siena.spark.rules.alerting import BITS, KEY, SPEC, SUPPRESSED, TIME, VALUE
from siena.spark.rules.counting import Condition, Window

# Windows, and alerts that hold others back, of one shard.
REMEMBERED_MAX = 1_000_000
# How many spans it is known how many were held back, if no alert comes to say it.
SPANS_KEPT = 100
MAGIC = b"SIENARUL"


class Spec(NamedTuple):
    """What is to be done with a row."""

    condition: Condition | None
    suppress: int | None


class Passed(NamedTuple):
    """An alert that goes on."""

    place: int
    suppressed: int  # since the last that went on


class Memory:
    """What is remembered of many keys.

    >>> memory = Memory()
    >>> rows = [("k", '{"suppress": 10}', at, 0, None) for at in (1, 5, 12)]
    >>> [memory.offer(*row) for row in rows]
    [0, None, 1]
    """

    def __init__(self) -> None:
        # Under each key the spec and the window; and when the last alert was, how many
        # were held back since, and for how long that is done.
        self._windows: dict[str, tuple[str, Window]] = {}
        self._held: dict[str, tuple[int, int, int]] = {}
        self._now = -(2**63)

    def __len__(self) -> int:
        return len(self._windows) + len(self._held)

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
        self._now = max(self._now, time)
        if condition is not None:
            _, window = self._windows.get(key) or (spec, Window(condition))
            is_reached = window.offer(bits or 0, time, value)
            if window.is_empty:
                self._windows.pop(key, None)
            else:
                self._windows[key] = spec, window
            if not is_reached:
                return None
        return 0 if suppress is None else self._let_pass(key, time, suppress)

    def _let_pass(self, key: str, time: int, span: int) -> int | None:
        since, held, _ = self._held.get(key, (None, 0, 0))
        if since is not None and time - since <= span:
            self._held[key] = since, held + 1, span
            return None
        self._held[key] = time, 0, span
        return held

    # --- Between batches --------------------------------------------------------------

    def forget_but(self, key: str | None) -> None:
        """Keep one key only; the rows of all others have been."""
        self._windows = {k: w for k, w in self._windows.items() if k == key}
        self._held = {k: h for k, h in self._held.items() if k == key}

    def save(self) -> bytes:
        """The state, as bytes, without what has no business with the present.

        Raises:
            LimitError: if more is remembered than may be.
        """
        now = self._now
        windows = {k: w for k, w in self._windows.items() if not w[1].is_over(now)}
        held = {
            key: (since, count, span)
            for key, (since, count, span) in self._held.items()
            if now - since <= (SPANS_KEPT if count else 1) * span
        }
        self._windows, self._held = windows, held
        if len(self) > REMEMBERED_MAX:
            what = "windows and alerts to remember in one shard"
            raise LimitError("REMEMBERED_MAX", REMEMBERED_MAX, what)
        # A pickle, of a checkpoint of our own.
        state = {key: (spec, window.state) for key, (spec, window) in windows.items()}
        return MAGIC + pickle.dumps((state, held, now))

    @classmethod
    def load(cls, state: bytes) -> "Memory":
        """The memory of a state that :meth:`save` has given.

        Raises:
            SienaError: if it is something else.
        """
        if not state.startswith(MAGIC):
            hint = "start the stream with a new checkpoint"
            raise SienaError("this checkpoint is not one of rules", hint=hint)
        windows, held, now = pickle.loads(state[len(MAGIC) :])  # noqa: S301
        found = cls()
        for key, (spec, kept) in windows.items():
            condition = read_spec(spec).condition
            assert condition is not None
            found._windows[key] = spec, Window(condition, kept)
        found._held, found._now = held, now
        return found


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
    return kept.append_column(SUPPRESSED, held)


def keys_of(rows: pa.Table) -> Iterator[str | None]:
    """The keys of rows."""
    return iter(rows[KEY].to_pylist())
