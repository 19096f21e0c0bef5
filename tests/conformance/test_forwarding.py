"""The forwarding table of the slides, and one string index, in every matcher."""

from collections.abc import Callable

import pytest

from conformance.kit import (
    MATCHERS,
    Case,
    Filter,
    Matcher,
    Predicate,
    counting_of,
    each,
    load,
    parse_filter,
    parse_notification,
    parse_predicate,
)

TABLE: dict[int, list[Filter]] = {
    int(interface): [parse_filter(text) for text in texts]
    for interface, texts in load("forwarding")["table"].items()
}
STRING_INDEX: dict[str, str] = load("string-index")["constraints"]

Make = Callable[[], Matcher]
in_every_matcher = pytest.mark.parametrize("make", MATCHERS.values(), ids=MATCHERS)


def filled(make: Make) -> Matcher:
    matcher = make()
    for interface, filters in TABLE.items():
        for filter_ in filters:
            matcher.add(interface, filter_)
    return matcher


# --- What stands in the table ---------------------------------------------------


@each("forwarding", "counts")
def test_the_table_has_so_many_constraints(case: Case) -> None:
    filters = [filter_ for filters in TABLE.values() for filter_ in filters]
    occurrences = [c for filter_ in filters for c in filter_.constraints]
    assert len(occurrences) == case["occurrences"]
    assert len(set(occurrences)) == case["distinct"]
    assert len(filters) == case["filters"]


@each("forwarding", "counts")
def test_the_index_has_so_many_constraints(case: Case) -> None:
    sizes = counting_of(TABLE).sizes
    assert sizes.occurrences == case["occurrences"]
    assert sizes.constraints == case["distinct"]
    assert sizes.filters == case["filters"]


@each("forwarding", "determinants")
def test_an_absent_determinant_excludes_an_interface(case: Case) -> None:
    selectivity = counting_of(TABLE).selectivity
    assert selectivity == [
        (row["name"], frozenset(row["interfaces"])) for row in case["selectivity"]
    ]
    determinants = {
        interface: {name for name, excluded in selectivity if interface in excluded}
        for interface in TABLE
    }
    assert determinants == {
        int(interface): set(names) for interface, names in case["determinants"].items()
    }


@each("forwarding", "determinants")
def test_a_determinant_is_asked_for_by_every_filter(case: Case) -> None:
    """The definition itself, without a matcher."""
    for interface, names in case["determinants"].items():
        asked = [{c.name for c in f.constraints} for f in TABLE[int(interface)]]
        assert set.intersection(*asked) == set(names)


# --- Who gets a notification ----------------------------------------------------


@in_every_matcher
@each("forwarding", "forwards", where=lambda case: "broadcast" not in case)
def test_a_notification_goes_to_these_interfaces(make: Make, case: Case) -> None:
    notification = parse_notification(case["notification"])
    assert filled(make).match(notification) == set(case["interfaces"])


@in_every_matcher
@each("forwarding", "forwards")
def test_a_predicate_for_each_interface_says_the_same(make: Make, case: Case) -> None:
    """As the papers have it: T = {p1, p2, …}, cut down to the broadcast set."""
    matcher = make()
    for interface, filters in TABLE.items():
        matcher.add(interface, Predicate(filters))
    wanted = matcher.match(parse_notification(case["notification"]))
    assert wanted & set(case.get("broadcast", TABLE)) == set(case["interfaces"])


@pytest.mark.parametrize("name", ["engine", "counting"])
@each("forwarding", "forwards")
def test_only_interfaces_of_the_broadcast_get_it(name: str, case: Case) -> None:
    """``CBF(m, B, T)``, by those matchers that know B."""
    matcher = filled(MATCHERS[name])
    notification = parse_notification(case["notification"])
    broadcast = case.get("broadcast", list(TABLE))
    wanted = matcher.match(notification, allowed=broadcast)  # type: ignore[call-arg]
    assert wanted == set(case["interfaces"])


@each("forwarding", "forwards", where=lambda case: "excluded" in case)
def test_rounds_of_the_selectivity_table_exclude_interfaces(case: Case) -> None:
    notification = parse_notification(case["notification"])
    rounds = counting_of(TABLE).selectivity[: case["excluded"]["rounds"]]
    absent = [interfaces for name, interfaces in rounds if name not in notification]
    assert set().union(*absent) == set(case["excluded"]["interfaces"])


@in_every_matcher
@each("matches", "matches", where=lambda case: case["id"] == "T-C9")
def test_one_interface_wants_a_predicate(make: Make, case: Case) -> None:
    assert forwards(make(), case) is case["expected"] is True


@in_every_matcher
def test_a_matcher_matches_as_the_kit_says(make: Make) -> None:
    for case in load("matches")["cases"]:
        assert forwards(make(), case) is case["expected"], case["id"]


def forwards(matcher: Matcher, case: Case) -> bool:
    """Whether the only interface of a table gets the notification."""
    matcher.add(7, parse_predicate(case["left"]))
    wanted = matcher.match(parse_notification(case["notification"]))
    assert wanted <= {7}
    return bool(wanted)


# --- One string index -----------------------------------------------------------


@in_every_matcher
@each("string-index", "selects")
def test_a_string_selects_these_constraints(make: Make, case: Case) -> None:
    matcher = make()
    for text in STRING_INDEX.values():
        matcher.add(0, parse_filter(text))
    found = matcher.match_filters({"s": case["value"]})
    assert [list(STRING_INDEX)[number] for number in found] == case["expected"]
