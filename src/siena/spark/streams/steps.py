"""Which steps of which patterns a notification matches: patterns as filters.

Every step becomes a subscription, whose subscriber is the pattern and whose id says
which step it is.  So all patterns are matched at once, and notifications that are no
step of anything go no further.
"""

import itertools
from collections.abc import Container, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from siena.errors import SienaError
from siena.lang.interest_form import interest_from_json
from siena.lang.json_text import read_json
from siena.lang.parser import parse_pattern
from siena.model import Filter, Pattern, Predicate
from siena.spark.batch.columns import Layout
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    OnError,
    Reject,
    compile_rows,
)
from siena.spark.batch.shipping import load
from siena.spark.batch.worker import match_batch, refuse_bad
from siena.spark.streams.searching import PATTERN, STEPS
from siena.spark.streams.sequences import STEP_BITS
from siena.spark.streams.shards import SHARDS, cut_into_shards


class CompiledPatterns(NamedTuple):
    """Patterns whose steps are in a table, and whose they are."""

    steps: CompiledSubscriptions
    subscribers: pa.Array  # of each pattern
    lengths: tuple[int, ...]  # of each pattern
    rejects: tuple[Reject, ...]
    # What a checkpoint knows each pattern by: its number may be another next time.
    marks: tuple[int, ...]


def compile_patterns(
    patterns: DataFrame, *, on_error: OnError = "raise"
) -> CompiledPatterns:
    """Compile a DataFrame with the columns ``subscriber`` and ``pattern``.

    Raises:
        SienaError: if a column is missing, or a pattern is bad.
    """
    missing = [n for n in ("subscriber", "pattern") if n not in patterns.columns]
    if missing:
        raise SienaError(f"patterns have no column {missing[0]!r}")
    rows = patterns.select("subscriber", "pattern").toArrow().combine_chunks()
    subscribers: list[object] = []
    lengths: list[int] = []
    owners: list[int] = []
    texts: list[str] = []
    ids: list[int] = []
    rejects: list[Reject] = []
    marks: dict[int, None] = {}
    for row, (who, text) in enumerate(
        zip(rows["subscriber"].to_pylist(), rows["pattern"].to_pylist(), strict=True)
    ):
        try:
            pattern = _pattern(text, who)
        except SienaError as error:
            reject = Reject(row + 1, who, text, str(error))
            if on_error == "raise":
                raise SienaError(
                    str(reject).replace("subscription", "pattern")
                ) from error
            rejects.append(reject)
            continue
        number = len(lengths)
        for step, predicate in enumerate(pattern.steps):
            owners.append(number)
            texts.append(str(predicate))
            ids.append(number * STEP_BITS + step)
        subscribers.append(who)
        lengths.append(len(pattern))
        marks[_mark(pattern, who, marks)] = None
    compiled = compile_rows(
        pa.table(
            {
                "subscriber": pa.array(owners, pa.int64()),
                "filter": pa.array(texts, pa.string()),
                "id": pa.array(ids, pa.int64()),
            }
        )
    )
    kind = rows.schema.field("subscriber").type
    names = pa.array(subscribers, kind)
    names = names.cast(pa.int64() if pa.types.is_integer(kind) else pa.string())
    return CompiledPatterns(
        compiled, names, tuple(lengths), tuple(rejects), tuple(marks)
    )


def _mark(pattern: Pattern, who: object, taken: Container[int]) -> int:
    """A number of 63 bits that a pattern of a subscriber has in every session.

    Of those that are there more than once, each has its own.
    """
    for again in itertools.count():
        said = f"{again}\0{who!r}\0{pattern}".encode()
        mark = int.from_bytes(blake2b(said, digest_size=8).digest()) >> 1
        if mark not in taken:
            return mark
    raise AssertionError  # there are more numbers than patterns


def _pattern(text: str | None, who: object) -> Pattern:
    if text is None:
        raise SienaError("there is no pattern")
    if who is None:
        raise SienaError("there is no subscriber")
    if text.lstrip().startswith(("{", "[{")):
        interest = interest_from_json(read_json(text))
        return (
            Pattern(interest) if isinstance(interest, Filter | Predicate) else interest
        )
    return parse_pattern(text)


@dataclass(frozen=True)
class StepsTask:
    """What a task does: for each notification and pattern, the steps that match."""

    table: str
    layout: Layout
    on_error: OnError

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The payload, ``siena_pattern``, and ``siena_steps`` as bits."""
        loaded = load(self.table)
        for batch in batches:
            found = match_batch(loaded.asked, batch, self.layout, None)
            if self.on_error == "raise":
                refuse_bad(found, batch, self.layout)
            codes = loaded.owners.ids[found.matches.filters]
            counts = np.maximum(found.matches.counts, 0)
            rows = np.repeat(np.arange(len(counts)), counts)
            patterns, steps = np.divmod(codes, STEP_BITS)
            order = np.lexsort((patterns, rows))
            rows, patterns, steps = rows[order], patterns[order], steps[order]
            is_first = np.ones(len(rows), np.bool_)
            is_first[1:] = (rows[1:] != rows[:-1]) | (patterns[1:] != patterns[:-1])
            first = np.flatnonzero(is_first)
            bits = np.left_shift(np.uint64(1), steps.astype(np.uint64))
            masks = np.bitwise_or.reduceat(bits, first) if len(first) else bits
            where = pa.array(rows[first])
            names = batch.schema.names[: self.layout.payload]
            yield pa.RecordBatch.from_arrays(
                [
                    *(batch.column(i).take(where) for i in range(self.layout.payload)),
                    pa.array(patterns[first], pa.int64()),
                    pa.array(masks.view(np.int64), pa.int64()),
                ],
                [*names, PATTERN, STEPS],
            )


@dataclass(frozen=True)
class PackTask:
    """The steps of each shard in one piece: Spark moves few rows, and large ones."""

    steps: StepsTask
    names: tuple[str, ...]  # of the payload, the last of which is a hash of the group
    marks: tuple[int, ...]  # of each pattern

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The number of the shard, and its rows as bytes."""
        marks = np.array(self.marks, np.int64) % SHARDS
        for batch in self.steps(batches):
            named = batch.rename_columns([*self.names, PATTERN, STEPS])
            # Wide enough for any hash of 32 bits.
            hashes = named.column(len(self.names) - 1).to_numpy(zero_copy_only=False)
            own = marks[named[PATTERN].to_numpy()]
            shards = (hashes.astype(np.int64) * 31 + own) % SHARDS
            yield cut_into_shards(pa.Table.from_batches([named]), shards)
