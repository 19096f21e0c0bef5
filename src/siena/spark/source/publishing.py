"""Publishing with Spark: every task stages a part, the driver publishes the batch.

Spark may write a batch again, after a failure of a task, of the driver, or of the
broker.  Nothing that was staged is published before the driver says so, with the number
of the batch; and the broker publishes a batch of a query once.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from uuid import uuid4

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import types as T
from pyspark.sql.datasource import (
    DataSourceArrowWriter,
    DataSourceStreamArrowWriter,
    WriterCommitMessage,
)

from siena.block import encode
from siena.errors import SienaError
from siena.lang.notification_form import notification_from_text
from siena.matching.input.arrow import read_texts
from siena.matching.input.json_rows import encode_texts
from siena.model import Notification
from siena.protocol.limits import PART_NAME_BYTES
from siena.spark.batch.rows import read_map
from siena.spark.source.data_source import Options

# The column that is the whole notification, if there is one of that name.
COLUMN = "notification"
# Under which Spark tells its tasks the query that they are of.
QUERY = "sql.streaming.queryId"


@dataclass
class Staged(WriterCommitMessage):
    """The part of one task."""

    query: str
    name: bytes
    count: int


def column_of(options: Options, schema: T.StructType) -> str | None:
    """The column that is the whole notification; none if columns are attributes.

    Raises:
        SienaError: if it is named, and there is no such column of texts.
    """
    texts = [f.name for f in schema.fields if isinstance(f.dataType, T.StringType)]
    if options.column:
        if options.column not in texts:
            raise SienaError(f"there is no column {options.column!r} of texts")
        return options.column
    # The empty name says that columns are attributes, whatever they are called.
    return COLUMN if options.column is None and COLUMN in texts else None


def blocks_of(batch: pa.RecordBatch, column: str | None) -> Iterator[bytes]:
    """The notifications of a batch.

    >>> batch = pa.RecordBatch.from_pydict({"x": [1, None], "s": ["a", "b"]})
    >>> [block.hex(" ") for block in blocks_of(batch, None)]
    ['82 a1 73 a1 61 a1 78 01', '81 a1 73 a1 62']

    Raises:
        SienaError: if a row is none; those before it come first.
    """
    if column is not None:
        yield from _blocks_of_texts(batch, column)
        return
    for number, row in enumerate(batch.to_pylist()):
        try:
            yield encode(Notification(read_map([*row.items()])))
        except SienaError as error:
            raise SienaError(f"row {number} cannot be published: {error}") from None


def _blocks_of_texts(batch: pa.RecordBatch, column: str) -> Iterator[bytes]:
    blocks, ends, bad = encode_texts(read_texts(batch, column))
    bounds = ends.tolist()
    for number, is_bad in enumerate(bad.tolist()):
        if is_bad:
            text = batch.column(batch.schema.get_field_index(column))[number].as_py()
            raise SienaError(f"row {number} cannot be published: {_reason(text)}")
        yield bytes(blocks[bounds[number] : bounds[number + 1]])


def _reason(text: str | None) -> str:
    if text is None:
        return "there is no notification"
    try:
        notification_from_text(text)
    except SienaError as error:
        return str(error)
    return "it is not a notification in its JSON form"


class _Sink:
    """What both sinks do."""

    def __init__(
        self, options: Options, schema: T.StructType, *, is_overwriting: bool
    ) -> None:
        if is_overwriting:
            raise SienaError(
                "what was published cannot be overwritten", hint="mode append"
            )
        self._options = options
        self._column = column_of(options, schema)

    def _stage(self, iterator: Iterator[pa.RecordBatch], query: str) -> Staged:
        name = secrets.token_bytes(PART_NAME_BYTES)
        blocks = (block for batch in iterator for block in self._blocks(batch))
        first = next(blocks, None)
        if first is None:
            return Staged(query, name, 0)

        def all_blocks() -> Iterator[bytes]:
            yield first
            yield from blocks

        with self._options.connect("siena sink") as client:
            if self._options.advertise is not None:
                # A broker admits no more than is advertised, also of what waits.
                client.advertise(self._options.advertise)
            try:
                count = client.log.stage_blocks(name, all_blocks())
            except SienaError:
                client.log.unstage([name])
                raise
        return Staged(query, name, count)

    def _blocks(self, batch: pa.RecordBatch) -> Iterator[bytes]:
        return blocks_of(batch, self._column)

    def _publish(
        self, messages: Sequence[WriterCommitMessage | None], number: int
    ) -> None:
        staged = [m for m in messages if isinstance(m, Staged)]
        if staged:
            parts = [(message.name, message.count) for message in staged]
            with ExitStack() as stack:
                client = stack.enter_context(self._options.connect("siena sink"))
                if self._options.advertise is not None:
                    # By whoever publishes, and until it has: where advertisements are
                    # forwarded, interests come only to where they are in force.
                    stack.enter_context(client.advertise(self._options.advertise))
                client.log.batch(staged[0].query, number, parts)

    def _drop(self, messages: Sequence[WriterCommitMessage | None]) -> None:
        names = [m.name for m in messages if isinstance(m, Staged)]
        if names:
            with self._options.connect("siena sink") as client:
                client.log.unstage(names)


class StreamSink(_Sink, DataSourceStreamArrowWriter):
    """A stream into a broker, each micro-batch once."""

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """What a task does."""
        query = self._options.query
        if query is None:
            context = TaskContext.get()
            query = context.getLocalProperty(QUERY) if context else None
        if query is None:
            raise SienaError(
                "it is not known of which query this is",
                hint='.option("query", …) names it',
            )
        return self._stage(iterator, query)

    def commit(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: N803
        """Publish a micro-batch, unless that was done."""
        self._publish(messages, batchId)

    def abort(self, messages: list[WriterCommitMessage | None], batchId: int) -> None:  # noqa: ARG002, N803
        """Forget what was staged."""
        self._drop(messages)


class TableSink(_Sink, DataSourceArrowWriter):
    """A table into a broker, all of it or nothing."""

    def __init__(
        self, options: Options, schema: T.StructType, *, is_overwriting: bool
    ) -> None:
        super().__init__(options, schema, is_overwriting=is_overwriting)
        # One batch, of a query of its own: what is written next is another one, also
        # under the same name.
        self._query = f"{options.query or 'table'} {uuid4().hex}"

    def write(self, iterator: Iterator[pa.RecordBatch]) -> Staged:
        """What a task does."""
        return self._stage(iterator, self._query)

    def commit(self, messages: list[WriterCommitMessage | None]) -> None:
        """Publish it."""
        self._publish(messages, 0)

    def abort(self, messages: list[WriterCommitMessage | None]) -> None:
        """Forget what was staged."""
        self._drop(messages)
