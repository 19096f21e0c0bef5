"""Streams whose driver is killed, again and again, and started from the checkpoint."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

FILES, ROWS = 12, 50
# Two streams of one driver: one into Spark's files, and one whose subscriptions may
# change, into ours.
SCRIPT = """
import sys
from pathlib import Path

from siena.spark import (
    VersionedSubscriptions, each_batch, match, start_session, to_parquet
)

here, mode = Path(sys.argv[1]), sys.argv[2]
spark = start_session("local[2,4]", config={"spark.sql.shuffle.partitions": "2"})
versions = VersionedSubscriptions(here / "versions")
wanted = spark.createDataFrame(
    [("ann", "x any"), ("ann", "x > 3"), ("bob", "x < 300")],
    "subscriber string, filter string",
)
if not versions.versions():
    versions.publish(wanted)
rows = (
    spark.readStream.schema("x long").option("maxFilesPerTrigger", 1)
    .parquet(str(here / "in"))
)
plain = match(rows, wanted).writeStream.format("parquet").option("path", here / "plain")
changing = rows.writeStream.foreachBatch(
    each_batch(versions, to_parquet(here / "changing"), key="x")
)
queries = []
for name, writer in (("plain", plain), ("changing", changing)):
    if mode == "to the end":
        writer = writer.trigger(availableNow=True)
    writer = writer.option("checkpointLocation", here / f"{name} checkpoint")
    queries.append(writer.start())
for query in queries:
    query.awaitTermination()
"""


def start(tmp_path: Path, mode: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", SCRIPT, str(tmp_path), mode]
    return subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def done(tmp_path: Path, name: str) -> int:
    """How many micro-batches are committed."""
    commits = tmp_path / f"{name} checkpoint" / "commits"
    return sum(path.name.isdecimal() for path in commits.glob("*"))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_delivery_is_in_the_files_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    for i in range(FILES):
        rows = spark.range(i * ROWS, (i + 1) * ROWS).withColumnRenamed("id", "x")
        rows.coalesce(1).write.mode("append").parquet(str(tmp_path / "in"))
    # Between two micro-batches of one, and in the middle of one of the other.
    for until, name, later in ((2, "plain", 0.1), (5, "changing", 0.3)):
        driver = start(tmp_path, "on and on")
        while done(tmp_path, name) < until:
            assert driver.poll() is None, driver.stderr and driver.stderr.read()
            time.sleep(0.05)
        time.sleep(later)
        os.killpg(driver.pid, signal.SIGKILL)  # Python, and the Java machine with it
        driver.communicate()
        assert done(tmp_path, "plain") < FILES
    driver = start(tmp_path, "to the end")
    _, said = driver.communicate()
    assert driver.returncode == 0, said
    assert said == ""
    wanted = [(x, "ann") for x in range(FILES * ROWS)]
    wanted += [(x, "bob") for x in range(300)]
    for name in ("plain", "changing"):
        found = spark.read.parquet(str(tmp_path / name)).collect()
        assert sorted((row.x, row.subscriber) for row in found) == sorted(wanted)
