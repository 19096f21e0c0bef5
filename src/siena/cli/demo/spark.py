"""The demonstration's second half: the same day as a table, on Spark; and a stream."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from siena.cli.common.spark_jobs import LOCAL, session
from siena.cli.demo.day import Wish
from siena.cli.demo.watching import Watched, watch
from siena.model import Notification


@dataclass(slots=True)
class Matched:
    """What Spark found."""

    subscriptions: int
    compile_s: float
    start_s: float = 0.0
    match_s: float = 0.0
    # Of each flight, by its number, the numbers of the wishes that want it.
    wanted: dict[int, list[int]] = field(default_factory=dict)
    # What rules have said of a stream.
    watched: Watched | None = None

    @property
    def pairs(self) -> int:
        """How many deliveries there are."""
        return sum(map(len, self.wanted.values()))

    def of(self, count: int) -> dict[int, list[int]]:
        """Of each of the first so many wishes, the flights, as the network has it."""
        found: dict[int, list[int]] = {number: [] for number in range(count)}
        for flight, numbers in sorted(self.wanted.items()):
            for number in numbers:
                if number < count:
                    found[number].append(flight)
        return found


def match_day(
    day: Iterable[Notification],
    wishes: Iterable[Wish],
    folder: Path,
    report: Callable[[str], None],
) -> Matched:
    """Match the day against all wishes; leaves the day in the folder, as parquet.

    Raises:
        SienaError: if there is no Java, or no Spark.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from siena.spark import match
    from siena.spark.batch.compiling import compile_rows
    from siena.spark.session import require_java

    require_java()
    path = folder / "flights.parquet"
    pq.write_table(pa.Table.from_pylist([dict(flight) for flight in day]), path)
    all_of_them = list(wishes)
    rows = pa.table(
        {
            "id": [wish.number for wish in all_of_them],
            "subscriber": [wish.subscriber for wish in all_of_them],
            "filter": [wish.filter for wish in all_of_them],
        }
    )
    start = perf_counter()
    compiled = compile_rows(
        rows, report=lambda count: report(f"{count:,} subscriptions compiled")
    )
    matched = Matched(len(compiled), perf_counter() - start)
    start = perf_counter()
    report("Spark starts")
    with session(LOCAL) as spark:
        matched.start_s = perf_counter() - start
        report("matching")
        start = perf_counter()
        flights = spark.read.parquet(str(path))
        found = match(flights, compiled, key="id", output="filters").collect()
        matched.match_s = perf_counter() - start
        matched.wanted = {row["id"]: list(row["filters"]) for row in found}
        matched.watched = watch(spark, folder, report)
    return matched
