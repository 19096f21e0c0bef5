"""A broker's log as a table and a stream, and tables and streams into a broker."""

import json
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession, functions as F
from pyspark.sql.streaming.datasource import ReadAllAvailable
from pyspark.sql.streaming.query import StreamingQuery

import siena
from siena.block import decode, encode
from siena.errors import SienaError
from siena.lang.parser import parse_filter
from siena.model import Notification, Value
from siena.spark import match, register_source
from siena.spark.source.data_source import SCHEMA, Options, SienaSource
from siena.spark.source.durable_reading import DurableStreamReader
from siena.spark.source.log_reading import text_of
from siena.spark.source.publishing import blocks_of
from siena.testing.in_process import ProcessBroker

SECONDS_MAX = 120


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessBroker]:
    """A broker with a log that all tests here share; each has a topic of its own."""
    folder = tmp_path_factory.mktemp("broker")
    with ProcessBroker(["--log", str(folder / "log")]) as running:
        yield running


@pytest.fixture
def siena_spark(spark: SparkSession) -> SparkSession:
    register_source(spark)
    return spark


@pytest.fixture
def topic() -> str:
    return f"t{uuid4().hex}"


def publish(broker: ProcessBroker, topic: str, numbers: range) -> None:
    with siena.connect(broker.url) as client:
        client.publish_many({"topic": topic, "n": n} for n in numbers)
        client.flush()


def logged(broker: ProcessBroker, interest: str) -> list[Notification]:
    with siena.connect(broker.url) as client:
        return [found.notification for found in client.log.read(interest)]


def read(spark: SparkSession, broker: ProcessBroker, **options: object) -> DataFrame:
    reader = spark.read.format("siena").option("server", broker.url)
    return reader.options(**{k: str(v) for k, v in options.items()}).load()


def stream(spark: SparkSession, broker: ProcessBroker, **options: object) -> DataFrame:
    reader = spark.readStream.format("siena").option("server", broker.url)
    return reader.options(**{k: str(v) for k, v in options.items()}).load()


def into_files(rows: DataFrame, folder: Path) -> StreamingQuery:
    return (
        rows.writeStream.format("parquet")
        .option("path", str(folder / "out"))
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )


def into_broker(
    rows: DataFrame, broker: ProcessBroker, folder: Path, *, now: bool = True
) -> StreamingQuery:
    writer = (
        rows.writeStream.format("siena")
        .option("server", broker.url)
        .option("checkpointLocation", str(folder / "checkpoint"))
    )
    when = {"availableNow": True} if now else {"processingTime": "0 seconds"}
    return writer.trigger(**when).start()


def done(query: StreamingQuery) -> StreamingQuery:
    assert query.awaitTermination(SECONDS_MAX)
    return query


# --- Without Spark ------------------------------------------------------------------


@pytest.mark.parametrize(
    "notification",
    [
        {},
        {"x": 1, "y": 1.0, "s": 'q"\\\n\u2028é', "t": True},
        {"at": datetime(2026, 11, 15, 2, 40, 3, 5, UTC)},
        {"big": 2**63 - 1, "tiny": 5e-324, "huge": 1.7e308, "whole": 1e22},
    ],
)
def test_blocks_become_texts_and_texts_blocks(notification: dict[str, Value]) -> None:
    text = text_of(encode(notification))
    batch = pa.RecordBatch.from_pydict({"notification": [text]})
    (block,) = blocks_of(batch, "notification")
    assert decode(block) == Notification(notification)


def test_a_row_that_cannot_be_published_is_named() -> None:
    for batch, column, why in [
        ({"x": [1.0, float("nan")]}, None, "row 1 cannot be published"),
        ({"x": [b"a"]}, None, "row 0 cannot be published: x: no value is a bytes"),
        ({"n": ["{}", "[]"]}, "n", "row 1 cannot be published"),
        (
            {"n": ["{}", None]},
            "n",
            "row 1 cannot be published: there is no notification",
        ),
    ]:
        with pytest.raises(SienaError, match=why):
            [*blocks_of(pa.RecordBatch.from_pydict(batch), column)]


def test_a_durable_name_is_for_streams_and_alone() -> None:
    with pytest.raises(SienaError, match="a durable name or a reader"):
        Options.of({"durable": "billing", "reader": "me"})
    with pytest.raises(SienaError, match="is read as a stream"):
        SienaSource({"durable": "billing"}).reader(SCHEMA)
    source = SienaSource({"durable": "billing"}).streamReader(SCHEMA)
    with pytest.raises(SienaError, match="checkpoint is not of the durable"):
        source.latestOffset({"offset": 7, "reader": "me"}, ReadAllAvailable())


# --- Tables -------------------------------------------------------------------------


def test_a_filter_selects_what_it_selects_in_the_whole_log(
    siena_spark: SparkSession, broker: ProcessBroker, topic: str
) -> None:
    when = datetime(2026, 11, 15, tzinfo=UTC)
    every: list[dict[str, Value]] = [
        {"topic": topic, "n": n, "half": n / 2, "s": "abc"[n % 3], "at": when}
        for n in range(5_000)
    ]
    with siena.connect(broker.url) as client:
        client.publish_many(every)
        client.flush()
    text = f"topic = {topic} and s = a and half > 10"
    rows = read(siena_spark, broker, filter=text, partitions=3)
    assert rows.rdd.getNumPartitions() == 3
    found = rows.orderBy("offset").collect()
    wanted = [n for n in map(Notification, every) if parse_filter(text).matches(n)]
    assert [
        siena.lang.notification_form.notification_from_text(row.notification)
        for row in found
    ] == wanted
    offsets = [row.offset for row in found]
    assert offsets == sorted(set(offsets))
    # A part of the log, by offset; and it is what `match` takes.
    part = read(
        siena_spark,
        broker,
        filter=text,
        startingOffset=offsets[10],
        endingOffset=offsets[20],
    )
    who = siena_spark.createDataFrame(
        [("ann", "n >= 0"), ("bob", f"n = {json.loads(found[12].notification)['n']}")],
        "subscriber string, filter string",
    )
    deliveries = match(part, who, key="offset", column="notification").collect()
    assert sorted(map(tuple, deliveries)) == sorted(
        [*((offset, "ann") for offset in offsets[10:20]), (offsets[12], "bob")]
    )
    with pytest.raises(SienaError, match="there is no option 'filtre'"):
        Options.of({"filtre": text})


def test_a_table_is_published_once_and_whole(
    siena_spark: SparkSession, broker: ProcessBroker, topic: str
) -> None:
    rows = siena_spark.range(2_500, numPartitions=3).select(
        F.lit(topic).alias("topic"),
        F.col("id").alias("n"),
        F.when(F.col("id") % 2 == 0, F.lit(1.5)).alias("half"),
        F.struct(F.lit("Rome").alias("city")).alias("where"),
    )
    writer = rows.write.format("siena").option("server", broker.url)
    writer.mode("append").save()
    found = logged(broker, f"topic = {topic}")
    assert sorted(int(str(n["n"])) for n in found) == [*range(2_500)]
    assert all(("half" in n) == (int(str(n["n"])) % 2 == 0) for n in found)
    assert all(n["where.city"] == "Rome" for n in found)
    with pytest.raises(PySparkException, match="cannot be overwritten"):
        writer.mode("overwrite").save()
    bad = rows.withColumn("n", F.expr("if(n = 2400, double('nan'), n)"))
    writer = bad.write.format("siena").option("server", broker.url)
    with pytest.raises(PySparkException, match="cannot be published"):
        writer.mode("append").save()
    assert len(logged(broker, f"topic = {topic}")) == 2_500, "all or nothing"
    # What is written again is published again, also under the same name.
    for _ in range(2):
        few = rows.limit(10).write.format("siena").option("server", broker.url)
        few.option("query", "mine").mode("append").save()
    assert len(logged(broker, f"topic = {topic}")) == 2_520


# --- Streams ------------------------------------------------------------------------


def test_a_stream_goes_on_where_it_was(
    siena_spark: SparkSession, broker: ProcessBroker, topic: str, tmp_path: Path
) -> None:
    """Stopped and started again: every row once, in small batches, and committed."""
    with siena.connect(broker.url) as client:
        start = client.log.extent().latest
    options = {"filter": f"topic = {topic}", "startingOffset": start, "reader": topic}
    for first in (0, 300, 500):
        publish(broker, topic, range(first, first + 200))
        rows = stream(siena_spark, broker, maxRowsPerBatch=70, **options)
        query = done(into_files(rows, tmp_path))
        sizes = [progress.numInputRows for progress in query.recentProgress]
        assert max(sizes) <= 70
    out = siena_spark.read.parquet(str(tmp_path / "out"))
    numbers = [json.loads(row.notification)["n"] for row in out.collect()]
    assert sorted(numbers) == [*range(200), *range(300, 700)]
    with siena.connect(broker.url) as client:
        committed = client.log.extent(topic).committed
        assert committed is not None
        assert start < committed <= start + 600
        client.log.forget(topic)


def test_a_batch_that_is_run_again_is_published_once(
    siena_spark: SparkSession, broker: ProcessBroker, topic: str, tmp_path: Path
) -> None:
    """As after a driver that died between publishing a batch and noting it."""
    numbers = siena_spark.range(100).selectExpr("id AS n")
    numbers.write.parquet(str(tmp_path / "in"))
    rows = (
        siena_spark.readStream.schema("n long")
        .parquet(str(tmp_path / "in"))
        .withColumn("topic", F.lit(topic))
    )
    for attempt in range(3):
        done(into_broker(rows, broker, tmp_path))
        found = [n["n"] for n in logged(broker, f"topic = {topic}")]
        assert sorted(map(int, map(str, found))) == [*range(100)], attempt
        for name in ("0", ".0.crc"):
            (tmp_path / "checkpoint" / "commits" / name).unlink(missing_ok=True)


def test_a_durable_subscription_is_a_stream(
    siena_spark: SparkSession, broker: ProcessBroker, topic: str, tmp_path: Path
) -> None:
    wanted = {"durable": topic, "filter": f"topic = {topic}", "maxRowsPerBatch": 60}

    def low() -> int:
        with siena.connect(broker.url) as client:
            [found] = [each for each in client.durables() if each["name"] == topic]
        return int(found["low"])

    with siena.connect(broker.url) as client:
        begin = client.log.extent().latest
        client.subscribe(f"topic = {topic}", durable=topic).settled().close()
    publish(broker, topic, range(100))
    done(into_files(stream(siena_spark, broker, **wanted), tmp_path))
    # What is in the files is acknowledged when Spark goes on: the last batch is not.
    assert low() == begin + 60
    publish(broker, topic, range(100, 150))
    done(into_files(stream(siena_spark, broker, **wanted), tmp_path))
    assert low() == begin + 100
    rows = siena_spark.read.parquet(str(tmp_path / "out")).collect()
    assert sorted(row["offset"] for row in rows) == [*range(begin, begin + 150)]
    # A query without a checkpoint begins where the name is, and not at the beginning.
    said = {key: str(value) for key, value in wanted.items()}
    reader = DurableStreamReader(Options.of({"server": broker.url, **said}))
    try:
        assert reader.initialOffset() == {"offset": begin + 100, "durable": topic}
    finally:
        reader.stop()


def test_an_offset_that_has_expired_ends_the_stream_with_its_name(
    siena_spark: SparkSession, tmp_path: Path
) -> None:
    config = tmp_path / "b.toml"
    config.write_text("[log]\nbytes = 16384\nsegment_bytes = 4096\n")
    options = ["--config", str(config), "--log", str(tmp_path / "log")]
    with ProcessBroker(options) as small:
        publish(small, "x", range(100))
        rows = stream(siena_spark, small, reader="me")
        done(into_files(rows, tmp_path))
        with siena.connect(small.url) as client:
            client.log.forget("me")
        for first in range(0, 3_000, 100):
            publish(small, "x", range(first, first + 100))
        query = into_files(stream(siena_spark, small, reader="me"), tmp_path)
        with pytest.raises(PySparkException, match=r"has expired: the log begins at"):
            query.awaitTermination(SECONDS_MAX)


def test_round_trip_under_load_loses_nothing(
    siena_spark: SparkSession, broker: ProcessBroker, topic: str, tmp_path: Path
) -> None:
    """Broker, Spark, broker, while somebody publishes all the time."""
    count = 20_000
    with siena.connect(broker.url) as client:
        start = client.log.extent().latest
    rows = stream(
        siena_spark,
        broker,
        filter=f"topic = {topic}",
        startingOffset=start,
        maxRowsPerBatch=4_000,
    )
    read_back = rows.select(
        F.lit(f"{topic} again").alias("topic"),
        F.get_json_object("notification", "$.n").cast("long").alias("n"),
    )

    def load() -> None:
        for first in range(0, count, 500):
            publish(broker, topic, range(first, first + 500))

    with siena.connect(broker.url) as client:
        wanted = client.subscribe(
            f'topic = "{topic} again"', count_max=2 * count, bytes_max=2**30
        ).settled()
        query = into_broker(read_back, broker, tmp_path, now=False)
        loader = threading.Thread(target=load)
        loader.start()
        try:
            got = [wanted.get(timeout_s=SECONDS_MAX)["n"] for _ in range(count)]
        finally:
            loader.join()
            query.stop()
        assert client.lost == wanted.lost == 0
    assert sorted(map(int, map(str, got))) == [*range(count)]
    found = logged(broker, f'topic = "{topic} again"')
    assert sorted(int(str(n["n"])) for n in found) == [*range(count)]


def test_a_sink_where_brokers_forward_advertisements(
    siena_spark: SparkSession, topic: str, tmp_path: Path
) -> None:
    """Who publishes advertises, and interests have come before anything goes out."""
    kind = tmp_path / "forwarding.toml"
    kind.write_text('[routing]\nforwarding = "advertisement"\n')
    options = ["--config", str(kind), "--log"]
    with (
        ProcessBroker([*options, str(tmp_path / "one"), "--accept-peers"]) as one,
        ProcessBroker([*options, str(tmp_path / "two"), "--peer", one.url]) as two,
        siena.connect(two.url) as client,
        client.subscribe(f"topic = {topic}") as wanted,
    ):
        rows = siena_spark.range(1_000).selectExpr(f"'{topic}' topic", "id n")
        (
            rows.write.format("siena")
            .option("server", one.url)
            .option("advertise", f"topic = {topic}, n any")
            .mode("append")
            .save()
        )
        found = [wanted.get(timeout_s=SECONDS_MAX)["n"] for _ in range(1_000)]
        assert sorted(found) == list(range(1_000))
