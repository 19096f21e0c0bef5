"""Reading a broker's log with Spark: which offsets, by how many tasks, and when.

An offset of a stream is an offset of the log and the name of a reader.  The name stands
in the checkpoint, and so the broker knows a query again, and keeps what the query has
not committed.
"""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import uuid4

import msgspec
import pyarrow as pa
from pyspark.sql.datasource import (
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)

from siena.block import decode
from siena.client.blocking import Client
from siena.client.connect import Connecting
from siena.errors import SienaError
from siena.lang import notification_to_json
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.log_frames import Entry, Extent
from siena.spark.source.data_source import Options

# Below this many, one task reads them.
ROWS_PER_PARTITION_MIN = 1_000

_ARROW = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("time", pa.timestamp("us", "UTC"), nullable=False),
        pa.field("notification", pa.string(), nullable=False),
    ]
)


class Range(InputPartition):
    """What one task reads: offsets from one up to another."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__((start, end))
        self.start = start
        self.end = end


def ranges(start: int, end: int, partitions: int) -> list[Range]:
    """About equal parts of some offsets, none of them small.

    >>> [(part.start, part.end) for part in ranges(0, 3_000, 2)]
    [(0, 1500), (1500, 3000)]
    >>> [(part.start, part.end) for part in ranges(7, 9, 2)], ranges(9, 9, 2)
    ([(7, 9)], [])
    """
    count = max(1, min(partitions, (end - start) // ROWS_PER_PARTITION_MIN))
    cuts = [start + (end - start) * i // count for i in range(count + 1)]
    return [Range(a, b) for a, b in itertools.pairwise(cuts) if a < b]


def read_range(options: Options, part: Range) -> Iterator[pa.RecordBatch]:
    """What the filter selects of some offsets, an Arrow batch for each answer."""
    start = part.start
    with options.connect("siena source") as client:
        while start < part.end:
            page = client.log.page(options.filter, start, part.end)
            if page.entries:
                yield _batch(page.entries)
            if page.next == start:
                raise _ahead(start, page.latest)
            start = page.next


def _batch(entries: list[Entry]) -> pa.RecordBatch:
    columns = [
        pa.array([entry.offset for entry in entries], pa.int64()),
        pa.array([entry.time for entry in entries], pa.timestamp("us", "UTC")),
        pa.array([text_of(entry.block) for entry in entries], pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=_ARROW)


def text_of(block: bytes) -> str:
    """The notification of a block in its JSON form.

    >>> text_of(bytes.fromhex("82 a1 78 01 a1 79 cb 3f f8 00 00 00 00 00 00"))
    '{"x":1,"y":1.5}'
    """
    form = notification_to_json(decode(block))
    return msgspec.json.encode(form).decode()


def _ahead(offset: int, latest: int) -> SienaError:
    return ProtocolError(
        Fault.OFFSET_AHEAD,
        f"the log has come to offset {latest}, and not to {offset}: it is another log "
        "than that which was read before",
    )


class LogReader(DataSourceReader):
    """A part of the log, as a table."""

    def __init__(self, options: Options) -> None:
        self._options = options

    def partitions(self) -> Sequence[InputPartition]:
        """Ask the broker what there is."""
        with self._options.connect("siena source") as client:
            extent = client.log.extent()
        start = _offset(self._options.starting, extent)
        end = _offset(self._options.ending, extent)
        # An empty table still has its columns.
        return ranges(start, end, self._options.partitions) or [Range(end, end)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """What a task does."""
        assert isinstance(partition, Range)
        return read_range(self._options, partition)


def _offset(said: str, extent: Extent) -> int:
    if said == "earliest":
        return extent.earliest
    return extent.latest if said == "latest" else int(said)


class LogStreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """The log as it grows.

    Ownership: in the process that plans, of one connection, until :meth:`stop`.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        # Not beyond this, if only what is available now is wanted.
        self._target: int | None = None
        self._connecting: Connecting | None = None
        self._client: Client | None = None

    def __reduce__(self) -> tuple[type["LogStreamReader"], tuple[Options]]:
        """To the tasks only what was said goes, and no connection."""
        return type(self), (self._options,)

    # --- Planning -------------------------------------------------------------------

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """Where a new query begins; from now on the broker keeps what follows."""
        extent = self._broker.log.extent()
        offset = _offset(self._options.starting, extent)
        reader = self._options.reader or f"spark {uuid4().hex}"
        self._broker.log.commit(reader, offset)
        return {"offset": offset, "reader": reader}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:  # noqa: N802
        """How far the next micro-batch goes."""
        extent = self._broker.log.extent(start.get("reader"))
        at: int = start["offset"]
        if extent.latest < at:
            raise _ahead(at, extent.latest)
        if at < extent.earliest:
            raise ProtocolError(
                Fault.OFFSET_EXPIRED,
                f"offset {at} has expired: the log begins at {extent.earliest}",
            )
        end = extent.latest if self._target is None else self._target
        if isinstance(limit, ReadMaxRows):
            end = min(end, at + limit.max_rows)
        return {**start, "offset": max(at, end)}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """So many offsets at most, whether or not the filter selects them."""
        most = self._options.rows_max
        return ReadAllAvailable() if most is None else ReadMaxRows(most)

    def reportLatestOffset(self) -> dict[str, Any]:  # noqa: N802
        """How far the log is, for those who watch the query."""
        return {"offset": self._broker.log.extent().latest}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """From now on, what comes is for another time."""
        self._target = self._broker.log.extent().latest

    def partitions(
        self, start: dict[str, Any], end: dict[str, Any]
    ) -> Sequence[InputPartition]:
        """The parts of a micro-batch."""
        return ranges(start["offset"], end["offset"], self._options.partitions)

    def commit(self, end: dict[str, Any]) -> None:
        """What was before will not be asked for again."""
        self._broker.log.commit(end["reader"], end["offset"])

    def stop(self) -> None:
        """Hang up."""
        if self._connecting is not None:
            self._connecting.__exit__(None, None, None)
            self._connecting = self._client = None

    @property
    def _broker(self) -> Client:
        if self._client is None:
            self._connecting = self._options.connect("siena source")
            self._client = self._connecting.__enter__()
        return self._client

    # --- Reading --------------------------------------------------------------------

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """What a task does."""
        assert isinstance(partition, Range)
        return read_range(self._options, partition)
