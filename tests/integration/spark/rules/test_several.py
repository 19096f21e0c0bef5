"""Arrays on Spark, for names that are declared multi-valued."""

import json
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession, functions as F

from siena.dialects import read_rule
from siena.errors import SienaError
from siena.lang.parser import parse_predicate
from siena.matching.table import ForwardingTable
from siena.spark.batch.columns import Layout
from siena.spark.batch.worker import match_batch
from siena.spark.rules import RuleSettings, apply, backtest, compile_rules

MANY = frozenset({"tags", "ports"})
SETTINGS = RuleSettings(many=MANY)
RULES = [
    {"id": "both", "text": "tags = web and tags = db"},
    {"id": "port", "text": "ports > 1000 and host = a"},
    {"id": "none", "text": "tags absent"},
    {"id": "other", "text": "tags any except tags = web"},
    {"id": "joint", "text": "tags = web and ports = 80"},
    {"id": "sql", "text": "tags <> 'db' AND ports < limit", "dialect": "sql"},
]
EVENTS: list[tuple[Any, ...]] = [
    (1, "a", ["web", "db"], [80, 8080], 100),
    (2, "a", ["web"], [80], 10),
    (3, "b", ["db", None], [8080], 9000),
    (4, "b", [], [1], 2),
    (5, "a", None, None, 3),
    (6, "a", ["x"], [], None),
]
KINDS = "id long, host string, tags array<string>, ports array<int>, limit long"


def as_events() -> dict[int, dict[str, Any]]:
    """The events as mappings, as the definition has them."""
    names = ("host", "tags", "ports", "limit")
    found = {}
    for number, *values in EVENTS:
        event: dict[str, Any] = {}
        for name, value in zip(names, values, strict=True):
            if isinstance(value, list):
                event[name] = tuple(v for v in value if v is not None)
            elif value is not None:
                event[name] = value
        found[number] = event
    return found


def expected() -> set[tuple[int, str]]:
    """What a loop over rules and events says."""
    rules = {
        rule["id"]: read_rule(rule.get("dialect", "siena"), rule["text"], many=MANY)
        for rule in RULES
    }
    return {
        (number, name)
        for number, event in as_events().items()
        for name, rule in rules.items()
        if rule.matches(event)
    }


def said(found: DataFrame) -> set[tuple[int, str]]:
    rows = [(row.id, row.rule) for row in found.collect()]
    assert len(rows) == len(set(rows)), "every alert is there once"
    return set(rows)


def test_a_constraint_holds_if_one_value_of_an_array_does(spark: SparkSession) -> None:
    events = spark.createDataFrame(EVENTS, KINDS)
    found = apply(events, RULES, key="id", settings=SETTINGS)
    wanted = expected()
    assert {(1, "both"), (1, "port"), (1, "joint"), (5, "none")} <= wanted
    assert said(found) == wanted
    (row,) = found.where("id = 1 and rule = 'port'").collect()
    values = {held.attribute: held.value for held in row.why}
    assert values["ports"] == "8080"


@pytest.mark.parametrize("form", ["json", "variant"])
def test_whole_events_have_arrays_too(spark: SparkSession, form: str) -> None:
    rows = [
        (number, json.dumps({n: v for n, v in event.items() if v != ()}))
        for number, event in as_events().items()
    ]
    events = spark.createDataFrame(rows, "id long, event string")
    if form == "variant":
        events = events.withColumn("event", F.parse_json("event"))
    found = apply(events, RULES, key="id", column="event", settings=SETTINGS)
    assert said(found) == expected()


def test_an_array_that_is_not_declared_is_refused(spark: SparkSession) -> None:
    events = spark.createDataFrame(EVENTS, KINDS)
    with pytest.raises(SienaError, match=r"array<int>.*many="):
        apply(events, RULES[1:2], key="id")


def test_what_has_too_many_choices_is_put_aside(spark: SparkSession) -> None:
    many = [*map(str, range(70))]
    rows = [(1, "a", ["web"], [80], 1), (2, "a", many, [*range(70)], 1)]
    events = spark.createDataFrame(rows, KINDS)
    found = apply(events, RULES, key="id", settings=SETTINGS)
    (bad,) = found.where(F.col("error").isNotNull()).collect()
    assert bad.id == 2
    assert "choices among values" in bad.error


def test_a_compiled_file_knows_what_is_multi_valued(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "rules.siena"
    compile_rules(RULES, settings=SETTINGS).keep(path)
    events = spark.createDataFrame(EVENTS, KINDS)
    assert said(apply(events, str(path), key="id", why=False)) == expected()
    tried = backtest(events, str(path), against=RULES[:1], key="id", settings=SETTINGS)
    changed = {change.rule for change in tried.changes}
    assert changed == {name for _, name in expected()} - {"both"}


@pytest.mark.parametrize(
    ("form", "column"),
    [
        ("json", pa.array([None, '{"tags": ["a", "b"]}'])),
        ("map", pa.array([None, [("tags", "b")]], pa.map_(pa.string(), pa.string()))),
    ],
)
def test_a_row_without_an_event_is_put_aside(
    form: Literal["json", "map"], column: pa.Array
) -> None:
    table = ForwardingTable()
    table.add(0, parse_predicate('tags = "b"'))
    batch = pa.RecordBatch.from_arrays([column], ["event"])
    layout = Layout(0, form, (("event", 0),), many=frozenset({"tags"}))
    found = match_batch(table, batch, layout, None)
    assert found.matches.counts.tolist() == [-1, 1]
    assert found.reasons == {0: "there is no notification"}
