"""The same deliveries everywhere, also where something dies in the middle.

Every run has a session of its own, and therefore a process of its own.
"""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

# Matches 3000 rows in several tasks, and prints what came out as its last line.
SCRIPT = """
import json, os, signal, sys
from pathlib import Path

from siena.spark import match, start_session

master, config, victim, mark = sys.argv[1], json.loads(sys.argv[2]), *sys.argv[3:]
if master == "connect":
    # A server of Spark Connect, in a JVM that this starts.
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_TESTING"] = "1"  # for a port of its own
    builder = SparkSession.builder.remote("local[2]")
    spark = builder.config("spark.ui.enabled", "false").getOrCreate()
    assert type(spark).__module__.startswith("pyspark.sql.connect")
else:
    spark = start_session(master, config=config)
if victim != "nobody":
    from siena.spark.batch.worker import Task

    def parent(process):
        stat = Path(f"/proc/{process}/stat").read_text()
        return int(stat.rpartition(")")[2].split()[1])

    def answer(self, batch, loaded, answer=Task.answer):
        # Where the first worker gets this far somebody does not survive it.
        try:
            Path(mark).touch(exist_ok=False)
        except FileExistsError:
            return answer(self, batch, loaded)
        process = os.getpid()
        if victim == "executor":
            # The worker is forked by a daemon, which the executor has started.
            process = parent(parent(process))
            assert "ExecutorBackend" in Path(f"/proc/{process}/cmdline").read_text()
        os.kill(process, signal.SIGKILL)
        return answer(self, batch, loaded)

    class Deadly(Task):
        def __call__(self, batches):
            Task.answer = answer
            return super().__call__(batches)

    import siena.spark.batch.matching
    siena.spark.batch.matching.Task = Deadly
rows = spark.range(0, 3000, 1, 6).withColumnRenamed("id", "x")
wanted = spark.createDataFrame(
    [(f"s{i % 7}", f"x >= {i} and x < {i + 40}") for i in range(0, 3000, 10)],
    "subscriber string, filter string",
)
found = sorted(map(list, match(rows, wanted).collect()))
spark.stop()
print(json.dumps(found))
"""
# On two machines, as it were: each executor is a JVM with a folder of its own.
CLUSTER = "local-cluster[2,1,2048]"


def deliveries() -> list[list[object]]:
    """What has to come out, by looking at every number."""
    wanted = {
        (x, f"s{i % 7}")
        for i in range(0, 3000, 10)
        for x in range(i, min(i + 40, 3000))
    }
    return sorted(map(list, wanted))


def run(
    tmp_path: Path,
    master: str,
    *,
    victim: str = "nobody",
    environment: dict[str, str] | None = None,
    config: dict[str, str] | None = None,
) -> str:
    """Compare what came out; what was written to the console besides."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the PATH")
    script, mark = tmp_path / "script.py", tmp_path / "mark"
    script.write_text(SCRIPT)
    settings = {"spark.sql.shuffle.partitions": "2", **(config or {})}
    command = [str(script), master, json.dumps(settings), victim, str(mark)]
    done = subprocess.run(
        [sys.executable, *command],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            # It would be inside the installed package otherwise.
            "SPARK_WORKER_DIR": str(tmp_path / "workers"),
            **(environment or {}),
        },
    )
    assert done.returncode == 0, done.stderr
    *said, found = done.stdout.splitlines()
    assert json.loads(found) == deliveries()
    assert mark.exists() == (victim != "nobody")
    return "\n".join([*said, done.stderr])


def test_from_an_environment_that_nobody_activated(tmp_path: Path) -> None:
    """And nothing is on the console."""
    java = shutil.which("java") or "/usr/bin/java"
    bare = {"PATH": f"/usr/bin:/bin:{Path(java).parent}"}
    assert run(tmp_path, "local[2,4]", environment=bare) == ""


def test_on_spark_connect(tmp_path: Path) -> None:
    run(tmp_path, "connect")


def test_a_worker_dies(tmp_path: Path) -> None:
    run(tmp_path, "local[2,4]", victim="worker")


def test_on_a_cluster(tmp_path: Path) -> None:
    run(tmp_path, CLUSTER)


def test_an_executor_dies(tmp_path: Path) -> None:
    """The one that takes its place is given the table, too."""
    run(tmp_path, CLUSTER, victim="executor")


def test_a_cluster_without_the_package_gets_it_in_an_archive(tmp_path: Path) -> None:
    """As the reference page says: what the executors' Python lacks, in a zip file."""
    python = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    knows = [str(python), "-c", "import siena"]
    if subprocess.run(knows, capture_output=True, check=False).returncode == 0:
        pytest.skip("the Python that this one was made of has the package already")
    archive = tmp_path / "site.zip"
    with zipfile.ZipFile(archive, "w") as file:  # it is not worth compressing
        for name in ("siena", "numpy", "numpy.libs", "pyarrow", "msgspec"):
            add_package(file, name)
    run(
        tmp_path,
        CLUSTER,
        environment={"PYSPARK_PYTHON": str(python)},
        config={
            "spark.archives": f"{archive}#site",
            "spark.executorEnv.PYTHONPATH": "./site",
        },
    )


def add_package(archive: zipfile.ZipFile, name: str) -> None:
    """A package as it is installed here, or the libraries that stand beside it."""
    spec = find_spec(name.removesuffix(".libs"))
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent.with_name(name)
    for path in folder.rglob("*"):
        # Without what only a compiler needs.
        if path.is_file() and path.suffix not in {".pyc", ".a", ".h", ".hpp"}:
            archive.write(path, Path(name) / path.relative_to(folder))
