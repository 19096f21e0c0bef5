"""One scenario where the papers leave something open, decided another way."""

from siena.research.scenarios.behaviour import run_scenario
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.studies.framework.rows import Row, integer, number, text
from siena.research.studies.runs.architectures import (
    COMBINATIONS,
    place_of,
    scenario_of,
    simulate,
)
from siena.routing.options import Options
from siena.sim.world import World


def decide(row: Row) -> Row:
    """Count, or, where messages take time, let routers exchange them.

    With a ``latency``, every link takes between half of it and half as much again, for
    each message anew; the time between two publications of an object is about 2,250.
    """
    latency = number(row, "latency")
    if not latency:
        return simulate(row)
    architecture, forwarding = COMBINATIONS[text(row, "architecture")]
    seed = integer(row, "seed")
    place = place_of({**row, "by": "brokers"})
    world = World(
        place.tree,
        architecture,
        Options(forwarding=forwarding),
        seed=seed,
        latency=(latency / 2, 3 * latency / 2),
    )
    service = CarriedByBrokers(world)
    totals = run_scenario(scenario_of(row), place.tree.brokers, service, seed)
    kinds = service.account.costs
    subscribing = kinds.get("subscribe", 0) + kinds.get("unsubscribe", 0)
    advertising = 2 * integer(row, "objects") * integer(row, "object_cycles")
    return {
        "cost": float(service.account.total),
        "subscription_cost": float(subscribing),
        "requests": totals.requests,
        "subscriptions": totals.requests - totals.publications - advertising,
        "publications_made": totals.publications,
        "deliveries": totals.deliveries,
    }
