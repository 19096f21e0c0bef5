"""Rule sets tried on history: counts, offenders, and what a change would do."""

import json
from datetime import UTC, datetime, timedelta

from pyspark.sql import DataFrame, SparkSession

from siena.spark.rules import backtest

START = datetime(2026, 11, 15, tzinfo=UTC)
RULES = [
    {"id": "hot", "text": "level > 6", "severity": "high", "version": "1"},
    {"id": "a", "text": "host = a"},
    {"id": "never", "text": "level > 100"},
    {"id": "bad", "text": "level >"},
]
CHANGED = [
    {"id": "hot", "text": "level >= 6 and level <> host_level", "dialect": "sql"},
    {"id": "a", "text": "host = a"},
    {"id": "new", "text": "level = 0"},
]


def history(spark: SparkSession) -> DataFrame:
    rows = [
        (i, "abc"[i % 3], i % 10, 9, START + timedelta(hours=6 * i)) for i in range(40)
    ]
    return spark.createDataFrame(
        rows, "id long, host string, level long, host_level long, at timestamp"
    )


def test_what_rules_would_have_said(spark: SparkSession) -> None:
    changed = [{**rule, "text": rule["text"].replace("and", "AND")} for rule in CHANGED]
    found = backtest(
        history(spark),
        changed,
        time="at",
        by="host",
        against=RULES,
        key="id",
        top=1,
        examples=2,
    )
    hot = [i for i in range(40) if i % 10 >= 6 and i % 10 != 9]
    assert (found.events, found.bad, found.set_aside) == (40, 0, ())
    assert {rule.rule: rule.alerts for rule in found.rules} == {
        "hot": len(hot),
        "a": 14,
        "new": 4,
    }
    assert found.rules[0].rule == "a"
    for day in range(10):
        in_day = [p.alerts for p in found.periods if p.start == START + timedelta(day)]
        events = range(4 * day, 4 * day + 4)
        fired = [
            sum(i in hot for i in events),
            sum(i % 3 == 0 for i in events),
            sum(i % 10 == 0 for i in events),
        ]
        assert sorted(in_day) == sorted(n for n in fired if n)
    counts = {h: sum("abc"[i % 3] == h for i in hot) for h in "abc"}
    (of_hot,) = [one for one in found.offenders if one.rule == "hot"]
    assert of_hot.alerts == max(counts.values())
    assert counts[of_hot.of["host"]] == of_hot.alerts
    changes = {(c.rule, c.change): c for c in found.changes}
    assert {key: change.alerts for key, change in changes.items()} == {
        ("hot", "added"): sum(i % 10 == 6 for i in range(40)),
        ("hot", "removed"): sum(i % 10 == 9 for i in range(40)),
        ("new", "added"): 4,
    }
    removed = changes["hot", "removed"].examples
    assert len(removed) == 2
    assert all(event["id"] % 10 == 9 for event in removed)
    assert json.loads(found.to_json())["alerts"] == found.alerts


def test_a_period_is_no_part_of_an_event(spark: SparkSession) -> None:
    rule = {"id": "r", "dialect": "expression", "text": 'anywhere_like("*T00:00:*")'}
    found = backtest(history(spark), [rule], time="at")
    assert found.alerts == 10
    assert [period.alerts for period in found.periods] == [1] * 10
