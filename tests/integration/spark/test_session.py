"""Sessions that we start: what they need, and what they are like."""

import os

import pytest
from pyspark.sql import SparkSession

from siena.errors import SienaError
from siena.spark import session, start_session


def test_without_java_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SienaError, match=r"Spark needs Java 17 .*\(on Debian: apt"):
        start_session()


def test_times_are_those_of_utc_and_nothing_is_served(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"


@pytest.mark.parametrize(
    ("master", "partitions"),
    [
        *(("local", 1), ("local[0]", 1), ("local[3]", 3), ("local[3,4]", 3)),
        *(("local[64]", 8), ("local[*, 4]", min(os.cpu_count() or 1, 8))),
        *(("local-cluster[2,1,1024]", min(os.cpu_count() or 1, 8)), ("yarn", 8)),
    ],
)
def test_a_shuffle_on_this_machine_has_a_piece_for_each_core(
    master: str, partitions: int
) -> None:
    """In a stream every piece has tasks, a store and files in every micro-batch."""
    found = session.defaults(master)["spark.sql.shuffle.partitions"]
    assert int(found) == partitions


def test_what_a_stream_remembers_is_written_where_it_has_changed(
    spark: SparkSession,
) -> None:
    name = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
    assert spark.conf.get(name) == "true"
