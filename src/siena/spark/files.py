"""Files of subscriptions and of notifications, whatever they are written in.

Subscriptions are read here, by the driver, because it compiles them.  Notifications
are read by Spark.
"""

import csv
import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, functions as F

from siena.errors import SienaError
from siena.lang.json_text import read_json
from siena.matching.engine.table_file import MAGIC
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    OnError,
    compile_rows,
    open_compiled,
)

COLUMNS = ("subscriber", "filter", "interface", "id", "dialect")
FORMATS = {
    ".parquet": "parquet",
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "json",
    ".ndjson": "json",
    ".orc": "orc",
}


class Source(NamedTuple):
    """Notifications as Spark reads them."""

    rows: DataFrame
    # The one column that is the whole notification, if attributes are not columns.
    column: str | None


def format_of(path: Path) -> str:
    """What a file is written in, or the files of a folder, by their names.

    Raises:
        SienaError: if there is no such file, or the name does not tell.
    """
    if path.is_dir():
        if (path / "_delta_log").is_dir():
            return "delta"
        found = {
            FORMATS[p.suffix.lower()]
            for p in path.rglob("*")
            if p.suffix.lower() in FORMATS and not p.name.startswith(("_", "."))
        }
        if len(found) == 1:
            return found.pop()
        what = "files of several formats" if found else "no file that can be read"
        raise SienaError(f"{path} has {what}", hint=_hint())
    if not path.exists():
        raise FileNotFoundError(2, "No such file or directory", str(path))
    if path.suffix.lower() not in FORMATS:
        raise SienaError(f"{path}: its name does not tell what it is", hint=_hint())
    return FORMATS[path.suffix.lower()]


def read_subscriptions(
    path: Path,
    *,
    dialect: str | None = None,
    many: frozenset[str] = frozenset(),
    on_error: OnError = "raise",
    report: Callable[[int], None] | None = None,
) -> CompiledSubscriptions:
    """The subscriptions of a file, compiled; or those of a compiled table.

    Filters are in the ``dialect``, or in the one that their row names.

    Raises:
        SienaError: if they cannot be read, or one of them is bad.
    """
    if path.is_file():
        with path.open("rb") as file:
            if file.read(len(MAGIC)) == MAGIC:
                return open_compiled(path).knowing(many)
    rows = subscription_rows(path)
    return compile_rows(
        rows, dialect=dialect, many=many, on_error=on_error, report=report
    )


def subscription_rows(path: Path) -> pa.Table:
    """The subscriptions of a file as they stand there, with the columns that we know.

    Raises:
        SienaError: if they cannot be read.
    """
    rows = _READERS[_readable(path)](path)
    return rows.select([name for name in rows.schema.names if name in COLUMNS])


def read_notifications(
    spark: SparkSession, path: Path, *, column: str | None = None, stream: bool = False
) -> Source:
    """The notifications of a file, or of a folder of files.

    Lines of JSON are notifications in the JSON form, whatever else Spark would make of
    them; they are one column, ``notification``.  A stream reads what is added to a
    folder; what its columns are is learned from what is there already.
    """
    kind = format_of(path)
    if kind == "json":
        reader = spark.readStream if stream else spark.read
        lines = reader.text(str(path)).where("trim(value) != ''")
        return Source(
            lines.select(F.col("value").alias("notification")), "notification"
        )
    loaded = _load(spark.read, kind).load(str(path))
    if stream:
        if not path.is_dir():
            raise SienaError(f"{path} is not a folder, to which files are added")
        loaded = _load(spark.readStream.schema(loaded.schema), kind).load(str(path))
    return Source(loaded, column)


def _load(reader: Any, kind: str) -> Any:  # noqa: ANN401 -- of tables or of streams
    if kind == "csv":
        return reader.format(kind).option("header", True).option("inferSchema", True)
    return reader.format(kind)


def _readable(path: Path) -> str:
    kind = format_of(path)
    if kind not in _READERS or (path.is_dir() and kind != "parquet"):
        raise SienaError(
            f"{path}: subscriptions are read from a file of CSV, JSON lines, parquet "
            "or ORC, from a folder of parquet, or from a compiled table"
        )
    return kind


def _read_csv(path: Path) -> pa.Table:
    with path.open(encoding="utf-8-sig", newline="") as file:
        try:
            return _table(_complete(path, csv.DictReader(file)))
        except csv.Error as error:
            raise SienaError(f"{path}: {error}") from None


def _complete(path: Path, rows: "csv.DictReader[str]") -> Iterator[dict[str, Any]]:
    """The rows, unless one has more columns than there are names."""
    for row in rows:
        # A comma means "and" in a filter, and the next column in a line of CSV.
        if None in row:
            raise SienaError(
                f"{path}, line {rows.line_num}: there are more columns than names; "
                "a filter with commas stands in quotes"
            )
        yield row


def _read_json(path: Path) -> pa.Table:
    with path.open(encoding="utf-8-sig") as file:
        return _table(_objects(path, file))


def _objects(path: Path, lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                form = read_json(line)
            except SienaError as error:
                raise SienaError(f"{path}, line {number}: {error.message}") from None
            if not isinstance(form, dict):
                raise SienaError(f"{path}, line {number}: a subscription is an object")
            yield form


def _table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    """Columns of texts; of integers, if all there are are integers."""
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    known: set[str] = set()
    for row in rows:
        known |= row.keys() & columns.keys()
        for name, column in columns.items():
            column.append(row.get(name))
    arrays = {
        name: pa.array(column, pa.int64())
        if column and all(type(value) is int for value in column)
        else pa.array([_text(value) for value in column], pa.string())
        for name, column in columns.items()
        if name in known
    }
    if "id" in arrays and arrays["id"].type == pa.string():
        try:
            arrays["id"] = arrays["id"].cast(pa.int64())
        except pa.ArrowInvalid:
            raise SienaError(
                "the column 'id' of subscriptions does not hold integers",
                hint="names of subscribers stand in the column subscriber",
            ) from None
    return pa.table(arrays)


def _text(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)


def _hint() -> str:
    return f"one of {', '.join(FORMATS)}"


_READERS: dict[str, Callable[[Path], pa.Table]] = {
    "csv": _read_csv,
    "json": _read_json,
    "parquet": pq.read_table,
    "orc": pyarrow.orc.read_table,
}
