"""Tables of interfaces and frontiers, against loops over all filters."""

from hypothesis import event, given, strategies as st

from siena.algebra.covering import covers_filter
from siena.algebra.poset.poset import Poset
from siena.algebra.sat import satisfiable
from siena.matching.reference import ReferenceMatcher
from siena.model import Constraint, Filter, Notification, Operator
from siena.research.cbcb.frontier import Frontier
from siena.research.cbcb.messages import join
from siena.research.cbcb.table import InterfaceTable
from siena.research.matchers.counting import CountingMatcher
from strategies import filters, kinds_of_one_family, notifications, values_of

some_filters = kinds_of_one_family().flatmap(
    lambda kinds: st.lists(filters(kinds, max_size=3), max_size=8)
)


@given(some_filters)
def test_a_frontier_keeps_what_no_other_covers(some: list[Filter]) -> None:
    frontier, kept = Frontier(), list[Filter]()
    for f in some:
        covered = not satisfiable(f) or any(covers_filter(g, f) for g in kept)
        assert frontier.covers(f) == covered
        gone = [g for g in kept if not covered and covers_filter(f, g)]
        answer = frontier.add(f)
        assert (None if answer is None else set(answer)) == (
            None if covered else set(gone)
        )
        kept = [g for g in kept if g not in gone] + [f] * (not covered)
        assert set(frontier) == set(kept)
        assert len(frontier) == len(kept)
        event(f"covered: {covered}, gone: {bool(gone)}")


@given(some_filters)
def test_a_frontier_is_the_roots_of_the_poset(some: list[Filter]) -> None:
    frontier, poset = Frontier(), Poset.of_filters()
    for f in some:
        frontier.add(f)
        poset.add(f)
    assert set(frontier) == poset.roots


filters_and_notifications = kinds_of_one_family().flatmap(
    lambda kinds: st.tuples(
        st.lists(filters(kinds, max_size=3), max_size=8),
        notifications(of=values_of(kinds)),
    )
)


@given(filters_and_notifications)
def test_a_frontier_matches_what_one_of_the_filters_does(
    drawn: tuple[list[Filter], Notification],
) -> None:
    some, notification = drawn
    frontier = Frontier()
    for f in some:
        frontier.add(f)
    expected = any(f.matches(notification) for f in some)
    assert frontier.matches(notification) == expected
    event(f"matches: {expected}")


def test_a_frontier_asks_what_wants_a_name_absent() -> None:
    frontier = Frontier()
    frontier.add(Filter([Constraint("x", Operator.ABSENT)]))
    assert frontier.matches(Notification(y=1))
    assert not frontier.matches(Notification(x=1))


@given(some_filters)
def test_a_frontier_knows_whether_filters_are_just_its_own(some: list[Filter]) -> None:
    frontier = Frontier()
    for f in some:
        frontier.add(f)
    distinct = list(dict.fromkeys(some))
    assert frontier.is_just(tuple(frontier))
    assert frontier.is_just(distinct) == (set(frontier) == set(distinct))
    assert frontier.bytes == sum(len(str(f).encode()) for f in frontier)


@st.composite
def histories(
    draw: st.DrawFn,
) -> tuple[list[tuple[int, bool, list[Filter]]], list[Notification]]:
    kinds = draw(kinds_of_one_family())
    wanted = st.lists(filters(kinds, max_size=2, papers=True), max_size=3)
    steps = st.lists(st.tuples(st.integers(0, 2), st.booleans(), wanted), max_size=6)
    asked = st.lists(notifications(of=values_of(kinds)), min_size=1, max_size=3)
    return draw(steps), draw(asked)


@given(histories())
def test_a_table_is_a_list_of_filters_for_each_interface(
    history: tuple[list[tuple[int, bool, list[Filter]]], list[Notification]],
) -> None:
    steps, asked = history
    table = InterfaceTable()
    looping = InterfaceTable(ReferenceMatcher)
    counting = InterfaceTable(CountingMatcher)
    plain: dict[int, list[Filter]] = {}
    for interface, replaces, wanted in steps:
        for one in (table, looping, counting):
            if replaces:
                one.replace(interface, wanted)
            else:
                news = not one.covers(interface, wanted)
                assert one.widen(interface, wanted) == news
            one.check()
        plain[interface] = wanted if replaces else [*plain.get(interface, []), *wanted]
        assert table.covers(interface, plain[interface])
        assert table.filters == sum(len(table.wanted(i)) for i in range(3))
        assert table.is_empty(interface) == (
            not any(map(satisfiable, plain[interface]))
        )
    for notification in asked:
        expected = {
            i for i, some in plain.items() if any(f.matches(notification) for f in some)
        }
        for one in (table, looping, counting):
            assert one.match(notification) == expected
        event(f"interfaces: {len(expected)}")


def test_bytes_are_those_of_the_texts() -> None:
    table = InterfaceTable()
    assert table.bytes == 0
    table.widen(1, [Filter()])
    assert table.bytes == len("[]")
    assert table.wanted(2) == ()


def test_joining_sorts_and_drops_doubles() -> None:
    assert join([Filter()], [Filter()]) == (Filter(),)
    assert join() == ()
