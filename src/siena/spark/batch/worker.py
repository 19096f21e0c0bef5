"""What a task does: Arrow batches of notifications in, batches of answers out.

A batch has first the columns that are wanted in the answer, the *payload*, then those
that only the engine reads.  How notifications lie in them is the form:

=========  ===================================================================
wide       a column for each attribute
json       one column of texts
map        one column of maps
variant    one column of variants
path       one column of texts: JSON of any depth, attributes by their paths
windows    the same of events of Windows' log, under the names that rules use
=========  ===================================================================
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from siena.block import BLOCK_ERRORS
from siena.errors import InvalidNotificationError
from siena.matching.engine.engine import Matches
from siena.matching.input.several import AskedTable
from siena.model.spelling import spell_string
from siena.spark.batch.columns import Layout, wide_batch
from siena.spark.batch.compiling import Labels, OnError
from siena.spark.batch.rows import (
    each_event,
    encode_rows,
    read_map,
    read_row,
    read_variant,
)
from siena.spark.batch.shipping import Loaded, load
from siena.spark.foreign.deciding import decided
from siena.spark.hints import BAD_ROWS, NAN_ABSENT
from siena.spark.tally import Tally

LabelsOf = npt.NDArray[np.int32]
Output = Literal["deliveries", "interfaces", "filters", "counts", "reasons"]

# Rows of a batch that goes out: a batch that comes in may have very many answers.
ROWS_OUT_MAX = 65_536
# Columns of a bad row that an error shows, and how much of each.
SHOWN_COLUMNS = 3
SHOWN_CHARACTERS = 60


@dataclass(frozen=True)
class Task:
    """Matches batches; what Spark's ``mapInArrow`` calls, in a worker."""

    table: str  # the name under which it was shipped
    layout: Layout
    output: Output
    on_error: OnError
    tally: Tally | None = None

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers to each batch."""
        loaded = load(self.table)
        for batch in batches:
            yield from self.answer(batch, loaded)

    def answer(self, batch: pa.RecordBatch, loaded: Loaded) -> Iterator[pa.RecordBatch]:
        """The answers to one batch, in batches that are not too large."""
        answers = self._answers(batch, loaded)
        if self.tally is None:
            return answers
        return self.tally.note(batch.num_rows, answers)

    def _answers(
        self, batch: pa.RecordBatch, loaded: Loaded
    ) -> Iterator[pa.RecordBatch]:
        labels = self._labels(loaded)
        of = None if labels is None else labels.of
        found = self._found(batch, loaded, of)
        payload = [batch.column(i) for i in range(self.layout.payload)]
        names = batch.schema.names[: self.layout.payload]
        if self.output == "reasons":
            yield from _bad_rows(payload, names, found)
            return
        if self.on_error == "raise":
            refuse_bad(found, batch, self.layout)
        if self.output == "deliveries":
            assert labels is not None
            yield from _deliveries(payload, names, found, labels)
            return
        answer, name = self._one_per_row(found, labels, loaded)
        yield pa.RecordBatch.from_arrays([*payload, answer], [*names, name])

    def _found(
        self, batch: pa.RecordBatch, loaded: Loaded, labels: LabelsOf | None
    ) -> "Found":
        residuals = loaded.owners.residuals
        if not residuals:
            return match_batch(loaded.asked, batch, self.layout, labels)
        found = match_batch(loaded.asked, batch, self.layout, None)
        left = decided(found.matches, residuals, batch, self.layout, labels)
        return Found(left, found.reasons)

    def _labels(self, loaded: Loaded) -> Labels | None:
        if self.output in {"deliveries", "counts"}:
            return loaded.owners.subscribers
        return loaded.owners.interfaces if self.output == "interfaces" else None

    def _one_per_row(
        self, found: "Found", labels: Labels | None, loaded: Loaded
    ) -> tuple[pa.Array, str]:
        if self.output == "counts":
            counts = found.matches.counts
            return pa.array(counts, pa.int32(), mask=counts < 0), "count"
        numbers = found.matches.filters
        if labels is None:
            return _lists(found, pa.array(loaded.owners.ids[numbers])), "filters"
        return _lists(found, labels.names.take(pa.array(numbers))), "interfaces"


@dataclass(frozen=True)
class Found:
    """What matches each row, and of bad rows why they are bad."""

    matches: Matches
    reasons: dict[int, str]


def match_batch(
    asked: AskedTable,
    batch: pa.RecordBatch,
    layout: Layout,
    labels: LabelsOf | None,
) -> Found:
    """What matches each row of a batch; with labels, theirs instead of the numbers."""
    if layout.is_several:
        return _match_several(asked, batch, layout, labels)
    table = asked.table
    read: Callable[..., Iterator[tuple[str, object]]]
    if layout.form == "wide":
        wide = wide_batch(batch, layout)
        if not any(pa.types.is_decimal(kind) for kind in wide.schema.types):
            matches = table.match_arrow(wide, labels=labels)
            return Found(matches, _named(_reasons(matches), wide))
        # Integers and floats in one column: no engine reads that.
        column, read = wide.to_struct_array(), read_row
    else:
        ((_, place),) = layout.columns
        column = batch.column(place)
        if layout.form == "json":
            texts = pa.RecordBatch.from_arrays([column], ["json"])
            matches = table.match_arrow(texts, json="json", labels=labels)
            return Found(matches, _reasons(matches))
        read = read_map if layout.form == "map" else read_variant
    blocks, offsets, reasons = encode_rows(column, read)
    if labels is None:
        matches = table.match_buffer(blocks, offsets)
    else:
        matches = table.match_labels(blocks, offsets, labels)
    bad = {row: reason for row, reason in enumerate(reasons) if reason is not None}
    # Those without a block are bad to the engine, too, for want of a reason.
    return Found(matches, {**_reasons(matches), **bad})


def _match_several(
    asked: AskedTable,
    batch: pa.RecordBatch,
    layout: Layout,
    labels: LabelsOf | None,
) -> Found:
    """The same where attributes have several values: row by row."""
    several = asked.several(layout.many)
    rows, numbers, reasons = several.match([*each_event(batch, layout)])
    if labels is not None:
        rows, numbers = np.unique(np.stack([rows, labels[numbers]]), axis=1)
    counts = np.bincount(rows, minlength=batch.num_rows).astype(np.int32)
    counts[list(reasons)] = -1
    return Found(Matches(counts, numbers.astype(np.int32)), reasons)


def _named(reasons: dict[int, str], wide: pa.RecordBatch) -> dict[int, str]:
    """The reasons, with the column whose number is not finite."""
    floats = [
        (name, column)
        for name, column in zip(wide.schema.names, wide.columns, strict=True)
        if pa.types.is_floating(column.type)
    ]
    for row, reason in reasons.items():
        for name, column in floats:
            value = column[row].as_py()
            if value is not None and not isfinite(value):
                reasons[row] = f"{reason}: {spell_string(name)} is {value}"
                break
    return reasons


def _reasons(matches: Matches) -> dict[int, str]:
    return {
        int(row): BLOCK_ERRORS[-int(matches.counts[row])]
        for row in np.flatnonzero(matches.counts < 0)
    }


def refuse_bad(found: Found, batch: pa.RecordBatch, layout: Layout) -> None:
    """Raise an error that says what is wrong with the first row that is bad."""
    for row, reason in found.reasons.items():
        shown = [
            f"{name} = {batch.column(place)[row].as_py()}"[:SHOWN_CHARACTERS]
            for place, name in enumerate(layout.names[:SHOWN_COLUMNS])
        ]
        which = f" ({', '.join(shown)})" if shown else ""
        nan = f"{NAN_ABSENT.program}; " if "is nan" in reason else ""
        raise InvalidNotificationError(
            f"row {row + 1} of a batch{which} cannot be matched: {reason}",
            hint=f"{nan}{BAD_ROWS.program}",
        )


def _deliveries(
    payload: list[pa.Array], names: list[str], found: Found, labels: Labels
) -> Iterator[pa.RecordBatch]:
    """A row for each notification and subscriber that wants it."""
    counts = np.maximum(found.matches.counts, 0)
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    for start in range(0, len(rows), ROWS_OUT_MAX):
        some = pa.array(rows[start : start + ROWS_OUT_MAX])
        who = pa.array(found.matches.filters[start : start + ROWS_OUT_MAX])
        yield pa.RecordBatch.from_arrays(
            [*(column.take(some) for column in payload), labels.names.take(who)],
            [*names, "subscriber"],
        )


def _lists(found: Found, values: pa.Array) -> pa.Array:
    """The values as lists, one for each row; none for a row that is bad."""
    counts = found.matches.counts
    bad = counts < 0
    offsets = np.zeros(len(counts) + 1, np.int32)
    np.cumsum(np.maximum(counts, 0), out=offsets[1:])
    mask = pa.array(bad) if bad.any() else None
    return pa.ListArray.from_arrays(pa.array(offsets), values, mask=mask)


def _bad_rows(
    payload: list[pa.Array], names: list[str], found: Found
) -> Iterator[pa.RecordBatch]:
    rows = pa.array(list(found.reasons), pa.int32())
    reasons = pa.array(list(found.reasons.values()), pa.string())
    columns = [column.take(rows) for column in payload]
    yield pa.RecordBatch.from_arrays([*columns, reasons], [*names, "reason"])
