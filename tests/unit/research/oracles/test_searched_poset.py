"""The searched poset has the links of the poset in brokers, and matches as a list."""

from hypothesis import given, strategies as st

from siena.algebra.poset.poset import Poset
from siena.research.oracles.searched_poset import SearchedPoset
from siena.sim.workload import TR0605


@given(st.integers(0, 10_000), st.integers(1, 60))
def test_both_posets_have_the_same_links(seed: int, filters: int) -> None:
    workload = TR0605(names=10, distribution="uniform", seed=seed)
    searched, poset = SearchedPoset(), Poset.of_filters("pairwise")
    for f in workload.filters(filters):
        searched.add(f)
        poset.add(f)
    assert set(searched.roots) == poset.roots
    for f in searched.above:
        assert searched.above[f] == poset.predecessors(f)
        assert searched.below[f] == poset.successors(f)
    for notification in workload.notifications(5):
        matched = {f for f in searched.above if f.matches(notification)}
        assert set(searched.match(notification)) == matched
