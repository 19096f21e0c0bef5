"""The search tree: what it finds, and what its optimisations save."""

import math
from collections.abc import Iterable
from itertools import product
from random import Random
from typing import NamedTuple

import pytest
from hypothesis import example, given, strategies as st

from conformance.kit import Case, case_of, each
from siena.lang import parse_filter
from siena.matching.reference import ReferenceMatcher
from siena.model import Constraint, Filter, Kind, Notification, Operator
from siena.research.matchers.attribute_order import AttributeOrder
from siena.research.matchers.counting import CountingMatcher
from siena.research.matchers.factoring import FactoredTree
from siena.research.matchers.search_tree import SearchTree
from siena.research.matchers.tree import TreeMatcher
from siena.sim.workload import TR0605
from strategies import filters, kinds_of_one_family, notifications, values_of

EXAMPLE = case_of("search-tree", "T-D1")
ATTRIBUTES = tuple(EXAMPLE["attributes"])
SLIDES = tuple(EXAMPLE["subscriptions"].values())

# Factoring, trivial test elimination, delayed branching.
Switches = tuple[int, bool, bool]
NONE_ON: Switches = (0, False, False)
ALL_SWITCHES: list[Switches] = list(product((0, 1, 2), (False, True), (False, True)))


def tree_of(
    interests: Iterable[Filter],
    switches: Switches = NONE_ON,
    order: Iterable[str] | None = None,
) -> TreeMatcher:
    factoring, eliminates, delays = switches
    matcher = TreeMatcher(
        order,
        factoring=factoring,
        trivial_test_elimination=eliminates,
        delayed_branching=delays,
    )
    for interface, interest in enumerate(interests):
        matcher.add(interface, interest)
    return matcher


def visits(matcher: TreeMatcher, notification: Notification) -> int:
    before = matcher.visits
    matcher.match_filters(notification)
    return matcher.visits - before


# --- Golden tests -----------------------------------------------------------------


@pytest.mark.paper
@pytest.mark.parametrize("switches", ALL_SWITCHES)
@pytest.mark.parametrize("event", EXAMPLE["events"], ids=["T_D1", "T_D1_all"])
def test_the_example_of_the_slides(switches: Switches, event: Case) -> None:
    matcher = tree_of(map(parse_filter, SLIDES), switches, ATTRIBUTES)
    notification = Notification(zip(ATTRIBUTES, event["values"], strict=True))
    names = list(EXAMPLE["subscriptions"])
    found = [names[number] for number in matcher.match_filters(notification)]
    assert found == event["matched"]


GROWTH = case_of("search-tree", "T-D3")


def random_filters(random: Random, count: int, attributes: int) -> list[Filter]:
    """Equalities of five values; the first attribute is tested by nearly all."""
    first, fall = GROWTH["first_test"], GROWTH["fall"]
    return [
        Filter(
            Constraint(f"a{i}", Operator.EQ, random.randrange(GROWTH["values"]))
            for i in range(attributes)
            if random.random() < first * fall**i
        )
        for _ in range(count)
    ]


def random_notifications(
    random: Random, count: int, attributes: int
) -> list[Notification]:
    return [
        Notification(
            {f"a{i}": random.randrange(GROWTH["values"]) for i in range(attributes)}
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("seed", [pytest.param(s, id=f"T_D2_{s}") for s in range(3)])
def test_random_equalities_are_found_as_a_loop_finds_them(seed: int) -> None:
    random = Random(seed)
    reference = ReferenceMatcher()
    some = random_filters(random, 200, attributes=5)
    trees = [tree_of(some, switches) for switches in ALL_SWITCHES]
    for interface, f in enumerate(some):
        reference.add(interface, f)
    for notification in random_notifications(random, 20, attributes=5):
        wanted = reference.match_filters(notification)
        assert all(tree.match_filters(notification) == wanted for tree in trees)


def slope(points: list[tuple[int, float]]) -> float:
    """Of the line of least squares through the logarithms."""
    logarithms = [(math.log(x), math.log(y)) for x, y in points]
    x_mean = sum(x for x, _ in logarithms) / len(points)
    y_mean = sum(y for _, y in logarithms) / len(points)
    return sum((x - x_mean) * (y - y_mean) for x, y in logarithms) / sum(
        (x - x_mean) ** 2 for x, _ in logarithms
    )


@pytest.mark.paper
@pytest.mark.parametrize(
    "switches",
    [
        pytest.param(NONE_ON, id="T_D3_plain"),
        pytest.param((0, True, True), id="T_D3_optimised"),
    ],
)
def test_visits_grow_more_slowly_than_filters(switches: Switches) -> None:
    """K = 10 attributes with V = 5 values: log(visits) against log(N)."""
    random = Random(3)
    asked = random_notifications(random, GROWTH["events"], GROWTH["attributes"])
    points = []
    for count in GROWTH["subscriptions"]:
        some = random_filters(random, count, GROWTH["attributes"])
        matcher = tree_of(some, switches)
        for notification in asked:
            matcher.match_filters(notification)
        points.append((count, matcher.visits / len(asked)))
    # Well below: the papers promise less than 1, "about 1/2 in some cases".
    assert slope(points) < 0.9 * GROWTH["slope_below"], points


@each("search-tree", "agrees")
def test_equalities_of_the_workload_are_found_as_by_counting(case: Case) -> None:
    """W restricted to equality: those of its filters that ask for nothing else."""
    workload = TR0605(case["names"], case["distribution"], seed=5)
    drawn = workload.filters(case["filters"])
    some = [f for f in drawn if all(c.operator is Operator.EQ for c in f)]
    assert len(some) >= case["filters_min"]
    tree, counting = tree_of(some, (1, True, True)), CountingMatcher()
    for interface, f in enumerate(some):
        counting.add(interface, f)
    matches = 0
    for notification in workload.notifications(case["notifications"]):
        wanted = counting.match_filters(notification)
        assert tree.match_filters(notification) == wanted
        assert tree.match(notification) == counting.match(notification)
        matches += len(wanted)
    assert matches >= case["matches_min"]


# --- What the optimisations promise -----------------------------------------------


# Mostly without a type, some with: a value may pass an equality of each.
EQUALITIES = [Constraint(n, Operator.EQ, v) for n in "xyz" for v in range(3)]
EQUALITIES += [Constraint(n, Operator.EQ, 1, Kind.INTEGER) for n in "xyz"]


class Schema(NamedTuple):
    """Filters of three names: those there are, and those that come later."""

    some: list[Filter]
    later: list[Filter]
    notification: Notification


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Many of them equalities, and often of one or two values."""
    kinds = draw(kinds_of_one_family())
    equality = st.sampled_from(EQUALITIES)
    one = st.lists(equality, max_size=3, unique_by=lambda c: c.name).map(Filter)
    if draw(st.booleans()):
        one |= filters(kinds, max_size=3, papers=True)
    event = st.integers(0, 2) | values_of(kinds)
    return Schema(
        draw(st.lists(one, max_size=8)),
        draw(st.lists(one, max_size=4)),
        draw(notifications(of=event)),
    )


@pytest.mark.parametrize("optimisation", [pytest.param("never more", id="T_D4")])
@given(schemas())
@example(
    # Tempting, and wrong: z is tested by both, but something lies in between.
    Schema(
        [parse_filter("x = 1, z = 2"), parse_filter("y = 1, z = 2")],
        [],
        Notification(x=0, y=0, z=2),
    )
)
def test_no_optimisation_visits_more_nodes(optimisation: str, schema: Schema) -> None:
    some, _, notification = schema
    trees = {s: tree_of(some, s, "xyz") for s in ALL_SWITCHES}
    found = {s: tree.match_filters(notification) for s, tree in trees.items()}
    assert all(f == found[NONE_ON] for f in found.values()), optimisation
    cost = {s: tree.visits for s, tree in trees.items()}
    for factoring, eliminates, delays in ALL_SWITCHES:
        here = cost[factoring, eliminates, delays]
        assert here <= cost[NONE_ON]
        assert here <= cost[factoring, False, delays]
        assert here <= cost[factoring, eliminates, False]
        # A factored tree holds more filters, and may have fewer delays for that.
        assert delays or here <= cost[0, eliminates, False]


@given(schemas())
def test_what_comes_later_never_costs_more_than_without_delays(schema: Schema) -> None:
    some, later, notification = schema
    delayed, plain = (
        tree_of(some, (0, True, delays), "xyz") for delays in (True, False)
    )
    for matcher in (delayed, plain):
        # Built now; what follows is added one by one.
        matcher.match_filters(notification)
        for f in later[: len(some)]:
            matcher.add(0, f)
    assert visits(delayed, notification) <= visits(plain, notification)
    delayed.tree.check()


SWITCH_OF: dict[str, Switches] = {
    "trivial test elimination": (0, True, False),
    "delayed branching": (0, False, True),
    "factoring": (1, False, False),
}


@each("search-tree", "saves")
def test_each_optimisation_saves_something(case: Case) -> None:
    some = [parse_filter(text) for text in case["subscriptions"]]
    names = case["attributes"]
    notification = Notification(zip(names, case["event"], strict=True))
    plain = visits(tree_of(some, NONE_ON, names), notification)
    switches = SWITCH_OF[case["optimisation"]]
    saved = plain - visits(tree_of(some, switches, names), notification)
    assert saved == case["saved"]


# --- Changes ----------------------------------------------------------------------


def test_a_delay_is_undone_when_a_filter_leaves_the_attribute_open() -> None:
    matcher = tree_of(
        map(parse_filter, ["x = 1, y = 1", "y = 2"]), (0, True, True), "xyz"
    )
    assert root_of(matcher) == ("y", "x")
    matcher.add(2, parse_filter("x = 2"))
    assert root_of(matcher) == ("x", "x")
    assert matcher.match_filters({"x": 2, "y": 2}) == [1, 2]


@pytest.mark.parametrize(
    ("text", "root"),
    [
        pytest.param("x = 2, y = 2", "y", id="it tests both"),
        pytest.param("y = 3, z = 1", "y", id="it leaves the delayed one open"),
        pytest.param("x = 2, y > 2", "x", id="not by equality"),
        pytest.param("x = 2, integer y = 2", "x", id="a value passes two tests"),
        pytest.param("x = 2, a = 1", "x", id="it tests another name"),
    ],
)
def test_a_delay_stays_while_it_has_its_reason(text: str, root: str) -> None:
    texts = ["x = 1, y = 1", "y = 2"]
    matcher = tree_of(map(parse_filter, texts), (0, True, True), "xyz")
    assert root_of(matcher) == ("y", "x")
    matcher.add(2, parse_filter(text))
    assert root_of(matcher) == (root, "x")


def test_a_delay_ends_when_something_comes_in_between() -> None:
    texts = ["x = 1, z = 1", "z = 2"]
    matcher = tree_of(map(parse_filter, texts), (0, True, True), "xyz")
    assert root_of(matcher) == ("z", "x")
    matcher.add(2, parse_filter("y = 1, z = 1"))
    assert root_of(matcher) == ("x", "x")


def test_a_value_that_nobody_asks_for_any_more_loses_its_tree() -> None:
    texts = ["x = 1", "x = 1, y = 1", "x > 0"]
    matcher = tree_of(map(parse_filter, texts), (1, True, True), "xy")
    assert matcher.match_filters({"x": 1, "y": 1}) == [0, 1, 2]
    tree = matcher.tree
    assert isinstance(tree, FactoredTree)
    matcher.remove(0)
    assert len(tree._cells) == 2  # 1 and 1.0
    matcher.remove(1)
    assert not tree._cells
    assert matcher.match_filters({"x": 1, "y": 1}) == [2]


def root_of(matcher: TreeMatcher) -> tuple[str, str]:
    """What the root tests, and the first attribute that it might test."""
    tree = matcher.tree
    assert isinstance(tree, SearchTree)
    assert tree.root is not None
    return tree.root.name, "xyz"[tree.root.floor]


def test_a_tree_without_filters_has_no_nodes() -> None:
    matcher = tree_of(map(parse_filter, SLIDES), (0, True, True))
    assert matcher.match_filters({}) == [4]
    tree = matcher.tree
    assert isinstance(tree, SearchTree)
    for number in range(len(SLIDES)):
        matcher.remove(number)
        tree.check()
    assert tree.root is None


def test_a_name_for_each_of_many_filters_is_no_deep_recursion() -> None:
    """A chain of stars is as long as there are names."""
    count = 3000
    matcher = tree_of(
        (Filter([Constraint(f"n{i}", Operator.EQ, 1)]) for i in range(count)),
        (0, True, True),
    )
    assert matcher.match_filters({"n7": 1, f"n{count - 1}": 1}) == [7, count - 1]
    matcher.remove(7)
    assert matcher.match_filters({"n7": 1}) == []


def test_a_filter_with_many_tests_is_no_deep_recursion() -> None:
    names = [f"n{i}" for i in range(256)]
    f = Filter(Constraint(name, Operator.EQ, 1) for name in names)
    for switches in ALL_SWITCHES:
        matcher = tree_of([f], switches)
        assert matcher.match_filters(dict.fromkeys(names, 1)) == [0]


def test_names_without_a_place_in_the_order_come_last() -> None:
    order = AttributeOrder(["b"])
    order.path(parse_filter("a = 1, b = 1, c = 1"))
    assert order.names == ["b", "a", "c"]
