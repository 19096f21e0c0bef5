"""The disjunction advantage in closed form; what is drawn is judged by the studies."""

import pytest

from conformance.kit import Case, each
from siena.research.studies.runs.disjunction import (
    MESSAGES_PER_PREDICATE,
    Drawing,
    expected_alpha,
)


def alpha_of(drawing: Drawing, load: float, universe: int) -> float | None:
    size = universe // MESSAGES_PER_PREDICATE
    return expected_alpha(drawing, universe, size, round(load * MESSAGES_PER_PREDICATE))


@each("disjunction", "expects")
def test_closed_forms_have_these_values(case: Case) -> None:
    for load, universe, alpha in case["zipf"]:
        found = alpha_of("zipf", load, universe)
        assert found == pytest.approx(alpha, abs=case["within"])
    for load, alpha in case["uniform"]:
        found = alpha_of("uniform", load, 10**6)
        assert found == pytest.approx(alpha, abs=case["within"])


@each("disjunction", "messages", where=lambda case: "closed_form" in case)
def test_uniform_predicates_have_these_advantages(case: Case) -> None:
    for load, alpha in zip(case["loads"], case["closed_form"], strict=True):
        for universe in case["universes"]:
            found = alpha_of("uniform", load, universe)
            assert found == pytest.approx(alpha, abs=1e-4)
