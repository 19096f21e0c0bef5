"""What does the papers' reference scenario cost, and how long does a message take?

The scenario of figure 25 of CU-CS-888-99 (100 sites, 1 000 objects, 10 000 parties) is
run by simulated brokers, message by message, in each of the papers' four combinations
of architecture and forwarding.  Without latency the totals must be those of an oracle
that only counts (:mod:`siena.research.scenarios.cost_oracle`): every kind of message,
its number and its cost, requests, publications and deliveries.  Where they are not, the
benchmark fails.

Times are of the processor, on one core.  With ``--part 10`` there is a tenth of the
objects and parties.
"""

import argparse
import json
import sys
import time
from typing import Any

from siena.research.scenarios.behaviour import run_scenario
from siena.research.scenarios.cost_oracle import CostOracle
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.scenarios.scenario import Objects, Parties, Scenario
from siena.routing.options import Forwarding, Options
from siena.sim.architecture import Architecture
from siena.sim.topologies.drawn import random_tree
from siena.sim.world import World

SITES, OBJECTS, PARTIES = 100, 1_000, 10_000
COMBINATIONS: tuple[tuple[Architecture, Forwarding], ...] = (
    ("centralised", "subscription"),
    ("hierarchical", "subscription"),
    ("acyclic", "subscription"),
    ("acyclic", "advertisement"),
)


def main() -> None:
    """Print a line for each combination."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--part", type=int, default=1, help="of objects and parties")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    rows = []
    for architecture, forwarding in COMBINATIONS:
        row = measure(scenario(architecture, forwarding, chosen.part), chosen.seed)
        rows.append({"architecture": architecture, "forwarding": forwarding, **row})
        if not chosen.json:
            print_row(rows[-1])
    if chosen.json:
        print(json.dumps(rows))
    if not all(row["agrees"] for row in rows):
        sys.exit("the brokers and the oracle differ")


def scenario(architecture: Architecture, forwarding: Forwarding, part: int) -> Scenario:
    """The reference scenario, or a part of it."""
    objects = Objects("A", OBJECTS // part, 10, (2_000, 2_500), 10)
    parties = Parties("A", PARTIES // part, 10, 10)
    return Scenario(architecture, forwarding, (objects, parties))


def measure(what: Scenario, seed: int) -> dict[str, Any]:
    """Run it twice: by brokers, and by counting."""
    shape = random_tree(SITES, seed=seed)
    start = time.process_time()
    options = Options(forwarding=what.forwarding)
    carried = CarriedByBrokers(World(shape, what.architecture, options))
    totals = run_scenario(what, shape.brokers, carried, seed)
    seconds = time.process_time() - start
    start = time.process_time()
    tally = CostOracle(shape, what.architecture, what.forwarding)
    counted = run_scenario(what, shape.brokers, tally, seed)
    seconds_of_oracle = time.process_time() - start
    return {
        "messages": carried.account.counts.total(),
        "deliveries": totals.deliveries,
        "cost": carried.account.total,
        "seconds": seconds,
        "seconds_of_oracle": seconds_of_oracle,
        "agrees": totals == counted
        and carried.account.counts == tally.account.counts
        and carried.account.costs == tally.account.costs,
    }


def print_row(row: dict[str, Any]) -> None:
    """What it came to."""
    name = f"{row['architecture']}, {row['forwarding']}"
    verdict = "as the oracle says" if row["agrees"] else "the oracle says otherwise"
    print(
        f"{name:<28}{row['messages']:>10,} messages {row['deliveries']:>10,} "
        f"deliveries   cost {row['cost']:>12,.0f} {row['seconds']:>7.1f} s, "
        f"oracle {row['seconds_of_oracle']:.1f} s: {verdict}",
        flush=True,
    )


if __name__ == "__main__":
    main()
