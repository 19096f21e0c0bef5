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
from siena.matching.input.several import AskedTable
from siena.matching.table import ForwardingTable
from siena.rules import RuleEntry
from siena.rules.events import event_of
from siena.rules.reading import read_entry
from siena.spark import compile_subscriptions, match, match_parquet
from siena.spark.batch.columns import Layout
from siena.spark.batch.worker import match_batch
from siena.spark.rules import (
    LiveRules,
    RuleSettings,
    alerts,
    apply,
    backtest,
    bad_events,
    compile_rules,
)

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


def test_any_number_of_values_is_looked_at(spark: SparkSession) -> None:
    """Each constraint for itself: not every choice of one value of each name."""
    tags, ports = [*map(str, range(70)), "web"], [*range(75), 80]
    rows = [(1, "a", ["web"], [81], 1), (2, "a", tags, ports, 1)]
    events = spark.createDataFrame(rows, KINDS)
    found = apply(events, RULES, key="id", settings=SETTINGS)
    assert {row.error for row in found.collect()} == {None}
    event: dict[str, Any] = {
        "host": "a",
        "tags": tuple(tags),
        "ports": tuple(ports),
        "limit": 1,
    }
    wanted = {
        (2, rule["id"])
        for rule in RULES
        if read_rule(rule.get("dialect", "siena"), rule["text"], many=MANY).matches(
            event
        )
    }
    assert (2, "joint") in wanted
    assert said(found) == wanted


def test_a_stream_of_live_rules_sees_arrays(
    spark: SparkSession, tmp_path: Path
) -> None:
    live = LiveRules(tmp_path / "live", settings=SETTINGS)
    live.publish(RULES)
    events = spark.createDataFrame(EVENTS, KINDS)
    events.coalesce(1).write.parquet(str(tmp_path / "in"))
    stream = spark.readStream.schema(events.schema).parquet(str(tmp_path / "in"))
    query = (
        apply(stream, live, key="id", why=False)
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert said(spark.read.parquet(str(tmp_path / "out"))) == expected()


NESTED: list[dict[str, Any]] = [
    {"id": 1, "host": "a", "net": {"ports": [80, 8080]}, "tags": ["web", "db"]},
    {"id": 2, "host": "a", "net": {"ports": 80, "limit": 100}, "tags": ["web"]},
    {"id": 3, "host": "b", "net": {}, "tags": []},
]


def test_nested_json_is_attributes_by_path(spark: SparkSession) -> None:
    """As `siena rules why` has it, for arrays that are not declared, too."""
    rules: list[dict[str, Any]] = [
        {"id": "port", "text": "net.ports > 1000 and host = a"},
        {"id": "joint", "text": "tags = db and net.ports = 80"},
        {"id": "both", "text": "tags = web and tags = db"},
        {"id": "sql", "text": "net.ports < net.limit", "dialect": "sql"},
        {"id": "none", "text": "tags absent"},
    ]
    rules[3]["text"] = '"net.ports" < "net.limit"'
    texts = [(event["id"], json.dumps(event)) for event in NESTED]
    texts += [(4, "[]"), (5, '{"a": '), (6, None)]  # type: ignore[list-item]
    events = spark.createDataFrame(texts, "id long, event string")
    settings = RuleSettings(many=frozenset({"tags", "net.ports"}))
    found = apply(
        events, rules, key="id", column="event", nested="path", settings=settings
    )
    read = [read_entry(RuleEntry(**rule), settings) for rule in rules]
    wanted = {
        (event["id"], rule.id)
        for event in NESTED
        for rule in read
        if rule.rule.matches(event_of(event))
    }
    assert {(1, "port"), (1, "both"), (2, "sql"), (3, "none")} <= wanted
    assert said(alerts(found)) == wanted
    assert {row.id for row in bad_events(found).collect()} == {4, 5, 6}
    (port,) = found.where("rule = 'port'").collect()
    assert {held.attribute: held.value for held in port.why}["net.ports"] == "8080"
    undeclared = apply(events, rules[:2], key="id", column="event", nested="path")
    assert said(alerts(undeclared)) == {(1, "port"), (1, "joint")}
    with pytest.raises(SienaError, match="in one column of texts"):
        apply(events, rules, nested="path")
    with pytest.raises(SienaError, match="not how events are nested"):
        apply(events, rules, column="event", nested="deep")  # type: ignore[arg-type]


def test_subscriptions_have_several_values_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    who = {rule["id"]: rule["text"] for rule in RULES if "dialect" not in rule}
    events = spark.createDataFrame(EVENTS, KINDS)
    wanted = {(n, name) for n, name in expected() if name != "sql"}
    found = match(events, who, key="id", many=MANY)
    assert {(row.id, row.subscriber) for row in found.collect()} == wanted
    counts = match(events, who, key="id", many=MANY, output="counts")
    listed = [number for number, _ in wanted]
    assert {r.id: r["count"] for r in counts.collect()} == {
        number: listed.count(number) for number, *_ in EVENTS
    }
    compiled = compile_subscriptions(who, many=MANY).keep(tmp_path / "who.siena")
    events.coalesce(1).write.parquet(str(tmp_path / "events.parquet"))
    kept = match_parquet(
        spark, str(tmp_path / "events.parquet"), compiled.path, key="id"
    )
    assert {(row.id, row.subscriber) for row in kept.collect()} == wanted
    with pytest.raises(SienaError, match="compiled with one value"):
        match(events, compiled, many=["host"])
    with pytest.raises(SienaError, match=r"array<int>"):
        match(events, {"port": who["port"]}, key="id")


def test_nested_json_is_matched(spark: SparkSession) -> None:
    texts = [(event["id"], json.dumps(event)) for event in NESTED]
    events = spark.createDataFrame(texts, "id long, event string")
    found = match(
        events,
        {"ann": "net.ports = 80 and tags = db", "bob": "tags = web and tags = db"},
        key="id",
        column="event",
        nested="path",
        many=["tags"],
    )
    pairs = {(row.id, row.subscriber) for row in found.collect()}
    assert pairs == {(1, "ann"), (1, "bob")}


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
    found = match_batch(AskedTable(table), batch, layout, None)
    assert found.matches.counts.tolist() == [-1, 1]
    assert found.reasons == {0: "there is no notification"}
