"""Rows of a batch as rules look at them: candidates, and events."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from siena.lang.notification_form import notification_from_text
from siena.spark.batch.rows import read_map, read_row, read_variant
from siena.spark.batch.worker import Found, Layout, wide_batch
from siena.spark.rules.distinct import Event, Places


def candidates(found: Found) -> tuple[Places, Places]:
    """The rows, and the numbers of the rules whose predicates match them."""
    counts = np.maximum(found.matches.counts, 0)
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return rows, found.matches.filters[: len(rows)].astype(np.int64)


def events_of(
    batch: pa.RecordBatch, layout: Layout, rows: Sequence[int]
) -> Iterable[Event]:
    """Some rows of a batch, all of which can be read, as mappings."""
    places = pa.array(rows, pa.int64())
    if layout.form == "wide":
        wide = wide_batch(batch, layout).take(places)
        return [dict(read_row(row)) for row in wide.to_pylist()]
    ((_, column),) = layout.columns
    values = batch.column(column).take(places).to_pylist()
    if layout.form == "json":
        return [notification_from_text(text) for text in values]
    read: Any = read_map if layout.form == "map" else read_variant
    return [dict(read(row)) for row in values]
