"""The same alerts through Spark Connect, and in a declarative pipeline.

Each has a session of its own, and therefore a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pyarrow.parquet as pq
import pyspark
import pytest

from siena.spark.session import CONF_DIR

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROWS = 60
# What is wanted of the table below, in two languages and with a residual.
RULES = """
rules = [
    {"id": "high", "text": "level > 4", "version": "1"},
    {"id": "odd", "dialect": "sql", "text": "level < host"},
]
rows = spark.range(0, 60, 1, 3).selectExpr(
    "id", "id % 2 host", "id % 7 level", "id * 1000000 at"
)
"""
CONNECT = (
    """
import json, os, sys
from datetime import timedelta
from pathlib import Path

from pyspark.sql import SparkSession
from siena.spark.rules import LiveRules, Suppression, apply

here = Path(sys.argv[1])
os.environ["PYSPARK_PYTHON"] = sys.executable
os.environ["SPARK_TESTING"] = "1"  # for a port of its own
builder = SparkSession.builder.remote("local[2]")
spark = builder.config("spark.ui.enabled", "false").getOrCreate()
assert type(spark).__module__.startswith("pyspark.sql.connect")
"""
    + RULES
    + """
plain = apply(rows, rules, key="id")
held = Suppression(("host",), timedelta(seconds=10))
once = apply(rows, rules[:1], key="id", time="at", suppress=held)
live = LiveRules(here / "live")
live.publish(rules)
rows.coalesce(1).write.parquet(str(here / "in"))
stream = spark.readStream.schema(rows.schema).parquet(str(here / "in"))
query = (
    apply(stream, live, key="id").writeStream.format("parquet")
    .option("path", str(here / "out"))
    .option("checkpointLocation", str(here / "checkpoint"))
    .trigger(availableNow=True).start()
)
query.awaitTermination()
streamed = spark.read.parquet(str(here / "out"))
found = [
    sorted([row.id, row.rule] for row in each.collect())
    for each in (plain, once, streamed)
]
print(json.dumps(found))
spark.stop()
"""
)
# A pipeline looks at nothing while its tables are declared.
PIPELINE = (
    """
from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession
from siena.spark.rules import apply

spark = SparkSession.active()
"""
    + RULES
    + """
alerts = apply(rows, rules, key="id", why=False).select("id", "rule")


@dp.materialized_view
def found() -> DataFrame:
    return alerts
"""
)
SPECIFICATION = """
name: siena_rules
storage: file://{storage}
libraries:
  - glob:
      include: transformations/**
"""


def expected() -> list[list[object]]:
    high: list[list[object]] = [[i, "high"] for i in range(ROWS) if i % 7 > 4]
    high += [[i, "odd"] for i in range(ROWS) if i % 7 < i % 2]
    return sorted(high, key=lambda row: (row[0], row[1]))


def run(command: list[str | Path], folder: Path) -> str:
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the PATH")
    if find_spec("yaml") is None or find_spec("grpc") is None:
        pytest.skip("Spark Connect needs pyyaml and pyspark[connect]")
    done = subprocess.run(
        command,
        env={
            **os.environ,
            "SPARK_HOME": str(Path(pyspark.__file__).parent),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(CONF_DIR),
        },
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_through_spark_connect(tmp_path: Path) -> None:
    said = run([sys.executable, "-c", CONNECT, str(tmp_path)], tmp_path)
    plain, once, streamed = json.loads(said.splitlines()[-1])
    assert plain == streamed == expected()
    assert 0 < len(once) < sum(rule == "high" for _, rule in plain)
    assert all([number, rule] in plain for number, rule in once)


def test_in_a_declarative_pipeline(tmp_path: Path) -> None:
    transformations = tmp_path / "transformations"
    transformations.mkdir()
    (transformations / "rules.py").write_text(PIPELINE)
    specification = SPECIFICATION.format(storage=tmp_path / "storage")
    (tmp_path / "spark-pipeline.yml").write_text(specification)
    command = Path(pyspark.__file__).parent / "bin" / "spark-pipelines"
    run([command, "run"], tmp_path)
    found = pq.read_table(tmp_path / "spark-warehouse" / "found").to_pylist()
    assert sorted([row["id"], row["rule"]] for row in found) == expected()
