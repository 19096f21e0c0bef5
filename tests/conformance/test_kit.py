"""The kit itself: complete, well formed, and in agreement with itself."""

import re

import pytest

from conformance.kit import FOLDER, Case, areas, each, load

# Every golden case of the specification's part A and of C.3.5, and those of B and
# G that can be judged without a network.
GOLDEN = {
    *(f"T-A{number}" for number in range(1, 13)),
    *(f"T-A{number}" for number in range(20, 47)),
    *(f"T-A{number}" for number in range(48, 64)),
    *(f"T-A{number}" for number in range(70, 75)),
    *("T-B1", "T-B2", "T-B30", "T-B31"),
    *(f"T-C{number}" for number in range(1, 11)),
    *("T-G2", "T-G3"),
}


def test_every_golden_case_is_in_the_kit() -> None:
    found = {case["id"] for area in areas() for case in load(area)["cases"]}
    assert sorted(GOLDEN - found) == []


@pytest.mark.parametrize("area", areas())
def test_a_file_explains_itself_and_names_each_case_once(area: str) -> None:
    contents = load(area)
    assert contents["$comment"]
    identifiers = [case["id"] for case in contents["cases"]]
    assert len(set(identifiers)) == len(identifiers)
    assert all(re.fullmatch(r"[A-Za-z0-9-]+", name) for name in identifiers)
    assert all(case["relation"] for case in contents["cases"])


@pytest.mark.parametrize("area", areas())
def test_a_file_can_be_read_anywhere(area: str) -> None:
    text = (FOLDER / f"{area}.json").read_text(encoding="utf-8")
    assert text.isascii()
    assert text.endswith("}\n")


@each("covers", "covers")
def test_pairwise_covering_never_claims_more_than_the_truth(case: Case) -> None:
    assert case["exact"] or not case["pairwise"]


@each("covers-advertisement", "covers-advertisement")
def test_pairwise_covering_of_advertisements_never_claims_more(case: Case) -> None:
    assert case["exact"] or not case["pairwise"]


@each("overlaps", "overlaps")
def test_pairwise_overlap_never_denies_the_truth(case: Case) -> None:
    assert case["pairwise"] or not case["exact"]


@pytest.mark.parametrize(
    ("area", "field", "answer"),
    [
        ("covers", "exact", False),
        ("predicates", "exact", False),
        ("covers-advertisement", "exact", False),
        ("overlaps", "exact", True),
        ("satisfiable", "expected", True),
    ],
)
def test_the_interesting_answer_has_a_witness(
    area: str, field: str, *, answer: bool
) -> None:
    for case in load(area)["cases"]:
        assert ("witness" in case) is (case[field] is answer), case["id"]
