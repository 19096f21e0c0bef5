"""The demand on a neighbour, kept up to date, against the rule as it is written."""

from collections import Counter

from hypothesis import event, given, strategies as st

from siena.algebra.sat import satisfiable
from siena.lang import parse_filter
from siena.model import Filter
from siena.routing.demand.covering_order import order_of_filters
from siena.routing.demand.declarative import DeclarativeDemand
from siena.routing.demand.demand import Demand
from siena.routing.options import Covering
from strategies import FAMILIES, filters

# An origin reaches what those reach that it divides.
ORIGINS = (1, 2, 3, 6)


def reaches(origin: int, other: int) -> bool:
    return origin % other == 0


@st.composite
def some_filters(draw: st.DrawFn) -> list[Filter]:
    kinds = draw(st.sampled_from(list(FAMILIES.values())))
    one = filters(kinds, ("x", "y"), max_size=3).filter(satisfiable)
    return draw(st.lists(one, min_size=1, max_size=8, unique=True))


@given(
    some_filters(),
    st.lists(st.tuples(st.integers(0, 7), st.sampled_from(ORIGINS)), max_size=30),
    st.sampled_from(("exact", "pairwise", "none")),
    st.booleans(),
)
def test_the_trees_of_a_demand_have_the_roots_that_the_rule_says(
    some: list[Filter],
    steps: list[tuple[int, int]],
    covering: Covering,
    is_cyclic: bool,  # noqa: FBT001 -- drawn
) -> None:
    order = order_of_filters(covering)
    reach = (reaches,) if is_cyclic else ()
    fast, slow = Demand(order, *reach), DeclarativeDemand(order, *reach)
    items = [order.add(f) for f in some]
    there: set[tuple[Filter, int]] = set()
    told: set[tuple[Filter, int]] = set()
    for number, origin in steps:
        pair = items[number % len(items)], origin if is_cyclic else 1
        for demand in (fast, slow):
            (demand.leave if pair in there else demand.enter)(*pair)
        there ^= {pair}
        assert fast.pairs() == slow.pairs()
        # All that came or went is among the changes.
        changed = fast.take_changes()
        assert fast.pairs() ^ told <= changed
        told = fast.pairs()
        for item, at in there:
            cover = fast.cover_of(item, at)
            assert cover is not None
            assert cover in told
            assert order.covers(cover[0], item)
        for item, at in told:
            assert fast.covers(item, at)
    event("something was dominated" if len(told) < len(there) else "nothing was")


def test_pairs_spread_over_all_that_would_cover_them() -> None:
    order = order_of_filters("exact")
    demand = Demand(order)
    wide = [order.add(parse_filter(f"user != u{number}")) for number in range(200)]
    narrow = [order.add(parse_filter(f"user = v{number}")) for number in range(200)]
    for item in (*wide, *narrow):
        demand.enter(item, 1)
    covers = [demand.cover_of(item, 1) for item in narrow]
    assert demand.pairs() == {(item, 1) for item in wide}
    # Not all below one, which would leave all of them to another when it goes.
    assert max(Counter(covers).values()) < 20
