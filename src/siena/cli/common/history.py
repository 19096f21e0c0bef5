"""History: notifications of a file or a folder, one after the other, without Spark."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from siena.cli.common.notification_lines import lines_of, read_notification
from siena.errors import SienaError
from siena.model import Notification, Value

# A row of a table, or what is wrong with it.
Row = Mapping[str, Value] | SienaError
# Rows that are read at a time.
BATCH = 10_000


def read_history(path: Path) -> Iterator[Row]:
    """The notifications in the order of the file; of a folder, of the files' names.

    Raises:
        SienaError: if it is not written in a way that we read.
    """
    from siena.cli.common.spark_jobs import require_spark

    require_spark()
    from siena.spark.files import format_of

    kind = format_of(path)
    readers = {"json": _lines, "parquet": _parquet, "csv": _csv, "orc": _orc}
    if kind not in readers:
        raise SienaError(f"{path}: {kind} cannot be replayed", hint="parquet can")
    files = [path]
    if path.is_dir():
        files = sorted(
            each
            for each in path.rglob("*")
            if each.is_file() and not each.name.startswith(("_", "."))
        )
    return (row for file in files for row in readers[kind](file))


def _lines(path: Path) -> Iterator[Row]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for lines in lines_of(descriptor):
            for line in lines:
                if line and not line.isspace():
                    try:
                        yield read_notification(line)
                    except SienaError as error:
                        yield error
    finally:
        os.close(descriptor)


def _parquet(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield from _rows(file.iter_batches(BATCH))
    except pa.ArrowException as error:
        raise SienaError(f"{path} is not parquet: {error}") from None


def _csv(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    from pyarrow import csv

    try:
        with csv.open_csv(path) as batches:
            yield from _rows(batches)
    except pa.ArrowException as error:
        raise SienaError(f"{path} is not CSV: {error}") from None


def _orc(path: Path) -> Iterator[Row]:
    import pyarrow as pa
    from pyarrow import orc

    try:
        file = orc.ORCFile(path)
        yield from _rows(file.read_stripe(i) for i in range(file.nstripes))
    except pa.ArrowException as error:
        raise SienaError(f"{path} is not ORC: {error}") from None


def _rows(batches: Iterator[Any]) -> Iterator[Row]:
    from siena.spark.batch.rows import read_map

    for batch in batches:
        for row in batch.to_pylist():
            try:
                yield Notification(read_map([*row.items()]))
            except SienaError as error:
                yield error
