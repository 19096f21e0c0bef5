"""What the scenario of a file costs, in an architecture of one's choice."""

from dataclasses import replace

from siena.research.scenarios.behaviour import run_scenario
from siena.research.scenarios.fast_cost_oracle import QuickTally
from siena.research.scenarios.scenario import parse_scenario
from siena.research.studies.framework.rows import Row, integer, text
from siena.research.studies.runs.architectures import (
    COMBINATIONS,
    parameters,
    place_of,
)


def cost_of_scenario(row: Row) -> Row:
    """Count what a scenario costs in 100 sites, kind by kind."""
    name, seed = text(row, "architecture"), integer(row, "seed")
    architecture, forwarding = COMBINATIONS[name]
    scenario = replace(
        parse_scenario(text(row, "scenario")),
        architecture=architecture,
        forwarding=forwarding,
    )
    place = place_of(parameters(name, 1, 1, seed, sites=integer(row, "sites")))
    service = QuickTally(place.tree, architecture, forwarding, root=place.root)
    totals = run_scenario(scenario, place.tree.brokers, service, seed)
    costs = service.account.costs
    return {
        "publications": totals.publications,
        "deliveries": totals.deliveries,
        "requests": totals.requests,
        "cost": float(sum(costs.values())),
        **{f"{kind}_cost": float(cost) for kind, cost in sorted(costs.items())},
    }
