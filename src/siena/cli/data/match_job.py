"""One run of ``siena match``: here, on Spark, or following a stream."""

import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from siena.cli.common.progress import Progress
from siena.cli.common.spark_jobs import plain_warnings, report_to, shown_progress
from siena.rules.events import Nested

if TYPE_CHECKING:
    import pyarrow as pa
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
    spark: bool = True  # or whether it was so little that it went without

    def told(self, answer: str) -> str:
        """In one line, for people."""
        what = answer if answer == "deliveries" else f"rows with their {answer}"
        rate = ""
        if self.rows >= RATE_ROWS_MIN:
            rate = f" ({self.rows / max(self.match_s, 1e-9):,.0f} notifications/s)"
        return (
            f"{self.rows:,} notifications, {self.subscriptions:,} subscriptions: "
            f"{self.answers:,} {what} in {self.match_s:.1f} s{rate}; before that "
            f"{self.compile_s:.1f} s to compile"
            + (f" and {self.start_s:.1f} s to start Spark" if self.spark else "")
        )


class MatchJob:
    """One run of the command."""

    def __init__(
        self,
        notifications: Path,
        key: list[str] | None,
        column: str | None,
        output: Path | None,
        answer: str,
        nan: str,
        *,
        nested: Nested | None,
        set_aside: bool,
    ) -> None:
        self.notifications = notifications
        self.key = key
        self.column = column
        self.output = output
        self.options: dict[str, Any] = {
            "output": answer,
            "on_error": "set_aside" if set_aside else "raise",
            "nested": nested,
            "nan": nan,
        }
        self.compiled: CompiledSubscriptions
        self.summary: Summary
        self.answers: DataFrame | pa.Table | None = None
        # Of each micro-batch, how many rows came in and went out.
        self.batches: dict[int, tuple[int, int]] = {}

    def compile(
        self,
        subscriptions: Path,
        dialect: str | None = None,
        many: frozenset[str] = frozenset(),
    ) -> None:
        """Read the subscriptions; what is put aside is said on stderr."""
        from siena.spark.files import read_subscriptions

        start = perf_counter()
        progress = Progress(sys.stderr)
        self.compiled = read_subscriptions(
            subscriptions,
            dialect=dialect,
            many=many,
            on_error=self.options["on_error"],
            report=report_to(progress, "subscriptions compiled"),
        )
        progress.clear()
        for reject in self.compiled.rejects:
            print(f"siena: set aside: {reject}", file=sys.stderr)
        self.summary = Summary(len(self.compiled), len(self.compiled.rejects))
        self.summary.compile_s = perf_counter() - start

    def run_here(self) -> bool:
        """Match without Spark, if it is little."""
        import pyarrow.parquet as pq

        from siena.spark.batch.small import small_job

        start = perf_counter()
        options = {"key": self.key, "column": self.column, **self.options}
        with plain_warnings():
            job = small_job(self.notifications, self.compiled, **options)
            if job is None:
                return False
            found = self.answers = job.run()
        if self.output is not None:
            self.output.mkdir(parents=True)
            pq.write_table(found, self.output / "part-00000.parquet")
        self.summary.rows, self.summary.answers = job.rows, found.num_rows
        self.summary.match_s = perf_counter() - start
        self.summary.spark = False
        return True

    def check(self) -> None:
        """Raise what can be known to be wrong before Spark starts."""
        from siena.spark.batch.small import check_files

        with plain_warnings():
            check_files(
                self.notifications,
                self.compiled,
                key=self.key,
                column=self.column,
                nested=self.options["nested"],
            )

    def run(self, spark: "SparkSession", *, is_local: bool) -> None:
        """Match a table on Spark."""
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
        for row in self.first():
            *notification, answer = row.items()
            shown = ", ".join(f"{n} = {v}" for n, v in notification if v is not None)
            line = f"  {answer[1]}: {shown}"
            more = "…" if len(line) > SHOWN_CHARACTERS else ""
            print(line[:SHOWN_CHARACTERS] + more)
        if self.summary.answers > SHOWN_ROWS:
            print(f"  and {self.summary.answers - SHOWN_ROWS:,} more", end="; ")
        else:
            print("  ", end="")
        print("--output DIR writes them as parquet")

    def first(self) -> list[dict[str, Any]]:
        """The first few answers."""
        if self.summary.spark:
            rows: DataFrame = self.answers  # type: ignore[assignment]
            return [row.asDict() for row in rows.limit(SHOWN_ROWS).collect()]
        table: pa.Table = self.answers
        return table.slice(0, SHOWN_ROWS).to_pylist()  # type: ignore[no-any-return]

    def follow(self, spark: "SparkSession", *, until_idle: bool) -> None:
        """Match a stream, until it is interrupted, or has seen all there is."""
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
