"""How does the cost of adding a filter to the poset grow, and what is its index worth?

Filters are added to one poset, timed between sizes; its slow twin, which compares
every new filter with all the others, is timed on the first of them in the same run.
Times are of the processor, on one core.  100 000 filters of W-TR0605 take some
minutes: ask for them with ``--filters 100000``.

==========  ====================================================================
``w``       W-TR0605: few conditions on each name, shared by many filters
``points``  ``id = user-7``: every filter has a condition of its own, none covered
``chain``   ``price > 7``: every filter is comparable with every other
==========  ====================================================================
"""

import argparse
import json
import math
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from siena.algebra.covering import covers_filter
from siena.algebra.poset.poset import Poset
from siena.model import Constraint, Filter, Operator
from siena.sim.workload import TR0605

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
# The twin takes time with the square of this.
FILTERS_OF_TWIN = 500


def main() -> None:
    """Print a line for each size, the growth, and the ratio to the twin."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--filters", type=int, default=10_000, help="the largest size")
    options.add_argument("--workload", choices=WORKLOADS, default="w")
    options.add_argument("--names", type=int, default=500, help="of attributes")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    filters = WORKLOADS[chosen.workload](chosen)
    result = {"rows": grow(filters), **compare(filters[:FILTERS_OF_TWIN])}
    if chosen.json:
        print(json.dumps(result))
    else:
        print_table(result)


def shared(chosen: argparse.Namespace) -> list[Filter]:
    """W-TR0605."""
    workload = TR0605(names=chosen.names, seed=chosen.seed)
    return list(workload.filters(chosen.filters))


def points(chosen: argparse.Namespace) -> list[Filter]:
    """Each user has a filter."""
    users = (f"user-{i}" for i in range(chosen.filters))
    return [Filter([Constraint("id", Operator.EQ, user)]) for user in users]


def chain(chosen: argparse.Namespace) -> list[Filter]:
    """Each has a threshold of its own; in any order, as they would come."""
    thresholds = list(range(chosen.filters))
    Random(chosen.seed).shuffle(thresholds)
    return [Filter([Constraint("price", Operator.GT, t)]) for t in thresholds]


WORKLOADS: dict[str, Callable[[argparse.Namespace], list[Filter]]] = {
    "w": shared,
    "points": points,
    "chain": chain,
}


def grow(filters: Sequence[Filter]) -> list[dict[str, Any]]:
    """Add all filters, and say at each size what the last ones cost."""
    poset = Poset.of_filters()
    rows: list[dict[str, Any]] = []
    seconds, before = 0.0, 0
    for size in sorted({*(s for s in SIZES if s < len(filters)), len(filters)}):
        elapsed = time_adding(poset, filters[before:size])
        seconds += elapsed
        rows.append(
            {
                "filters": size,
                "distinct": len(poset),
                "roots": len(poset.roots),
                "seconds": seconds,
                "us_per_addition": elapsed / (size - before) * 1e6,
            }
        )
        before = size
    return rows


def time_adding(poset: Poset[Filter], filters: Sequence[Filter]) -> float:
    """The processor's time for adding the filters."""
    start = time.process_time()
    for f in filters:
        poset.add(f)
    return time.process_time() - start


def compare(filters: Sequence[Filter]) -> dict[str, Any]:
    """The same filters into a poset and into its twin; their links must agree."""
    poset = Poset.of_filters()
    fast = time_adding(poset, filters)
    start = time.process_time()
    twin = links_by_comparing_all(filters)
    slow = time.process_time() - start
    assert {f: poset.predecessors(f) for f in poset} == twin
    return {"twin_filters": len(filters), "ratio": slow / fast}


def links_by_comparing_all(
    filters: Sequence[Filter],
) -> dict[Filter, frozenset[Filter]]:
    """The immediate predecessors of each filter, straight from the definition."""
    above: dict[Filter, set[Filter]] = {}
    for f in filters:
        wider = {g for g in above if covers_filter(g, f)}
        narrower = {g for g in above if covers_filter(f, g)}
        if wider.isdisjoint(narrower):  # otherwise an equal filter is there
            for g in narrower:
                above[g].add(f)
            above[f] = wider
    return {
        f: frozenset(g for g in wider if not any(g in above[h] for h in wider))
        for f, wider in above.items()
    }


def print_table(result: dict[str, Any]) -> None:
    """One line for each size."""
    print(f"{'filters':>8}{'distinct':>10}{'roots':>8}{'seconds':>10}{'µs each':>9}")
    for row in result["rows"]:
        print(f"{row['filters']:8}{row['distinct']:10}{row['roots']:8}", end="")
        print(f"{row['seconds']:10.2f}{row['us_per_addition']:9.0f}")
    first, last = result["rows"][0], result["rows"][-1]
    if last is not first:
        growth = math.log(last["us_per_addition"] / first["us_per_addition"])
        slope = growth / math.log(last["filters"] / first["filters"])
        print(f"the cost of an addition grows with the size to the power {slope:.2f}")
    print(f"{result['ratio']:.1f} times faster than comparing with all,", end=" ")
    print(f"at {result['twin_filters']} filters")


if __name__ == "__main__":
    main()
