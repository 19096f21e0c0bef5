"""Residuals, asked by a task of what the engine lets through.

The engine says which subscriptions' filters match a row.  Of those with a residual some
go; what is left is labelled, each label once for a row, as the engine would do it.
"""

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from siena.lang.expression import parse_expression
from siena.matching.engine.engine import Matches
from siena.model.expression import holds
from siena.model.expression.tree import Expression
from siena.spark.batch.columns import Layout
from siena.spark.batch.rows import events_of

Labels = npt.NDArray[np.int32]
# Residuals that a worker remembers as expressions.
PARSED_MAX = 4_096


def decided(
    matches: Matches,
    residuals: Mapping[int, str],
    batch: pa.RecordBatch,
    layout: Layout,
    labels: Labels | None,
) -> Matches:
    """What is left of the numbers that match; with labels, theirs instead."""
    counts = np.maximum(matches.counts, 0)
    rows = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    numbers = matches.filters[: len(rows)]
    is_kept = np.ones(len(rows), np.bool_)
    asked = np.flatnonzero(np.isin(numbers, np.fromiter(residuals, np.int64)))
    looked_at = np.unique(rows[asked]).tolist()
    events = dict(zip(looked_at, events_of(batch, layout, looked_at), strict=True))
    for place in asked.tolist():
        residual = _parsed(residuals[int(numbers[place])])
        is_kept[place] = holds(residual, events[int(rows[place])])
    rows, numbers = rows[is_kept], numbers[is_kept]
    if labels is not None and len(rows):
        pairs = np.unique(np.stack([rows, labels[numbers]]), axis=1)
        rows, numbers = pairs[0], pairs[1]
    left = np.bincount(rows, minlength=len(counts)).astype(matches.counts.dtype)
    bad = matches.counts < 0
    return Matches(
        np.where(bad, matches.counts, left), numbers.astype(matches.filters.dtype)
    )


@lru_cache(PARSED_MAX)
def _parsed(text: str) -> Expression:
    return parse_expression(text)
