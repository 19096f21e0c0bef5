"""What commands on Spark have in common: a session, progress, and plain errors."""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from threading import Event, Thread
from typing import TYPE_CHECKING, Annotated

import typer

from siena.cli.common.progress import Progress
from siena.errors import SienaError
from siena.extras import how_to_get

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from siena.spark.tally import Tally

# How often progress is looked at.
LOOK_S = 0.5

Master = Annotated[
    str,
    typer.Option(
        help="Where Spark runs: this machine, with all its cores; or spark://…, yarn, "
        "k8s://…, or sc://… for Spark Connect."
    ),
]
LOCAL = "local[*,4]"


def require_spark() -> None:
    """Raise an error that says how to get PySpark, if it is not there."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise SienaError("PySpark is not installed", hint=how_to_get("spark"))


@contextmanager
def session(master: str) -> "Iterator[SparkSession]":
    """A session for one command; what goes wrong in its jobs is said in one line."""
    require_spark()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from siena.spark.session import start_session

    had_one = SparkSession.getActiveSession() is not None
    spark = start_session(master)
    try:
        with plain_warnings():
            yield spark
    except PySparkException as error:
        raise SienaError(_reason(str(error))) from error
    finally:
        if not had_one:
            spark.stop()


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Say warnings in one line each, and each of them."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _warn
        yield


@contextmanager
def shown_progress(
    spark: "SparkSession", what: str, tally: "Tally | None" = None
) -> Iterator[None]:
    """Show how many tasks are done, while a job runs; and what they say of it."""
    progress = Progress(sys.stderr)
    done = Event()
    thread = Thread(
        target=_watch, args=(spark, what, tally, progress, done), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        progress.clear()


def report_to(progress: Progress, what: str) -> Callable[[int], None]:
    """What shows how many of something are done."""
    return lambda count: progress.show(f"{count:,} {what}")


def _watch(
    spark: "SparkSession",
    what: str,
    tally: "Tally | None",
    progress: Progress,
    done: Event,
) -> None:
    from siena.spark.batch.shipping import is_connect

    if is_connect(spark):
        return  # there is nobody to ask
    tracker = spark.sparkContext.statusTracker()
    while not done.wait(LOOK_S):
        stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
        known = [stage for stage in stages if stage is not None]
        if known:
            finished = sum(stage.numCompletedTasks for stage in known)
            tasks = sum(stage.numTasks for stage in known)
            more = ""
            if tally is not None and tally.rows.value:
                rows, answers = tally.rows.value, tally.answers.value
                more = f", {rows:,} notifications, {answers:,} rows out"
            progress.show(f"{what}: {finished} of {tasks} tasks{more}")


def _warn(message: Warning | str, *_: object, **__: object) -> None:
    """Say a warning in one line, without the place in our code that it comes from."""
    print(f"siena: warning: {message}", file=sys.stderr)


def _reason(message: str) -> str:
    """The one line of a long message that says what is wrong.

    Spark wraps an error of a task in tracebacks and stack traces; ours is the line
    that begins with the name of an error of ours, and that of any other Python error
    the last line that begins with one.
    """
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    python = ""
    for line in lines:
        name, _, text = line.partition(": ")
        if name.startswith("siena.") and name.endswith("Error"):
            return text
        if name.endswith("Error") and name.replace(".", "").isidentifier():
            python = line
    return python or (lines[0] if lines else "Spark gave up without a word")
