"""Patterns over tables and streams are those of ``PatternMatcher``."""

import math
import pickle
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyspark.sql import DataFrame, SparkSession

from siena.errors import LimitError, SienaError
from siena.lang import parse_pattern
from siena.matching.pattern import PatternMatcher
from siena.model import Notification
from siena.spark import match_patterns
from siena.spark.streams import searching
from siena.spark.streams.searching import (
    PATTERN,
    STEPS,
    TIME,
    Columns,
    Searches,
    match_order,
)
from siena.spark.streams.sequences import Search
from siena.spark.streams.steps import compile_patterns

# --- One search, without Spark ------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 6)), max_size=12),
    st.none() | st.integers(0, 4),
)
def test_a_search_finds_what_the_matcher_finds(
    offered: list[tuple[int, int]], within: int | None
) -> None:
    """Bit i of a number is whether the attribute ``b<i>`` is there."""
    pattern = parse_pattern("b0 any then b1 any then b2 any")
    expected = [
        [int(n["row"]) for n in found]
        for found in reference(pattern_text=str(pattern), within=within, offered=[
            (Notification({"row": row, **bits(matched)}), time)
            for row, (matched, time) in enumerate(offered)
        ])
    ]  # fmt: skip
    search = Search(3, within)
    found = [search.offer(m, time, row) for row, (m, time) in enumerate(offered)]
    assert [[row for _, row in f] for f in found if f is not None] == expected


def bits(matched: int) -> dict[str, bool]:
    return {f"b{i}": True for i in range(3) if matched >> i & 1}


def reference(
    pattern_text: str, offered: Iterable[tuple[Notification, int]], within: int | None
) -> list[tuple[Any, ...]]:
    """What the matcher finds; what is too old it is made to forget."""
    matcher = PatternMatcher(parse_pattern(pattern_text))
    started: int | None = None
    found = []
    for notification, time in offered:
        if matcher.progress and within is not None:
            assert started is not None
            if time - started > within:
                matcher.reset()
        before = len(matcher.progress)
        sequence = matcher.offer(notification, time)
        if before == 0 and matcher.progress:
            started = time
        if sequence is not None:
            found.append(sequence)
    return found


# --- Tables and streams -------------------------------------------------------------

PATTERNS = [
    *(("ann", "x = 1 then x = 2"), ("ann", "x = 1 then x = 1"), ("bob", "x > 1")),
    ("cid", "x = 0 or x = 1 then y any then x = 2"),
]
SCHEMA = "id long, t long, k string, x long, y long"


def drawn(count: int, seed: int) -> list[tuple[Any, ...]]:
    """Rows in the order of arrival, late ones and equal times among them."""
    random = Random(seed)
    return [
        (
            i,
            i // 3 + random.randint(-4, 2),
            random.choice("ab"),
            random.randint(0, 3),
            random.choice([None, 1]),
        )
        for i in range(count)
    ]


def expected(
    ordered: list[tuple[Any, ...]], *, by: bool, within: int | None
) -> set[tuple[Any, ...]]:
    found = set()
    for number, (who, text) in enumerate(PATTERNS):
        for group in "ab" if by else [None]:
            offered = [
                (Notification({"id": i, "x": x, **({"y": y} if y else {})}), t)
                for i, t, k, x, y in ordered
                if group is None or k == group
            ]
            for sequence in reference(text, offered, within):
                ids = tuple(int(n["id"]) for n in sequence)
                found.add((who, number, *([group] if by else []), ids))
    return found


def answers(found: DataFrame) -> set[tuple[Any, ...]]:
    rows = [
        (*row[:-1], tuple(matched.id for matched in row.matched))
        for row in found.collect()
    ]
    assert len(rows) == len(set(rows))
    return set(rows)


@pytest.fixture(scope="module")
def patterns(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(PATTERNS, "subscriber string, pattern string")


@pytest.mark.parametrize(("by", "within"), [(False, None), (True, 3)])
def test_over_a_table(
    spark: SparkSession, patterns: DataFrame, *, by: bool, within: int | None
) -> None:
    rows = drawn(300, seed=5)
    found = match_patterns(
        spark.createDataFrame(rows, SCHEMA),
        patterns,
        time="t",
        key="id",
        by="k" if by else (),
        within=within,
    )
    ordered = sorted(rows, key=lambda row: (row[1], row[0]))
    wanted = expected(ordered, by=by, within=within)
    assert len(wanted) > 50
    assert answers(found) == wanted


def test_the_order_of_arrival_may_be_the_match_order(spark: SparkSession) -> None:
    """T-A60 of the specification."""
    rows = [
        *((1, 4, "B"), (2, 3, "A"), (3, 1, "A"), (4, 2, "B")),
        *((5, 5, "A"), (6, 6, "B"), (7, 7, "A"), (8, 8, "B")),
    ]
    found = match_patterns(
        spark.createDataFrame(rows, "m long, g long, what string"),
        spark.createDataFrame(
            [("x", "what = A then what = B")], "subscriber string, pattern string"
        ),
        time="g",
        order="m",
        key="m",
    )
    assert {tuple(m.m for m in row.matched) for row in found.collect()} == {
        (2, 6),
        (7, 8),
    }


@pytest.mark.slow
def test_over_a_stream(
    spark: SparkSession, patterns: DataFrame, tmp_path: Path
) -> None:
    """In four micro-batches and three runs, each with the state of the one before.

    Some come in a later micro-batch than those that were generated after them; and of
    one micro-batch nothing is a step of anything.
    """
    rows = drawn(240, seed=9)
    assert any(late[1] <= early[1] for early in rows[:80] for late in rows[80:160])
    idle = [(1_000, 0, "a", -1, None)]
    batches = [rows[:80], rows[80:160], idle, rows[160:]]

    def run(name: str) -> None:
        stream = (
            spark.readStream.schema(SCHEMA)
            .option("maxFilesPerTrigger", 1)
            .option("latestFirst", False)
            .parquet(str(tmp_path / "in"))
        )
        found = match_patterns(stream, patterns, time="t", key="id", by="k", within=3)
        query = (
            found.writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .queryName(name)
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(200)

    for i, batch in enumerate(batches):
        spark.createDataFrame(batch, SCHEMA).coalesce(1).write.mode("append").parquet(
            str(tmp_path / "in")
        )
        if i > 0:
            run(f"run {i}")
    ordered = [
        row for batch in batches for row in sorted(batch, key=lambda r: (r[1], r[0]))
    ]
    found = answers(spark.read.parquet(str(tmp_path / "out")))
    assert found == expected(ordered, by=True, within=3)
    assert len(found) > 50
    # A table of the same, in the order in which the stream has seen it.
    table = spark.createDataFrame(
        [(*row, n) for n, row in enumerate(ordered)], f"{SCHEMA}, n long"
    )
    options: dict[str, Any] = {"time": "t", "key": "id", "by": "k", "within": 3}
    assert answers(match_patterns(table, patterns, order="n", **options)) == found


# --- Many searches, without Spark ---------------------------------------------------

COLUMNS = Columns(
    by=("k",),
    order=("t", "s"),
    kept=("id", "s"),
    within=None,
    lengths=(2,),
    marks=(7,),
)


def steps(*rows: tuple[object, ...]) -> pa.Table:
    """Rows of an id, a time, a group, a step from 0 and a number inside a struct."""
    names = ("id", "t", "k", "step", "n")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    return pa.table(
        {
            "id": pa.array(columns["id"], pa.int64()),
            "t": pa.array(columns["t"], pa.int64()),
            "k": pa.array(columns["k"], pa.float64()),
            "s": pa.array(
                [None if n is None else {"n": n} for n in columns["n"]],
                pa.struct([("n", pa.float64())]),
            ),
            TIME: pa.array(columns["t"], pa.int64()),
            PATTERN: pa.array([0] * len(rows), pa.int64()),
            STEPS: pa.array([1 << int(str(b)) for b in columns["step"]], pa.int64()),
        }
    )


def ids(found: pa.Table) -> list[tuple[int, ...]]:
    return [tuple(m["id"] for m in row) for row in found["matched"].to_pylist()]


def test_rows_of_one_time_are_sorted_by_what_is_in_a_struct() -> None:
    """Nulls first and NaN last, as Spark sorts; comparing dicts raises an error."""
    nan = math.nan
    rows = steps(
        *((1, 5, 1.0, 0, nan), (2, 5, 1.0, 0, 3.0), (3, 5, 1.0, 0, None)),
        *((4, 5, 1.0, 0, 0.0), (5, 6, 1.0, 1, 1.0)),
    )
    assert match_order(rows, ("t", "s")).to_pylist() == [2, 3, 1, 0, 4]
    assert ids(Searches(COLUMNS).offer(rows, is_sorted=False)) == [(3, 5)]


def test_a_group_may_be_nan_and_what_has_none_is_in_no_search() -> None:
    searches = Searches(COLUMNS)
    first = steps((1, 1, math.nan, 0, 1.0), (2, 1, None, 0, 1.0))
    assert ids(searches.offer(first, is_sorted=False)) == []
    again = Searches.load(COLUMNS, searches.save())
    assert len(again) == 1
    last = steps((3, 2, math.nan, 1, 1.0), (4, 2, None, 1, 1.0))
    found = again.offer(last, is_sorted=False)
    assert ids(found) == [(1, 3)]
    assert math.isnan(found["k"][0].as_py())


def test_a_search_is_of_its_pattern_whatever_number_that_has() -> None:
    """Another pattern was put before it in the table, or taken away."""
    searches = Searches(COLUMNS)
    searches.offer(steps((1, 1, 1.0, 0, 1.0)), is_sorted=False)
    state = searches.save()
    second = replace(COLUMNS, lengths=(2, 2), marks=(9, 7))
    last = steps((2, 2, 1.0, 1, 1.0))
    assert ids(Searches.load(second, state).offer(last, is_sorted=False)) == []
    moved = last.set_column(
        last.schema.get_field_index(PATTERN), PATTERN, pa.array([1], pa.int64())
    )
    found = Searches.load(second, state).offer(moved, is_sorted=False)
    assert (ids(found), found[PATTERN].to_pylist()) == ([(1, 2)], [1])
    assert len(Searches.load(replace(COLUMNS, lengths=(), marks=()), state)) == 0


def test_a_state_of_before_is_refused() -> None:
    with pytest.raises(SienaError, match="an older version"):
        Searches.load(COLUMNS, pickle.dumps({}))


def test_more_searches_than_a_shard_may_remember_are_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(searching, "SEARCHES_MAX", 1)
    searches = Searches(COLUMNS)
    searches.offer(steps((1, 1, 1.0, 0, 1.0), (2, 1, 2.0, 0, 1.0)), is_sorted=False)
    with pytest.raises(LimitError, match="SEARCHES_MAX"):
        searches.save()


# --- And with it --------------------------------------------------------------------


def test_patterns_may_change_between_two_runs_of_a_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What has begun goes on, and belongs to no other pattern."""
    kinds = "id long, t long, x long"
    old, new = ("ann", "x = 0 then x = 1"), ("bob", "x = 7 then x = 1")

    def run(row: tuple[int, int, int], *patterns: tuple[str, str]) -> None:
        rows = spark.createDataFrame([row], kinds).coalesce(1)
        rows.write.mode("append").parquet(str(tmp_path / "in"))
        stream = spark.readStream.schema(kinds).parquet(str(tmp_path / "in"))
        wanted = spark.createDataFrame(
            list(patterns), "subscriber string, pattern string"
        ).coalesce(1)
        query = (
            match_patterns(stream, wanted, time="t")
            .writeStream.format("parquet")
            .trigger(availableNow=True)
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .start(str(tmp_path / "out"))
        )
        assert query.awaitTermination(200)

    run((1, 1, 0), old)
    run((2, 2, 1), new, old)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert [(r.subscriber, r.pattern, [m.id for m in r.matched]) for r in found] == [
        ("ann", 1, [1, 2])
    ]


def test_structs_and_nan_in_a_table_and_in_a_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Two equal times, a struct among the columns, and groups of NaN and of null."""
    rows = [
        *((1, 1, "NaN", 0), (2, 1, "NaN", 0), (3, 2, "NaN", 1)),
        *((4, 1, None, 0), (5, 2, None, 1)),
    ]
    kinds = "id long, t long, k string, x long"
    table = spark.createDataFrame(rows, kinds).selectExpr(
        "id", "t", "double(k) k", "x", "struct(id n) s"
    )
    table.coalesce(1).write.parquet(str(tmp_path / "in"))
    wanted = spark.createDataFrame(
        [("ann", "x = 0 then x = 1")], "subscriber string, pattern string"
    )
    stream = spark.readStream.schema(table.schema).parquet(str(tmp_path / "in"))
    query = (
        match_patterns(stream, wanted, time="t", by="k")
        .writeStream.format("memory")
        .queryName("structs_and_nan")
        .trigger(availableNow=True)
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .start()
    )
    assert query.awaitTermination(200)
    for found in (
        match_patterns(table, wanted, time="t", by="k"),
        spark.table("structs_and_nan"),
    ):
        ((who, _, k, matched),) = found.collect()
        assert (who, math.isnan(k)) == ("ann", True)
        assert [(m.id, m.s.n) for m in matched] == [(1, 1), (3, 3)]


def test_times_may_be_timestamps(spark: SparkSession) -> None:
    start = datetime(2026, 11, 15, tzinfo=UTC)
    rows = [(i, start + timedelta(minutes=10 * i)) for i in range(4)]
    notifications = spark.createDataFrame(rows, "x long, at timestamp")
    wanted = spark.createDataFrame(
        [("ann", "x = 0 then x = 1"), ("bob", "x = 0 then x = 3")],
        "subscriber string, pattern string",
    )
    found = match_patterns(
        notifications, wanted, time="at", within=timedelta(minutes=20)
    ).collect()
    ((who, number, matched),) = found
    assert (who, number) == ("ann", 0)
    assert [(m.x, m["at"].replace(tzinfo=UTC)) for m in matched] == rows[:2]


def test_what_is_bad_is_refused(spark: SparkSession) -> None:
    rows = spark.createDataFrame([(1, "a")], "x long, s string")
    good = spark.createDataFrame([("a", "x = 1")], "subscriber string, pattern string")
    with pytest.raises(SienaError, match="the column 's' is string, and no time"):
        match_patterns(rows, good, time="s")
    with pytest.raises(SienaError, match="no column 'y'"):
        match_patterns(rows, good, time="y")
    with pytest.raises(SienaError, match="within is an integer, as the column 'x' is"):
        match_patterns(rows, good, time="x", within=timedelta(1))
    bad = spark.createDataFrame(
        [("a", "x = 1"), ("b", "x then"), ("c", None)],
        "subscriber string, pattern string",
    )
    with pytest.raises(SienaError, match=r"pattern 2 of 'b' 'x then': "):
        match_patterns(rows, bad, time="x")
    compiled = compile_patterns(bad, on_error="set_aside")
    assert [reject.row for reject in compiled.rejects] == [2, 3]
    assert len(match_patterns(rows, compiled, time="x").collect()) == 1
    with pytest.raises(SienaError, match="patterns have no column 'pattern'"):
        match_patterns(rows, bad.drop("pattern"), time="x")
