"""Rows of a batch as rules look at them: candidates, and events."""

import numpy as np

from siena.spark.batch.rows import events_of
from siena.spark.batch.worker import Found
from siena.spark.rules.distinct import Places

__all__ = ["candidates", "events_of"]


def candidates(found: Found) -> tuple[Places, Places]:
    """The rows, and the numbers of the rules whose predicates match them."""
    counts = np.maximum(found.matches.counts, 0)
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    return rows, found.matches.filters[: len(rows)].astype(np.int64)
