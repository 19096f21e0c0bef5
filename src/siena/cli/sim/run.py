"""``siena sim run``: what does a scenario cost?"""

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from siena.cli.sim.topology import HELP, read_plan
from siena.errors import SienaError
from siena.research.scenarios.behaviour import Totals, run_scenario
from siena.research.scenarios.cost_oracle import CostOracle
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.scenarios.scenario import Scenario, parse_scenario
from siena.routing.options import Options
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import minimum_spanning_tree, shortest_path_tree
from siena.sim.architecture import Architecture
from siena.sim.network import Account
from siena.sim.world import World


def sim_run(
    scenario: Annotated[
        Path, typer.Argument(help="A scenario file.", show_default=False)
    ],
    *,
    seed: Annotated[int, typer.Option(min=0, help="Decides all that is random.")] = 0,
    topology: Annotated[
        str, typer.Option(help=f"{HELP} The default has 100 sites.")
    ] = "transit-stub",
    oracle: Annotated[
        bool,
        typer.Option("--oracle", help="Count instead of simulating every message."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Run a scenario in a simulated network, and say what it cost.

    Every site has a broker, and every client is at a random site.  A message between
    two sites costs the weight of each link that it crosses.  Where links form cycles
    and the architecture has none, the spanning tree of least weight is used.  Broker 1
    is the root of a hierarchy, and the only broker of a centralised network, where
    messages go the shortest way.

    \b
    Examples:
      siena sim run examples/figure25.txt
      siena sim run examples/figure25.txt --topology tree:3x4 --seed 7 --json
      siena sim run examples/figure25.txt --topology transit-stub
    """  # noqa: D301 -- Typer needs the backspace itself
    text = scenario.read_text(encoding="utf-8-sig")
    try:
        what = parse_scenario(text)
    except SienaError as error:
        raise error.about(str(scenario)) from None
    network, _ = read_plan(topology, None, seed=seed)
    network = _carrying(network, what.architecture)
    start = perf_counter()
    totals, account = _run(what, network, seed, oracle=oracle)
    _print(totals, account, perf_counter() - start, as_json=as_json)


def _carrying(network: Topology, architecture: Architecture) -> Topology:
    """The links that are used: a centralised network goes the shortest way."""
    if architecture == "general":
        return network
    if architecture != "centralised" or not network.is_connected:
        return minimum_spanning_tree(network)
    parents = shortest_path_tree(network, network.brokers[0]).parents.items()
    return Topology(
        [(a, b, network.weight(a, b)) for a, b in parents], brokers=network.brokers
    )


def _run(
    what: Scenario, network: Topology, seed: int, *, oracle: bool
) -> tuple[Totals, Account]:
    if oracle:
        if what.architecture == "general":
            raise SienaError("there is an oracle for trees only")
        tally = CostOracle(network, what.architecture, what.forwarding)
        return run_scenario(what, network.brokers, tally, seed), tally.account
    options = Options(forwarding=what.forwarding)
    if what.has_faults and (what.architecture == "centralised" or not network.links):
        raise SienaError("there are faults, and no links between brokers")
    carried = CarriedByBrokers(World(network, what.architecture, options))
    return run_scenario(what, network.brokers, carried, seed), carried.account


def _print(totals: Totals, account: Account, seconds: float, *, as_json: bool) -> None:
    kinds = sorted(account.counts)
    if as_json:
        messages = {
            kind: {"count": account.counts[kind], "cost": account.costs[kind]}
            for kind in kinds
        }
        print(
            json.dumps(
                {
                    "messages": messages,
                    "cost": account.total,
                    "requests": totals.requests,
                    "publications": totals.publications,
                    "deliveries": totals.deliveries,
                }
            )
        )
        return
    for kind in kinds:
        count, cost = account.counts[kind], account.costs[kind]
        print(f"{kind:<12} {count:>12,} messages   cost {cost:>14,.0f}")
    print(f"{'all':<12} {account.counts.total():>12,} messages   ", end="")
    print(f"cost {account.total:>14,.0f}")
    print(
        f"{totals.requests:,} requests, {totals.publications:,} publications, "
        f"{totals.deliveries:,} deliveries"
    )
    print(f"{seconds:.1f} s")
