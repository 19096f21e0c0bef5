"""The fast path gives what the usual one gives."""

from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession, types as T

from siena.errors import SienaError
from siena.spark import Tally, match, match_parquet
from siena.spark.batch import parquet, spreading
from siena.spark.batch.columns import Layout, engine_column, wide_columns
from siena.spark.batch.compiling import compile_rows
from siena.spark.batch.parquet import plain_files
from siena.spark.batch.small import small_job
from siena.spark.batch.worker import Task

WANTED = [
    *(("ann", "x > 3"), ("ann", "x > 5"), ("bob", "s.t >* a"), ("cid", "p = 19.99")),
    *(("dee", "day < 2026-11-16T00:00:00Z"), ("eve", "at > 2026-11-15T00:00:00Z")),
    *(("gus", "[]"), ("hal", "code = b")),
]


@pytest.mark.parametrize("zone", [None, "UTC", "America/New_York"])
def test_nanoseconds_are_cut_off_wherever_they_stand(
    zone: str | None, tmp_path: Path
) -> None:
    """In what is matched, in what a residual looks at, and in the answer."""
    kind = pa.timestamp("ns", zone)
    rows = {"at": pa.array([1_999, -1], kind), "end": pa.array([1_001, -999], kind)}
    pq.write_table(pa.table(rows), tmp_path / "rows.parquet")
    wanted = pa.table(
        {
            "subscriber": ["ann", "bob", "cid"],
            "filter": [
                "at = 1970-01-01T00:00:00.000001Z",
                "at = 1969-12-31T23:59:59.999999Z",
                "at = end",
            ],
            "dialect": [None, None, "sql"],
        }
    )
    job = small_job(
        tmp_path / "rows.parquet",
        compile_rows(wanted),
        key=None,
        column=None,
        output="deliveries",
        on_error="raise",
    )
    assert job is not None
    found = job.run()
    micros = found["at"].cast(pa.int64()).to_pylist()
    said = zip(micros, found["subscriber"].to_pylist(), strict=True)
    assert sorted(said) == [(-1, "bob"), (-1, "cid"), (1, "ann"), (1, "cid")]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Two files, the first of several row groups, with types of many kinds."""
    rows = 10
    table = pa.table(
        {
            "x": pa.array([*range(rows - 1), None], pa.uint8()),
            "s": [{"t": "ab", "u": 1}, None] * (rows // 2),
            "p": pa.array([Decimal("19.99"), None] * (rows // 2), pa.decimal128(8, 2)),
            "day": pa.array([20407 + i for i in range(rows)], pa.date32()),
            "at": pa.array(
                [1000 * (1_794_700_000 + 3600 * i) for i in range(rows)]
            ).cast(pa.timestamp("ms", "UTC")),
            "code": pa.array(["a", "b"] * (rows // 2)).dictionary_encode(),
            "json": [f'{{"x": {i}}}' for i in range(rows)],
            "blob": [b"\x00"] * rows,
        }
    )
    folder = tmp_path / "rows"
    folder.mkdir()
    pq.write_table(table, folder / "a.parquet", row_group_size=4)
    pq.write_table(table.slice(2, 3), folder / "b.parquet")
    (folder / "_SUCCESS").touch()
    return folder


@pytest.mark.parametrize("column", [None, "json", "s"])
def test_both_ways_give_the_same(
    spark: SparkSession,
    files: Path,
    column: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(parquet, "ROWS_PER_TASK_MIN", 3)
    named = {
        None: WANTED,
        "json": WANTED[:2],
        "s": [("bob", "t >* a"), ("cid", "u = 1")],
    }
    subscriptions = spark.createDataFrame(
        named[column], "subscriber string, filter string"
    )
    usual = match(spark.read.parquet(str(files)), subscriptions, column=column)
    fast = match_parquet(spark, str(files), subscriptions, column=column)
    assert fast.schema == usual.schema
    expected = sorted(map(repr, usual.collect()))
    assert sorted(map(repr, fast.collect())) == expected
    assert len(expected) > 5


def test_keys_and_other_answers(spark: SparkSession, files: Path) -> None:
    subscriptions = spark.createDataFrame(WANTED, "subscriber string, filter string")
    tally = Tally.start(spark)
    fast = match_parquet(
        *(spark, str(files), subscriptions),
        key=["day", "x"],
        output="counts",
        tally=tally,
    )
    usual = match(
        spark.read.parquet(str(files)), subscriptions, key=["day", "x"], output="counts"
    )
    assert fast.schema == usual.schema
    assert sorted(map(repr, fast.collect())) == sorted(map(repr, usual.collect()))
    assert (tally.rows.value, tally.answers.value) == (13, 13)


def test_nan_may_be_absent_here_too(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"id": [7], "delay": [float("nan")]}), path)
    found = match_parquet(spark, str(path), ["delay absent"], key="id", nan="absent")
    assert [row.id for row in found.collect()] == [7]


def test_what_means_nothing_is_refused_here_too(
    spark: SparkSession, files: Path
) -> None:
    wanted = spark.createDataFrame(
        [("a", "blob any")], "subscriber string, filter string"
    )
    with pytest.raises(SienaError, match="the column blob is binary"):
        match_parquet(spark, str(files), wanted)


def test_arrows_types_mean_what_sparks_do() -> None:
    """Those that Spark does not read from parquet, too."""
    column: Any = engine_column(pa.array([5_000_000_000], pa.time64("ns")))
    assert column.to_pylist() == [datetime(1970, 1, 1, 0, 0, 5)]  # noqa: DTZ001
    whole: Any = engine_column(pa.array([Decimal(7)], pa.decimal128(18, 0)))
    assert whole.type == pa.int64()
    # Arrow's own cast of this decimal is one float beside the nearest.
    digits = Decimal("0.1234567890123456789012345678901234")
    near: Any = engine_column(pa.array([digits], pa.decimal128(38, 34)))
    assert near.to_pylist() == [float(digits)]
    assert engine_column(pa.array([[1]])) is None
    inner = wide_columns({"s": pa.array([{"t": 1}, None]), "b": pa.array([b"", b""])})
    assert {name: column.to_pylist() for name, column in inner.items()} == {
        "s.t": [1, None]
    }


def test_which_files_are_plain(files: Path, tmp_path: Path) -> None:
    both = [files / "a.parquet", files / "b.parquet"]
    assert plain_files(str(files)) == both
    assert plain_files(f"file://{both[0]}") == both[:1]
    assert plain_files("hdfs://host/rows") is None
    assert plain_files(str(tmp_path / "missing")) is None
    (files / "day=1").mkdir()
    assert plain_files(str(files)) is None
    assert plain_files(str(files / "_SUCCESS")) is None


def test_partitions_need_sparks_reader(spark: SparkSession, files: Path) -> None:
    (files / "day=1").mkdir()
    with pytest.raises(SienaError, match="is more than plain parquet files"):
        match_parquet(spark, str(files), "table")


def test_a_file_of_one_row_group_is_matched_by_several_tasks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreading, "ROWS_PER_TASK_MIN", 40)
    file = str(tmp_path / "one file, 100 % of it.parquet")
    pq.write_table(pa.table({"x": range(100)}), file)
    wanted = spark.createDataFrame(
        [("ann", "x > 3")], "subscriber string, filter string"
    )
    rows = spark.read.parquet(file)
    assert rows.rdd.getNumPartitions() == 1
    found = match(rows.where("x < 90"), wanted)
    assert found.rdd.getNumPartitions() == 2
    assert sorted(row.x for row in found.collect()) == list(range(4, 90))
    # What is sorted stays so, and little is not worth moving.
    for other in (rows.sort("x"), rows.limit(100)):
        assert match(other, wanted).rdd.getNumPartitions() == 1
    monkeypatch.setattr(spreading, "ROWS_PER_TASK_MIN", 60)
    assert match(rows, wanted).rdd.getNumPartitions() == 1


def test_a_file_of_another_file_system_is_matched_by_several_tasks(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spreading, "ROWS_PER_TASK_MIN", 40)
    pq.write_table(pa.table({"x": range(100)}), tmp_path / "one.parquet")
    # A view of this machine's files, which no other reader than Hadoop knows.
    link = "fs.viewfs.mounttable.here.link./rows"
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set(link, tmp_path.as_uri())
    rows = spark.read.parquet("viewfs://here/rows/one.parquet")
    found = match(rows, ["x > 3"])
    assert found.rdd.getNumPartitions() == 2
    assert found.count() == 96


@pytest.mark.parametrize("cores", [1, 2, 32])
@pytest.mark.parametrize("groups", [1, 3, 40])
def test_a_row_group_is_decoded_no_more_often_than_there_are_cores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int, groups: int
) -> None:
    monkeypatch.setattr(parquet, "ROWS_PER_TASK_MIN", 2)
    file = tmp_path / "rows.parquet"
    rows = 120 * groups
    pq.write_table(pa.table({"x": range(rows)}), file, row_group_size=120)
    pieces = list(parquet._pieces([file], cores))
    assert sum(count for *_, count in pieces) == rows
    of_groups = Counter(part for _, part, _, _ in pieces)
    assert max(of_groups.values()) <= cores
    assert len(pieces) >= min(cores, groups)
    if groups >= cores:
        assert len(pieces) <= 2 * groups


def test_what_a_worker_has_decoded_serves_the_next_share(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[int] = []
    read = pq.ParquetFile.read_row_group

    def counted(self: Any, part: int, **options: Any) -> pa.Table:  # noqa: ANN401
        decoded.append(part)
        return read(self, part, **options)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", counted)
    file = tmp_path / "rows.parquet"
    pq.write_table(pa.table({"x": range(20)}), file, row_group_size=10)
    who = compile_rows(pa.table({"subscriber": ["a"], "filter": ["x > 3 and x < 12"]}))
    task = Task(str(who.path), Layout(1, "wide", (), ("x",)), "deliveries", "raise")
    payload = T.StructType([T.StructField("x", T.LongType())])
    reader = parquet.Reader(task, payload, ("x",), None)
    shares = [(0, 0, 5), (0, 5, 5), (1, 0, 5), (1, 5, 5)]
    listed = pa.RecordBatch.from_pydict(
        {
            "file": [str(file)] * 4,
            "part": [part for part, _, _ in shares],
            "first": [first for _, first, _ in shares],
            "rows": [count for *_, count in shares],
        }
    )
    found = [x for batch in reader(iter([listed])) for x in batch["x"].to_pylist()]
    assert found == [*range(4, 12)]
    assert decoded == [0, 1]
    pq.write_table(pa.table({"x": [5] * 21}), file, row_group_size=10)
    again = [x for batch in reader(iter([listed])) for x in batch["x"].to_pylist()]
    assert again == [5] * 20  # of a file that was written anew
