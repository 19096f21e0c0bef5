"""A stream with a memory: its keys are in shards, each of whose memory is one value.

Asking Spark for a state takes longer than reading it, and moving a row longer than
moving its bytes.  So keys share a few states, the rows of a shard go to it in one
piece, and what it finds comes back in one and is made rows again.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, Row, types as T
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.streaming.stateful_processor import (
    StatefulProcessor,
    StatefulProcessorHandle,
)

# Groups of a stream, each with the state of many keys in one piece.
SHARDS = 32
# Rows of a batch that goes out.
ROWS_OUT_MAX = 8_192
SHARD, PACKED = "siena_shard", "siena_packed"
SHARDED = T.StructType(
    [T.StructField(SHARD, T.IntegerType()), T.StructField(PACKED, T.BinaryType())]
)
FOUND = T.StructType([T.StructField(PACKED, T.BinaryType())])


class ShardTask(StatefulProcessor):
    """What happens in a shard, micro-batch by micro-batch.

    Args:
        name: that of the state in the checkpoint.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    @abstractmethod
    def advance(self, memory: bytes | None, rows: pa.Table) -> tuple[pa.Table, bytes]:
        """What rows of the shard give, and the memory that is left.

        Args:
            memory: what this returned of the micro-batch before; ``None`` in the first.
            rows: all rows of the shard in this micro-batch, in no order.
        """

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Find the state: Spark calls this first."""
        schema = T.StructType([T.StructField(self._name, T.BinaryType())])
        self._state = handle.getValueState(self._name, schema)

    def handleInputRows(  # noqa: N802 -- Spark's name
        self,
        key: Any,  # noqa: ANN401, ARG002 -- the shard
        rows: Iterator[Row],
        timerValues: Any,  # noqa: ANN401, ARG002, N803 -- Spark's name
    ) -> Iterator[Row]:
        """Hand the rows of a micro-batch on: Spark calls this."""
        stored = self._state.get()
        memory = None if stored is None else bytes(stored[0])
        pieces = pa.concat_tables([unpacked(bytes(row[PACKED])) for row in rows])
        found, memory = self.advance(memory, pieces)
        self._state.update((memory,))
        if found.num_rows:
            yield Row(**{PACKED: packed(found)})

    def close(self) -> None:
        """Nothing is left to close: Spark calls this last."""


def over_shards(sharded: DataFrame, task: ShardTask, answer: T.StructType) -> DataFrame:
    """What a task finds in a stream of pieces, as rows of the schema ``answer``."""
    found = sharded.groupBy(SHARD).transformWithState(
        statefulProcessor=task,
        outputStructType=FOUND,
        outputMode="Append",
        timeMode="None",
    )
    return found.mapInArrow(_Unpack(answer), answer)


@dataclass(frozen=True)
class _Unpack:
    """What was found, as rows again."""

    answer: T.StructType

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for piece in batch[PACKED].to_pylist():
                yield from as_answer(unpacked(piece), self.answer)


def as_answer(found: pa.Table, answer: T.StructType) -> Iterator[pa.RecordBatch]:
    """What was found, in the types that Spark was told."""
    kinds = to_arrow_schema(answer, timezone="UTC")
    yield from found.cast(kinds).to_batches(max_chunksize=ROWS_OUT_MAX)


def cut_into_shards(
    rows: pa.Table, shards: np.ndarray[Any, np.dtype[np.int64]]
) -> pa.RecordBatch:
    """The rows of each shard in one piece, of the schema ``SHARDED``.

    Args:
        rows: some rows of a stream.
        shards: of each row, the number of its shard.
    """
    order = np.argsort(shards, kind="stable")
    rows = rows.take(pa.array(order))
    used, starts = np.unique(shards[order], return_index=True)
    pieces = [
        packed(rows.slice(start, end - start))
        for start, end in pairwise([*starts.tolist(), len(order)])
    ]
    return pa.RecordBatch.from_arrays(
        [pa.array(used, pa.int32()), pa.array(pieces, pa.binary())], SHARDED.names
    )


def packed(rows: pa.Table) -> bytes:
    """A table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_table(rows)
    return bytes(sink.getvalue())


def unpacked(data: bytes) -> pa.Table:
    """The table of bytes that :func:`packed` gave."""
    with pa.ipc.open_stream(pa.py_buffer(data)) as stream:
        return stream.read_all()
