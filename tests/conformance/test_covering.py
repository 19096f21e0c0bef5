"""Covering, exact and pairwise, with a counterexample for every no."""

from conformance.kit import (
    Case,
    advertisement_counterexample,
    counterexample,
    covers,
    covers_advertisement,
    covers_advertisement_pairwise,
    covers_pairwise,
    each,
    parse_advertisement,
    parse_filter,
    parse_notification,
    parse_predicate,
)


def is_refuted(case: Case) -> bool:
    return case["exact"] is False


def is_shown(case: Case) -> bool:
    return "witness" in case


def has_pairwise(case: Case) -> bool:
    return case["pairwise"] is not None


# --- Filters ------------------------------------------------------------------


@each("covers", "covers")
def test_covering_is_exact(case: Case) -> None:
    left, right = parse_filter(case["left"]), parse_filter(case["right"])
    assert covers(left, right) is case["exact"]
    assert (counterexample(left, right) is None) is case["exact"]


@each("covers", "covers", where=has_pairwise)
def test_pairwise_covering_answers_as_the_papers_do(case: Case) -> None:
    left, right = parse_filter(case["left"]), parse_filter(case["right"])
    assert covers_pairwise(left, right) is case["pairwise"]


@each("covers", "covers", where=is_refuted)
def test_a_counterexample_matches_the_right_and_not_the_left(case: Case) -> None:
    left, right = parse_filter(case["left"]), parse_filter(case["right"])
    found = counterexample(left, right)
    assert found is not None
    assert right.matches(found)
    assert not left.matches(found)


@each("covers", "covers", where=is_shown)
def test_the_witness_of_the_kit_is_one(case: Case) -> None:
    shown = parse_notification(case["witness"])
    assert parse_filter(case["right"]).matches(shown)
    assert not parse_filter(case["left"]).matches(shown)


# --- The pairwise table ---------------------------------------------------------


@each("pairwise", "covers")
def test_a_cell_of_the_table(case: Case) -> None:
    left, right = parse_filter(case["left"]), parse_filter(case["right"])
    assert covers_pairwise(left, right) is case["pairwise"]
    assert covers(left, right) is case["exact"]


@each("pairwise", "covers", where=is_refuted)
def test_a_no_of_the_table_has_a_counterexample(case: Case) -> None:
    left, right = parse_filter(case["left"]), parse_filter(case["right"])
    found = counterexample(left, right)
    assert found is not None
    assert right.matches(found)
    assert not left.matches(found)


# --- Predicates -----------------------------------------------------------------


@each("predicates", "covers")
def test_covering_between_predicates_is_exact(case: Case) -> None:
    left, right = parse_predicate(case["left"]), parse_predicate(case["right"])
    assert covers(left, right) is case["exact"]


@each("predicates", "covers")
def test_filter_by_filter_a_predicate_covers_less(case: Case) -> None:
    left, right = parse_predicate(case["left"]), parse_predicate(case["right"])
    one_by_one = all(any(covers(f, g) for f in left) for g in right)
    assert one_by_one is case["pairwise"]


@each("predicates", "covers", where=is_refuted)
def test_a_counterexample_matches_the_right_predicate_only(case: Case) -> None:
    left, right = parse_predicate(case["left"]), parse_predicate(case["right"])
    found = counterexample(left, right)
    assert found is not None
    assert right.matches(found)
    assert not left.matches(found)


@each("predicates", "covers", where=is_shown)
def test_the_witness_of_the_kit_matches_the_right_predicate_only(case: Case) -> None:
    shown = parse_notification(case["witness"])
    assert parse_predicate(case["right"]).matches(shown)
    assert not parse_predicate(case["left"]).matches(shown)


# --- Advertisements -------------------------------------------------------------


@each("covers-advertisement", "covers-advertisement")
def test_covering_between_advertisements_is_exact(case: Case) -> None:
    left, right = parse_advertisement(case["left"]), parse_advertisement(case["right"])
    assert covers_advertisement(left, right) is case["exact"]
    assert (advertisement_counterexample(left, right) is None) is case["exact"]


@each("covers-advertisement", "covers-advertisement", where=has_pairwise)
def test_pairwise_covering_between_advertisements(case: Case) -> None:
    left, right = parse_advertisement(case["left"]), parse_advertisement(case["right"])
    assert covers_advertisement_pairwise(left, right) is case["pairwise"]


@each("covers-advertisement", "covers-advertisement", where=is_refuted)
def test_a_counterexample_is_admitted_by_the_right_only(case: Case) -> None:
    left, right = parse_advertisement(case["left"]), parse_advertisement(case["right"])
    found = advertisement_counterexample(left, right)
    assert found is not None
    assert right.admits(found)
    assert not left.admits(found)


@each("covers-advertisement", "covers-advertisement", where=is_shown)
def test_the_witness_of_the_kit_is_admitted_by_the_right_only(case: Case) -> None:
    shown = parse_notification(case["witness"])
    assert parse_advertisement(case["right"]).admits(shown)
    assert not parse_advertisement(case["left"]).admits(shown)
