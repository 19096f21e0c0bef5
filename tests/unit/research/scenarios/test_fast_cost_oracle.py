"""The oracle for large scenarios, and its slow twin."""

import pytest
from hypothesis import given, strategies as st

from siena.errors import SienaError
from siena.research.scenarios.behaviour import run_scenario
from siena.research.scenarios.cost_oracle import CostOracle
from siena.research.scenarios.fast_cost_oracle import QuickTally
from siena.research.scenarios.scenario import Faults, Objects, Parties, Scenario
from siena.routing.options import Forwarding
from siena.sim.architecture import Architecture
from siena.sim.topologies.drawn import random_tree

COMBINATIONS: list[tuple[Architecture, Forwarding]] = [
    ("centralised", "subscription"),
    ("hierarchical", "subscription"),
    ("acyclic", "subscription"),
    ("acyclic", "advertisement"),
]
few = st.integers(0, 5)
intervals = st.sampled_from([(0, 3), (1_000, 2_000)])
sections = st.lists(
    st.builds(Objects, st.sampled_from("AB"), few, few, intervals, few)
    | st.builds(Parties, st.sampled_from("AB"), few, few, few),
    max_size=4,
)


@given(st.sampled_from(COMBINATIONS), sections, st.integers(1, 8), st.integers(0, 99))
def test_it_comes_to_the_totals_of_its_slow_twin(
    combination: tuple[Architecture, Forwarding],
    sections: list[Objects | Parties],
    brokers: int,
    seed: int,
) -> None:
    tree = random_tree(brokers, seed=seed)
    root = tree.brokers[seed % brokers]
    scenario = Scenario(*combination, tuple(sections))
    slow = CostOracle(tree, *combination, root=root)
    quick = QuickTally(tree, *combination, root=root)
    expected = run_scenario(scenario, tree.brokers, slow, seed)
    assert run_scenario(scenario, tree.brokers, quick, seed) == expected
    assert quick.account.counts == slow.account.counts
    assert quick.account.costs == slow.account.costs


def test_it_knows_no_faults() -> None:
    tree = random_tree(3, seed=1)
    scenario = Scenario("acyclic", "subscription", (Faults(1, 0, (0, 1)),))
    quick = QuickTally(tree, "acyclic", "subscription")
    with pytest.raises(SienaError, match="without faults only"):
        run_scenario(scenario, tree.brokers, quick, 1)
