"""The poset: whatever comes and goes, it is what the definition says."""

from itertools import permutations
from typing import Any

from hypothesis import given, settings, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.pairwise import covers_advertisement_pairwise, covers_pairwise
from siena.algebra.poset.conditions import Covering
from siena.algebra.poset.poset import Poset
from siena.algebra.sat import satisfiable
from siena.lang import parse_advertisement, parse_filter
from siena.model import Advertisement, Filter, Notification
from strategies import advertisements, filters, notifications

FLIGHTS = (
    "airline = UA, dest = DEN",
    "airline any",
    "airline = UA",
    "price < 500",
    "airline = UA, price < 500",
    "airline = UA, dest = DEN, price < 300",
)

Item = Filter | Advertisement

COVERS: dict[tuple[bool, Covering], Any] = {
    (True, "exact"): covers_filter,
    (True, "pairwise"): covers_pairwise,
    (False, "exact"): covers_advertisement,
    (False, "pairwise"): covers_advertisement_pairwise,
}


def texts(filters: frozenset[Filter]) -> set[str]:
    return set(map(str, filters))


# Wrapped, because the machine prints its strategies, and these are long.
@st.composite
def some_filters(draw: st.DrawFn) -> Filter:
    return draw(filters(max_size=3).filter(satisfiable))


@st.composite
def some_advertisements(draw: st.DrawFn) -> Advertisement:
    return draw(advertisements(max_size=3))


class PosetMachine(RuleBasedStateMachine):
    """Adds and removes at random, beside a list of what should be there."""

    is_of_filters = True

    def __init__(self) -> None:
        super().__init__()
        self.expected: list[Item] = []
        self.covers: Any = None
        self.poset: Poset[Any] = Poset.of_filters()

    @initialize(covering=st.sampled_from(["exact", "pairwise"]))
    def begin(self, covering: Covering) -> None:
        self.covers = COVERS[self.is_of_filters, covering]
        if self.is_of_filters:
            self.poset = Poset.of_filters(covering)
        else:
            self.poset = Poset.of_advertisements(covering)

    def equal(self, f: Item) -> Item | None:
        """The filter of the list that selects the same, if there is one."""
        for g in self.expected:
            if self.covers(f, g) and self.covers(g, f):
                return g
        return None

    def add_one(self, f: Item) -> None:
        known = self.equal(f)
        change = self.poset.add(f)
        assert change.changed == (known is None)
        if known is None:
            self.expected.append(f)
        elif satisfiable_or_advertised(f):
            assert change.filter == known

    def remove_one(self, f: Item) -> None:
        known = self.equal(f)
        change = self.poset.remove(f)
        assert change.changed == (known is not None)
        if known is not None:
            self.expected.remove(known)

    @rule(data=st.data())
    def remove_what_is_there(self, data: st.DataObject) -> None:
        if self.expected:
            self.remove_one(data.draw(st.sampled_from(self.expected)))

    @invariant()
    def everything_holds(self) -> None:
        self.poset.check()
        assert set(self.poset) == set(self.expected)
        linked = [f for f in self.expected if f not in self.poset.impossible]
        roots = {
            f for f in linked if not any(self.covers(g, f) for g in linked if g != f)
        }
        assert self.poset.roots == roots


def satisfiable_or_advertised(f: Filter | Advertisement) -> bool:
    return isinstance(f, Advertisement) or satisfiable(f)


class FilterPosetMachine(PosetMachine):
    """Of filters."""

    @rule(f=some_filters())
    def add(self, f: Filter) -> None:
        self.add_one(f)

    @rule(f=some_filters())
    def remove(self, f: Filter) -> None:
        self.remove_one(f)


class AdvertisementPosetMachine(PosetMachine):
    """Of advertisements."""

    is_of_filters = False

    @rule(a=some_advertisements())
    def add(self, a: Advertisement) -> None:
        self.add_one(a)

    @rule(a=some_advertisements())
    def remove(self, a: Advertisement) -> None:
        self.remove_one(a)


# All pairs are compared after every step.  So many short histories at night, when
# there are twenty thousand, and fewer long ones by day.
AT_NIGHT = settings().max_examples > 1000
TestFilterPoset = FilterPosetMachine.TestCase
TestFilterPoset.settings = settings(stateful_step_count=6 if AT_NIGHT else 20)
TestAdvertisementPoset = AdvertisementPosetMachine.TestCase
TestAdvertisementPoset.settings = settings(stateful_step_count=6 if AT_NIGHT else 15)


def test_any_order_gives_the_same_links() -> None:
    for order in permutations(FLIGHTS):
        check_flights(order)


def check_flights(order: tuple[str, ...]) -> None:
    poset = Poset.of_filters()
    for text in order:
        poset.add(parse_filter(text))
    assert texts(poset.roots) == {"airline any", "price < 500"}
    links = {(str(f), str(g)) for f in poset for g in poset.successors(f)}
    assert links == {
        ("airline any", "airline = UA"),
        ("airline = UA", "airline = UA and dest = DEN"),
        ("airline = UA", "airline = UA and price < 500"),
        ("price < 500", "airline = UA and price < 500"),
        (
            "airline = UA and dest = DEN",
            "airline = UA and dest = DEN and price < 300",
        ),
        (
            "airline = UA and price < 500",
            "airline = UA and dest = DEN and price < 300",
        ),
    }
    change = poset.remove(parse_filter("airline = UA"))
    assert texts(change.predecessors) == {"airline any"}
    assert texts(poset.successors(parse_filter("airline any"))) == {
        "airline = UA and dest = DEN",
        "airline = UA and price < 500",
    }
    poset.check()


@given(st.lists(filters(max_size=3), max_size=8), notifications())
def test_matching_from_the_roots_finds_what_a_loop_finds(
    given_filters: list[Filter], notification: Notification
) -> None:
    poset = Poset.of_filters()
    for f in given_filters:
        poset.add(f)
    assert poset.match(notification) == {f for f in poset if f.matches(notification)}


@given(st.lists(filters(max_size=3), max_size=8), filters(max_size=3))
def test_what_covers_and_what_is_covered_is_found(
    given_filters: list[Filter], query: Filter
) -> None:
    poset = Poset.of_filters()
    for f in given_filters:
        poset.add(f)
    before = set(poset)
    assert poset.covering(query) == {f for f in poset if covers_filter(f, query)}
    assert poset.covered_by(query) == {f for f in poset if covers_filter(query, f)}
    assert set(poset) == before


@given(
    st.lists(filters(max_size=3), min_size=1, max_size=8),
    st.data(),
    notifications(),
)
def test_answers_follow_changes(
    given_filters: list[Filter], data: st.DataObject, notification: Notification
) -> None:
    """What is remembered between changes, about one that is there or has just gone."""
    poset = Poset.of_filters()
    for f in given_filters:
        poset.add(f)
    for f in data.draw(st.permutations(given_filters)):
        poset.match(notification)
        poset.remove(f)
        other = data.draw(st.sampled_from(given_filters))
        for query in (f, other):
            covering = {g for g in poset if covers_filter(g, query)}
            covered = {g for g in poset if covers_filter(query, g)}
            assert poset.covering(query) == covering
            assert poset.covered_by(query) == covered
        assert poset.match(notification) == {
            g for g in poset if g.matches(notification)
        }


def test_what_lies_beyond_64_bits_is_no_sample() -> None:
    """No integer is above the last, so only floats are left to satisfy this."""
    poset = Poset.of_filters()
    floats = parse_filter("float x any")
    poset.add(floats)
    poset.add(parse_filter("x > 9223372036854775807"))
    poset.add(parse_filter("x < -9223372036854775808"))
    assert poset.roots == {floats}
    poset.check()


def test_equal_filters_are_one_and_the_first_stands_for_both() -> None:
    poset = Poset.of_filters()
    first = parse_filter("integer x = 4")
    second = parse_filter("integer x > 3, integer x < 5")
    assert poset.add(first).changed
    change = poset.add(second)
    assert (change.changed, change.filter) == (False, first)
    assert second in poset
    assert poset.find(second) == first
    assert len(poset) == 1
    assert poset.remove(second).filter == first
    assert len(poset) == 0


def test_what_nothing_matches_is_kept_apart() -> None:
    poset = Poset.of_filters()
    never = parse_filter("x > 5, x < 3")
    poset.add(parse_filter("x > 1"))
    assert poset.add(never).changed
    assert not poset.add(never).changed
    assert poset.impossible == {never}
    assert never in poset
    assert never not in poset.roots
    assert poset.successors(parse_filter("x > 1")) == frozenset()
    assert poset.remove(never).changed
    assert not poset.remove(never).changed


def test_an_advertisement_with_more_names_covers() -> None:
    poset = Poset.of_advertisements()
    both = parse_advertisement("what = alarm, level any")
    poset.add(parse_advertisement("what = alarm"))
    poset.add(both)
    assert poset.roots == {both}
    assert poset.match({"what": "alarm"}) == set(poset)
    assert poset.match({"level": 3}) == {both}
