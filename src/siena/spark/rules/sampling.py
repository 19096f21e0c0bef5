"""A sample of events, for which a table of rules is laid out."""

from collections.abc import Iterable

from pyspark.sql import DataFrame

from siena.errors import SienaError
from siena.matching.sample import SAMPLE_BLOCKS
from siena.spark.batch.matching import plan_for
from siena.spark.batch.rows import Event, events_of

Sampled = DataFrame | Iterable[Event]
"""Events like those that are to come: rows of a table, or mappings."""


def sampled(events: Sampled, column: str | None = None) -> Iterable[Event]:
    """The first events of a table, as mappings; those that cannot be read are not.

    Raises:
        SienaError: if they are a stream, of which nothing has come yet.
    """
    if not isinstance(events, DataFrame):
        return events
    if events.isStreaming:
        raise SienaError(
            "a stream is no sample", hint="show events of before: like=spark.read…"
        )
    plan = plan_for(events, None, key=(), column=column)
    rows = events.limit(SAMPLE_BLOCKS).select(*plan.columns).toArrow().combine_chunks()
    found: list[Event] = []
    for batch in rows.to_batches():
        for row in range(batch.num_rows):
            try:
                found += events_of(batch, plan.layout, [row])
            except SienaError:
                continue  # tasks say what is wrong with it
    return found
