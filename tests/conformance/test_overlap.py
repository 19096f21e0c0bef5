"""Whether an advertisement and a filter have a notification in common."""

from conformance.kit import (
    Case,
    common_notification,
    each,
    overlaps,
    overlaps_pairwise,
    parse_advertisement,
    parse_filter,
    parse_notification,
)


@each("overlaps", "overlaps")
def test_overlap_is_exact(case: Case) -> None:
    left, right = parse_advertisement(case["left"]), parse_filter(case["right"])
    assert overlaps(left, right) is case["exact"]
    assert (common_notification(left, right) is not None) is case["exact"]


@each("overlaps", "overlaps")
def test_pairwise_overlap_answers_as_the_papers_do(case: Case) -> None:
    left, right = parse_advertisement(case["left"]), parse_filter(case["right"])
    assert overlaps_pairwise(left, right) is case["pairwise"]


@each("overlaps", "overlaps", where=lambda case: case["exact"] is True)
def test_a_common_notification_is_admitted_and_matched(case: Case) -> None:
    left, right = parse_advertisement(case["left"]), parse_filter(case["right"])
    found = common_notification(left, right)
    assert found is not None
    assert left.admits(found)
    assert right.matches(found)


@each("overlaps", "overlaps", where=lambda case: "witness" in case)
def test_the_witness_of_the_kit_is_one(case: Case) -> None:
    shown = parse_notification(case["witness"])
    assert parse_advertisement(case["left"]).admits(shown)
    assert parse_filter(case["right"]).matches(shown)
