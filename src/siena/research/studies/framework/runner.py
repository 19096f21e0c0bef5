"""Computing the rows of a plan: here, one after another, or as one Spark job.

Each row is a task of its own, which keeps its row itself.  Both ways call the same
:func:`work`, so they come to the same rows.
"""

import gc
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from time import process_time
from typing import TYPE_CHECKING, NamedTuple

from siena.errors import SienaError
from siena.research.studies.framework.store import Kept, Store, Task, task_of
from siena.research.studies.framework.study import Size, Study

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

# More rows than this are a mistake in a plan, or should be several studies.
TASKS_MAX = 100_000
# A row that took so long may leave much behind that stays, in caches above all.
LASTING_SECONDS = 1.0

Report = Callable[[int, int], None]
"""Told how many of how many rows are done."""


class Outcome(NamedTuple):
    """A row, or why there is none."""

    kept: Kept | None
    error: str = ""


def tasks_of(studies: Iterable[Study], size: Size, seeds: int | None) -> list[Task]:
    """What the studies need, each row once."""
    found: dict[str, Task] = {}
    for study in studies:
        for row in study.rows(size, seeds):
            task = task_of(study.run, row)
            found.setdefault(task.key, task)
    if len(found) > TASKS_MAX:
        raise SienaError(f"{len(found)} rows are more than {TASKS_MAX}")
    return list(found.values())


def missing(tasks: Iterable[Task], store: Store) -> list[Task]:
    """The tasks whose rows are not there, the last ones first.

    Plans begin with what is small; what takes longest should not start last.
    """
    return [task for task in tasks if store.find(task) is None][::-1]


def work(task: Task, store: Store) -> Outcome:
    """Compute a row and keep it; what goes wrong is told, and spoils no other row."""
    start = process_time()
    try:
        results = task.function(dict(task.parameters))
    except Exception as error:  # noqa: BLE001 -- it is raised where it can be read
        return Outcome(None, f"{type(error).__name__}: {error}")
    taken = process_time() - start
    cells: Mapping[str, object] = results  # a study of one's own may say otherwise
    for name, cell in cells.items():
        if not isinstance(cell, str | int | float | None):
            words = f"the result {name} is a {type(cell).__name__}"
            return Outcome(None, f"{words}, and no text, number, truth value or None")
    kept = Kept({**task.parameters, **results}, taken)
    store.keep(task, kept)
    return Outcome(kept)


def set_aside_what_stays(outcome: Outcome) -> None:
    """Look for garbage now, and no more among what is no garbage.

    A worker of Spark looks through all it has after each task: through what modules and
    the caches of long rows hold, for longer than most rows take.
    """
    _look_a_first_time()
    if outcome.kept and outcome.kept.seconds > LASTING_SECONDS:
        _look_and_set_aside()


@cache
def _look_a_first_time() -> None:
    # How much was set aside is not asked: Python would count it, for as long again.
    _look_and_set_aside()


def _look_and_set_aside() -> None:
    gc.collect()
    gc.freeze()


def run_here(tasks: Sequence[Task], store: Store, report: Report) -> None:
    """Compute the rows one after another.

    Raises:
        SienaError: after all others are computed, if one could not be.
    """
    outcomes = []
    for done, task in enumerate(tasks):
        report(done, len(tasks))
        outcomes.append(work(task, store))
    _raise_failures(tasks, outcomes)


def run_on_spark(spark: "SparkSession", tasks: Sequence[Task], store: Store) -> None:
    """Compute the rows as one Spark job with a task for each.

    Where executors do not see the folder of the store, what they keep is lost, and the
    driver keeps what they answer.

    Raises:
        SienaError: after all others are computed, if one could not be.
    """
    if not tasks:
        return
    for file in _files_of(tasks):
        spark.addArtifacts(file, pyfile=True)
    folder = store.folder.absolute()

    def compute(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
        import pyarrow as pa  # noqa: PLC0415 -- on the executor

        for batch in batches:
            rows = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for place, task in rows:
                outcome = work(Task(*json.loads(task)), Store(folder))
                set_aside_what_stays(outcome)
                answer = json.dumps([outcome.kept, outcome.error])
                yield pa.RecordBatch.from_pydict({"place": [place], "answer": [answer]})

    # Rows of a table, each with its task.  What `compute` has about it, Spark hands to
    # every task anew: twelve thousand of them would read twelve thousand each.
    listed = [(place, json.dumps(task)) for place, task in enumerate(tasks)]
    table = spark.createDataFrame(listed, "place long, task string")
    spread = table.repartitionByRange(len(tasks), "place")
    answers = spread.mapInArrow(compute, "place long, answer string").collect()
    outcomes = [Outcome(None, "Spark has lost it")] * len(tasks)
    for place, answer in answers:
        kept, error = json.loads(answer)
        outcomes[place] = Outcome(Kept(*kept) if kept else None, error)
        if kept and store.find(tasks[place]) is None:
            store.keep(tasks[place], Kept(*kept))
    _raise_failures(tasks, outcomes)


def _files_of(tasks: Iterable[Task]) -> set[str]:
    """The files of studies of one's own, which tasks elsewhere have to import.

    Packages are installed where tasks run, as we are.
    """
    modules = {task.run.partition(":")[0] for task in tasks}
    files = (sys.modules[name].__file__ for name in modules if "." not in name)
    return {file for file in files if file is not None}


def _raise_failures(tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> None:
    pairs = zip(tasks, outcomes, strict=True)
    failed = [(task, outcome.error) for task, outcome in pairs if outcome.kept is None]
    if failed:
        task, error = failed[0]
        raise SienaError(
            f"{len(failed)} of {len(tasks)} rows failed; "
            f"{json.dumps(task.parameters)} of {task.run}: {error}",
            hint="the others are kept" if len(failed) < len(tasks) else "",
        )
