"""Scenario files, and what requests cost: counted, and carried by brokers."""

import random
from collections.abc import Iterable

import pytest

from conformance.kit import Case, SienaError, each
from siena.research.scenarios.behaviour import Party, Service
from siena.research.scenarios.cost_oracle import CostOracle
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.scenarios.scenario import Objects, Parties, Scenario, parse_scenario
from siena.routing.options import Forwarding, Options
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture
from siena.sim.network import Account
from siena.sim.world import World

KINDS: dict[str, tuple[Architecture, Forwarding]] = {
    "ce": ("centralised", "subscription"),
    "hs": ("hierarchical", "subscription"),
    "as": ("acyclic", "subscription"),
    "aa": ("acyclic", "advertisement"),
}


def scenario_of(case: Case) -> Scenario:
    sections: list[Objects | Parties] = []
    for section in case["sections"]:
        ((kind, its),) = section.items()
        number, cycles = its["number"], its["cycles"]
        if kind == "parties":
            sections.append(Parties(its["pattern"], number, its["notif/sub"], cycles))
            continue
        low, high = its["time/pub"]
        found = Objects(its["event"], number, its["pub/adv"], (low, high), cycles)
        sections.append(found)
    assert case["servers"] == ["acyclic", "adv_fwd"]
    return Scenario("acyclic", "advertisement", tuple(sections))


@each("scenarios", "reads")
def test_a_scenario_is_read_and_printed(case: Case) -> None:
    scenario = parse_scenario(case["text"])
    assert scenario == scenario_of(case)
    assert parse_scenario(str(scenario)) == scenario


@each("scenarios", "refused")
def test_a_bad_scenario_is_refused_at_this_place(case: Case) -> None:
    with pytest.raises(SienaError) as refused:
        parse_scenario(case["text"])
    line, column = case["line"], f"column {case['column']}: "
    place = column if "\n" not in case["text"] else f"line {line}, {column}"
    assert str(refused.value).startswith(place)


class Listener(Party):
    """A party that listens until the script ends its subscription."""

    def __init__(self, name: str, site: int, event: str) -> None:
        super().__init__(name, site, event, random.Random(0))
        self.receive = self._listen

    def _listen(self, count: int = 1) -> None:
        """Hear some notifications, however many there were."""


def carry(service: Service, requests: Iterable[list[object]]) -> None:
    """Hand requests to a service, each when the one before has been carried out."""
    parties: dict[object, Listener] = {}
    for verb, name, site, event in requests:
        assert isinstance(name, str)
        assert isinstance(site, int)
        assert isinstance(event, str)
        match verb:
            case "subscribe":
                party = parties[name] = Listener(name, site, event)
                service.subscribe(party)
            case "unsubscribe":
                service.unsubscribe(parties.pop(name))
            case _:
                getattr(service, str(verb))(name, site, event)
        service.scheduler.run()


def totals(account: Account) -> dict[str, list[float]]:
    return {kind: [account.counts[kind], account.costs[kind]] for kind in account.costs}


@pytest.mark.parametrize("kind", KINDS)
@each("scenarios", "costs")
def test_requests_cost_what_the_conditions_say(case: Case, kind: str) -> None:
    topology = Topology([tuple(link) for link in case["links"]])
    oracle = CostOracle(topology, *KINDS[kind], root=case["root"])
    carry(oracle, case["requests"])
    assert totals(oracle.account) == case["totals"][kind]


@pytest.mark.parametrize("kind", KINDS)
@each("scenarios", "costs")
def test_brokers_send_messages_of_these_costs(case: Case, kind: str) -> None:
    topology = Topology([tuple(link) for link in case["links"]])
    architecture, forwarding = KINDS[kind]
    world = World(topology, architecture, Options(forwarding=forwarding))
    service = CarriedByBrokers(world)
    carry(service, case["requests"])
    assert totals(service.account) == case["totals"][kind]
