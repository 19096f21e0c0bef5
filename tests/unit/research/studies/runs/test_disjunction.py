"""The disjunction advantage, against posets and against the definition."""

import pytest
from hypothesis import given, strategies as st

from siena.algebra.poset.poset import Poset
from siena.model import Filter
from siena.research.studies.runs.disjunction import (
    expected_alpha,
    sets_of_messages,
    undominated,
)
from siena.sim.workload import TR0605


@given(st.integers(0, 10**6), st.integers(0, 150), st.sampled_from([10, 20, 200]))
def test_the_undominated_are_the_roots_of_a_poset(
    seed: int, count: int, names: int
) -> None:
    filters = list(TR0605(names=names, distribution="zipf", seed=seed).filters(count))
    poset: Poset[Filter] = Poset.of_filters("pairwise")
    for f in filters:
        poset.add(f)
    found = undominated(filters)
    assert sum(map(len, found)) == sum(map(len, poset.roots))
    assert set(found) <= set(filters)
    assert all(poset.covering(f) for f in set(filters) - set(found))


@pytest.mark.parametrize("drawing", ["uniform", "zipf"])
def test_closed_forms_are_means_of_what_is_drawn(drawing: str) -> None:
    found = [
        sets_of_messages(
            {"universe": 1000, "load": 0.3, "drawing": drawing, "seed": seed}
        )
        for seed in range(60)
    ]
    alphas = [result["alpha"] for result in found]
    mean = sum(a for a in alphas if isinstance(a, float)) / len(alphas)
    assert mean == pytest.approx(found[0]["expected"], rel=0.02)


def test_one_set_has_no_advantage_over_itself() -> None:
    assert expected_alpha("uniform", 1000, 10, 1) == pytest.approx(1)
    row = {"universe": 1000, "load": 0.01, "seed": 1}
    assert sets_of_messages({**row, "drawing": "zipf exact"})["alpha"] == 1
