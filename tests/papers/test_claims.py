"""T-E20 to T-E27: the disjunction advantage, figures 5 to 7 of TR 2006/05."""

from collections.abc import Sequence

import pytest

from conformance.kit import Case, case_of
from siena.research.studies.figures import fig5, fig6, fig7
from siena.research.studies.figures.conjunction_figures import Scenario
from siena.research.studies.framework.claim import Verdict
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.study import Study
from siena.research.studies.runs.disjunction import conjunctions, sets_of_messages

pytestmark = pytest.mark.paper

# What the claims of figure 7 are about.
SEVEN = (fig7.UNIFORM_50, fig7.UNIFORM_500, fig7.ZIPF_500)


def case(name: str) -> Case:
    """What to draw for a claim: the sizes stand in ``conformance/disjunction.json``."""
    return case_of("disjunction", name)


def messages(case: Case) -> list[Row]:
    """Sets of messages, drawn and joined."""
    plan: list[Row] = [
        {"universe": universe, "load": load, "drawing": drawing, "seed": seed}
        for universe in case["universes"]
        for load in case["loads"]
        for drawing in ("uniform", "zipf")
        for seed in range(1, case["sets"] + 1)
    ]
    return [{**row, **sets_of_messages(row)} for row in plan]


def filters(
    case: Case, scenarios: Sequence[Scenario], *, sets: int | None = None
) -> list[Row]:
    """Sets of filters, of which the covered ones are dropped."""
    plan: list[Row] = [
        {"names": names, "names_are": are, "predicates": count, "seed": seed}
        for names, are in scenarios
        for count in case["predicates"]
        for seed in range(1, (sets or case["sets"]) + 1)
    ]
    return [{**row, **conjunctions(row)} for row in plan]


def assert_holds(study: Study, claim: str, rows: Sequence[Row]) -> None:
    """The claim holds, and would not if everything were the other way round."""
    assert verdict(study, claim, rows) is True
    spoilt: list[Row] = [{**row, "alpha": 1.2 - number(row, "alpha")} for row in rows]
    assert verdict(study, claim, spoilt) is False


def verdict(study: Study, name: str, rows: Sequence[Row]) -> bool:
    """What the rows say about a claim, however few they are."""
    (claim,) = (claim for claim in study.claims if claim.name == name)
    return claim.answer(rows).verdict is Verdict.HOLDS


def test_T_E20_uniform_sets_are_where_the_closed_form_says() -> None:
    rows = messages(case("T-E20"))
    assert_holds(fig5.STUDY, "T-E20", rows)


def test_T_E21_popular_messages_save_half() -> None:
    rows = messages(case("T-E21"))
    assert_holds(fig5.STUDY, "T-E21", rows)


def test_T_E22_popular_messages_save_more_everywhere() -> None:
    rows = messages(case("T-E22"))
    assert_holds(fig5.STUDY, "T-E22", rows)


@pytest.mark.parametrize("figure", [fig6, fig7])
def test_T_E23_more_predicates_save_more(figure: object) -> None:
    if figure is fig6:
        study, scenarios = fig6.STUDY, fig6.SCENARIOS
    else:
        study, scenarios = fig7.STUDY, SEVEN
    rows = filters(case("T-E23"), scenarios)
    assert_holds(study, "T-E23", rows)


def test_T_E24_popular_names_save_more() -> None:
    rows = filters(case("T-E24"), SEVEN)
    assert_holds(fig7.STUDY, "T-E24", rows)


@pytest.mark.slow
@pytest.mark.parametrize("figure", [fig6, fig7])
def test_T_E25_large_sets_are_alike(figure: object) -> None:
    if figure is fig6:
        study, scenarios = fig6.STUDY, fig6.SCENARIOS
    else:
        study, scenarios = fig7.STUDY, SEVEN
    rows = filters(case("T-E25"), scenarios)
    assert verdict(study, "T-E25", rows) is True
    wide: list[Row] = [
        {**row, "alpha": number(row, "seed") / 8} if row["predicates"] == 5000 else row
        for row in rows
    ]
    assert verdict(study, "T-E25", wide) is False


@pytest.mark.parametrize("figure", [fig6, fig7])
def test_T_E26_few_predicates_do_not_save_half(figure: object) -> None:
    if figure is fig6:
        study, scenarios = fig6.STUDY, fig6.SCENARIOS
    else:
        study, scenarios = fig7.STUDY, SEVEN
    rows = filters(case("T-E26"), scenarios)
    assert verdict(study, "T-E26", rows) is True
    low: list[Row] = [{**row, "alpha": 0.4} for row in rows]
    assert verdict(study, "T-E26", low) is False


@pytest.mark.slow
def test_T_E27_500_names_save_half_from_about_7000_predicates_on() -> None:
    rows = filters(case("T-E27"), [fig7.UNIFORM_500])
    rows += filters(case("T-E27"), [fig7.UNIFORM_50, fig7.ZIPF_500], sets=1)
    assert verdict(fig7.STUDY, "T-E27", rows) is True
    early: list[Row] = [{**row, "alpha": 0.4} for row in rows]
    assert verdict(fig7.STUDY, "T-E27", early) is False
