"""The kit itself: complete, well formed, and in agreement with itself."""

import re

import pytest

from conformance.kit import FOLDER, Case, areas, each, load

# Every golden case of the specification: its parts, and the numbers there are in each.
NUMBERS = {
    "A": (*range(1, 13), *range(20, 47), *range(48, 64), *range(70, 75)),
    "B": (
        *(1, 2, *range(13, 17), "16b", "16c", *range(17, 25), "24b", *range(25, 29)),
        *(30, 31, 40, 41),
    ),
    "C": (*range(1, 11), *range(20, 24)),
    "D": (*range(1, 6), *range(10, 13)),
    "E": (*range(1, 10), *range(20, 28)),
    "F": (1, 2),
    "G": (1, 2, 3, 4),
}
GOLDEN = {f"T-{part}{number}" for part, some in NUMBERS.items() for number in some}


def test_every_golden_case_is_in_the_kit() -> None:
    found = {case["id"] for area in areas() for case in load(area)["cases"]}
    assert sorted(GOLDEN - found) == []
    named = {name for name in found if re.fullmatch(r"T-[A-Z]\d+[a-z]?", name)}
    assert sorted(named - GOLDEN) == []


def test_the_readme_says_which_file_a_golden_case_is_in() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    listed: dict[str, str] = {}
    for area, row in re.findall(r"(?m)^\| `([a-z-]+)\.json` \| (T-.*) \|$", text):
        for first, last in re.findall(r"(T-\w+)(?: to T-[A-Z](\d+))?", row):
            low = int(re.sub(r"\D", "", first))
            names = (
                [f"{first[:3]}{n}" for n in range(low, int(last) + 1)] if last else []
            )
            listed |= dict.fromkeys(names or [first], area)
    assert listed == {
        case["id"]: area
        for area in areas()
        for case in load(area)["cases"]
        if case["id"] in GOLDEN
    }


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
