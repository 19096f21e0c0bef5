"""The fast path: tasks that read parquet themselves, and hand Spark only the answers.

Spark's reader makes rows of columns, and its Arrow bridge columns of rows.  Who needs
nothing else of Spark's reader, no partition values and no filters, need not pay for it.
A task gets the name of a file, a row group and a share of its rows.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession, types as T
from pyspark.sql.pandas.types import to_arrow_schema

from siena.errors import SienaError
from siena.rules.events import Nested
from siena.spark.batch.asking import wanted_of
from siena.spark.batch.attributes import several_of
from siena.spark.batch.columns import (
    Form,
    Layout,
    NaN,
    check_nan,
    in_microseconds,
    wide_columns,
)
from siena.spark.batch.compiling import OnError
from siena.spark.batch.matching import (
    Subscriptions,
    answer_field,
    compile_subscriptions,
    form_of,
    payload_of,
)
from siena.spark.batch.shipping import Loaded, is_connect, load, ship
from siena.spark.batch.worker import Output, Task
from siena.spark.tally import Tally

# Rows that are worth a task of their own, and at which one tells how far it is.
ROWS_PER_TASK_MIN = 50_000
ROWS_PER_TASK_MAX = 2_000_000
# Rows that are matched at a time.
ROWS_PER_BATCH = 16_384

Piece = tuple[str, int, int, int]  # file, row group, first row, and how many


def plain_files(path: str) -> list[Path] | None:
    """The parquet files of a path, if they need nothing from Spark's reader.

    They are files of this machine, a single one or those of a folder, and the folder
    has no folders inside: those would be partitions, whose values are in no file.
    """
    place = Path(path.removeprefix("file://"))
    if place.is_file():
        return [place] if place.suffix == ".parquet" else None
    if "://" in path or not place.is_dir():
        return None
    visible = [p for p in place.iterdir() if not p.name.startswith(("_", "."))]
    if not visible or any(p.is_dir() or p.suffix != ".parquet" for p in visible):
        return None
    return sorted(visible)


def count_rows(files: list[Path]) -> int:
    """How many rows files have, from their footers."""
    return sum(pq.read_metadata(file).num_rows for file in files)


def match_parquet(  # noqa: PLR0913 -- all but three have a default
    spark: SparkSession,
    path: str,
    subscriptions: Subscriptions,
    *,
    key: str | Sequence[str] | None = None,
    column: str | None = None,
    nested: Nested | None = None,
    output: Output = "deliveries",
    many: Collection[str] = (),
    on_error: OnError = "raise",
    nan: NaN = "refuse",
    tally: Tally | None = None,
) -> DataFrame:
    """As :func:`~siena.spark.batch.matching.match` of ``spark.read.parquet(path)``.

    The files must be where all workers can read them under this name.

    Raises:
        SienaError: as ``match``, and if the files need Spark's own reader.
    """
    check_nan(nan)
    files = plain_files(path)
    if files is None:
        raise SienaError(
            f"{path} is more than plain parquet files",
            hint="siena.spark.match(spark.read.parquet(…), …) reads everything",
        )
    schema = spark.read.parquet(*map(str, files)).schema
    compiled = compile_subscriptions(subscriptions, many=many, on_error=on_error)
    payload = payload_of(schema, key)
    form, attributes = form_of(schema, column, nested)
    several = compiled.owners.many
    names: tuple[str, ...] = ()
    if form == "wide":
        wanted = wanted_of(attributes, compiled.compared())
        several = several_of(attributes, several)
        for attribute in wanted:
            if attribute.name not in several:
                attribute.column()  # or an error, if it means nothing
        names = tuple(attribute.path[0] for attribute in wanted)
    answer = answer_field(output, compiled, payload)
    layout = Layout(len(payload), form, (), tuple(payload.names), nan, many=several)
    reader = Reader(
        Task(ship(spark, compiled), layout, output, on_error, tally),
        payload,
        tuple(dict.fromkeys(names)) if column is None else (column,),
        column,
    )
    pieces = list(_pieces(files, _cores(spark)))
    if not pieces:
        return spark.createDataFrame([], T.StructType([*payload, answer]))
    planned = spark.createDataFrame(
        pieces, "file string, part int, first long, rows long"
    )
    tasks = planned.repartitionByRange(len(pieces), "file", "part", "first")
    return tasks.mapInArrow(reader, T.StructType([*payload, answer]))


def _cores(spark: SparkSession) -> int:
    # Spark Connect does not say; then there are a few more tasks than needed.
    return 8 if is_connect(spark) else spark.sparkContext.defaultParallelism


def _pieces(files: list[Path], cores: int) -> Iterator[Piece]:
    """The rows of all files, in shares that keep all cores busy.

    Who reads a share decodes its row group up to there: so a group is cut only where
    there are fewer groups than cores, and never into more shares than there are cores.
    """
    groups = [
        (str(file.absolute()), part, meta.row_group(part).num_rows)
        for file in files
        for meta in [pq.read_metadata(file)]
        for part in range(meta.num_row_groups)
    ]
    total = sum(rows for _, _, rows in groups)
    wanted = min(max(ROWS_PER_TASK_MIN, -(-total // cores)), ROWS_PER_TASK_MAX)
    for file, part, rows in groups:
        share = max(wanted, -(-rows // cores))
        for first in range(0, rows, share):
            yield file, part, first, min(share, rows - first)


# In a worker, the row group that it has decoded last: the next share may be of it, too.
_last: dict[tuple[object, ...], pa.Table] = {}


def _decoded(file: str, part: int, names: tuple[str, ...]) -> pa.Table:
    """Some columns of a row group."""
    state = Path(file).stat()
    which = (file, state.st_mtime_ns, state.st_size, part, names)
    if which not in _last:
        _last.clear()  # first, so that there are never two
        group = pq.ParquetFile(file).read_row_group(part, columns=list(names))
        _last[which] = group
    return _last[which]


@dataclass(frozen=True)
class Reader:
    """What a worker does: reads its pieces, and matches them."""

    task: Task
    payload: T.StructType
    columns: tuple[str, ...]  # that the engine needs
    column: str | None  # the whole notification, if it is one column

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The answers to the pieces that a batch lists."""
        loaded = load(self.task.table)
        for batch in batches:
            for file, part, first, rows in zip(
                *batch.to_pydict().values(), strict=True
            ):
                names = dict.fromkeys([*self.payload.names, *self.columns])
                piece = _decoded(file, part, tuple(names)).slice(first, rows)
                for some in piece.to_batches(max_chunksize=ROWS_PER_BATCH):
                    yield from self.answer(some, loaded)

    def answer(self, read: pa.RecordBatch, loaded: Loaded) -> Iterator[pa.RecordBatch]:
        """The answers to a batch as it was read."""
        kept = [in_microseconds(read[name]) for name in self.payload.names]
        kinds = to_arrow_schema(self.payload, timezone="UTC").types
        payload = [
            column if column.type == kind else column.cast(kind)
            for column, kind in zip(kept, kinds, strict=True)
        ]
        form, inner = self._attributes(read, loaded)
        places = tuple((name, len(payload) + i) for i, name in enumerate(inner))
        batch = pa.RecordBatch.from_arrays(
            [*payload, *inner.values()], [*self.payload.names, *inner]
        )
        layout = replace(self.task.layout, form=form, columns=places)
        task = replace(self.task, layout=layout)
        yield from task.answer(batch, loaded)

    def _attributes(
        self, read: pa.RecordBatch, loaded: Loaded
    ) -> tuple[Form, dict[str, pa.Array]]:
        form = self.task.layout.form
        if form != "wide":
            (name,) = self.columns
            return form, {name: read[name]}
        columns = {name: read[name] for name in self.columns}
        if self.column is not None:
            struct = columns[self.column]
            fields = [struct.type.field(i).name for i in range(struct.type.num_fields)]
            columns = dict(zip(fields, struct.flatten(), strict=True))
        many = self.task.layout.many
        return form, wide_columns(columns, loaded.attributes(), many)
