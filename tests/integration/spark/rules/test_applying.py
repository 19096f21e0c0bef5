"""Rules on tables and streams give the alerts that a loop over both gives."""

import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession, types as T
from pyspark.sql.streaming.query import StreamingQuery

from siena.errors import SienaError
from siena.spark.rules import (
    LiveRules,
    RuleSettings,
    Suppression,
    alerts,
    apply,
    applying,
    bad_events,
    compile_rules,
    metrics,
    remembering,
)
from siena.spark.rules.remembering import Memory
from siena.spark.rules.sampling import Sampled

RULES: list[dict[str, Any]] = [
    {"id": "hot", "text": "level > 3", "severity": "high", "version": "2"},
    {"id": "odd", "text": "level <> limit AND host = 'a'", "dialect": "sql"},
    {"id": "off", "text": "level any", "enabled": False},
    {"id": "bad", "text": "level >"},
]
EVENTS = [(1, "a", 5, 5), (2, "a", 2, 3), (3, "b", 4, None), (4, None, 1, 1)]
KINDS = "id long, host string, level long, limit long"


def said(found: DataFrame) -> set[tuple[Any, ...]]:
    rows = [(row.id, row.rule) for row in found.collect()]
    assert len(rows) == len(set(rows)), "every alert is there once"
    return set(rows)


def test_a_session_may_have_any_zone(spark: SparkSession) -> None:
    """Spark takes the zone of the machine unless the session says another."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        events = spark.sql("SELECT timestamp'2026-11-01 00:30:00' AS at")
        (found,) = apply(events, [{"id": "r", "text": "at any"}]).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)
    assert [held.value for held in found.why] == ["2026-11-01T04:30:00Z"]


def test_an_alert_says_rule_version_severity_and_why(spark: SparkSession) -> None:
    compiled = compile_rules(RULES)
    assert len(compiled) == 2
    assert [(aside.id, aside.place) for aside in compiled.rejects] == [("bad", "row 4")]
    (aside,) = compiled.set_aside(spark).collect()
    assert (aside.id, aside.place) == ("bad", "row 4")
    events = spark.createDataFrame(EVENTS, KINDS)
    found = apply(events, compiled, key="id")
    assert said(found) == {(1, "hot"), (3, "hot"), (2, "odd")}
    first = {(row.id, row.rule): row for row in found.collect()}
    hot, odd = first[1, "hot"], first[2, "odd"]
    assert (hot.version, hot.severity, hot.revision, hot.error) == (
        "2",
        "high",
        None,
        None,
    )
    assert [tuple(held) for held in hot.why] == [("level", "level > 3", "5")]
    values = {held.attribute: held.value for held in odd.why if held.attribute}
    assert values["host"] == '"a"' or values["host"] == "a"
    assert any(held.attribute is None and "level = 2" in held.value for held in odd.why)


def test_rules_come_from_wherever_they_are(spark: SparkSession, tmp_path: Path) -> None:
    table = spark.createDataFrame(
        [(r["id"], r["text"], r.get("dialect")) for r in RULES[:2]],
        "id string, text string, dialect string",
    )
    table.coalesce(1).write.parquet(str(tmp_path / "rules"))
    csv = tmp_path / "rules.csv"
    csv.write_text(
        "id,text,dialect\nhot,level > 3,\nodd,\"level <> limit AND host = 'a'\",sql\n"
    )
    events = spark.createDataFrame(EVENTS, KINDS)
    wanted = {(1, "hot"), (3, "hot"), (2, "odd")}
    compiled = compile_rules(csv).keep(tmp_path / "rules.siena")
    for rules in (table, tmp_path / "rules", csv, tmp_path / "rules.siena", compiled):
        assert said(apply(events, rules, key="id", why=False)) == wanted
    with pytest.raises(SienaError, match="has no column 'text'"):
        compile_rules(table.drop("text"))


def test_an_event_that_cannot_be_read_is_put_aside_with_the_reason(
    spark: SparkSession,
) -> None:
    texts = [(1, '{"level": 5}'), (2, "[]"), (3, None), (4, '{"level": 1}')]
    events = spark.createDataFrame(texts, "id long, body string")
    found = apply(events, RULES, key="id", column="body").cache()
    assert said(alerts(found)) == {(1, "hot")}
    bad = {row.id: row.error for row in bad_events(found).collect()}
    assert bad.keys() == {2, 3}
    assert all(bad.values())
    counts = {
        row.rule: (row.alerts, row.bad_events) for row in metrics(found).collect()
    }
    assert counts == {"hot": (1, 0), None: (0, 2)}
    found.unpersist()


# --- Rules that change --------------------------------------------------------------


class Stream:
    """A stream of files of events, through live rules, into files of alerts."""

    def __init__(
        self,
        spark: SparkSession,
        folder: Path,
        **options: Any,  # noqa: ANN401 -- those of apply
    ) -> None:
        self.spark, self.folder, self.options = spark, folder, options
        self.rules = LiveRules(folder / "rules")
        self.query: StreamingQuery | None = None
        (folder / "in").mkdir()

    def start(self) -> None:
        events = self.spark.readStream.schema(
            "id long, host string, level long, at long"
        )
        found = apply(events.json(str(self.folder / "in")), self.rules, **self.options)
        self.query = (
            found.writeStream.format("parquet")
            .option("path", str(self.folder / "out"))
            .option("checkpointLocation", str(self.folder / "checkpoint"))
            .start()
        )

    def send(self, name: str, events: Iterable[dict[str, Any]]) -> None:
        file = self.folder / f".{name}"
        file.write_text("\n".join(map(json.dumps, events)))
        file.rename(self.folder / "in" / f"{name}.json")
        assert self.query is not None
        self.query.processAllAvailable()

    def stop(self) -> None:
        assert self.query is not None
        self.query.stop()

    def alerts(self) -> DataFrame:
        return self.spark.read.parquet(str(self.folder / "out"))


def test_rules_change_three_times_while_a_stream_runs(
    spark: SparkSession, tmp_path: Path
) -> None:
    """And it is stopped and started in between; every alert is of what was in force."""
    stream = Stream(spark, tmp_path, key="id", why=False)
    thresholds = [3, 1, 7, 5]
    expected: set[tuple[int, str, int]] = set()
    for turn, threshold in enumerate(thresholds):
        text = f"level > {threshold}"
        rule = {"id": f"r{turn % 2}", "text": text, "version": str(turn)}
        assert stream.rules.publish([rule]).revision == turn + 1
        if turn == 0:
            stream.start()
        if turn == 2:
            stream.stop()
            stream.start()
        events = [{"id": 10 * turn + n, "level": n} for n in range(10)]
        stream.send(f"part{turn}", events)
        expected |= {
            (10 * turn + n, f"r{turn % 2}", turn + 1)
            for n in range(10)
            if n > threshold
        }
    stream.stop()
    found = [(row.id, row.rule, row.revision) for row in stream.alerts().collect()]
    assert len(found) == len(set(found))
    assert set(found) == expected


# --- Rules about several events -----------------------------------------------------

SIGMA = """
title: Level
name: level
logsource:
    category: test
detection:
    selection:
        level|gt: 3
    condition: selection
---
title: Host b
name: b
logsource:
    category: test
detection:
    selection:
        host: b
    condition: selection
---
title: Three of one host
name: three
correlation:
    type: event_count
    rules: [level]
    group-by: [host]
    timespan: 10s
    condition:
        gte: 3
level: high
---
title: Two levels
name: levels
correlation:
    type: value_count
    rules: [level]
    timespan: 10s
    condition:
        gte: 2
        field: level
---
title: Level, then host b
name: then
correlation:
    type: temporal_ordered
    rules: [level, b]
    timespan: 10s
    generate: true
"""
START = datetime(2026, 11, 15, tzinfo=UTC)


def drawn() -> list[tuple[int, str, int, int]]:
    """Events at seconds that ascend: id, host, level, time."""
    return [(i, "ab"[i % 5 == 0], i * 7 % 9, 3 * i + i % 3) for i in range(60)]


def counted(events: list[tuple[int, str, int, int]]) -> set[tuple[int, str]]:
    """The correlations, by a loop that looks at all events since the last alert."""
    found: set[tuple[int, str]] = set()
    three: dict[str, list[int]] = {}
    levels: list[tuple[int, int]] = []
    began: int | None = None
    for number, host, level, at in events:
        if level > 3:
            of = three.setdefault(host, [])
            of.append(at)
            if len([t for t in of if t >= at - 10]) >= 3:
                found.add((number, "three"))
                of.clear()
            levels.append((at, level))
            if len({v for t, v in levels if t >= at - 10}) >= 2:
                found.add((number, "levels"))
                levels.clear()
            # Of `then`, whose rules stand for themselves, too.
            found.add((number, "level"))
        if host == "b":
            found.add((number, "b"))
        if began is not None and at - began > 10:
            began = None
        if began is None:
            began = at if level > 3 else None
        elif host == "b" and at > began:
            found.add((number, "then"))
            began = None
    return found


SETTINGS = RuleSettings(logsource="none")


@pytest.fixture(scope="module")
def sigma(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sigma") / "rules.yml"
    file.write_text(SIGMA)
    return file


def test_counts_and_sequences_of_a_table(spark: SparkSession, sigma: Path) -> None:
    rows = [(i, h, v, START + timedelta(seconds=at)) for i, h, v, at in drawn()]
    events = spark.createDataFrame(
        rows, "id long, host string, level long, at timestamp"
    )
    compiled = compile_rules(sigma, settings=SETTINGS)
    assert compiled.rejects == ()
    with pytest.raises(SienaError, match="is about several events"):
        apply(events, compiled)
    found = apply(events, compiled, key="id", time="at")
    wanted = counted(drawn())
    assert {rule for _, rule in wanted} == {"three", "levels", "then", "level", "b"}
    assert said(found) == wanted
    three = found.where("rule = 'three'").first()
    assert three is not None
    assert three.severity == "high"
    assert three.why[-1].constraint == "3 events within 10 s"


def test_counts_of_a_stream_survive_a_restart(
    spark: SparkSession, sigma: Path, tmp_path: Path
) -> None:
    stream = Stream(spark, tmp_path, key="id", time="at", why=False)
    stream.rules.settings = SETTINGS
    stream.rules.publish(sigma)
    stream.start()
    rows = drawn()
    for turn, part in enumerate((rows[:25], rows[25:])):
        if turn:
            stream.stop()
            stream.start()
        stream.send(
            f"part{turn}",
            [
                {"id": i, "host": h, "level": v, "at": 1_000_000 * at}
                for i, h, v, at in part
            ],
        )
    stream.stop()
    assert said(stream.alerts()) == counted(rows)


def test_alerts_of_one_host_are_suppressed_and_counted(spark: SparkSession) -> None:
    rows = [(i, host, 5, 1_000_000 * at) for i, (host, at) in enumerate(
        [("a", 0), ("a", 5), ("b", 6), (None, 7), (None, 8), ("a", 10), ("a", 11)]
    )]  # fmt: skip
    events = spark.createDataFrame(rows, "id long, host string, level long, at long")
    hold = Suppression(("host",), timedelta(seconds=10))
    found = apply(events, RULES[:1], key="id", time="at", suppress=hold)
    assert {(row.id, row.suppressed) for row in found.collect()} == {
        *((0, 0), (2, 0), (3, 0), (4, 0), (6, 2)),
    }
    (row,) = metrics(found).collect()
    assert (row.rule, row.alerts, row.suppressed) == ("hot", 5, 2)
    with pytest.raises(SienaError, match="suppression needs a time"):
        apply(events, RULES[:1], suppress=hold)


def test_rules_that_look_everywhere_do_not_see_what_we_add(spark: SparkSession) -> None:
    """The time of an event is its own column, and not ours beside it."""
    moment = datetime(2026, 11, 15, 2, 40, 3, tzinfo=UTC)
    events = spark.createDataFrame([(1, moment)], "id long, at timestamp")
    micros = int(moment.timestamp()) * 1_000_000
    rules = [
        {"id": str(text), "dialect": "expression", "text": f'anywhere_like("*{text}*")'}
        for text in (micros, "02:40")
    ]
    found = apply(
        events, rules, time="at", suppress=Suppression(("id",), timedelta(seconds=1))
    )
    assert said(found) == {(1, "02:40")}


def test_names_of_ours_are_refused(spark: SparkSession) -> None:
    events = spark.createDataFrame([(1, "x")], "level long, rule string")
    with pytest.raises(SienaError, match="have a column 'rule' already"):
        apply(events, RULES[:1])
    assert apply(events, RULES[:1], key="level").count() == 0


def test_rules_are_laid_out_for_a_sample(spark: SparkSession) -> None:
    """Which changes no answer; what cannot be read is no part of the sample."""
    events = spark.createDataFrame(EVENTS, KINDS)
    expected = {(1, "hot"), (3, "hot"), (2, "odd")}
    shown: list[dict[str, Any]] = [{"level": 5}, {"level": 1, "host": "a"}]
    samples: list[Sampled] = [events, shown]
    for like in samples:
        assert said(apply(events, compile_rules(RULES, like=like), key="id")) == (
            expected
        )
    texts = spark.createDataFrame([('{"level": 5}',), ("{",)], "event string")
    compiled = compile_rules(RULES, like=texts, column="event")
    assert said(apply(events, compiled, key="id")) == expected
    stream = spark.readStream.format("rate").load()
    with pytest.raises(SienaError, match="stream is no sample"):
        compile_rules(RULES, like=stream)


def test_a_stream_puts_aside_what_is_far_ahead_and_counts_what_it_forgets(
    spark: SparkSession,
    sigma: Path,
    tmp_path: Path,
) -> None:
    stream = Stream(spark, tmp_path, key="id", time="at", why=False)
    stream.rules.settings = SETTINGS
    stream.rules.publish(sigma)
    stream.start()
    year = 365 * 86_400
    times = [1, 2, 200 * year, 31 * year, 3]
    for turn, part in enumerate((times[:2], times[2:4], times[4:])):
        rows = [
            {"id": at, "host": "a", "level": 5, "at": 1_000_000 * at} for at in part
        ]
        stream.send(f"part{turn}", rows)
    stream.stop()
    found = stream.alerts()
    three = found.where("rule = 'three'").collect()
    assert [row.id for row in three] == [3]
    (bad,) = bad_events(found).collect()
    assert (bad.id, "far ahead" in bad.error) == (200 * year, True)
    assert "forgotten" not in alerts(found).columns


def test_a_stream_with_too_much_to_remember_goes_on(
    spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit itself is a million, and the worker is another process."""
    stage = applying._Stage(
        "p1",
        ("p1",),
        ("p0", "rule", "error"),
        T.StructType().add("p0", "long").add("rule", "string").add("error", "string"),
    )
    monkeypatch.setattr(remembering, "REMEMBERED_MAX", 3)
    rows = pa.table(
        {
            "p0": [1, 2, 3, 4, 5],
            "p1": [1, 2, 3, 4, 5],
            "rule": ["r"] * 5,
            "error": pa.nulls(5, pa.string()),
            "siena_key": ["a", "b", "c", "d", "e"],
            "siena_spec": ['{"suppress": 1000}'] * 5,
            "siena_bits": pa.nulls(5, pa.int64()),
            "siena_value": pa.nulls(5, pa.string()),
        }
    )
    found, state = applying._StreamMemory(stage).advance(None, rows)
    assert found["rule"].to_pylist() == ["r"] * 5 + [None]
    assert found["forgotten"].to_pylist() == [None] * 5 + [2]
    assert len(Memory.load(state)) == 3
    rows = found.select(["rule", "error", "suppressed", "forgotten"])
    kinds = "rule string, error string, suppressed long, forgotten long"
    listed = [tuple(row.values()) for row in rows.to_pylist()]
    more = spark.createDataFrame(listed, kinds).selectExpr(
        *("*", "'' version", "'' severity", "1L revision")
    )
    counts = {r.rule: (r.alerts, r.forgotten) for r in metrics(more).collect()}
    assert counts == {"r": (5, 0), None: (0, 2)}
