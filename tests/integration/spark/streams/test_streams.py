"""Streams of notifications, and subscriptions that change meanwhile."""

from itertools import count
from pathlib import Path
from threading import Event, Thread

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession

from siena.errors import SienaError
from siena.spark import VersionedSubscriptions, each_batch, match, to_parquet
from siena.spark.batch.compiling import compile_rows
from siena.spark.streams import versions as streams


def subscriptions(spark: SparkSession, *rows: tuple[str, str]) -> DataFrame:
    return spark.createDataFrame(list(rows), "subscriber string, filter string")


def add(spark: SparkSession, folder: Path, *xs: int) -> None:
    rows = spark.createDataFrame([(x,) for x in xs], "x long")
    rows.coalesce(1).write.mode("append").parquet(str(folder))


def stream(spark: SparkSession, folder: Path) -> DataFrame:
    reader = spark.readStream.schema("x long").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


def test_the_same_function_matches_a_stream(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Stopped and started again from its checkpoint, it delivers everything once."""
    wanted = subscriptions(spark, ("ann", "x > 1"), ("ann", "x > 2"), ("bob", "x = 3"))
    for xs in ([1, 2], [3, 4]):
        add(spark, tmp_path / "in", *xs)
        deliveries = match(stream(spark, tmp_path / "in"), wanted)
        assert deliveries.isStreaming
        query = (
            deliveries.writeStream.format("parquet")
            .option("path", str(tmp_path / "out"))
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(200)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(map(tuple, found)) == [
        *((2, "ann"), (3, "ann"), (3, "bob")),
        (4, "ann"),
    ]


def test_a_change_is_in_force_for_the_next_micro_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    """And for all of it, also if it comes in the middle of one."""
    versions = VersionedSubscriptions(tmp_path / "versions")
    versions.publish(subscriptions(spark, ("one", "x any")))
    for first in (0, 10, 20):
        add(spark, tmp_path / "in", *range(first, first + 5))
    sink = to_parquet(tmp_path / "out")

    def write(deliveries: DataFrame, number: int) -> None:
        # In the middle of the second micro-batch, whose table has been chosen by now.
        if number == 1:
            versions.publish(subscriptions(spark, ("two", "x any")))
        sink(deliveries, number)

    query = (
        stream(spark, tmp_path / "in")
        .writeStream.foreachBatch(each_batch(versions, write, key="x"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    assert query.awaitTermination(200)
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    assert len(found) == 15
    by_batch = {
        batch: {(row.subscriber, row.version) for row in found if row.batch == batch}
        for batch in range(3)
    }
    assert by_batch == {0: {("one", 1)}, 1: {("one", 1)}, 2: {("two", 2)}}


def test_changes_under_load_never_tear_a_batch(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Somebody publishes all the time; a micro-batch has one version, from end to end.

    Every version wants everything, each under names of its own.
    """
    files, rows, names = 8, 40, 12
    versions = VersionedSubscriptions(tmp_path / "versions")

    def publish(number: int) -> None:
        who = [f"{number}.{i}" for i in range(names)]
        compiled = compile_rows(
            pa.table({"subscriber": who, "filter": ["x any"] * names})
        )
        assert versions.publish(compiled) == number

    publish(1)
    for i in range(files):
        add(spark, tmp_path / "in", *range(i * rows, (i + 1) * rows))
    over, published = Event(), Event()

    def keep_publishing() -> None:
        for number in count(2):
            if over.wait(0.01):
                return
            publish(number)
            published.set()

    write = to_parquet(tmp_path / "out")

    def write_until_it_changes(rows: DataFrame, batch: int) -> None:
        write(rows, batch)
        published.clear()
        assert published.wait(60)

    reader = VersionedSubscriptions(tmp_path / "versions")
    thread = Thread(target=keep_publishing)
    thread.start()
    try:
        query = (
            stream(spark, tmp_path / "in")
            .repartition(2)
            .writeStream.foreachBatch(
                each_batch(reader, write_until_it_changes, key="x")
            )
            .option("checkpointLocation", str(tmp_path / "checkpoint"))
            .trigger(availableNow=True)
            .start()
        )
        assert query.awaitTermination(200)
    finally:
        over.set()
        thread.join()
    found = spark.read.parquet(str(tmp_path / "out")).collect()
    used = []
    for batch in range(files):
        mine = [row for row in found if row.batch == batch]
        (version,) = {row.version for row in mine}
        assert sorted((row.x, row.subscriber) for row in mine) == sorted(
            (x, f"{version}.{i}")
            for x in range(batch * rows, (batch + 1) * rows)
            for i in range(names)
        )
        used.append(version)
    assert used == sorted(used)
    assert len(set(used)) == files, "it changed meanwhile"
    assert len(reader._used) <= streams.USED_KEPT
    assert all(path.exists() for path in reader._used)


def test_versions_are_kept_for_a_while(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(streams, "VERSIONS_KEPT", 2)
    versions = VersionedSubscriptions(tmp_path)
    with pytest.raises(SienaError, match="no subscriptions were published"):
        versions.current()
    for i in range(1, 5):
        assert versions.publish(subscriptions(spark, (f"s{i}", "x = 1"))) == i
    assert sorted(versions.versions()) == [3, 4]
    with pytest.raises(SienaError, match="subscription 1 of 'bad'"):
        versions.publish(subscriptions(spark, ("bad", "x >")))
    number, compiled = versions.current()
    assert number == 4
    assert compiled.owners.subscribers.names.to_pylist() == ["s4"]


def test_a_batch_that_comes_again_replaces_what_was_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    write = to_parquet(tmp_path)
    for _ in range(2):
        write(spark.range(3), 7)
    assert spark.read.parquet(str(tmp_path)).count() == 3
