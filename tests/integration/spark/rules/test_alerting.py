"""What a task says of a batch, without Spark; the twin is a loop over both."""

import json
from datetime import UTC, datetime
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from siena.dialects import read_rule
from siena.spark.batch.columns import Layout
from siena.spark.rules import compile_rules
from siena.spark.rules.alerting import AlertTask

RULES = [
    ("siena", "x > 2 and s = ab"),
    ("siena", "x absent or t ends with b"),
    ("sql", "s <> t"),
    ("sql", "x * y > 6 AND s LIKE '%a%'"),
    ("expression", 'anywhere_matches("(?i)B$") and x = y'),
    (
        "expression",
        '(matches(s, "^a") or matches(s, "c$") or [t * "c"]) except [x = 1]',
    ),
    ("expression", 'not matches(t, "a")'),
]


def drawn(count: int) -> list[dict[str, Any]]:
    """Events whose values repeat, and are absent now and then."""
    draw = Random(5)
    numbers, texts = [None, 0, 1, 2, 3, 4], [None, "a", "ab", "aB", "c", "bc", ""]
    return [
        {
            "x": draw.choice(numbers),
            "y": draw.choice(numbers),
            "s": draw.choice(texts),
            "t": draw.choice(texts),
        }
        for _ in range(count)
    ]


@pytest.mark.parametrize("is_json", [False, True])
def test_a_batch_gives_what_a_loop_gives(*, is_json: bool) -> None:
    rows = drawn(400)
    table = [
        {"id": str(number), "dialect": dialect, "text": text}
        for number, (dialect, text) in enumerate(RULES)
    ]
    rules = compile_rules(table, on_error="raise").loaded
    assert rules.has_residual.sum() >= 4
    events = [{k: v for k, v in row.items() if v is not None} for row in rows]
    if is_json:
        texts = pa.array([json.dumps(row) for row in rows])
        columns, layout = [texts], Layout(1, "json", (("n", 1),))
    else:
        columns = [pa.array([row[n] for row in rows]) for n in ("x", "y", "s", "t")]
        places = tuple((n, i + 1) for i, n in enumerate(("x", "y", "s", "t")))
        layout = Layout(1, "wide", places)
    numbers = pa.array(range(len(rows)), pa.int64())
    batch = pa.RecordBatch.from_arrays(
        [numbers, *columns], ["id", *(f"a{i}" for i in range(len(columns)))]
    )
    task = AlertTask(lambda: (rules, 7), layout, "raise", is_explained=True)
    (found,) = task(iter([batch]))
    said = list(zip(found["id"].to_pylist(), found["rule"].to_pylist(), strict=True))
    expected = {
        (place, str(number))
        for number, (dialect, text) in enumerate(RULES)
        for place, event in enumerate(events)
        if read_rule(dialect, text).matches(event)
    }
    assert len(said) == len(set(said))
    assert set(said) == expected
    assert {number for _, number in expected} == {str(n) for n in range(len(RULES))}
    assert set(found["revision"].to_pylist()) == {7}
    assert all(held for held in found["why"].to_pylist())


ZONES = ["Etc/UTC", "America/New_York", "Europe/Berlin"]
# Both are half past one in New York, and half past two in Berlin; and what a table may
# have for never and for always.
TIMES = [
    datetime(2026, 11, 1, 5, 30, tzinfo=UTC),
    datetime(2026, 11, 1, 6, 30, tzinfo=UTC),
    datetime(2026, 10, 25, 0, 30, tzinfo=UTC),
    datetime(2026, 10, 25, 1, 30, tzinfo=UTC),
    datetime(1, 1, 1, tzinfo=UTC),
    datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
]


@pytest.mark.parametrize("form", ["wide", "map"])
@pytest.mark.parametrize("zone", ZONES)
def test_the_zone_of_a_session_is_no_part_of_a_time(zone: str, form: str) -> None:
    """Spark hands out times in the zone of the session, whatever that is."""
    texts = [
        *(("siena", f"a {op} 2026-11-01T05:30:00Z") for op in "=<>"),
        ("sql", "a < b"),
        ("sql", "a = b"),
        ("expression", 'anywhere_like("2026-11-01T05:30:00Z")'),
    ]
    table = [
        {"id": str(number), "dialect": dialect, "text": text}
        for number, (dialect, text) in enumerate(texts)
    ]
    rules = compile_rules(table, on_error="raise").loaded
    events = [{"a": a, "b": b} for a in TIMES for b in TIMES]
    there = pa.timestamp("us", zone)
    if form == "wide":
        columns = [pa.array([event[n] for event in events], there) for n in "ab"]
        layout = Layout(0, "wide", (("a", 0), ("b", 1)))
    else:
        maps = [list(event.items()) for event in events]
        columns = [pa.array(maps, pa.map_(pa.string(), there))]
        layout = Layout(0, "map", (("n", 0),))
    numbers = pa.array(range(len(events)), pa.int64())
    batch = pa.RecordBatch.from_arrays(
        [numbers, *columns], ["id", *"ab"[: len(columns)]]
    )
    layout = Layout(1, layout.form, tuple((n, i + 1) for n, i in layout.columns))
    task = AlertTask(lambda: (rules, None), layout, "raise", is_explained=True)
    (found,) = task(iter([batch]))
    said = zip(found["id"].to_pylist(), found["rule"].to_pylist(), strict=True)
    expected = {
        (place, str(number))
        for number, (dialect, text) in enumerate(texts)
        for place, event in enumerate(events)
        if read_rule(dialect, text).matches(event)
    }
    assert set(said) == expected
    assert {number for _, number in expected} == {str(n) for n in range(len(texts))}
    shown = {held["value"] for why in found["why"].to_pylist() for held in why}
    assert "2026-11-01T05:30:00Z" in shown
