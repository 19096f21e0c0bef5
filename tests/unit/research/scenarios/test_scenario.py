"""Scenario files, and what they cost: simulated, and by counting alone."""

import pytest
from hypothesis import given, strategies as st

from conformance.kit import case_of
from siena.errors import SienaError
from siena.research.scenarios.behaviour import Totals, run_scenario
from siena.research.scenarios.cost_oracle import CostOracle
from siena.research.scenarios.router_service import CarriedByBrokers
from siena.research.scenarios.scenario import (
    Faults,
    Objects,
    Parties,
    Scenario,
    parse_scenario,
)
from siena.routing.options import Forwarding, Options
from siena.sim.architecture import Architecture
from siena.sim.network import Account
from siena.sim.topologies.drawn import random_tree
from siena.sim.world import World

READ = case_of("scenarios", "T-F1")

COMBINATIONS: list[tuple[Architecture, Forwarding]] = [
    ("centralised", "subscription"),
    ("hierarchical", "subscription"),
    ("acyclic", "subscription"),
    ("acyclic", "advertisement"),
]

small = st.integers(0, 30)
ranges = st.tuples(small, small).map(lambda r: (min(r), max(r)))
names = st.text("ABC xyz", min_size=1, max_size=4)
objects = st.builds(
    Objects,
    names,
    small,
    small,
    ranges,
    small,
)
parties = st.builds(Parties, names, small, small, small)
faults = st.builds(Faults, small, small, ranges)
KINDS: list[tuple[Architecture, Forwarding]] = [
    *COMBINATIONS,
    ("general", "advertisement"),
]


@st.composite
def scenarios(draw: st.DrawFn) -> Scenario:
    architecture, forwarding = draw(st.sampled_from(KINDS))
    sections = draw(st.lists(objects | parties | faults, max_size=3))
    return Scenario(architecture, forwarding, tuple(sections))


@pytest.mark.paper
def test_T_F1_the_papers_scenario_is_read() -> None:
    scenario = parse_scenario(READ["text"])
    assert scenario == Scenario(
        "acyclic",
        "advertisement",
        (Objects("A", 1000, 10, (2000, 2500), 10), Parties("A", 10_000, 10, 10)),
    )
    assert parse_scenario(str(scenario)) == scenario


@given(scenarios())
def test_T_F1_what_is_printed_reads_back(scenario: Scenario) -> None:
    assert parse_scenario(str(scenario)) == scenario


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "servers = acyclic sub_fwd;\nobjects { colour = 3; };",
            "line 2, column 11: obj",
        ),
        ("servers = acyclic sub_fwd\nobjects", "line 2, column 1: expected ';', found"),
        (
            'servers = acyclic;\nparties { pattern = "A" };',
            "line 2, column 25: expected ';'",
        ),
        (
            "servers = acyclic;\nobjects { time/pub = 9~2; };",
            "line 2, column 22: the range",
        ),
        ("servers = flat;", "column 11: 'flat' is not an architecture"),
        ("servers = centralized sub_fwd;", "column 23: centralized servers do not use"),
        ("servers = hierarchical adv_fwd;", "column 24: hierarchical servers do not"),
        (
            'servers = acyclic; parties { pattern = "A"; };',
            'column 45: parties need "num',
        ),
        ("servers = acyclic; things { };", "column 20: 'things' is not a section"),
        (
            "servers = acyclic; parties { number = 3; number = 3; };",
            'column 42: "number" is',
        ),
        (
            "servers = acyclic; parties { number = many; };",
            "column 39: expected a number",
        ),
        ("servers = acyclic; parties { pattern = A; };", "column 40: expected a text"),
        ("servers = acyclic; parties {", "column 29: expected a word, found 'the end'"),
        ("servers = acyclic; faults { time = 1~2; };", 'column 41: faults need "lost'),
        ("", "column 1: expected 'servers', found 'the end'"),
        (
            "servers = acyclic; parties { number = 99999999999; };",
            "column 39: 99999999999",
        ),
        ("servers = acyclic; ?", "column 20: expected a word, found '?'"),
    ],
)
def test_T_F1_a_bad_scenario_is_refused_with_its_place(text: str, reason: str) -> None:
    with pytest.raises(SienaError) as refused:
        parse_scenario(text)
    assert str(refused.value).startswith(reason)


def simulate(
    scenario: Scenario, sites: int, seed: int
) -> tuple[tuple[Totals, Account], tuple[Totals, Account]]:
    """What brokers make of it, and what the oracle counts."""
    network = random_tree(sites, seed=seed)
    options = Options(forwarding=scenario.forwarding)
    carried = CarriedByBrokers(World(network, scenario.architecture, options))
    tally = CostOracle(network, scenario.architecture, scenario.forwarding)
    return (
        (run_scenario(scenario, network.brokers, carried, seed), carried.account),
        (run_scenario(scenario, network.brokers, tally, seed), tally.account),
    )


@pytest.mark.parametrize(("architecture", "forwarding"), COMBINATIONS)
@pytest.mark.parametrize(("numbers", "seed"), [((3, 4), 1), ((20, 8), 2), ((2, 40), 3)])
def test_T_F2_without_latency_the_totals_are_those_of_the_oracle(
    architecture: Architecture,
    forwarding: Forwarding,
    numbers: tuple[int, int],
    seed: int,
) -> None:
    some, many = numbers
    scenario = Scenario(
        architecture,
        forwarding,
        (
            Objects("A", some, 5, (20, 50), 3),
            Parties("A", many, 2, 4),
            Objects("B", 2, 3, (0, 10), 2),
            Parties("B", 5, 1, 3),
        ),
    )
    (totals, account), (counted, tallied) = simulate(scenario, 12, seed)
    assert totals == counted
    assert account.counts == tallied.counts
    assert account.costs == pytest.approx(tallied.costs)
    assert totals.deliveries > 0


@pytest.mark.parametrize(("architecture", "forwarding"), COMBINATIONS)
def test_T_F2_a_part_of_the_reference_scenario_costs_what_the_oracle_says(
    architecture: Architecture, forwarding: Forwarding
) -> None:
    """As in the papers, on 100 sites; ``benchmarks/scenario.py`` has all of it."""
    objects, parties = Objects("A", 20, 10, (2000, 2500), 3), Parties("A", 150, 5, 4)
    scenario = Scenario(architecture, forwarding, (objects, parties))
    (totals, account), (counted, tallied) = simulate(scenario, 100, 1)
    assert totals == counted
    assert account.counts == tallied.counts
    assert account.costs == tallied.costs  # weights are integers: exactly
    assert totals.deliveries == 150 * 5 * 4


def test_a_run_is_the_same_run_twice_and_another_with_another_seed() -> None:
    scenario = Scenario(
        "acyclic",
        "subscription",
        (Objects("A", 3, 5, (20, 50), 3), Parties("A", 9, 2, 4)),
    )
    (_, one), _ = simulate(scenario, 9, 1)
    (_, same), _ = simulate(scenario, 9, 1)
    (_, other), _ = simulate(scenario, 9, 2)
    assert one.costs == same.costs != other.costs


@pytest.mark.parametrize("architecture", ["hierarchical", "acyclic", "general"])
@pytest.mark.parametrize("faults", [Faults(9, 0, (0, 400)), Faults(0, 9, (0, 400))])
def test_faults_break_links_which_return(
    architecture: Architecture, faults: Faults
) -> None:
    """Parties that miss something wait for the next; in the end all is as before."""
    sections = (Objects("A", 6, 20, (20, 50), 3), Parties("A", 9, 4, 2))
    calm = Scenario(architecture, "subscription", sections)
    stormy = Scenario(architecture, "subscription", (*sections, faults))
    network = random_tree(8, seed=4)
    runs = []
    for scenario in (calm, stormy):
        world = World(network, architecture)
        carried = CarriedByBrokers(world)
        totals = run_scenario(scenario, network.brokers, carried, 4)
        runs.append((totals, carried.account.counts))
        for router in world.routers.values():
            router.check()
            assert len(router.tables.neighbours) == len(network.neighbours(router.me))
    (totals, counts), (stormy_totals, stormy_counts) = runs
    assert counts["peerconnect"] == 0
    assert 0 < stormy_counts["peerconnect"] <= 9
    assert totals.deliveries == stormy_totals.deliveries == 9 * 4 * 2
