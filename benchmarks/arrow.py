"""How fast are the rows of an Arrow batch matched, beside blocks and a column of JSON?

Flights with six attributes, as one column each, as blocks in a buffer, and as JSON
texts in one column: the same rows, matched by the same table in turn, in one run.  The
answers must agree before a number is printed.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random

import numpy as np
import pyarrow as pa

from siena.lang.notification_form import notification_to_json
from siena.matching import COMPILED
from siena.matching.engine.engine import Matches
from siena.matching.input.buffers import encode_all
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Notification, Operator, Value

AIRLINES = [f"airline-{i}" for i in range(16)]
AIRPORTS = [f"airport-{i}" for i in range(300)]
DAY = datetime(2013, 1, 1, tzinfo=UTC)
# Every so many attributes one is absent.
ABSENT = 0.1


def main() -> None:
    """Print rows per second of each form, and the ratios."""
    if not COMPILED:
        sys.exit("The kernels are not compiled: there is nothing to measure.")
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--filters", type=int, default=10_000)
    options.add_argument("--rows", type=int, default=20_000)
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    random = Random(chosen.seed)
    table = ForwardingTable()
    for number in range(chosen.filters):
        table.add(number, interest(random))
    rows = [flight(random) for _ in range(chosen.rows)]
    rates = measure(table, rows, chosen.runs)
    medians = {form: statistics.median(of) for form, of in rates.items()}
    if chosen.json:
        print(json.dumps({"rows_per_second": rates, "medians": medians}))
        return
    for form, of in rates.items():
        spread = f"{min(of):,.0f} to {max(of):,.0f}"
        ratio = medians[form] / medians["buffer"]
        rate = f"{medians[form]:>12,.0f} rows/s ({spread})"
        print(f"{form:<12} {rate}, {ratio:.2f} times the buffer")


def interest(random: Random) -> Filter:
    """Someone's route, with a limit to the delay or the distance."""
    route = [
        Constraint("origin", Operator.EQ, random.choice(AIRPORTS)),
        Constraint("dest", Operator.EQ, random.choice(AIRPORTS)),
        Constraint("carrier", Operator.EQ, random.choice(AIRLINES)),
    ]
    limits = [
        Constraint("delay", Operator.GT, random.randrange(300)),
        Constraint("distance", Operator.LT, random.uniform(100.0, 5000.0)),
    ]
    return Filter([random.choice(route), random.choice(limits)])


def flight(random: Random) -> Notification:
    """A flight, with some of its attributes absent."""
    every: dict[str, Value] = {
        "carrier": random.choice(AIRLINES),
        "origin": random.choice(AIRPORTS),
        "dest": random.choice(AIRPORTS),
        "delay": random.randrange(-30, 300),
        "distance": random.uniform(100.0, 5000.0),
        "time": DAY + timedelta(minutes=random.randrange(500_000)),
    }
    return Notification({n: v for n, v in every.items() if random.random() >= ABSENT})


def measure(
    table: ForwardingTable, rows: list[Notification], runs: int
) -> dict[str, list[float]]:
    """Rows per second of each form, run after run, in turn."""
    blocks, offsets = encode_all(rows)
    names = ("carrier", "origin", "dest", "delay", "distance", "time")
    columns = {name: pa.array([row.get(name) for row in rows]) for name in names}
    batch = pa.record_batch(columns)
    coded = pa.record_batch(
        {n: c.dictionary_encode() if c.type == pa.utf8() else c
         for n, c in columns.items()}
    )  # fmt: skip
    texts = [json.dumps(notification_to_json(row)) for row in rows]
    in_json = pa.record_batch({"notification": texts})
    forms: dict[str, Callable[[], Matches]] = {
        "buffer": lambda: table.match_buffer(blocks, offsets),
        "columns": lambda: table.match_arrow(batch),
        "dictionaries": lambda: table.match_arrow(coded),
        "json": lambda: table.match_arrow(in_json, json="notification"),
    }
    wanted = forms["buffer"]()
    for form, match in forms.items():
        found = match()
        assert np.array_equal(found.counts, wanted.counts), form
        assert _sorted(found) == _sorted(wanted), form
    rates: dict[str, list[float]] = {form: [] for form in forms}
    for _ in range(runs):
        for form, match in forms.items():
            start = time.perf_counter()
            match()
            rates[form].append(len(rows) / (time.perf_counter() - start))
    return rates


def _sorted(matches: Matches) -> list[tuple[int, int]]:
    rows = np.repeat(np.arange(len(matches.counts)), matches.counts)
    return sorted(zip(rows.tolist(), matches.filters.tolist(), strict=True))


if __name__ == "__main__":
    main()
