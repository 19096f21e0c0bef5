"""What brokers hold in large trees, against sets that climb the tree one by one."""

import numpy as np
from hypothesis import given, strategies as st

from siena.research.studies.runs.large.graph_arrays import ArrayTree
from siena.research.studies.runs.large.tables import tables_of, told, walk_of


@st.composite
def trees(draw: st.DrawFn) -> ArrayTree:
    """Any tree, with its sites numbered in any order."""
    above = [0] + [
        draw(st.integers(0, site - 1)) for site in range(1, draw(st.integers(2, 30)))
    ]
    numbers = draw(st.permutations(range(len(above))))
    parents = np.empty(len(above), np.int64)
    for site, parent in enumerate(above):
        parents[numbers[site]] = numbers[parent]
    return ArrayTree(numbers[0], parents)


def ways_up(tree: ArrayTree, site: int) -> list[int]:
    """The site and all above it."""
    way = [site]
    while way[-1] != tree.root:
        way.append(int(tree.parents[way[-1]]))
    return way


@given(trees(), st.data())
def test_links_carry_the_kinds_that_are_wanted_on_their_other_side(
    tree: ArrayTree, data: st.DataObject
) -> None:
    sites = len(tree.parents)
    pairs = st.tuples(st.integers(0, sites - 1), st.integers(0, 5))
    wanted = data.draw(st.lists(pairs, min_size=1, max_size=60))
    at, kinds = (np.array(column) for column in zip(*wanted, strict=True))
    found = told(walk_of(tree), at, kinds)
    assert found.kinds == len(set(kinds.tolist()))
    held = dict.fromkeys(range(sites), 0)
    for site in range(sites):
        inside = {kind for s, kind in wanted if site in ways_up(tree, s)}
        outside = {kind for s, kind in wanted if site not in ways_up(tree, s)}
        is_root = site == tree.root
        assert found.up[site] == (0 if is_root else len(inside))
        assert found.down[site] == (0 if is_root else len(outside))
        if not is_root:
            held[int(tree.parents[site])] += len(inside)
    assert tables_of(tree, found.up).tolist() == list(held.values())
