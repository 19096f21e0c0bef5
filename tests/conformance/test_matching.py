"""Which notifications a filter, predicate or advertisement lets through."""

from conformance.kit import (
    Case,
    each,
    load,
    parse_advertisement,
    parse_constraint,
    parse_filter,
    parse_notification,
    parse_predicate,
)

STRING_INDEX: dict[str, str] = load("string-index")["constraints"]


@each("matches", "matches")
def test_a_filter_matches_as_the_kit_says(case: Case) -> None:
    predicate = parse_predicate(case["left"])
    notification = parse_notification(case["notification"])
    assert predicate.matches(notification) is case["expected"]


@each("matches", "matches", where=lambda case: "constraints" in case)
def test_the_size_of_a_predicate_is_its_number_of_constraints(case: Case) -> None:
    predicate = parse_predicate(case["left"])
    assert sum(len(filter_.constraints) for filter_ in predicate) == case["constraints"]


@each("admits", "admits")
def test_an_advertisement_admits_as_the_kit_says(case: Case) -> None:
    advertisement = parse_advertisement(case["left"])
    notification = parse_notification(case["notification"])
    assert advertisement.admits(notification) is case["expected"]


@each("string-index", "selects")
def test_a_string_satisfies_these_constraints_and_no_others(case: Case) -> None:
    selected = [
        key
        for key, text in STRING_INDEX.items()
        if parse_constraint(text).matches(case["value"])
        and parse_filter(text).matches({"s": case["value"]})
    ]
    assert selected == case["expected"]
