"""The examples that need Spark do what they say."""

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from itertools import islice
from pathlib import Path
from typing import Any

import pyspark
import pytest
from pyspark.sql import SparkSession

from deliveries import expected
from repository import ROOT
from siena.lang import notification_to_json
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights
from siena.spark import compile_subscriptions
from siena.spark.session import CONF_DIR

EXAMPLES = ROOT / "examples" / "spark"
# The address of a Kafka that may be written to.
KAFKA = os.environ.get("SIENA_KAFKA")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_declarative_pipeline(spark: SparkSession, tmp_path: Path) -> None:
    """As its first lines say, but for fewer flights and another folder."""
    if find_spec("yaml") is None or find_spec("grpc") is None:
        pytest.skip("spark-pipelines needs pyyaml and pyspark[connect]")
    shutil.copytree(EXAMPLES / "pipeline", tmp_path / "pipeline")
    here = tmp_path / "pipeline"
    spec = here / "spark-pipeline.yml"
    text = spec.read_text()
    assert "file:///tmp/siena-pipeline" in text
    spec.write_text(
        text.replace("file:///tmp/siena-pipeline", f"file://{tmp_path}/storage")
    )
    some = list(islice(flights(), 0, 6000, 20))
    lines = [json.dumps(notification_to_json(flight)) for flight in some]
    (here / "flights.ndjson").write_text("\n".join(lines))
    wanted = [(s.subscriber, s.filter) for s in flight_subscriptions(500)]
    rows = spark.createDataFrame(wanted, "subscriber string, filter string")
    compile_subscriptions(rows).keep(here / "flights.siena")
    home = Path(pyspark.__file__).parent
    done = subprocess.run(
        [home / "bin" / "spark-pipelines", "run"],
        cwd=here,
        env={
            **os.environ,
            "SPARK_HOME": str(home),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_CONF_DIR": str(CONF_DIR),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    numbered = [((str(f["carrier"]), f["flight"], i), f) for i, f in enumerate(some)]
    pairs = expected(numbered, wanted)
    assert len(pairs) > 50
    found = spark.read.parquet(str(here / "spark-warehouse" / "deliveries")).collect()
    assert sorted((r.carrier, r.flight, r.subscriber) for r in found) == sorted(
        (carrier, flight, who) for (carrier, flight, _), who in pairs
    )
    counts = spark.read.parquet(str(here / "spark-warehouse" / "counts")).collect()
    assert sum(row["count"] for row in counts) == len(pairs)


@pytest.fixture(scope="module")
def kafka() -> Any:  # noqa: ANN401 -- a module made from a path has no type
    spec = spec_from_file_location("kafka_example", EXAMPLES / "kafka.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_messages_of_kafka_become_others(
    spark: SparkSession,
    kafka: Any,  # noqa: ANN401
    tmp_path: Path,
) -> None:
    """A table with the columns that Kafka's messages have is all that it takes."""
    wanted = spark.createDataFrame(
        [("ann", "x = 1"), ("bob", "x > 0")], "subscriber string, filter string"
    )
    compile_subscriptions(wanted).keep(tmp_path / "table")
    messages = spark.createDataFrame(
        [(b'{"x": 1}', "t", 0, 7), (b'{"x": 2}', "t", 3, 8), (b"no", "t", 0, 9)],
        "value binary, topic string, partition int, offset long",
    )
    found = kafka.deliveries(messages, str(tmp_path / "table")).collect()
    assert sorted((row.key, row.value) for row in found) == [
        *(("ann", '{"x": 1}'), ("bob", '{"x": 1}')),
        ("bob", '{"x": 2}'),
    ]
    places = {tuple((h.key, bytes(h.value)) for h in row.headers) for row in found}
    assert places == {
        (("topic", b"t"), ("partition", b"0"), ("offset", b"7")),
        (("topic", b"t"), ("partition", b"3"), ("offset", b"8")),
    }


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(KAFKA is None, reason="SIENA_KAFKA names no Kafka to try it with")
def test_a_real_kafka(spark: SparkSession, kafka: Any, tmp_path: Path) -> None:  # noqa: ANN401
    """In a process of its own: only a new session can load the connector."""
    wanted = spark.createDataFrame(
        [("ann", "x >= 10")], "subscriber string, filter string"
    )
    compile_subscriptions(wanted).keep(tmp_path / "table")
    topics = [f"siena-{os.getpid()}-{name}" for name in ("in", "out")]
    send = """
import sys, siena.spark
server, topic, connector = sys.argv[1:]
spark = siena.spark.start_session(config={"spark.jars.packages": connector})
rows = spark.range(20).selectExpr("concat('{\\"x\\": ', id, '}') as value")
(rows.write.format("kafka").option("kafka.bootstrap.servers", server)
    .option("topic", topic).save())
"""
    receive = """
import sys, siena.spark
server, topic, connector = sys.argv[1:]
spark = siena.spark.start_session(config={"spark.jars.packages": connector})
rows = (spark.read.format("kafka").option("kafka.bootstrap.servers", server)
    .option("subscribe", topic).load())
for row in rows.selectExpr("string(key) k", "string(value) v").collect():
    print(row.k, row.v)
"""
    python, place = sys.executable, (str(KAFKA), kafka.CONNECTOR)
    subprocess.run([python, "-c", send, place[0], topics[0], place[1]], check=True)
    example = [python, str(EXAMPLES / "kafka.py"), "--server", place[0], "--once"]
    options = ["--read", topics[0], "--write", topics[1]]
    options += ["--table", f"{tmp_path}/table", "--checkpoint", f"{tmp_path}/seen"]
    subprocess.run([*example, *options], check=True)
    found = subprocess.run(
        [python, "-c", receive, place[0], topics[1], place[1]],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    lines = sorted(found.stdout.splitlines())
    assert lines == sorted(f'ann {{"x": {x}}}' for x in range(10, 20))
