"""What does exact covering cost beside the pairwise test, and what more does it find?

Two filters of W-TR0605 almost never cover each other, so the pairs are arranged:

========  ====================================================================
drawn     two filters over ten names; a few cover by chance
subset    the general one has some of the constraints of the specific one
between   the specific one is the general one with ``integer x = 4`` written as
          ``integer x > 3, integer x < 5``, which the pairwise test cannot combine
========  ====================================================================

Both tests see the same pairs, in turns, on one core.  What the pairwise test finds
the exact one must find too, and this is checked before anything is printed.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from siena.algebra.covering import covers_filter
from siena.algebra.pairwise import covers_pairwise
from siena.model import Constraint, Filter, Operator
from siena.sim.workload import TR0605

ROUNDS = 5  # an odd number, so that the median is one of them
# So few that filters meet, and as many as the workload needs.
WORKLOAD = TR0605(names=10, distribution="uniform")

Pair = tuple[Filter, Filter]
Test = Callable[[Filter, Filter], bool]


def main() -> None:
    """Print for each kind of pair what both tests find, and how fast."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--pairs", type=int, default=10_000, help="of each kind")
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    rows = [
        measure(kind, list(pairs(chosen.pairs))) for kind, pairs in ARRANGEMENTS.items()
    ]
    if chosen.json:
        print(json.dumps({"rounds": ROUNDS, "rows": rows}))
    else:
        print_table(rows)


def draw(count: int) -> Iterator[Pair]:
    """Pairs that have nothing to do with each other."""
    filters = list(WORKLOAD.filters(2 * count))
    return zip(filters[::2], filters[1::2], strict=True)


def draw_subsets(count: int) -> Iterator[Pair]:
    """Pairs that always cover."""
    random = Random(1)
    for specific in WORKLOAD.filters(count):
        size = random.randint(1, len(specific))
        yield Filter(random.sample(specific.constraints, size)), specific


def draw_between(count: int) -> Iterator[Pair]:
    """Pairs that always cover, in a way that takes two constraints to see."""
    for general in WORKLOAD.filters(count):
        yield general, Filter(c for part in general for c in bounds_of(part))


def bounds_of(constraint: Constraint) -> list[Constraint]:
    """An integer equality as the bounds on both sides; anything else as it is."""
    name, operator, kind, value = constraint
    if operator is not Operator.EQ or not isinstance(value, int):
        return [constraint]
    return [
        Constraint(name, Operator.GT, value - 1, kind),
        Constraint(name, Operator.LT, value + 1, kind),
    ]


ARRANGEMENTS: dict[str, Callable[[int], Iterator[Pair]]] = {
    "drawn": draw,
    "subset": draw_subsets,
    "between": draw_between,
}


def measure(kind: str, pairs: list[Pair]) -> dict[str, Any]:
    """What both tests find among the pairs, and the median of their times."""
    exact = [covers_filter(*pair) for pair in pairs]
    pairwise = [covers_pairwise(*pair) for pair in pairs]
    assert all(found or not shown for found, shown in zip(exact, pairwise, strict=True))
    exact_us: list[float] = []
    pairwise_us: list[float] = []
    for _ in range(ROUNDS):
        exact_us.append(time_us(covers_filter, pairs))
        pairwise_us.append(time_us(covers_pairwise, pairs))
    return {
        "pairs": kind,
        "count": len(pairs),
        "exact_found": sum(exact),
        "pairwise_found": sum(pairwise),
        "exact_us": exact_us,
        "pairwise_us": pairwise_us,
        "ratio": statistics.median(exact_us) / statistics.median(pairwise_us),
    }


def time_us(test: Test, pairs: list[Pair]) -> float:
    """The processor's time for one pair."""
    start = time.process_time()
    for general, specific in pairs:
        test(general, specific)
    return (time.process_time() - start) / len(pairs) * 1e6


def print_table(rows: list[dict[str, Any]]) -> None:
    """One line for each kind of pair and test."""
    print(f"{'':8}{'':9}{'found':>8}{'median':>9}{'least':>8}{'most':>8}{'rate':>11}")
    for row in rows:
        for name in ("exact", "pairwise"):
            times = row[f"{name}_us"]
            median = statistics.median(times)
            print(
                f"{row['pairs']:8}{name:9}{row[f'{name}_found']:8}"
                f"{median:9.2f}{min(times):8.2f}{max(times):8.2f}{1e6 / median:9.0f}/s"
            )
        print(f"{'':8}exact takes {row['ratio']:.2f} times as long as pairwise")
    print(f"µs per pair, {rows[0]['count']} pairs of each kind, {ROUNDS} rounds")


if __name__ == "__main__":
    main()
