"""One Spark session for all tests of this folder; without Java they are skipped."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from siena.spark import start_session

HERE = Path(__file__).parent
TIMEOUT = pytest.mark.timeout(300)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Starting a session takes longer than a test may otherwise."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(TIMEOUT)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """A session on this machine, with few partitions."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the PATH")
    session = start_session(
        "local[2]",  # a task fails once, and not four times
        name="siena tests",
        config={
            # Tests are short.  Together these halve the CPU time of the JVM, measured
            # once each on 60 tests (67 s and 32 s); apart they were not measured.
            "spark.driver.extraJavaOptions": (
                "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
            ),
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        },
    )
    yield session
    session.stop()
