"""Sessions that we start: what they need, that they are quiet, and where they run.

Tests that need a session of their own start it in a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from siena.errors import SienaError
from siena.spark import start_session

# Matches 3000 rows in several tasks, and prints what came out as its last line.
SCRIPT = """
import json, sys
from siena.spark import match, start_session

master, config, trouble = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
if trouble == "connect":
    # A server of Spark Connect, in a JVM that this starts.
    import os

    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_TESTING"] = "1"  # for a port of its own
    builder = SparkSession.builder.remote("local[2]")
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    assert type(spark).__module__.startswith("pyspark.sql.connect")
else:
    spark = start_session(master, config=config)
if trouble == "kill":
    import os, signal, time
    from pathlib import Path
    from siena.spark.worker import Task

    mark = Path(sys.argv[4])

    def answer(self, batch, loaded, answer=Task.answer):
        # The first worker that gets this far does not survive it.
        try:
            mark.touch(exist_ok=False)
        except FileExistsError:
            return answer(self, batch, loaded)
        os.kill(os.getpid(), signal.SIGKILL)

    class Deadly(Task):
        def __call__(self, batches):
            Task.answer = answer
            return super().__call__(batches)

    import siena.spark.matching
    siena.spark.matching.Task = Deadly
rows = spark.range(0, 3000, 1, 6).withColumnRenamed("id", "x")
wanted = spark.createDataFrame(
    [(f"s{i % 7}", f"x >= {i} and x < {i + 40}") for i in range(0, 3000, 10)],
    "subscriber string, filter string",
)
found = sorted(map(list, match(rows, wanted).collect()))
spark.stop()
print(json.dumps([len(found), hash(tuple(map(tuple, found)))]))
"""


def run(
    tmp_path: Path,
    master: str,
    *trouble: str,
    environment: dict[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    config = json.dumps({"spark.sql.shuffle.partitions": "2"})
    command = [sys.executable, str(script), master, config, *(trouble or ["none"])]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": "0", **(environment or {})},
    )
    assert done.returncode == 0, done.stderr
    return done


def test_without_java_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SienaError, match=r"Spark needs Java 17 .*\(on Debian: apt"):
        start_session()


def test_times_are_those_of_utc_and_nothing_is_served(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_everywhere_the_same_deliveries(tmp_path: Path) -> None:
    """From an environment that nobody activated, on a cluster, and with losses."""
    java = shutil.which("java")
    if java is None:
        pytest.skip("Spark needs Java, and there is none on the PATH")
    bare = {"PATH": f"/usr/bin:/bin:{Path(java).parent}"}
    local = run(tmp_path, "local[2,4]", environment=bare)
    assert local.stderr == "", "it is quiet"
    wanted = json.loads(local.stdout.splitlines()[-1])
    assert wanted[0] > 3000
    killed = run(tmp_path, "local[2,4]", "kill", str(tmp_path / "killed"))
    assert (tmp_path / "killed").exists()
    assert json.loads(killed.stdout.splitlines()[-1]) == wanted
    cluster = run(
        tmp_path,
        "local-cluster[2,1,1024]",
        environment={"SPARK_WORKER_DIR": str(tmp_path / "workers")},
    )
    assert json.loads(cluster.stdout.splitlines()[-1]) == wanted
    connect = run(tmp_path, "sc://local", "connect")
    assert json.loads(connect.stdout.splitlines()[-1]) == wanted
