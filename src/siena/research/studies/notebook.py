"""Studies from a notebook: run one, and have its rows as a DataFrame.

>>> from siena.research.studies.notebook import run_study  # doctest: +SKIP
>>> study = run_study("fig33", seeds=2)  # doctest: +SKIP
>>> study.rows.groupby("architecture").cost.mean()  # doctest: +SKIP
"""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pandas as pd
from matplotlib.figure import Figure

from siena.research.studies.framework.overriding import override
from siena.research.studies.framework.registry import find
from siena.research.studies.framework.results import conclude, rows_of
from siena.research.studies.framework.runner import (
    missing,
    run_here,
    run_on_spark,
    tasks_of,
)
from siena.research.studies.framework.store import Store
from siena.research.studies.framework.study import Size, Study

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class StudyRun(NamedTuple):
    """What a study came to."""

    study: Study
    rows: pd.DataFrame
    """Parameters and results, a row for each run."""
    findings: pd.DataFrame
    """Claims with their verdicts, and on what these rest."""
    figure: Figure
    folder: Path
    """Where the same is kept as files."""


def run_study(
    name: str,
    *,
    size: Size = "quick",
    seeds: int | None = None,
    store: str | Path = "siena-studies",
    spark: "SparkSession | None" = None,
    **parameters: str | float,
) -> StudyRun:
    """Compute what is missing of a study, and say what it came to.

    Args:
        name: of a study, or the file of one.
        size: ``"quick"``, or ``"full"`` as in the papers.
        seeds: how many; more compute only the new ones.
        store: the folder where rows are kept.
        spark: computes the rows as one job of this session; without it they are
            computed here, one after another.
        parameters: set in all rows, as by ``--set`` of ``siena study run``.
    """
    settings = {key: str(value) for key, value in parameters.items()}
    study = override(find(name), settings)
    kept = Store(Path(store))
    todo = missing(tasks_of([study], size, seeds), kept)
    if todo and spark is not None:
        run_on_spark(spark, todo, kept)
    elif todo:
        run_here(todo, kept, _progress)
    result = conclude(study, kept, size, seeds)
    rows = [each.row for each in rows_of(study, kept, size, seeds)]
    return StudyRun(
        study,
        pd.DataFrame(rows),
        pd.DataFrame([asdict(finding) for finding in result.findings]),
        study.draw(rows),
        kept.of(study.name),
    )


def _progress(done: int, of: int) -> None:
    end = "\n" if done == of - 1 else "\r"
    sys.stderr.write(f"{done + 1} of {of} rows{end}")
