"""One scenario, carried twice: by production routers, and by the oracle that counts."""

from time import process_time

from siena.research.scenarios.behaviour import run_scenario
from siena.research.scenarios.fast_cost_oracle import QuickTally
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.architectures import COMBINATIONS, scenario_of
from siena.routing.options import Options
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import minimum_spanning_tree, shortest_path_tree
from siena.sim.topologies.transit_stub import TransitStub
from siena.sim.world import World


def carry_twice(row: Row) -> Row:
    """Whether routers and oracle come to the same: counts and costs of every kind."""
    architecture, forwarding = COMBINATIONS[text(row, "architecture")]
    seed = integer(row, "seed")
    network = TransitStub().draw(seed=seed)
    tree = minimum_spanning_tree(network)
    if architecture == "centralised":
        parents = shortest_path_tree(network, network.brokers[0]).parents
        links = [(a, b, network.weight(a, b)) for a, b in parents.items()]
        tree = Topology(links, brokers=network.brokers)
    scenario = scenario_of(row)
    start = process_time()
    brokers = CarriedByBrokers(
        World(tree, architecture, Options(forwarding=forwarding))
    )
    totals = run_scenario(scenario, tree.brokers, brokers, seed)
    between = process_time()
    oracle = QuickTally(tree, architecture, forwarding)
    counted = run_scenario(scenario, tree.brokers, oracle, seed)
    end = process_time()
    return {
        "messages": brokers.account.counts.total(),
        "counted": oracle.account.counts.total(),
        "cost": float(brokers.account.total),
        "deliveries": totals.deliveries,
        "agrees": totals == counted
        and brokers.account.counts == oracle.account.counts
        and brokers.account.costs == oracle.account.costs,
        "seconds_of_brokers": between - start,
        "seconds_of_oracle": end - between,
    }
