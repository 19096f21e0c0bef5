"""How long does it take to read a filter, and what is the fast path worth?

Filters of W-TR0605 are read by :func:`siena.lang.parser.parse_filter` and by its slow
twin, the full reader without ``lang/fast_path.py``, in turns, on one core.  Times are
of the processor, so that other programs on the machine disturb less.  Each round has
filters of its own; the first begins with an empty memory of parts, as a program
does.  The budget is 60 µs, a million filters in a minute.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from siena.lang.interests import InterestReader
from siena.lang.parser import parse_filter
from siena.model import Filter
from siena.sim.workload import TR0605

ROUNDS = 5  # an odd number, so that the median is one of them
# The twin is steady, and needs no more than this for a stable median.
FILTERS_OF_TWIN = 10_000
BUDGET_US = 60.0


def main() -> None:
    """Print the median and the spread of each, and the ratio of the medians."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--filters", type=int, default=100_000, help="in each round")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    result = measure(chosen.filters, chosen.rounds)
    if chosen.json:
        print(json.dumps(result))
    else:
        print_table(result)


def measure(filters: int, rounds: int) -> dict[str, Any]:
    """The times of each reader in µs per filter, in the order of the rounds."""
    fast: list[float] = []
    slow: list[float] = []
    for seed in range(rounds):
        texts = list(TR0605(seed=seed).texts(filters))
        fast.append(time_us(parse_filter, texts))
        slow.append(time_us(read_fully, texts[:FILTERS_OF_TWIN]))
    return {
        "filters": filters,
        "fast_us": fast,
        "slow_us": slow,
        "ratio": statistics.median(slow) / statistics.median(fast),
    }


def read_fully(text: str) -> Filter:
    """What ``parse_filter`` does with a text that is not plain."""
    return Filter(InterestReader(text).pattern(steps_max=1)[0][0])


def time_us(read: Callable[[str], Filter], texts: list[str]) -> float:
    """The processor's time for one text."""
    start = time.process_time()
    for text in texts:
        read(text)
    return (time.process_time() - start) / len(texts) * 1e6


def print_table(result: dict[str, Any]) -> None:
    """One line for each reader."""
    print(f"{'':14}{'median':>9}{'least':>9}{'most':>9}{'first':>9}   µs per filter")
    for name, key in (("parse_filter", "fast_us"), ("full reader", "slow_us")):
        times = result[key]
        columns = (statistics.median(times), min(times), max(times), times[0])
        print(f"{name:14}" + "".join(f"{column:9.1f}" for column in columns))
    rounds = len(result["fast_us"])
    print(f"{result['ratio']:.1f} times faster; {rounds} rounds", end=" ")
    print(f"of {result['filters']} filters; the budget is {BUDGET_US:.0f} µs")


if __name__ == "__main__":
    main()
