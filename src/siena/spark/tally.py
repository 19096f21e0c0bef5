"""How far a running job is: what its tasks have matched, and what came of it.

For progress, and not for accounts: a task tells when it ends, and one that is run twice
tells twice.  How many there were in the end an ``Observation`` of Spark says exactly.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyspark.accumulators import Accumulator
from pyspark.sql import SparkSession

from siena.errors import SienaError
from siena.spark.batch.shipping import is_connect


@dataclass(frozen=True)
class Tally:
    """Notifications that tasks have matched, and the rows that they gave."""

    rows: Accumulator[int]
    answers: Accumulator[int]

    @classmethod
    def start(cls, spark: SparkSession) -> "Tally":
        """One that begins at nothing, for one job.

        Raises:
            SienaError: if the session is one of Spark Connect, which has no such thing.
        """
        if is_connect(spark):
            raise SienaError("Spark Connect does not say how far a job is")
        context = spark.sparkContext
        return cls(context.accumulator(0), context.accumulator(0))

    def note(
        self, rows: int, answers: Iterator[pa.RecordBatch]
    ) -> Iterator[pa.RecordBatch]:
        """The answers to so many rows, counted as they go out."""
        self.rows.add(rows)
        for batch in answers:
            self.answers.add(batch.num_rows)
            yield batch
