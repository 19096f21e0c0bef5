"""The ``siena`` data source: a broker's log as a table or a stream, and back.

::

    spark.readStream.format("siena").option("server", …).option("filter", …).load()
    rows.writeStream.format("siena").option("server", …).start()

With ``.option("durable", NAME)`` a stream is a durable subscription.
What is read has the columns ``offset``, ``time`` (when the broker got it) and
``notification`` (in its JSON form), which ``siena.spark.match`` takes as it is.
"""

from collections.abc import Mapping, MutableMapping
from typing import NamedTuple

from pyspark.sql import SparkSession, types as T
from pyspark.sql.datasource import (
    DataSource,
    DataSourceArrowWriter,
    DataSourceReader,
    DataSourceStreamArrowWriter,
    DataSourceStreamReader,
)

from siena.client import connect
from siena.client.connect import Connecting
from siena.errors import SienaError
from siena.lang.parser import parse_interest

NAME = "siena"
SCHEMA = T.StructType(
    [
        T.StructField("offset", T.LongType(), nullable=False),
        T.StructField("time", T.TimestampType(), nullable=False),
        T.StructField("notification", T.StringType(), nullable=False),
    ]
)
# Tasks that read one micro-batch, unless it is small.
PARTITIONS = 2
# Names as Spark hands them over, and what is said if they are not known.
OPTIONS = {
    name.lower(): name
    for name in (
        *("server", "token", "filter", "reader", "startingOffset", "endingOffset"),
        *("maxRowsPerBatch", "partitions", "column", "query", "advertise", "durable"),
    )
}
# What Spark adds of its own.
_OF_SPARK = {"checkpointlocation", "path", "queryname"}


class Options(NamedTuple):
    """What was said about a source or a sink; it travels to the workers."""

    server: str | None
    token: str | None
    filter: str
    reader: str | None
    starting: str
    ending: str
    rows_max: int | None
    partitions: int
    column: str | None
    query: str | None
    advertise: str | None
    durable: str | None = None

    @classmethod
    def of(cls, said: Mapping[str, str]) -> "Options":
        """The options, as far as that can be known without the broker.

        >>> Options.of({"server": "siena://b1", "maxRowsPerBatch": "10"}).rows_max
        10
        >>> Options.of({"sever": "siena://b1"})
        Traceback (most recent call last):
        siena.errors.SienaError: there is no option 'sever' (one of server, token, \
filter, reader, startingOffset, endingOffset, maxRowsPerBatch, partitions, column, \
query, advertise, durable)
        """
        known = {}
        for key, value in said.items():
            name = key.lower()
            if name in OPTIONS:
                known[name] = value
            elif name not in _OF_SPARK:
                raise SienaError(
                    f"there is no option {key!r}",
                    hint=f"one of {', '.join(OPTIONS.values())}",
                )
        text = known.get("filter", "[]")
        parse_interest(text)
        if "durable" in known and "reader" in known:
            raise SienaError("a stream has a durable name or a reader, and not both")
        return cls(
            known.get("server"),
            known.get("token"),
            text,
            known.get("reader"),
            _place("startingOffset", known, "earliest"),
            _place("endingOffset", known, "latest"),
            _count("maxRowsPerBatch", known, None),
            _count("partitions", known, PARTITIONS) or PARTITIONS,
            known.get("column"),
            known.get("query"),
            known.get("advertise"),
            known.get("durable"),
        )

    def connect(self, name: str) -> Connecting:
        """A connection to the broker."""
        urls = () if self.server is None else (self.server,)
        return connect(*urls, token=self.token, name=name)


def _place(name: str, known: Mapping[str, str], default: str) -> str:
    said = known.get(name.lower(), default)
    if said not in {"earliest", "latest"} and not said.isdecimal():
        raise SienaError(f"{name} is earliest, latest or a number, not {said!r}")
    return said


def _count(name: str, known: Mapping[str, str], default: int | None) -> int | None:
    said = known.get(name.lower())
    if said is None:
        return default
    if not said.isdecimal() or int(said) < 1:
        raise SienaError(f"{name} is a number from 1 on, not {said!r}")
    return int(said)


class SienaSource(DataSource):
    """What Spark knows under the name ``siena``."""

    def __init__(self, options: MutableMapping[str, str]) -> None:
        super().__init__(options)
        self._options = Options.of(dict(options))

    @classmethod
    def name(cls) -> str:
        """What ``format`` is given."""
        return NAME

    def schema(self) -> T.StructType:
        """The columns that are read."""
        return SCHEMA

    # The other modules need what is above.

    def reader(self, schema: T.StructType) -> DataSourceReader:
        """Of a part of the log, as a table."""
        from siena.spark.source.log_reading import LogReader  # noqa: PLC0415

        _require_ours(schema)
        if self._options.durable is not None:
            hint = "a table is read with filter, startingOffset and endingOffset"
            raise SienaError("a durable subscription is read as a stream", hint=hint)
        return LogReader(self._options)

    def streamReader(self, schema: T.StructType) -> DataSourceStreamReader:  # noqa: N802
        """Of the log, as it grows; or of a durable subscription."""
        from siena.spark.source.durable_reading import (  # noqa: PLC0415
            DurableStreamReader,
        )
        from siena.spark.source.log_reading import LogStreamReader  # noqa: PLC0415

        _require_ours(schema)
        if self._options.durable is not None:
            return DurableStreamReader(self._options)
        return LogStreamReader(self._options)

    def writer(self, schema: T.StructType, overwrite: bool) -> DataSourceArrowWriter:  # noqa: FBT001
        """Of a table into the broker."""
        from siena.spark.source.publishing import TableSink  # noqa: PLC0415

        return TableSink(self._options, schema, is_overwriting=overwrite)

    def streamWriter(  # noqa: N802
        self,
        schema: T.StructType,
        overwrite: bool,  # noqa: FBT001
    ) -> DataSourceStreamArrowWriter:
        """Of a stream into the broker."""
        from siena.spark.source.publishing import StreamSink  # noqa: PLC0415

        return StreamSink(self._options, schema, is_overwriting=overwrite)


def _require_ours(schema: T.StructType) -> None:
    if schema != SCHEMA:
        raise SienaError(
            "a log has columns of its own",
            hint="leave .schema(…) away, and read notification with from_json",
        )


def register_source(spark: SparkSession) -> None:
    """Let a session know ``format("siena")``."""
    spark.dataSource.register(SienaSource)
