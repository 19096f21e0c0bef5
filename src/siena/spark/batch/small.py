"""Little is matched here and now: the same answers, without a Java machine.

To start Spark takes longer than to match a file of some megabytes.  Files are read by
Arrow, and their columns mean what they mean to Spark
(:mod:`siena.spark.batch.columns`); what Arrow cannot read alike is left to Spark.
"""

import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.orc
import pyarrow.parquet as pq
from pyspark.errors import PySparkException
from pyspark.sql import types as T
from pyspark.sql.pandas.types import from_arrow_schema

from siena.errors import SienaError
from siena.model.spelling import spell_string
from siena.rules.events import Nested
from siena.spark.batch.asking import MissingAttributesWarning, wanted_of
from siena.spark.batch.attributes import hint_for, several_of
from siena.spark.batch.columns import Layout, NaN
from siena.spark.batch.compiling import CompiledSubscriptions, OnError
from siena.spark.batch.matching import (
    answer_field,
    form_of,
    payload_of,
)
from siena.spark.batch.parquet import Reader
from siena.spark.batch.shipping import Loaded
from siena.spark.batch.worker import Output, Task
from siena.spark.files import format_of

# Up to so many bytes of files are little; of parquet, which is packed, fewer.
TEXT_BYTES_MAX = 64 * 1_048_576
PACKED_BYTES_MAX = 16 * 1_048_576
# Rows that are matched at a time.
ROWS_PER_BATCH = 16_384
# Lines of JSON in which a name is looked for that is wanted in the answer.
LINES_LOOKED_AT = 1_000
NOTIFICATION = "notification"


@dataclass
class SmallJob:
    """Files that are matched without Spark; what the answers are, and how many."""

    tables: list[pa.Table]
    column: str | None
    compiled: CompiledSubscriptions
    key: Sequence[str] | None
    output: Output
    on_error: OnError
    nested: Nested | None = None
    nan: NaN = "refuse"
    answers: pa.Table | None = field(default=None, init=False)

    @property
    def rows(self) -> int:
        """How many notifications there are."""
        return sum(table.num_rows for table in self.tables)

    def run(self) -> pa.Table:
        """The answers, as Spark would give them."""
        schema = from_arrow_schema(self.tables[0].schema)
        payload, columns = asked_columns(
            schema, self.compiled, self.key, self.column, self.nested
        )
        answer = answer_field(self.output, self.compiled, payload)
        form, attributes = form_of(schema, self.column, self.nested)
        many = self.compiled.owners.many
        if form == "wide":
            many = several_of(attributes, many)
        layout = Layout(
            len(payload), form, (), tuple(payload.names), self.nan, many=many
        )
        task = Task("", layout, self.output, self.on_error)
        reader = Reader(task, payload, columns, self.column)
        loaded = Loaded(self.compiled.table, self.compiled.owners)
        found = [
            answered
            for table in self.tables
            for batch in table.to_batches(max_chunksize=ROWS_PER_BATCH)
            for answered in reader.answer(batch, loaded)
        ]
        names = [*payload.names, answer.name]
        tables = [pa.Table.from_batches([each]) for each in found]
        if tables:
            return pa.concat_tables(tables, promote_options="permissive")
        return pa.table({name: pa.nulls(0) for name in names})


def small_job(  # noqa: PLR0913 -- all but three are options
    path: Path,
    compiled: CompiledSubscriptions,
    *,
    key: Sequence[str] | None,
    column: str | None,
    output: Output,
    on_error: OnError,
    nested: Nested | None = None,
    nan: NaN = "refuse",
) -> SmallJob | None:
    """What to run instead of Spark; none if it is much, or only Spark can read it."""
    files = small_files(path)
    if files is None:
        return None
    try:
        tables = [_read(file, key) for file in files]
        if len({table.schema for table in tables}) != 1:
            return None  # Spark knows how to bring them together
        from_arrow_schema(tables[0].schema)
    except (pa.ArrowException, PySparkException, UnicodeDecodeError):
        return None
    if format_of(path) == "json":
        column = NOTIFICATION
    return SmallJob(
        tables, column, compiled, key, output, on_error, nested=nested, nan=nan
    )


def small_files(path: Path) -> list[Path] | None:
    """The files of a path, if they are few bytes and of a kind that is read here."""
    kind = format_of(path)
    if kind not in {"parquet", "csv", "json", "orc"}:
        return None
    if path.is_dir():
        visible = [p for p in path.iterdir() if not p.name.startswith(("_", "."))]
        if any(p.is_dir() for p in visible):
            return None  # partitions, whose values are in no file
        files = sorted(visible)
    else:
        files = [path]
    most = TEXT_BYTES_MAX if kind in {"csv", "json"} else PACKED_BYTES_MAX
    return files if files and sum(f.stat().st_size for f in files) <= most else None


def asked_columns(
    schema: T.StructType,
    compiled: CompiledSubscriptions,
    key: Sequence[str] | None,
    column: str | None,
    nested: Nested | None = None,
) -> tuple[T.StructType, tuple[str, ...]]:
    """The columns that are wanted in the answer, and those that the engine reads.

    Raises:
        SienaError: if there is no such column, or one that filters name has no values.
    """
    payload = payload_of(schema, key)
    form, attributes = form_of(schema, column, nested)
    if form != "wide":
        assert column is not None
        return payload, (column,)
    wanted = wanted_of(attributes, compiled.compared())
    several = several_of(attributes, compiled.owners.many)
    for attribute in wanted:
        if not attribute.means and attribute.name not in several:
            raise SienaError(
                f"the column {spell_string(attribute.name)} is "
                f"{attribute.type.simpleString()}, which no value is, and filters name "
                "it",
                hint=hint_for(attribute.type),
            )
    names = dict.fromkeys(attribute.path[0] for attribute in wanted)
    return payload, tuple(names) if column is None else (column,)


def check_files(
    path: Path,
    compiled: CompiledSubscriptions,
    *,
    key: Sequence[str] | None,
    column: str | None,
    nested: Nested | None = None,
) -> None:
    """Raise what Spark would raise once it has started, as far as files tell it now.

    Raises:
        SienaError: if a column is missing, or one that filters name has no values.
    """
    file = _first_file(path)
    if file is None:
        return  # partitions: their columns are in no file
    try:
        match format_of(path):
            case "parquet":
                schema = from_arrow_schema(pq.read_schema(file))
            case "orc":
                schema = from_arrow_schema(pyarrow.orc.ORCFile(file).schema)
            case "csv":
                # Names only: Spark looks at all rows to find out what they hold.
                with pyarrow.csv.open_csv(file) as reader:
                    names = reader.schema.names
                payload_of(
                    T.StructType([T.StructField(n, T.StringType()) for n in names]), key
                )
                return
            case "json":
                with file.open(encoding="utf-8") as lines:
                    first = [*islice(filter(str.strip, lines), LINES_LOOKED_AT)]
                _miss([_object(line) for line in first], key)
                return
            case _:
                return
    except (pa.ArrowException, PySparkException, OSError, UnicodeDecodeError):
        return
    asked_columns(schema, compiled, key, column, nested)


def _first_file(path: Path) -> Path | None:
    """Of a folder without folders, the file that is read first."""
    if not path.is_dir():
        return path
    visible = [p for p in path.iterdir() if not p.name.startswith(("_", "."))]
    return None if any(p.is_dir() for p in visible) else min(visible, default=None)


def _miss(objects: Sequence[Mapping[str, Any]], key: Sequence[str] | None) -> None:
    """Warn of what is wanted in the answer, and that no notification has."""
    for name in key or ():
        if objects and not any(name in each for each in objects):
            which = "no notification"
            if len(objects) == LINES_LOOKED_AT:
                which = f"none of the first {LINES_LOOKED_AT:,} notifications"
            warnings.warn(
                f"{which} has {spell_string(name)}, which is wanted in the answer",
                MissingAttributesWarning,
                stacklevel=4,
            )


def _read(file: Path, key: Sequence[str] | None) -> pa.Table:
    match format_of(file):
        case "parquet":
            return pq.read_table(file, partitioning=None)
        case "orc":
            return pyarrow.orc.read_table(file)
        case "csv":
            # As Spark reads it: nothing is null but what is empty.
            convert = pyarrow.csv.ConvertOptions(
                null_values=[""], strings_can_be_null=True
            )
            return pyarrow.csv.read_csv(file, convert_options=convert)
        case _:
            return _lines(file, key)


def _lines(file: Path, key: Sequence[str] | None) -> pa.Table:
    """Lines of JSON as one column, and what is named of them as texts beside it."""
    lines = [line for line in _texts(file) if line.strip()]
    columns: dict[str, list[str | None]] = {name: [] for name in key or ()}
    if columns:
        objects = [_object(line) for line in lines]
        _miss(objects[:LINES_LOOKED_AT], key)
        for found in objects:
            for name, values in columns.items():
                values.append(_text(found.get(name)))
    return pa.table(
        {
            **{name: pa.array(values, pa.string()) for name, values in columns.items()},
            NOTIFICATION: pa.array(lines, pa.string()),
        }
    )


def _texts(file: Path) -> Iterator[str]:
    # By line feeds alone, as Spark has lines: a text may have other ends inside.
    for line in file.read_text(encoding="utf-8").split("\n"):
        yield line.removesuffix("\r")


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
