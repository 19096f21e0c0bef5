"""Three opinions on who gets what: a loop, Spark's SQL, and the engine."""

from collections.abc import Sequence
from datetime import datetime
from random import Random

import pytest
from hypothesis import given, settings, strategies as st
from pyspark.sql import DataFrame, SparkSession, types as T

from siena.lang import parse_filter
from siena.matching.reference import ReferenceMatcher
from siena.model import Filter, Kind, Notification, Value
from siena.spark import match, match_by_join
from siena.spark.batch.join import _typed
from strategies import BOOLEANS, FLOATS, INTEGERS, STRINGS, TIMES, constraints, filters

# A column of each kind, so that a notification can have any of them.
COLUMNS: dict[str, tuple[T.DataType, Sequence[Value]]] = {
    "x": (T.LongType(), INTEGERS),
    "y": (T.DoubleType(), FLOATS),
    "z": (T.StringType(), [s for s in STRINGS if "\0" not in s]),
    "u": (T.BooleanType(), BOOLEANS),
    "v": (T.TimestampNTZType(), TIMES),
}
ROWS = 60
FILTERS = 300


def drawn(random: Random) -> tuple[list[dict[str, Value]], list[Filter]]:
    """Rows of all columns, some absent, and filters on their names."""
    rows = [
        {
            name: random.choice(values)
            for name, (_, values) in COLUMNS.items()
            if random.random() < 0.8
        }
        for _ in range(ROWS)
    ]
    found: list[Filter] = []
    one = filters(names=tuple(COLUMNS), max_size=3)

    @settings(max_examples=FILTERS, database=None, derandomize=True)
    @given(one)
    def collect(f: Filter) -> None:
        found.append(f)

    collect()
    return rows, found


def table(spark: SparkSession, rows: list[dict[str, Value]]) -> DataFrame:
    fields = [T.StructField(name, kind) for name, (kind, _) in COLUMNS.items()]
    schema = T.StructType([T.StructField("id", T.LongType()), *fields])
    return spark.createDataFrame(
        [
            [i, *(_naive(row.get(name)) for name in COLUMNS)]
            for i, row in enumerate(rows)
        ],
        schema,
    )


def _naive(value: Value | None) -> Value | None:
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


# Random filters ask for odd things, too.
@pytest.mark.filterwarnings("ignore::siena.spark.MismatchedKindsWarning")
def test_the_engine_and_the_join_agree_with_the_loop(spark: SparkSession) -> None:
    rows, wanted = drawn(Random(7))
    matcher = ReferenceMatcher()
    for number, f in enumerate(wanted):
        matcher.add(number, f)
    expected = {
        (i, str(number % 50))
        for i, row in enumerate(rows)
        for number in matcher.match_filters(Notification({"id": i, **row}))
    }
    assert len(expected) > ROWS
    notifications = table(spark, rows)
    subscriptions = spark.createDataFrame(
        [(str(number % 50), str(f)) for number, f in enumerate(wanted)],
        "subscriber string, filter string",
    )
    joined = match_by_join(notifications, subscriptions, key="id").collect()
    assert {(row.id, row.subscriber) for row in joined} == expected
    assert len(joined) == len(expected)
    engine = match(notifications, subscriptions, key="id").collect()
    assert {(row.id, row.subscriber) for row in engine} == expected
    assert len(engine) == len(expected)


@pytest.mark.parametrize("kind", [Kind.INTEGER, Kind.FLOAT])
@given(data=st.data())
def test_numbers_are_compared_each_in_its_domain(
    kind: Kind, data: st.DataObject
) -> None:
    """A constraint on numbers is one on integers and one on floats, exactly."""
    constraint = data.draw(constraints((Kind.NUMBER,), ("x",)))
    value = data.draw(st.sampled_from(INTEGERS if kind is Kind.INTEGER else FLOATS))
    found = False
    for _, word, symbol, whole, real, _ in _typed(constraint):
        operand = whole if whole is not None else real
        if word == kind.word:
            typed = f"{word} x {symbol}" + ("" if operand is None else f" {operand!r}")
            found = found or parse_filter(typed).matches(Notification(x=value))
    assert found == constraint.matches(value)


@pytest.mark.slow
def test_decimals_dates_and_times_in_the_join(spark: SparkSession) -> None:
    notifications = spark.sql(
        "select 1 id, 19.99BD price, cast(7 as decimal(18, 0)) whole,"
        " date'2026-11-15' day, time'03:04:05' hour, timestamp'2026-11-15 12:00:00' at"
    )
    yes = [
        *("price = 19.99", "integer whole = 7", "day = 2026-11-15T00:00:00Z"),
        *("hour = 1970-01-01T03:04:05Z", "at > 2026-11-15T11:59:59Z", "[]"),
    ]
    no = ["integer price any", "float whole any", "day > 2026-11-15T00:00:00Z"]
    subscriptions = spark.createDataFrame(
        [(text, text) for text in (*yes, *no)], "subscriber string, filter string"
    )
    joined = match_by_join(notifications, subscriptions, key="id").collect()
    assert {row.subscriber for row in joined} == set(yes)
