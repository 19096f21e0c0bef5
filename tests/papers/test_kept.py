"""The rows beside the page of the studies, decided again by the claims of today."""

from functools import cache
from pathlib import Path

import pytest

from siena.research.studies.architectures import choices
from siena.research.studies.claims.cbcb_curves import matched_shares
from siena.research.studies.figures import fig26, fig27, fig28, fig33
from siena.research.studies.framework.claim import Claim, Verdict
from siena.research.studies.framework.registry import NAMES, find
from siena.research.studies.framework.results import read_parquet, result_in
from siena.research.studies.framework.rows import Row, where
from siena.research.studies.framework.spoils import only, times
from siena.research.studies.framework.study import Study

PAGE = Path(__file__).parents[2] / "docs" / "studies"
DATA = PAGE / "data"


@cache
def kept(name: str) -> list[Row]:
    return read_parquet(DATA / f"{name}.parquet")


def claim_of(study: Study, name: str) -> Claim:
    return next(claim for claim in study.claims if claim.name == name)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_says_what_claims_say_of_its_rows(name: str) -> None:
    """As `siena study report --markdown docs/studies --again` writes it."""
    result = result_in(DATA / f"{name}.json", name)
    assert result
    assert result.rows == len(kept(name))
    findings = find(name).check(kept(name))
    assert list(result.findings) == findings
    page = (PAGE / "README.md").read_text(encoding="utf-8")
    assert all(finding.found.replace("|", "\\|") in page for finding in findings)


def test_what_costs_nothing_is_not_the_cheaper_one() -> None:
    claim = claim_of(fig26.STUDY, "F26a")
    nothing = only(lambda row: row["architecture"] == "hs", times("cost", 0))
    assert claim.answer(kept("fig26")).verdict is Verdict.HOLDS
    assert claim.answer(nothing(kept("fig26"))).verdict is Verdict.DIFFERS


def test_no_claim_is_made_twice() -> None:
    """Neither in the same words nor about the same runs with the same outcome."""
    results = [result_in(DATA / f"{name}.json", name) for name in NAMES]
    said = [
        (f.claim, f.says, f.found) for each in results if each for f in each.findings
    ]
    assert [each for each in said if said.count(each) > 1] == []
    shares = [
        tuple(map(str, choices.advertising(claim.of(kept("choices")), choice).items()))
        for choice in choices.CHOICES
        for claim in choices.CLAIMS
        if claim.name == "aa/as" and claim.says.startswith(f"{choice}: ")
    ]
    assert len(set(shares)) == len(shares) > 5


LONG = {"choices", "fig27", "fig30", "fig31"}
SOME_SLOW = [
    pytest.param(name, marks=pytest.mark.slow) if name in LONG else name
    for name in NAMES
]


@pytest.mark.parametrize("name", SOME_SLOW)
def test_wrong_rows_as_many_as_these_refute_every_claim(name: str) -> None:
    spots = {
        f"{claim.name}: {claim.says}": found
        for claim in find(name).claims
        if (found := claim.blind_spots(kept(name)))
    }
    assert spots == {}


@pytest.mark.parametrize("name", SOME_SLOW)
def test_what_is_told_with_an_interval_is_decided_by_one(name: str) -> None:
    """And the other way round: readers are told of the intervals."""
    for claim in find(name).claims:
        has_interval = claim.answer(kept(name)).seeds is not None
        assert has_interval == ("interval" in claim.test), claim.says


def test_latencies_do_not_make_forwarding_of_advertisements_erratic() -> None:
    """What the finding about F27e says of the study of choices."""
    claim = claim_of(fig27.STUDY, "F27e")
    for choice in ("latency 1", "latency 100"):
        rows = where(kept("choices"), choice=choice)
        assert claim.finding(rows).verdict is Verdict.DIFFERS


def test_choices_are_compared_where_both_are_decided() -> None:
    """A claim that has too few seeds with either choice is named, and no difference."""
    choice = "equal link costs"
    known = kept("choices")
    rows = [row for row in known if row["choice"] != choice or row["seed"] in {1, 2}]
    few, whole = (choices.verdicts(each, choice) for each in (rows, known))
    decided = {name for name, verdict in whole.items() if verdict is Verdict.HOLDS}
    assert {few[name] for name in decided} == {Verdict.UNDECIDED}
    (claim,) = (c for c in choices.CLAIMS if c.says.startswith(f"{choice}: cl"))
    otherwise, _, undecided = claim.answer(rows).found.partition("; not decided")
    assert decided <= set(undecided.partition(": ")[2].split(", "))
    assert not decided & set(otherwise.partition("otherwise: ")[2].split(", "))


def test_shares_that_add_up_to_more_than_all_are_all() -> None:
    """Sums of shares are rounded: seed 3 comes to 100.00000000000003 %."""
    claim = claim_of(find("cbcb"), "C.6 stat")
    row = claim.of(kept("cbcb"))[0]
    thirds: Row = {**row, "wanting": "[1, 1, 1, 1, 1, 1]"}
    rows = [*kept("cbcb"), *({**thirds, "seed": seed} for seed in (8, 9))]
    sums = [sum(matched_shares(row).values()) for row in claim.of(rows)]
    assert max(sums) > 100
    assert claim.answer(rows).verdict is Verdict.HOLDS
    assert claim.finding(rows).verdict is Verdict.OPEN


@pytest.mark.parametrize(
    ("study", "name", "column", "of"),
    [
        (fig26.STUDY, "F26b", "cost", {"parties": 10_000}),
        (fig27.STUDY, "F27b", "cost", {"parties": 10_000}),
        (fig28.STUDY, "F28c", "cost", {"objects": 1000}),
        (choices.STUDY, "aa/as", "cost", {"architecture": "aa"}),
        (fig33.STUDY, "F33b", "notification_cost", {"publications": 100}),
    ],
    ids=["F26b", "F27b", "F28c", "aa/as", "F33b"],
)
def test_one_seed_that_is_far_off_leaves_a_range_undecided(
    study: Study, name: str, column: str, of: Row
) -> None:
    claim = claim_of(study, name)
    far_off = only(
        lambda row: row["seed"] == 1 and of.items() <= row.items(), times(column, 50)
    )
    rows = far_off(claim.of(kept(study.name)))
    assert claim.answer(rows).verdict is Verdict.UNDECIDED
