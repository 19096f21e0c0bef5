"""Tables of filters: routing tables, the poset, merging."""

from itertools import islice, permutations
from math import factorial

from conformance.kit import (
    Case,
    Filter,
    Poset,
    each,
    equivalent,
    merge_imperfect,
    merge_perfect,
    new_poset,
    next_hops,
    parse_filter,
    parse_notification,
    reduce_table,
)

# Every order of six filters; of more, a sample as large as the orders of five.
FILTERS_MAX = 6
ORDERS_MAX = factorial(FILTERS_MAX - 1)


# --- Routing tables -------------------------------------------------------------


def table_of(case: Case) -> dict[Filter, set[int]]:
    return {parse_filter(row["filter"]): set(row["hops"]) for row in case["table"]}


@each("routing-table", "reduces")
def test_a_reduced_table_keeps_these_entries(case: Case) -> None:
    table = table_of(case)
    reduced = reduce_table(table)
    assert set(reduced) == {parse_filter(text) for text in case["reduced"]}
    assert all(hops == table[filter_] for filter_, hops in reduced.items())


@each("routing-table", "reduces")
def test_a_notification_takes_the_same_hops_before_and_after(case: Case) -> None:
    table = table_of(case)
    for route in case["routes"]:
        notification = parse_notification(route["notification"])
        assert next_hops(table, notification) == set(route["hops"])
        assert next_hops(reduce_table(table), notification) == set(route["hops"])


# --- The poset ------------------------------------------------------------------


def poset_of(filters: list[Filter]) -> Poset[Filter]:
    poset = new_poset()
    for filter_ in filters:
        poset.add(filter_)
    return poset


def links_of(poset: Poset[Filter], filters: list[Filter]) -> set[tuple[Filter, Filter]]:
    downward = {(f, g) for f in filters for g in poset.successors(f)}
    upward = {(f, g) for g in filters for f in poset.predecessors(g)}
    assert downward == upward
    return downward


def expected_links(state: Case) -> set[tuple[Filter, Filter]]:
    return {(parse_filter(f), parse_filter(g)) for f, g in state["links"]}


def expected_roots(state: Case) -> set[Filter]:
    return {parse_filter(text) for text in state["roots"]}


@each("poset", "orders")
def test_a_poset_has_these_roots_and_links_in_any_order_of_insertion(
    case: Case,
) -> None:
    filters = [parse_filter(text) for text in case["filters"]]
    is_small = len(filters) <= FILTERS_MAX
    step = 1 if is_small else factorial(len(filters)) // ORDERS_MAX
    for order in islice(permutations(filters), 0, None, step):
        poset = poset_of(list(order))
        poset.check()
        assert set(poset.roots) == expected_roots(case), order
        assert links_of(poset, filters) == expected_links(case), order


@each("poset", "orders")
def test_a_poset_matches_these_filters(case: Case) -> None:
    poset = poset_of([parse_filter(text) for text in case["filters"]])
    for row in case["matches"]:
        matched = poset.match(parse_notification(row["notification"]))
        assert set(matched) == {parse_filter(text) for text in row["filters"]}


@each("poset", "orders")
def test_removing_a_filter_links_what_it_stood_between(case: Case) -> None:
    filters = [parse_filter(text) for text in case["filters"]]
    for removal in case["removals"]:
        poset = poset_of(filters)
        removed = parse_filter(removal["filter"])
        poset.remove(removed)
        poset.check()
        left = [filter_ for filter_ in filters if filter_ != removed]
        assert set(poset.roots) == expected_roots(removal), removal["filter"]
        assert links_of(poset, left) == expected_links(removal), removal["filter"]


# --- Merging --------------------------------------------------------------------


@each("merging", "merges-perfectly")
def test_a_perfect_merge_means_the_same(case: Case) -> None:
    merged = merge_perfect([parse_filter(text) for text in case["filters"]])
    expected = [parse_filter(text) for text in case["merged"]]
    assert len(merged) == len(expected), merged
    assert all(any(equivalent(f, g) for g in expected) for f in merged), merged


@each("merging", "merges-perfectly")
def test_a_perfect_merge_does_not_depend_on_the_order(case: Case) -> None:
    expected = [parse_filter(text) for text in case["merged"]]
    for order in permutations([parse_filter(text) for text in case["filters"]]):
        merged = merge_perfect(order)
        assert len(merged) == len(expected), merged
        assert all(any(equivalent(f, g) for g in expected) for f in merged), merged


@each("merging", "merges-imperfectly")
def test_an_imperfect_merge_lets_in_a_little_more(case: Case) -> None:
    filters = [parse_filter(text) for text in case["filters"]]
    merged = merge_imperfect(filters)
    assert equivalent(merged, parse_filter(case["merged"])), merged
    for text in case["admits"]:
        notification = parse_notification(text)
        assert merged.matches(notification)
        assert not any(filter_.matches(notification) for filter_ in filters)
