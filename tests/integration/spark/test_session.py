"""Sessions that we start: what they need, and what they are like."""

import pytest
from pyspark.sql import SparkSession

from siena.errors import SienaError
from siena.spark import start_session


def test_without_java_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(SienaError, match=r"Spark needs Java 17 .*\(on Debian: apt"):
        start_session()


def test_times_are_those_of_utc_and_nothing_is_served(spark: SparkSession) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark.conf.get("spark.ui.enabled") == "false"
