"""Rows of a batch as rules look at them: candidates, events, rows that are alike."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from siena.spark.batch.columns import Layout
from siena.spark.batch.rows import Event, events_of
from siena.spark.batch.worker import Found

__all__ = ["Event", "Places", "candidates", "events_of", "groups_of"]

Places = npt.NDArray[np.int64]


def candidates(found: Found) -> tuple[Places, Places]:
    """The rows, and the numbers of the rules whose predicates match them."""
    counts = np.maximum(found.matches.counts, 0)
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return rows, found.matches.filters[: len(rows)].astype(np.int64)


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
