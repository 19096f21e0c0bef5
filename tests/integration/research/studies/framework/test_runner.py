"""Rows are computed once, kept one by one, and known by what made them."""

import gc
from pathlib import Path

import pytest

from siena.errors import SienaError
from siena.research.studies.framework import runner
from siena.research.studies.framework.registry import find
from siena.research.studies.framework.results import conclude, read_result, rows_of
from siena.research.studies.framework.runner import (
    Outcome,
    missing,
    run_here,
    set_aside_what_stays,
    tasks_of,
    work,
)
from siena.research.studies.framework.sources import closure, code_version
from siena.research.studies.framework.store import Kept, Store, task_of
from siena.research.studies.framework.study import Study

FIG33 = "fig33"


@pytest.fixture
def study() -> Study:
    return find(FIG33)


def run(study: Study, store: Store, seeds: int) -> int:
    """Run what is missing; how many rows that were."""
    todo = missing(tasks_of([study], "test", seeds), store)
    run_here(todo, store, lambda *_: None)
    return len(todo)


def test_a_row_is_known_by_parameters_function_and_code(study: Study) -> None:
    row = study.rows("test", 1)[0]
    task = task_of(study.run, row)
    assert task.key == task_of(study.run, dict(reversed(row.items()))).key
    assert task.key != task_of(study.run, {**row, "seed": 2}).key
    assert task.key != task._replace(version="another").key
    assert (
        task.key
        != task._replace(run="siena.research.studies.runs.disjunction:conjunctions").key
    )


def test_what_is_there_is_not_computed_again(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path)
    tasks = missing(tasks_of([study], "test", 1), store)
    for task in tasks[:5]:  # and here it was killed
        assert work(task, store).kept
    assert missing(tasks, store) == tasks[5:][::-1]
    assert run(study, store, 1) == len(tasks) - 5
    assert run(study, store, 1) == 0


def test_more_seeds_compute_only_the_new_ones(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path)
    first = run(study, store, 1)
    assert run(study, store, 3) == 2 * first


def test_running_twice_gives_the_same_rows(study: Study, tmp_path: Path) -> None:
    found = []
    for name in ("one", "other"):
        store = Store(tmp_path / name)
        run(study, store, 1)
        found.append([kept.row for kept in rows_of(study, store, "test", 1)])
        conclude(study, store, "test", 1)
    assert found[0] == found[1]
    for file in ("rows.csv", "figure.svg"):
        one, other = (tmp_path / name / FIG33 / file for name in ("one", "other"))
        assert one.read_bytes() == other.read_bytes()


def test_half_a_row_is_no_row(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path)
    task = tasks_of([study], "test", 1)[0]
    store.keep(task, Kept({"x": 1}, 0.5))
    assert store.find(task) == Kept({"x": 1}, 0.5)
    (path,) = tmp_path.rglob("*.json")
    assert not list(tmp_path.rglob("*.part"))
    path.write_text('{"row": {"x"', encoding="utf-8")
    with pytest.raises(SienaError, match="is no row of a study"):
        store.find(task)


def test_a_row_that_fails_spoils_no_other(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path)
    tasks = tasks_of([study], "test", 1)
    wrong = task_of(study.run, {**tasks[0].parameters, "sites": 150})
    with pytest.raises(SienaError, match=r'1 of 3 rows failed; .*"sites": 150'):
        run_here([tasks[0], wrong, tasks[1]], store, lambda *_: None)
    assert store.find(tasks[0])
    assert store.find(tasks[1])
    assert not store.find(wrong)


def test_what_has_not_been_run_says_how(study: Study, tmp_path: Path) -> None:
    assert read_result(FIG33, Store(tmp_path)) is None
    with pytest.raises(SienaError, match="siena study run fig33 --quick --seeds 2"):
        rows_of(study, Store(tmp_path), "quick", 2)


def test_results_are_read_back(study: Study, tmp_path: Path) -> None:
    store = Store(tmp_path)
    run(study, store, 1)
    assert conclude(study, store, "test", 1) == read_result(FIG33, store)


def test_a_version_depends_on_what_computes_and_not_on_what_draws() -> None:
    found = closure("siena.research.studies.runs.architectures")
    assert {
        "siena.research.scenarios.fast_cost_oracle",
        "siena.research.scenarios.behaviour",
        "siena.model",
    } <= found
    assert (
        not {
            "siena.research.studies.reporting.drawing",
            "siena.research.studies.figures.fig26",
        }
        & found
    )


def test_a_version_changes_with_any_source(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = code_version("siena.research.studies.runs.disjunction")
    changed = tmp_path / "changed.py"
    changed.write_text("# another text", encoding="utf-8")
    from siena.research.studies.framework import sources  # noqa: PLC0415 -- to be patched

    real = sources.source
    code_version.cache_clear()
    monkeypatch.setattr(
        sources,
        "source",
        lambda name, home: changed if name == "siena.sim.words" else real(name, home),
    )
    assert code_version("siena.research.studies.runs.disjunction") != before
    code_version.cache_clear()


def test_what_stays_of_long_rows_is_not_looked_through_again() -> None:
    try:
        set_aside_what_stays(Outcome(Kept({}, 0.1)))  # the first of all
        stays: list[list[int]] = [[] for _ in range(1_000)]
        set_aside_what_stays(Outcome(Kept({}, 0.1)))
        short = gc.get_freeze_count()
        set_aside_what_stays(Outcome(Kept({}, 60.0)))
        assert gc.get_freeze_count() >= short + len(stays)
    finally:
        gc.unfreeze()


def test_a_short_row_asks_nothing_of_the_collector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Not even how much was set aside: Python counts millions of objects to answer.
    try:
        set_aside_what_stays(Outcome(Kept({}, 0.1)))  # the first of all may
        monkeypatch.setattr(runner, "gc", None)
        set_aside_what_stays(Outcome(Kept({}, 0.1)))
    finally:
        gc.unfreeze()
