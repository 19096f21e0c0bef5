"""Routing tables of filters: where notifications go, and what can be left out."""

import pytest
from hypothesis import event, given, strategies as st

from siena.lang.addressing import addressed_to, multicast, unicast
from siena.lang.parser import parse_filter, parse_notification
from siena.model import Constraint, Filter, Kind, Notification, Operator
from subnets import next_hops, reduce_table

Table = dict[Filter, set[int]]

FLIGHTS = {"airline any": {2, 3}, "airline = UA": {2}, "airline = UA, dest = DEN": {4}}


@pytest.mark.parametrize(
    ("table", "reduced"),
    [
        pytest.param(
            FLIGHTS, {"airline any": {2, 3}, "airline = UA, dest = DEN": {4}}, id="T_B1"
        ),
        # Filters that select the same are one entry, and none of them is lost.
        pytest.param(
            {"integer x = 4": {1}, "integer x > 3, integer x < 5": {1}},
            {"integer x = 4": {1}},
            id="equal filters, same hops",
        ),
        pytest.param(
            {"integer x = 4": {1}, "integer x > 3, integer x < 5": {2}},
            {"integer x = 4": {1, 2}},
            id="equal filters, other hops",
        ),
        # What was merged may make an entry superfluous that neither alone did.
        pytest.param(
            {"x > 3": {1}, "x > 3, x > 2": {2}, "x > 5": {1, 2}},
            {"x > 3": {1, 2}},
            id="merge, then reduce",
        ),
        # Covered, but leading elsewhere.
        pytest.param(
            {"x > 3": {1}, "x > 5": {1, 2}},
            {"x > 3": {1}, "x > 5": {1, 2}},
            id="more hops",
        ),
        pytest.param({}, {}, id="empty"),
    ],
)
def test_a_table_is_reduced_to(
    table: dict[str, set[int]], reduced: dict[str, set[int]]
) -> None:
    assert reduce_table(read(table)) == read(reduced)


@pytest.mark.parametrize(
    ("text", "hops"),
    [
        pytest.param("airline = UA, dest = DEN", {2, 3, 4}, id="T_B1_both"),
        pytest.param("airline = AZ", {2, 3}, id="T_B1_other_airline"),
        pytest.param("dest = DEN", set(), id="T_B1_no_airline"),
    ],
)
def test_a_notification_goes_where_it_went_before(text: str, hops: set[int]) -> None:
    table, notification = read(FLIGHTS), parse_notification(text)
    assert next_hops(table, notification) == hops
    assert next_hops(reduce_table(table), notification) == hops


def test_a_notification_does_not_go_back() -> None:
    notification = Notification(airline="AZ")
    assert next_hops(read(FLIGHTS), notification, source=2) == {3}


def test_unicast_and_multicast_are_tables_of_equalities() -> None:
    table = {unicast("alice"): {1}, unicast("bob"): {2}, multicast("all"): {1, 2}}
    assert reduce_table(table) == table
    assert next_hops(table, Notification(addressed_to(unicast("bob")))) == {2}
    assert next_hops(table, Notification(addressed_to(multicast("all")))) == {1, 2}


# Two names and four numbers: filters drawn from more would seldom meet.
constraints = st.builds(
    Constraint,
    st.sampled_from("xy"),
    st.sampled_from([Operator.EQ, Operator.NE, Operator.LT, Operator.GE]),
    st.integers(0, 3),
    st.just(Kind.INTEGER),
)
filters = st.lists(constraints, max_size=3).map(Filter)
tables = st.dictionaries(filters, st.frozensets(st.integers(1, 3)), max_size=6)
notifications = st.dictionaries(st.sampled_from("xy"), st.integers(-1, 4))


@given(tables, st.lists(notifications.map(Notification), min_size=1))
def test_reducing_never_changes_the_next_hops(
    table: dict[Filter, frozenset[int]], offered: list[Notification]
) -> None:
    reduced = reduce_table(table)
    event("became smaller" if len(reduced) < len(table) else "stayed")
    for notification in offered:
        assert next_hops(reduced, notification) == next_hops(table, notification)


@given(tables)
def test_a_reduced_table_is_not_reduced_further(
    table: dict[Filter, frozenset[int]],
) -> None:
    reduced = reduce_table(table)
    assert reduce_table(reduced) == reduced


def read(table: dict[str, set[int]]) -> Table:
    return {parse_filter(text): hops for text, hops in table.items()}
