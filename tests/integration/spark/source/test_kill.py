"""Drivers that are killed in the middle: what they make of it is there once."""

import json
import os
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep

import pytest

import siena
from siena.testing.in_process import ProcessBroker

COUNT = 30_000
SECONDS_MAX = 240

DRIVER = """
import sys
import siena.spark
from pyspark.sql import functions as F

server, folder = sys.argv[1:]
spark = siena.spark.start_session("local[2]")
siena.spark.register_source(spark)
rows = (
    spark.readStream.format("siena")
    .option("server", server)
    .option("filter", "topic = raw")
    .option("maxRowsPerBatch", 1_000)
    .load()
)
out = rows.select(
    F.lit("made").alias("topic"),
    F.get_json_object("notification", "$.n").cast("long").alias("n"),
)
query = (
    out.writeStream.format("siena")
    .option("server", server)
    .option("checkpointLocation", folder)
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
spark.stop()
"""

KILLS = 10
BATCH = 500
# Until its last life a driver dies when it has had two batches acknowledged; and then
# there are some left.
DURABLE_COUNT = BATCH * (2 * KILLS + 10)

DURABLE_DRIVER = """
import json
import sys
from pathlib import Path
import siena.spark

server, folder = sys.argv[1:]
spark = siena.spark.start_session("local[2]")
siena.spark.register_source(spark)
rows = (
    spark.readStream.format("siena")
    .option("server", server)
    .option("durable", "billing")
    .option("filter", "topic = raw")
    .option("maxRowsPerBatch", 500)
    .load()
)
query = (
    rows.writeStream.format("parquet")
    .option("path", f"{folder}/out")
    .option("checkpointLocation", f"{folder}/state")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
found = spark.read.parquet(f"{folder}/out").selectExpr(
    "CAST(get_json_object(notification, '$.n') AS long) AS n"
)
Path(folder, "numbers.json").write_text(json.dumps([row.n for row in found.collect()]))
spark.stop()
"""


@pytest.mark.slow
@pytest.mark.timeout(1200)
def test_a_durable_subscription_is_in_the_files_once_whoever_is_killed(
    tmp_path: Path,
) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DURABLE_DRIVER)
    with (
        ProcessBroker(["--log", str(tmp_path / "log")]) as broker,
        siena.connect(broker.url) as client,
    ):
        client.subscribe("topic = raw", durable="billing").settled().close()
        client.publish_many({"topic": "raw", "n": n} for n in range(DURABLE_COUNT))
        client.flush()
        for life in range(KILLS):
            goal = acknowledged(client) + 2 * BATCH
            driver = start(script, broker.url, tmp_path)
            end = perf_counter() + SECONDS_MAX
            try:
                while acknowledged(client) < goal:
                    assert driver.poll() is None, f"it ended by itself in life {life}"
                    assert perf_counter() < end
                    sleep(0.02)
            finally:
                if driver.poll() is None:
                    os.killpg(driver.pid, 9)
            assert driver.wait(SECONDS_MAX) == -9
        assert start(script, broker.url, tmp_path).wait(SECONDS_MAX) == 0
    numbers = json.loads((tmp_path / "checkpoint" / "numbers.json").read_text())
    assert sorted(numbers) == [*range(DURABLE_COUNT)]


def acknowledged(client: siena.client.blocking.Client) -> int:
    [found] = client.durables()
    return int(found["low"])


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_driver_that_is_killed_publishes_everything_once(tmp_path: Path) -> None:
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    with (
        ProcessBroker(["--log", str(tmp_path / "log")]) as broker,
        siena.connect(broker.url) as client,
    ):
        client.publish_many({"topic": "raw", "n": n} for n in range(COUNT))
        client.flush()
        kills = 0
        for life in range(4):
            driver = start(script, broker.url, tmp_path)
            # The last is let alone; the others die when they have done some more.
            goal = COUNT if life == 3 else 3_000 * (life + 1)
            end = perf_counter() + SECONDS_MAX
            while driver.poll() is None and perf_counter() < end:
                if life < 3 and published(client) >= goal:
                    os.killpg(driver.pid, 9)
                    kills += 1
                    break
                sleep(0.02)
            code = driver.wait(SECONDS_MAX)
            assert code == (0 if life == 3 else -9), life
        assert kills == 3
        found = [
            json.loads(str(logged.notification["n"]))
            for logged in client.log.read("topic = made")
        ]
    assert sorted(found) == [*range(COUNT)]


def start(script: Path, url: str, folder: Path) -> "subprocess.Popen[bytes]":
    """A driver, in a group of its own with all that it starts."""
    command = [sys.executable, str(script), url, str(folder / "checkpoint")]
    return subprocess.Popen(command, start_new_session=True)


def published(client: siena.client.blocking.Client) -> int:
    return client.log.extent().latest - COUNT
