"""Rows of a batch as rules look at them: candidates, events, rows that are alike."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from siena.lang.notification_form import notification_from_text
from siena.model.values import Value
from siena.spark.batch.rows import read_map, read_row, read_variant
from siena.spark.batch.worker import Found, Layout, wide_batch

Event = Mapping[str, Value]
Places = npt.NDArray[np.int64]


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


def groups_of(
    batch: pa.RecordBatch, layout: Layout, names: frozenset[str] | None
) -> tuple[Places, Places]:
    """The rows grouped by some of their columns, or by all of them."""
    every = np.arange(batch.num_rows, dtype=np.int64)
    if layout.form != "wide":
        return every, every
    groups = np.zeros(batch.num_rows, np.int64)
    firsts = every[:1]
    for name, place in layout.columns:
        if names is None or name in names:
            column = batch.column(place)
            if not pa.types.is_dictionary(column.type):
                column = column.dictionary_encode(null_encoding="encode")
            codes = column.indices.fill_null(len(column.dictionary))
            size = len(column.dictionary) + 1
            # As few groups as there are, so that numbers stay small.
            joined = groups * size + codes.to_numpy(zero_copy_only=False)
            _, firsts, groups = np.unique(
                joined, return_index=True, return_inverse=True
            )
    return groups, firsts
