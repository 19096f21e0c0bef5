"""Residuals decided fast are those that hold."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

import expressions as drawn
from siena.lang.expression import parse_expression
from siena.model import Constraint, Operator
from siena.model.expression import Expression, Operation, call, holds
from siena.spark.rules import deciding
from siena.spark.rules.deciding import decide

TEXTS = [
    "",
    "a",
    "ab",
    "B",
    "aB*",
    "é",
    "É",
    "\u212a",
    "k",
    "K",
    "ß",
    "a\nb",
    "s.t",
    "\\",
]
texts = st.sampled_from(TEXTS)
tests_of_strings = st.builds(
    lambda name, operator, value: Constraint(name, operator, value, None),
    st.sampled_from(drawn.NAMES),
    st.sampled_from(
        [
            *(Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING),
            *(Operator.EQ_FOLDED, Operator.PREFIX_FOLDED, Operator.SUFFIX_FOLDED),
            *(Operator.SUBSTRING_FOLDED, Operator.NE, Operator.NOT_SUBSTRING),
        ]
    ),
    texts,
)
residuals: st.SearchStrategy[Expression] = st.recursive(
    tests_of_strings
    | st.sampled_from(
        [
            parse_expression(text)
            for text in ('matches(x, "^a")', 'anywhere_matches("(?i)B$")', "x = y")
        ]
    ),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=4).map(lambda p: call(Operation.OR, *p))
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: call(Operation.AND, *p))
        | inner.map(lambda p: call(Operation.NOT, p))
        | inner.map(lambda p: call(Operation.HOLDS, p))
        | st.builds(lambda a, b: call(Operation.EXCEPT, a, b), inner, inner)
    ),
    max_leaves=8,
)
events = st.dictionaries(st.sampled_from(drawn.NAMES), texts | drawn.values, max_size=3)


@given(residuals, events)
def test_what_is_decided_holds(residual: Expression, event: dict[str, Any]) -> None:
    assert decide(residual)(event) == holds(residual, event)


@pytest.mark.parametrize("value", TEXTS)
def test_many_strings_are_looked_for_in_pieces(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deciding, "PATTERN_CHARACTERS_MAX", 24)
    monkeypatch.setattr(deciding, "VALUES_MAX", 2)
    parts = [Constraint("x", Operator.SUBSTRING, text) for text in TEXTS if text]
    residual = call(Operation.OR, *parts)
    test = decide(residual)
    for text in (*TEXTS, value):
        assert test({"x": f"-{text}-"}) == holds(residual, {"x": f"-{text}-"})
