"""Back-tests count what a loop counts."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from siena.errors import SienaError
from siena.spark import backtest

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
    with pytest.raises(SienaError, match="one cannot count by a string"):
        backtest("delay = 1", history, time="carrier")
