"""Rules that change under a stream whose driver is killed in the middle of things."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from siena.spark.rules import LiveRules

# Applies live rules to a folder of events, a file in each micro-batch.  Alerts on the
# way out wait where a file says so, with the rules of their micro-batch applied.
SCRIPT = """
import sys, time
from pathlib import Path

from siena.spark import start_session
from siena.spark.rules import LiveRules, apply

here = Path(sys.argv[1])
spark = start_session("local[2,4]", config={"spark.sql.shuffle.partitions": "2"})
rows = (
    spark.readStream.schema("id long, part long, level long")
    .option("maxFilesPerTrigger", 1).json(str(here / "in"))
)
found = apply(rows, LiveRules(here / "rules"), key=["id", "part"], why=False)

def wait(batches):
    for batch in batches:
        for part in set(batch["p"].to_pylist()):
            hold = here / f"hold {part}"
            while hold.exists():
                (here / f"waits {part}").touch()
                time.sleep(0.02)
        yield batch.drop_columns(["p"])

shown = found.selectExpr("id", "rule", "revision", "part p").mapInArrow(
    wait, "id long, rule string, revision long"
)
query = (
    shown.writeStream.format("parquet").option("path", here / "out")
    .option("checkpointLocation", here / "checkpoint")
    .trigger(availableNow=True).start()
)
query.awaitTermination()
"""
PARTS, ROWS = 5, 20
# What the one rule says in each revision, from 1.
THRESHOLDS = [0, 3, 9, 14, 6]


def start(here: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(here)],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def publish(here: Path, revision: int) -> None:
    text = f"level > {THRESHOLDS[revision - 1]}"
    rule = {"id": f"r{revision}", "text": text, "version": str(revision)}
    assert LiveRules(here / "rules").publish([rule]).revision == revision


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_alert_is_once_of_the_rules_in_force_through_kills(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    for part in range(PARTS):
        rows = [{"id": ROWS * part + n, "part": part, "level": n} for n in range(ROWS)]
        file = tmp_path / "in" / f"{part}.json"
        file.write_text("\n".join(map(json.dumps, rows)))
        os.utime(file, (part, part))  # the order in which Spark reads them
        (tmp_path / f"hold {part}").touch()
    publish(tmp_path, 1)
    driver = start(tmp_path)
    for part in range(PARTS):
        while not (tmp_path / f"waits {part}").exists():
            assert driver.poll() is None, driver.stderr and driver.stderr.read()
            time.sleep(0.05)
        # The micro-batch was given its rules; what is in force now is for the next.
        if part + 1 < PARTS:
            publish(tmp_path, part + 2)
        if part in {1, 3}:
            os.killpg(driver.pid, signal.SIGKILL)
            driver.communicate()
            driver = start(tmp_path)
        (tmp_path / f"hold {part}").unlink()
    _, said = driver.communicate()
    assert driver.returncode == 0, said
    found = [
        (row.id, row.rule, row.revision)
        for row in spark.read.parquet(str(tmp_path / "out")).collect()
    ]
    assert sorted(found) == sorted(
        (ROWS * part + n, f"r{part + 1}", part + 1)
        for part in range(PARTS)
        for n in range(ROWS)
        if n > THRESHOLDS[part]
    )
