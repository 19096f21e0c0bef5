"""``siena match``: who gets what, of tables and of streams, on Spark."""

import json
import shutil
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from siena.cli.common.progress import Progress
from siena.cli.common.spark_jobs import (
    LOCAL,
    Master,
    report_to,
    require_spark,
    session,
    shown_progress,
)
from siena.errors import SienaError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Observation, SparkSession

    from siena.spark.batch.compiling import CompiledSubscriptions
    from siena.spark.tally import Tally

# A rate of fewer rows would be one of the planning.
RATE_ROWS_MIN = 10_000
# Answers that are shown where nobody wants them in files, and how much of each.
SHOWN_ROWS = 5
SHOWN_CHARACTERS = 100
# Under which a stream says how much went out.
OBSERVED = "siena_answers"
ANSWERS = ("deliveries", "interfaces", "filters", "counts")


@dataclass(slots=True)
class Summary:
    """What was done, and how fast."""

    subscriptions: int
    rejects: int
    rows: int = 0
    answers: int = 0
    compile_s: float = 0.0
    start_s: float = 0.0
    match_s: float = 0.0

    def told(self, answer: str) -> str:
        """In one line, for people."""
        what = answer if answer == "deliveries" else f"rows with their {answer}"
        rate = ""
        if self.rows >= RATE_ROWS_MIN:
            rate = f" ({self.rows / max(self.match_s, 1e-9):,.0f} notifications/s)"
        return (
            f"{self.rows:,} notifications, {self.subscriptions:,} subscriptions: "
            f"{self.answers:,} {what} in {self.match_s:.1f} s{rate}; before that "
            f"{self.compile_s:.1f} s to compile and {self.start_s:.1f} s to start Spark"
        )


def match(
    subscriptions: Annotated[
        Path,
        typer.Argument(
            help="CSV, JSON lines, parquet or ORC with the columns subscriber and "
            "filter; or a table that siena compile has written."
        ),
    ],
    notifications: Annotated[
        Path,
        typer.Argument(
            help="Parquet, CSV, JSON lines, ORC or Delta: a file, or a folder of files."
        ),
    ],
    *,
    key: Annotated[
        list[str] | None,
        typer.Option(
            help="A column that is wanted in the answer; all of them if none is named.",
            show_default=False,
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option(
            help="The one column that is the whole notification: JSON, map, variant "
            "or struct.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            help="A folder for the answers, as parquet; without it they are counted, "
            "and the first are shown.",
            show_default=False,
        ),
    ] = None,
    answer: Annotated[
        str,
        typer.Option(
            help="deliveries, a row for each subscriber; or a row for each "
            "notification: interfaces, filters or counts."
        ),
    ] = "deliveries",
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace what is in the output folder.")
    ] = False,
    set_aside: Annotated[
        bool,
        typer.Option(
            "--set-aside",
            help="Pass over what is bad; bad subscriptions are named on stderr.",
        ),
    ] = False,
    stream: Annotated[
        bool,
        typer.Option("--stream", help="Go on with what is added to the folder."),
    ] = False,
    until_idle: Annotated[
        bool,
        typer.Option(
            "--until-idle", help="A stream that ends when it has seen all there is."
        ),
    ] = False,
    master: Master = LOCAL,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the summary as one JSON object.")
    ] = False,
) -> None:
    """Find out who wants which rows of a table, or of a stream, with Spark.

    Columns are attributes, and null means absent; lines of JSON are notifications in
    their JSON form.  What comes out is the key, or all columns of the notification, and
    the subscriber.  A stream writes every delivery once, also when it is stopped and
    started again: what it has seen is in the output folder, under _checkpoint.

    \b
    Examples:
      siena match subscriptions.csv flights.parquet
      siena match flights.siena flights/ --key flight --output deliveries
      siena match subscriptions.csv incoming/ --stream --output deliveries
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    if answer not in ANSWERS:
        raise SienaError(
            f"{answer!r} is no answer", hint=f"one of {', '.join(ANSWERS)}"
        )
    if (stream or until_idle) and output is None:
        raise SienaError("a stream needs --output")
    from siena.spark.files import format_of

    format_of(notifications)  # before Spark starts: it may be misspelt
    _free(output, overwrite=overwrite, goes_on=stream or until_idle)
    job = _Job(notifications, key, column, output, answer, set_aside=set_aside)
    job.compile(subscriptions)
    start = perf_counter()
    with session(master) as spark:
        job.summary.start_s = perf_counter() - start
        start = perf_counter()
        if stream or until_idle:
            job.follow(spark, until_idle=until_idle)
        else:
            job.run(spark, is_local=master.startswith("local["))
        job.summary.match_s = perf_counter() - start
        if as_json:
            print(json.dumps(asdict(job.summary)))
        else:
            job.tell()


def _free(output: Path | None, *, overwrite: bool, goes_on: bool) -> None:
    """Make sure that nothing is mixed with what was there."""
    if output is None or goes_on or not output.exists():
        return
    if not overwrite:
        raise SienaError(f"{output} is there already", hint="--overwrite replaces it")
    if output.is_dir():
        shutil.rmtree(output)
    else:
        raise SienaError(f"{output} is not a folder")


class _Job:
    """One run of the command."""

    def __init__(
        self,
        notifications: Path,
        key: list[str] | None,
        column: str | None,
        output: Path | None,
        answer: str,
        *,
        set_aside: bool,
    ) -> None:
        self.notifications = notifications
        self.key = key
        self.column = column
        self.output = output
        self.options: dict[str, Any] = {
            "output": answer,
            "on_error": "set_aside" if set_aside else "raise",
        }
        self.compiled: CompiledSubscriptions
        self.summary: Summary
        self.answers: DataFrame | None = None
        # Of each micro-batch, how many rows came in and went out.
        self.batches: dict[int, tuple[int, int]] = {}

    def compile(self, subscriptions: Path) -> None:
        from siena.spark.files import read_subscriptions

        start = perf_counter()
        progress = Progress(sys.stderr)
        self.compiled = read_subscriptions(
            subscriptions,
            on_error=self.options["on_error"],
            report=report_to(progress, "subscriptions compiled"),
        )
        progress.clear()
        for reject in self.compiled.rejects:
            print(f"siena: set aside: {reject}", file=sys.stderr)
        self.summary = Summary(len(self.compiled), len(self.compiled.rejects))
        self.summary.compile_s = perf_counter() - start

    def run(self, spark: "SparkSession", *, is_local: bool) -> None:
        from pyspark.sql import Observation, functions as F

        from siena.spark.batch.parquet import count_rows, match_parquet, plain_files
        from siena.spark.batch.shipping import is_connect
        from siena.spark.tally import Tally

        tally = None if is_connect(spark) else Tally.start(spark)
        files = plain_files(str(self.notifications)) if is_local else None
        seen = Observation()
        if files is not None:
            answers = match_parquet(
                spark,
                str(self.notifications),
                self.compiled,
                key=self.key,
                column=self.column,
                tally=tally,
                **self.options,
            )
        else:
            answers = self._match(spark, stream=False, seen=seen, tally=tally)
        self.answers = answers
        given = Observation()
        answers = answers.observe(given, F.count(F.lit(1)).alias("answers"))
        with shown_progress(spark, "matching", tally):
            if self.output is None:
                answers.write.format("noop").mode("overwrite").save()
            else:
                answers.write.parquet(str(self.output))
        self.summary.answers = given.get["answers"]
        self.summary.rows = count_rows(files) if files is not None else seen.get["rows"]

    def tell(self) -> None:
        """Print the summary; and the first answers, if they went nowhere else."""
        print(self.summary.told(self.options["output"]))
        if self.output is not None:
            print(f"  as parquet in {self.output}")
            return
        assert self.answers is not None, "a stream has an output"
        # One more job, which ends when it has a few.
        for row in self.answers.limit(SHOWN_ROWS).collect():
            *notification, answer = row.asDict().items()
            shown = ", ".join(f"{n} = {v}" for n, v in notification if v is not None)
            line = f"  {answer[1]}: {shown}"
            more = "…" if len(line) > SHOWN_CHARACTERS else ""
            print(line[:SHOWN_CHARACTERS] + more)
        if self.summary.answers > SHOWN_ROWS:
            print(f"  and {self.summary.answers - SHOWN_ROWS:,} more", end="; ")
        else:
            print("  ", end="")
        print("--output DIR writes them as parquet")

    def follow(self, spark: "SparkSession", *, until_idle: bool) -> None:
        assert self.output is not None
        from pyspark.sql import functions as F

        answers = self._match(spark, stream=True, seen=None)
        answers = answers.observe(OBSERVED, F.count(F.lit(1)).alias("answers"))
        writer = (
            answers.writeStream.format("parquet")
            .option("path", str(self.output))
            .option("checkpointLocation", str(self.output / "_checkpoint"))
        )
        if until_idle:
            writer = writer.trigger(availableNow=True)
        query = writer.start()
        progress = Progress(sys.stderr)
        try:
            while not query.awaitTermination(1):
                self._tally(query)
                progress.show(
                    f"{self.summary.rows:,} notifications matched, "
                    f"{self.summary.answers:,} rows written"
                )
        except KeyboardInterrupt:
            query.stop()
        self._tally(query)
        progress.clear()

    def _tally(self, query: Any) -> None:  # noqa: ANN401 -- a StreamingQuery
        # Spark remembers the last hundred batches, and we how many rows each had.
        for progress in query.recentProgress:
            seen = progress.observedMetrics.get(OBSERVED)
            answers = seen["answers"] if seen is not None else 0
            self.batches[progress.batchId] = (progress.numInputRows, answers)
        self.summary.rows = sum(rows for rows, _ in self.batches.values())
        self.summary.answers = sum(answers for _, answers in self.batches.values())

    def _match(
        self,
        spark: "SparkSession",
        *,
        stream: bool,
        seen: "Observation | None",
        tally: "Tally | None" = None,
    ) -> "DataFrame":
        from pyspark.sql import functions as F

        from siena.spark.batch.matching import match as match_rows
        from siena.spark.files import read_notifications

        rows, column = read_notifications(
            spark, self.notifications, column=self.column, stream=stream
        )
        if column == "notification" and self.key:
            rows = rows.select(
                *(F.get_json_object(column, f"$['{k}']").alias(k) for k in self.key),
                column,
            )
        if seen is not None:
            rows = rows.observe(seen, F.count(F.lit(1)).alias("rows"))
        return match_rows(
            rows,
            self.compiled,
            key=self.key,
            column=column,
            tally=tally,
            **self.options,
        )
