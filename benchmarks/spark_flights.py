"""Does ``siena match`` say of all flights what others say, and what does it take?

All 336 776 flights as parquet go through ``siena match`` with many subscriptions, as a
user would type it.  Of some flights its deliveries are compared with those of the plain
loop (``ReferenceMatcher``) and of the plain SQL join; the first difference ends the
run.  Meanwhile the memory of all its processes is looked at.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, sleep

import pyarrow as pa
import pyarrow.parquet as pq

from siena.matching.input.filter_texts import read_interest
from siena.matching.reference import ReferenceMatcher
from siena.sim.flight_subscriptions import flight_subscriptions
from siena.sim.flights import flights
from siena.spark import match_by_join, start_session

SIENA = Path(sys.executable).with_name("siena")
LOOK_S = 0.5

Pairs = set[tuple[int, str]]


def main() -> None:
    """Print the summary of the command, what it took, and who agrees."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--subscriptions", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--sample", type=int, default=300, help="flights to compare")
    options.add_argument("--no-join", action="store_true", help="for very many filters")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        every = write_flights(folder / "flights.parquet")
        wanted = list(flight_subscriptions(chosen.subscriptions, chosen.seed))
        table = pa.Table.from_pylist([s._asdict() for s in wanted])
        pq.write_table(table, folder / "subscriptions.parquet")
        match(folder)
        step = -(-every // chosen.sample)
        ours = sampled(folder / "deliveries", step)
        compare("the plain loop", by_loop(table, step), ours)
        if not chosen.no_join:
            compare("the plain SQL join", by_join(folder, step), ours)


def write_flights(path: Path) -> int:
    """All flights, numbered, a column for each attribute; how many there are."""
    subprocess.run([str(SIENA), "flights", "--parquet", str(path)], check=True)
    return int(pq.read_metadata(path).num_rows)


def match(folder: Path) -> None:
    """Run the command; says what it says, and what it took."""
    command = [str(SIENA), "match", "subscriptions.parquet", "flights.parquet"]
    options = ["--key", "id", "--output", "deliveries", "--json"]
    start = perf_counter()
    process = subprocess.Popen(
        [*command, *options], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    largest = 0.0
    while process.poll() is None:
        largest = max(largest, sum(map(megabytes, family(process.pid))))
        sleep(LOOK_S)
    said, _ = process.communicate()
    if process.returncode:
        sys.exit(process.returncode)
    print(json.dumps(json.loads(said)), flush=True)
    print(
        f"{perf_counter() - start:.1f} s in all, {largest:,.0f} MB at most", flush=True
    )


def family(process: int) -> Iterator[int]:
    """A process and all that it has started, as far as they still run."""
    yield process
    for task in Path(f"/proc/{process}/task").glob("*/children"):
        try:
            children = task.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from family(int(child))


def megabytes(process: int) -> float:
    """The memory of a process, with its share of what it shares."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text(encoding="ascii")
    except OSError:
        return 0.0
    (kilobytes,) = (s.split()[1] for s in text.splitlines() if s.startswith("Pss:"))
    return int(kilobytes) / 1e3


def sampled(deliveries: Path, step: int) -> Pairs:
    """The deliveries of some flights; there may be more than fit into memory."""
    found: Pairs = set()
    for path in deliveries.glob("*.parquet"):
        for batch in pq.ParquetFile(path).iter_batches():
            some = batch.filter(pa.array(batch["id"].to_numpy() % step == 0))
            columns = (some[name].to_pylist() for name in ("id", "subscriber"))
            found.update(zip(*columns, strict=True))
    return found


def by_loop(subscriptions: pa.Table, step: int) -> Pairs:
    """What some flights deliver, with every filter asked about each of them."""
    matcher = ReferenceMatcher()
    for number, text in enumerate(subscriptions["filter"].to_pylist()):
        matcher.add(number, read_interest(text))
    subscribers = subscriptions["subscriber"].to_pylist()
    return {
        (i, subscribers[number])
        for i, flight in enumerate(flights())
        if i % step == 0
        for number in matcher.match_filters(flight)
    }


def by_join(folder: Path, step: int) -> Pairs:
    """The same, with joins of plain SQL."""
    spark = start_session()
    rows = spark.read.parquet(str(folder / "flights.parquet"))
    wanted = spark.read.parquet(str(folder / "subscriptions.parquet"))
    found = match_by_join(rows.where(f"id % {step} = 0"), wanted, key="id").collect()
    spark.stop()
    return {(row.id, row.subscriber) for row in found}


def compare(who: str, theirs: Pairs, ours: Pairs) -> None:
    """Say that all is well, or end with a difference."""
    for pair in sorted(theirs ^ ours):
        sys.exit(f"{who} {'delivers' if pair in theirs else 'does not deliver'} {pair}")
    print(f"{who} agrees: {len(ours):,} deliveries", flush=True)


if __name__ == "__main__":
    main()
