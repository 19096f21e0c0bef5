"""Sessions that we start: on this machine unless told otherwise, quick, and quiet.

A program that has a session already needs nothing of this: every function of the room
takes the session from the DataFrames that it is given.
"""

import atexit
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from siena.errors import SienaError

# Plain local[*] gives a job up when one task has failed once.
LOCAL = "local[*,4]"
LOCAL_MASTER = re.compile(r"local(\[(?P<cores>\*|\d+)(,\s*\d+)?\])?")
CONF_DIR = Path(__file__).parent / "conf"

# Pieces in which a shuffle lies, at most.
PARTITIONS_MAX = 8
# What differs from Spark's own defaults, and why.
DEFAULTS = {
    "spark.ui.enabled": "false",  # a web server that nobody asked for
    "spark.ui.showConsoleProgress": "false",  # commands show their own
    "spark.sql.session.timeZone": "UTC",  # as the times of the language
    "spark.sql.shuffle.partitions": str(PARTITIONS_MAX),  # 200 are for large clusters
    "spark.driver.memory": "2g",
    # What patterns over streams need, and the other keeps all state in memory.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # Of a micro-batch, what has changed is written, and not files of the whole store.
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
# On this machine nobody else needs to reach the driver.
LOCAL_DEFAULTS = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}


def start_session(
    master: str = LOCAL,
    *,
    name: str = "siena",
    config: Mapping[str, str] | None = None,
) -> SparkSession:
    """A session, new or the one that there is; a master ``sc://…`` is Spark Connect.

    Python workers run the interpreter that runs this, whatever the PATH says.  What
    Java writes on stderr goes to a file, which is named if there is no session in the
    end, and removed otherwise.

    Raises:
        SienaError: if there is no Java, or Spark does not start.
    """
    builder = SparkSession.builder.appName(name)
    if master.startswith("sc://"):
        return builder.remote(master).getOrCreate()
    require_java()
    # PySpark would print each error at length, before it raises it.
    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_CONF_DIR", str(CONF_DIR))
    for key, value in {**defaults(master), **(config or {})}.items():
        builder = builder.config(key, value)
    with _stderr_in_a_file() as log:
        try:
            return builder.master(master).getOrCreate()
        except Exception as error:
            reason = str(error).strip().splitlines() or [type(error).__name__]
            raise SienaError(
                f"Spark does not start: {reason[0]}", hint=f"see {log}"
            ) from error


def defaults(master: str) -> dict[str, str]:
    """What a session has, unless the program says otherwise.

    Of a stream, each partition has tasks, a store and files of its own in every
    micro-batch, which take longer than some thousands of rows: so there are no more of
    them than cores.
    """
    if not master.startswith("local"):
        return DEFAULTS
    found = LOCAL_MASTER.fullmatch(master)
    wanted = "*" if found is None else found["cores"] or "1"
    cores = (os.cpu_count() or 1) if wanted == "*" else int(wanted)
    partitions = min(max(cores, 1), PARTITIONS_MAX)
    ours = {"spark.sql.shuffle.partitions": str(partitions)}
    return {**DEFAULTS, **LOCAL_DEFAULTS, **ours}


def require_java() -> None:
    """Raise an error that says how to get Java, if there is none."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "java").exists():
        return
    if shutil.which("java") is None:
        raise SienaError(
            "Spark needs Java 17 or newer, and there is none on the PATH",
            hint="on Debian: apt install openjdk-17-jre-headless",
        )


@contextmanager
def _stderr_in_a_file() -> Iterator[Path]:
    """Let the JVM inherit a file as its stderr: it announces itself at length there."""
    handle, name = tempfile.mkstemp(prefix="siena-spark-", suffix=".log")
    log = Path(name)
    sys.stderr.flush()
    kept = os.dup(2)
    os.dup2(handle, 2)
    try:
        yield log
        atexit.register(log.unlink, missing_ok=True)
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(handle)
