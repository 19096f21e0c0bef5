"""What a task says of a batch, without Spark; the twin is a loop over both."""

import json
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
