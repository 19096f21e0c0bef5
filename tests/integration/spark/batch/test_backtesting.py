"""Back-tests count what a loop counts."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from siena.errors import LimitError, SienaError
from siena.spark import Backtest, backtest
from siena.spark.batch import backtesting
from siena.spark.batch.backtesting import InPeriod, end_of

START = datetime(2026, 11, 15, tzinfo=UTC)


@pytest.fixture(scope="module")
def history(spark: SparkSession) -> DataFrame:
    rows = [
        (
            i,
            "UA" if i % 3 else "DL",
            i % 10 if i % 7 else None,
            START + timedelta(hours=i),
        )
        for i in range(100)
    ]
    return spark.createDataFrame(
        rows, "id long, carrier string, delay long, at timestamp"
    )


def test_a_filter(history: DataFrame, tmp_path: Path) -> None:
    found = backtest("carrier = UA and delay > 7", history, time="at", key="id")
    ids = [i for i in range(100) if i % 3 and i % 7 and i % 10 > 7]
    assert (found.rows, found.matched) == (100, len(ids))
    assert [(p.start, p.rows, p.matched) for p in found.periods] == [
        (
            START + timedelta(days=day),
            min(24, 100 - 24 * day),
            sum(i // 24 == day for i in ids),
        )
        for day in range(5)
    ]
    assert {part.text: part.matched for part in found.constraints} == {
        "carrier = UA": sum(i % 3 > 0 for i in range(100)),
        "delay > 7": sum(i % 7 > 0 and i % 10 > 7 for i in range(100)),
    }
    assert found.selective is not None
    assert found.selective.text == "delay > 7"
    assert len(found.sample) == 5
    assert all(row["id"] in ids for row in found.sample)
    assert json.loads(found.to_json())["selective"]["text"] == "delay > 7"
    found.plot(tmp_path / "found.png")
    assert (tmp_path / "found.png").stat().st_size > 1000


def test_nan_is_a_mistake_or_a_null(spark: SparkSession) -> None:
    rows = spark.sql("select 7L id, double('NaN') delay union select 8L, 1.0D")
    assert backtest("delay < 2 or delay absent", rows).matched == 1
    assert backtest("delay < 2 or delay absent", rows, nan="absent").matched == 2
    fields = rows.selectExpr("id", "struct(delay) as of")
    text = "of.delay < 2 or of.delay absent"
    assert backtest(text, fields).matched == 1
    inside = backtest(text, fields, nan="absent")
    assert (inside.rows, inside.matched, len(inside.sample)) == (2, 2, 2)
    with pytest.raises(SienaError, match="'null' is not what NaN may be"):
        backtest("delay < 2", rows, nan="null")  # type: ignore[arg-type]


@pytest.mark.slow
def test_without_a_time_there_are_no_periods(history: DataFrame) -> None:
    found = backtest("delay = 3 or carrier = DL", history, sample=1)
    assert found.matched == sum(
        i % 3 == 0 or (i % 7 > 0 and i % 10 == 3) for i in range(100)
    )
    assert found.periods == ()
    with pytest.raises(SienaError, match="there is nothing to draw"):
        found.plot("found.png")


def test_a_pattern(history: DataFrame) -> None:
    text = "carrier = DL then delay = 8"
    found = backtest(text, history, time="at", every="week", sample=2)
    waiting, sequences = False, 0
    for i in range(100):
        if waiting and i % 7 and i % 10 == 8:
            waiting, sequences = False, sequences + 1
        elif not waiting and i % 3 == 0:
            waiting = True
    assert found.matched == sequences
    assert sum(period.matched for period in found.periods) == sequences
    assert [step.matched for step in found.steps] == [
        sum(i % 3 == 0 for i in range(100)),
        sum(i % 7 > 0 and i % 10 == 8 for i in range(100)),
    ]
    assert len(found.sample) == 2
    with pytest.raises(SienaError, match="a pattern needs a time"):
        backtest(text, history)
    with pytest.raises(
        SienaError, match="count by a string, which carrier is"
    ) as wrong:
        backtest("delay = 1", history, time="carrier")
    assert "timestamp_micros" in str(wrong.value.hint)


def test_more_groups_than_the_driver_takes_are_refused_and_not_cut(
    history: DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    """100 hours, three parts: cut to fewer, the counts would be wrong in silence."""
    found = backtest("delay any", history, time="at", every="hour", sample=0)
    assert (found.rows, len(found.periods)) == (100, 100)
    monkeypatch.setattr(backtesting, "PERIODS_MAX", 100)
    assert backtest("delay any", history, time="at", every="hour").rows == 100
    monkeypatch.setattr(backtesting, "PERIODS_MAX", 99)
    with pytest.raises(LimitError, match=r"99 periods, .*every=.*PERIODS_MAX"):
        backtest("delay any", history, time="at", every="hour")
    monkeypatch.setattr(backtesting, "COUNTS_MAX", 200)
    with pytest.raises(LimitError, match="COUNTS_MAX"):
        backtest("delay any", history, time="at", every="hour")


def test_a_drawing_has_a_width_for_every_period() -> None:
    periods = [InPeriod(START, 9, 3), InPeriod(START + timedelta(days=3), 9, 2)]
    found = Backtest("x any", 18, 5, tuple(periods), (), (), (), every="day")
    assert list(found.outline()) == [
        (START, 3),
        (START + timedelta(days=1), 0),
        (START + timedelta(days=3), 2),
        (START + timedelta(days=4), 0),
    ]
    assert end_of(START, "hour") - START == timedelta(hours=1)
    assert end_of(START.replace(day=1), "month") == START.replace(month=12, day=1)
