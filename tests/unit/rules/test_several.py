"""Rules on multi-valued attributes match, choice by choice, as they are said."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

import expressions as drawn
from siena.dialects.factoring import factor
from siena.errors import LimitError
from siena.lang.parser import parse_predicate
from siena.matching.input.buffers import encode_all
from siena.matching.input.choices import CHOICES_MAX, choices_of
from siena.matching.table import ForwardingTable
from siena.model.expression import Expression, Operation, call, holds
from siena.model.expression.evaluation import satisfies
from siena.model.expression.rule import Rule
from siena.rules.several import seen_by_choices

events = st.dictionaries(
    st.sampled_from(drawn.NAMES),
    drawn.values | st.lists(drawn.values, max_size=3).map(tuple),
    max_size=3,
)


def match_choices(rule: Rule, event: dict[str, Any]) -> bool:
    """What workers do."""
    table = ForwardingTable()
    table.add(0, rule.predicate)
    found = table.match_buffer(*encode_all(choices_of(event)))
    return bool(found.counts.sum()) and (
        rule.residual is None or holds(rule.residual, event)
    )


TEXTS = [
    "x = 1 and x = 2",
    "x > 1 and x < 1 or y any",
    "x any and x != 1 and z absent",
    "integer x any and string x any",
    "x = 1 and y = 1",
    "x = 1 or x absent",
    "not string x any and x any",
]


@given(st.sampled_from(TEXTS), st.sets(st.sampled_from(drawn.NAMES)), events)
def test_each_constraint_holds_of_one_value(
    text: str, many: set[str], event: dict[str, Any]
) -> None:
    """By the definition: for each constraint of a filter there is a value."""
    event = {
        name: value
        for name, value in event.items()
        if name in many or not isinstance(value, tuple)
    }
    predicate = parse_predicate(text)
    expected = any(
        all(satisfies(constraint, event) for constraint in filter_)
        for filter_ in predicate
    )
    found = match_choices(seen_by_choices(Rule(predicate), frozenset(many)), event)
    assert found == expected


leaves = st.sampled_from(
    [c for text in TEXTS for f in parse_predicate(text) for c in f]
)
expressions: st.SearchStrategy[Expression] = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3).map(lambda p: call(Operation.OR, *p))
        | st.lists(inner, min_size=1, max_size=3).map(lambda p: call(Operation.AND, *p))
        | inner.map(lambda p: call(Operation.NOT, p))
        | st.builds(lambda a, b: call(Operation.EXCEPT, a, b), inner, inner)
    ),
    max_leaves=6,
)


@given(expressions, events)
def test_a_factored_rule_fires_where_its_expression_holds(
    expression: Expression, event: dict[str, Any]
) -> None:
    many = frozenset(drawn.NAMES)
    rule = seen_by_choices(factor(expression, many=many), many)
    assert match_choices(rule, event) == holds(expression, event)


def test_what_is_plain_stays_as_it_is() -> None:
    rule = Rule(parse_predicate("x = 1 and y = 2"))
    assert seen_by_choices(rule, frozenset({"x", "y"})) is rule


def test_values_that_python_calls_equal_are_different_choices() -> None:
    found = [*choices_of({"x": (1, 1.0, True, 1)})]
    assert [type(choice["x"]) for choice in found] == [int, float, bool]


def test_choices_are_bounded() -> None:
    event = {name: tuple(range(100)) for name in "abc"}
    with pytest.raises(LimitError, match="CHOICES_MAX"):
        next(choices_of(event))
    assert CHOICES_MAX < 100**2
