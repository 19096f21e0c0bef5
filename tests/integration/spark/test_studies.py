"""Studies as Spark jobs: the same rows, each kept by its task."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from siena.errors import SienaError
from siena.research.studies.framework.registry import find
from siena.research.studies.framework.results import rows_of
from siena.research.studies.framework.runner import (
    missing,
    run_here,
    run_on_spark,
    tasks_of,
)
from siena.research.studies.framework.store import Store, task_of


def test_spark_comes_to_the_rows_of_a_loop(spark: SparkSession, tmp_path: Path) -> None:
    study = find("fig33")
    found = []
    for name in ("here", "spark"):
        store = Store(tmp_path / name)
        todo = missing(tasks_of([study], "test", 1), store)
        if name == "here":
            run_here(todo, store, lambda *_: None)
        else:
            run_on_spark(spark, todo, store)
        assert not missing(todo, store)
        found.append([kept.row for kept in rows_of(study, store, "test", 1)])
    assert found[0] == found[1]


def test_a_failing_task_spoils_no_other(spark: SparkSession, tmp_path: Path) -> None:
    study = find("fig33")
    store = Store(tmp_path)
    good = tasks_of([study], "test", 1)[0]
    wrong = task_of(study.run, {**good.parameters, "architecture": "xx"})
    with pytest.raises(SienaError, match=r"1 of 2 rows failed; .*KeyError: 'xx'"):
        run_on_spark(spark, [wrong, good], store)
    assert store.find(good)
