"""Patterns over a stream on Spark: rows per CPU second, beside the same over a table.

    python benchmarks/patterns_spark.py [--rows 400000] [--files 8] [--users 2000]

Some users' logins, alarms and payments, made up by us, lie in files of parquet; a
micro-batch is one of them.  Patterns are searched for by user.  What is counted is the
processor time of the Java machine and its workers, not the clock on the wall; the
first stream and the first table warm up, and are shown as *cold*.
"""

import argparse
import random
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from rules_spark import cpu_seconds
from siena.spark import start_session
from siena.spark.streams.patterns import match_patterns
from siena.spark.streams.steps import CompiledPatterns, compile_patterns

PATTERNS = [
    ("ann", "kind = login then kind = alarm"),
    ("bob", "kind = login and ok = false then kind = login and ok = true"),
    ("eve", "kind = payment and amount > 900 then kind = alarm then kind = payment"),
    ("joe", "kind = alarm then kind = alarm then kind = alarm"),
]
KINDS = ["login", "alarm", "payment", "look", "look", "look"]
SECOND_US = 1_000_000


def events(count: int, users: int, first: int) -> pa.Table:
    """Events of some users, one each millisecond."""
    draw = random.Random(first)
    return pa.table(
        {
            "number": pa.array(range(first, first + count), pa.int64()),
            "at": pa.array(
                [n * 1_000 + SECOND_US for n in range(first, first + count)],
                pa.timestamp("us", "UTC"),
            ),
            "user": [f"user{draw.randrange(users)}" for _ in range(count)],
            "kind": draw.choices(KINDS, k=count),
            "ok": draw.choices([True, False], k=count),
            "amount": [draw.randrange(1_000) for _ in range(count)],
        }
    )


def found(rows: DataFrame, patterns: CompiledPatterns) -> DataFrame:
    """The sequences of each user."""
    return match_patterns(
        rows, patterns, time="at", key=["number", "at"], by="user", order="at"
    )


def over_stream(
    spark: SparkSession, folder: str, patterns: CompiledPatterns, checkpoint: str
) -> None:
    """All files as a stream, one in each micro-batch."""
    schema = spark.read.parquet(folder).schema
    rows = (
        spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(folder)
    )
    query = (
        found(rows, patterns)
        .writeStream.format("noop")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def over_table(spark: SparkSession, folder: str, patterns: CompiledPatterns) -> None:
    """All files as one table."""
    rows = spark.read.parquet(folder)
    found(rows, patterns).write.format("noop").mode("overwrite").save()


def main() -> None:
    """Print a line for each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--files", type=int, default=8)
    parser.add_argument("--users", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    spark = start_session("local[2]")
    patterns = compile_patterns(
        spark.createDataFrame(PATTERNS, ["subscriber", "pattern"])
    )
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary, "rows")
        folder.mkdir()
        each = options.rows // options.files
        for number in range(options.files):
            table = events(each, options.users, number * each)
            pq.write_table(table, folder / f"{number:04}.parquet")
        for turn in range(options.rounds + 1):
            before = cpu_seconds()
            over_stream(spark, str(folder), patterns, f"{temporary}/state{turn}")
            streamed = cpu_seconds() - before
            over_table(spark, str(folder), patterns)
            read = cpu_seconds() - before - streamed
            rows = each * options.files
            print(
                f"{'cold' if turn == 0 else 'warm'}: stream {rows / streamed:,.0f}, "
                f"table {rows / read:,.0f} rows per CPU second"
            )
    spark.stop()


if __name__ == "__main__":
    main()
