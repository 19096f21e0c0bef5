"""Notifications from a topic of Kafka, deliveries into another, forever.

The messages of the first are notifications in their JSON form.  Those of the second
have the subscriber as their key and the notification as their value, so that whoever
reads for a subscriber reads one partition.  Needs Spark's Kafka connector, which Spark
fetches from Maven at the first start:

    siena flights --subscriptions 1000 > subscriptions.ndjson
    siena compile subscriptions.ndjson flights.siena
    python examples/spark/kafka.py --server localhost:9092 --table flights.siena

Stopped and started again it goes on where it was: that is in the checkpoint.  What a
crash interrupts is sent again, so a delivery may come twice; whoever minds drops
what has the same key, and the same ``topic``, ``partition`` and ``offset`` in its
headers.
"""

import argparse

import pyspark
from pyspark.sql import DataFrame, SparkSession, functions as F

import siena.spark

CONNECTOR = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{pyspark.__version__}"


def main() -> None:
    """Read, match and write until somebody presses Ctrl-C."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--server", default="localhost:9092")
    options.add_argument("--read", default="notifications", help="a topic")
    options.add_argument("--write", default="deliveries", help="another")
    options.add_argument(
        "--table", required=True, help="what siena compile has written"
    )
    options.add_argument("--checkpoint", default="kafka-checkpoint", help="a folder")
    options.add_argument("--once", action="store_true", help="end with what is there")
    chosen = options.parse_args()
    spark = siena.spark.start_session(config={"spark.jars.packages": CONNECTOR})
    messages = read(spark, chosen.server, chosen.read)
    writer = (
        deliveries(messages, chosen.table)
        .writeStream.format("kafka")
        .option("kafka.bootstrap.servers", chosen.server)
        .option("topic", chosen.write)
        .option("includeHeaders", "true")
        .option("checkpointLocation", chosen.checkpoint)
    )
    if chosen.once:
        writer = writer.trigger(availableNow=True)
    query = writer.start()
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()


def read(spark: SparkSession, server: str, topic: str) -> DataFrame:
    """The messages of a topic, from the first that it has kept."""
    return (
        spark.readStream.format("kafka")
        .option("kafka.bootstrap.servers", server)
        .option("subscribe", topic)
        .option("startingOffsets", "earliest")
        .load()
    )


def deliveries(messages: DataFrame, table: str) -> DataFrame:
    """What the other topic gets: a key, a value and where it comes from."""
    place = [
        F.struct(
            F.lit(name).alias("key"),
            F.encode(F.col(name).cast("string"), "UTF-8").alias("value"),
        )
        for name in ("topic", "partition", "offset")
    ]
    notifications = messages.select(
        F.col("value").cast("string").alias("notification"),
        F.array(*place).alias("headers"),
    )
    found = siena.spark.match(
        notifications,
        table,
        key=["notification", "headers"],
        column="notification",
        on_error="set_aside",  # a message that is no notification stops nobody
    )
    return found.select(
        F.col("subscriber").alias("key"),
        F.col("notification").alias("value"),
        "headers",
    )


if __name__ == "__main__":
    main()
