"""``siena study run``: compute, check and draw."""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from siena.cli.common.progress import Progress
from siena.cli.common.spark_jobs import LOCAL, Master, session, shown_progress
from siena.cli.study.options import (
    FOLDER,
    Folder,
    Json,
    finding_lines,
    require_studies,
)
from siena.errors import SienaError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from siena.research.studies.framework.results import Result
    from siena.research.studies.framework.store import Store, Task
    from siena.research.studies.framework.study import Size, Study

EXIT_DIFFERS = 1


def study_run(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Which studies; see siena study list. Or the file of one: NAME.py, "
            "or a scenario, NAME.txt.",
            show_default=False,
        ),
    ] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="All studies.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="Smaller, in minutes instead of hours.")
    ] = False,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="How many; more compute only the new ones."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="Set a parameter in all rows; the result has a name of its own.",
            show_default=False,
        ),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(help="Write a page about these studies, too.", metavar="FILE"),
    ] = None,
    master: Master = LOCAL,
    serial: Annotated[
        bool, typer.Option("--serial", help="One row after another, without Spark.")
    ] = False,
    store: Folder = FOLDER,
    as_json: Json = False,
) -> None:
    """Compute the rows of studies, check what the papers say, and draw the figures.

    Each row is a task of one Spark job, and is kept as soon as it is computed: what was
    interrupted goes on where it was, and what is there is not computed again, unless
    the code has changed that it depends on.  Exits with 1 if a gating claim differs.

    \b
    Examples:
      siena study run fig5 fig6 --quick
      siena study run fig26 --seeds 20
      siena study run fig29 --quick --set sites=200
      siena study run examples/figure25.txt --quick --report figure25.html
      siena study run --all --master spark://host:7077
    """  # noqa: D301 -- Typer needs the backspace itself
    require_studies()
    from siena.research.studies.framework.overriding import override, read_settings
    from siena.research.studies.framework.registry import NAMES, find_all
    from siena.research.studies.framework.results import conclude
    from siena.research.studies.framework.runner import missing, tasks_of
    from siena.research.studies.framework.store import Store

    if bool(names) == everything:
        raise SienaError("name the studies to run, or say --all")
    changes = read_settings(settings or ())
    studies = [
        override(study, changes)
        for study in find_all(NAMES if everything else names or ())
    ]
    size: Size = "quick" if quick else "full"
    kept = Store(store)
    todo = missing(tasks_of(studies, size, seeds), kept)
    if todo:
        _compute(todo, kept, master, serial=serial)
    results = [(study, conclude(study, kept, size, seeds)) for study in studies]
    if as_json:
        print(json.dumps([_entry(study, result) for study, result in results]))
    else:
        for study, result in results:
            _print(study, result, kept)
    if report is not None:
        from siena.research.studies.reporting.report import page

        report.write_text(page(studies, kept), encoding="utf-8")
        print(report, file=sys.stderr if as_json else sys.stdout)
    if any(result.failures for _, result in results):
        raise typer.Exit(EXIT_DIFFERS)


def _compute(
    tasks: "Sequence[Task]", store: "Store", master: str, *, serial: bool
) -> None:
    from siena.research.studies.framework.runner import run_here, run_on_spark

    if serial:
        progress = Progress(sys.stderr)
        try:
            run_here(
                tasks, store, lambda done, of: progress.show(f"{done} of {of} rows")
            )
        finally:
            progress.clear()
        return
    with session(master) as spark, shown_progress(spark, "studies"):
        run_on_spark(spark, tasks, store)


def _print(study: "Study", result: "Result", store: "Store") -> None:
    print(f"{study.name}: {study.title} [{study.paper}]")
    for finding in result.findings:
        print(finding_lines(finding))
    from siena.research.studies.reporting.summary import sentence

    print(f"  {sentence(result.findings)}")
    print(
        f"  {result.rows:,} rows, {result.seeds} seeds, {result.seconds:,.1f} s of "
        f"computing in all: {store.of(study.name)}"
    )


def _entry(study: "Study", result: "Result") -> dict[str, object]:
    return {
        "name": study.name,
        "rows": result.rows,
        "seconds": result.seconds,
        "findings": [
            {
                "claim": f.claim,
                "verdict": str(f.verdict),
                "found": f.found,
                "test": f.test,
                "data": f.data,
                "why": f.why,
                "gating": f.is_gating,
            }
            for f in result.findings
        ],
    }
