"""A stream of patterns whose driver is killed, in a session of ours."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from siena.spark import match_patterns

FILES, ROWS, USERS = 10, 300, 20
SCHEMA = "id long, t long, user string, x long"
PATTERNS = [("ann", "x = 1 then x = 2"), ("bob", "x = 3 then x > 0 then x = 1")]
# A session of ours as it is, or as it was when this checkpoint began.
BEFORE = """{
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "false",
}"""
SCRIPT = f"""
import sys
from pathlib import Path

from siena.spark import match_patterns, start_session

here, mode = Path(sys.argv[1]), sys.argv[2]
config = {BEFORE} if mode == "as before" else {{}}
spark = start_session("local[2,4]", config=config)
wanted = spark.createDataFrame({PATTERNS!r}, "subscriber string, pattern string")
rows = (
    spark.readStream.schema({SCHEMA!r}).option("maxFilesPerTrigger", 1)
    .parquet(str(here / "in"))
)
found = match_patterns(rows, wanted, time="t", key="id", by="user")
writer = found.writeStream.format("parquet").option("path", here / "out")
if mode == "to the end":
    writer = writer.trigger(availableNow=True)
writer.option("checkpointLocation", here / "checkpoint").start().awaitTermination()
"""


def start(here: Path, mode: str) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(here), mode],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def done(here: Path) -> int:
    """How many micro-batches are committed."""
    commits = (here / "checkpoint" / "commits").glob("*")
    return sum(path.name.isdecimal() for path in commits)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_sequence_is_in_the_files_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    """What had begun before a kill goes on, and what was found is not found again.

    Nor does it matter that the checkpoint was begun with other settings.
    """
    draw = Random(20261120)
    rows = [
        (i, i, f"user{draw.randrange(USERS)}", draw.randint(0, 3))
        for i in range(FILES * ROWS)
    ]
    (tmp_path / "in").mkdir()
    for number in range(FILES):
        columns = zip(*rows[number * ROWS : (number + 1) * ROWS], strict=True)
        file = tmp_path / "in" / f"{number}.parquet"
        pq.write_table(pa.table([*map(list, columns)], ["id", "t", "user", "x"]), file)
        os.utime(file, (number, number))  # the order in which Spark reads them
    for mode, until, later in (("as before", 2, 0.2), ("on and on", 5, 0.4)):
        driver = start(tmp_path, mode)
        while done(tmp_path) < until:
            assert driver.poll() is None, driver.stderr and driver.stderr.read()
            time.sleep(0.05)
        time.sleep(later)
        os.killpg(driver.pid, signal.SIGKILL)  # Python, and the Java machine with it
        driver.communicate()
        assert done(tmp_path) < FILES
    driver = start(tmp_path, "to the end")
    _, said = driver.communicate()
    assert (driver.returncode, said) == (0, "")
    wanted = match_patterns(
        spark.createDataFrame(rows, SCHEMA),
        spark.createDataFrame(PATTERNS, "subscriber string, pattern string"),
        time="t",
        key="id",
        by="user",
    )
    found = spark.read.parquet(str(tmp_path / "out"))
    names = ("subscriber", "pattern", "user", "matched")
    answers, expected = (
        sorted(tuple(map(str, (row[name] for name in names))) for row in each.collect())
        for each in (found, wanted)
    )
    assert len(expected) > FILES * ROWS / 10
    assert answers == expected
