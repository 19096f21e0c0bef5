"""A factored rule matches what its expression is true of; its gate loses nothing."""

from typing import Any

import pytest
from hypothesis import assume, example, given, strategies as st

from expressions import (
    NAMES,
    many_notifications,
    nested,
    notifications,
)
from selector_texts import DIALECTS, events, many_events, selectors
from siena.dialects import read_expression, read_rule
from siena.dialects.factoring import factor
from siena.errors import FilterError, LimitError
from siena.lang.expression import parse_expression
from siena.model.expression import Expression, holds
from siena.rules.residuals.matching import RuleMatcher

# Logic inside a comparison may be decided by one side, and `one_of` by one member.
DECIDED = [
    ("[x = 1] = (y < z or [w = 1])", {"x": 1, "w": 1}),
    ("holds(x = y) = false", {"x": 1}),
    ("(true except x = y) = true", {}),
    ("([x = 1] and y = z) = false", {"x": 2}),
    ("one_of(x, 1, y)", {"x": 1}),
    ("not one_of(x, one_of(y, z))", {"x": 1, "y": True, "z": 5}),
    ("some(x, [x absent]) = true", {}),
    # What is not looked at does not fail.
    ("(alike(y, 1) or ce_text(y) = 'a') = true", {"y": 1}),
    ("holds(ce_integer(ce_value(y)) = 1) = false", {"y": 2.5}),
]


@pytest.mark.parametrize(("text", "event"), DECIDED)
def test_what_is_decided_without_a_part_needs_nothing_of_it(
    text: str, event: dict[str, Any]
) -> None:
    expression = parse_expression(text)
    assert holds(expression, event)
    for many in (frozenset(), frozenset("xyz")):
        assert factor(expression, many=many).matches(event)


@given(nested, notifications)
@example(parse_expression("[x = 1] = (y < z or [z = 1])"), {"x": 1, "z": 1})
def test_a_rule_is_what_its_expression_is(
    expression: Expression, event: dict[str, Any]
) -> None:
    rule = factor(expression)
    expected = holds(expression, event)
    assert rule.matches(event) == expected
    assert RuleMatcher([rule]).match([event]) == [[0] * expected]


@given(nested, many_notifications, st.sets(st.sampled_from(NAMES)))
# One value may be what one place needs, and another what the next does.
@example(parse_expression("length(x) < x + 1"), {"x": (1, "a")}, set())
def test_a_rule_is_what_its_expression_is_of_several_values(
    expression: Expression, event: dict[str, Any], others: set[str]
) -> None:
    several = {name for name, value in event.items() if isinstance(value, tuple)}
    rule = factor(expression, many=frozenset(several | others))
    assert rule.matches(event) == holds(expression, event)


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_a_text_selects_what_its_expression_is_true_of(
    dialect: str, data: st.DataObject
) -> None:
    text = data.draw(selectors(dialect))
    try:
        expression, rule = read_expression(dialect, text), read_rule(dialect, text)
    except (FilterError, LimitError):
        assume(False)
    event = data.draw(events)
    expected = holds(expression, event)
    assert rule.matches(event) == expected
    assert RuleMatcher([rule]).match([event]) == [[0] * expected]


@pytest.mark.parametrize("dialect", DIALECTS)
@given(data=st.data())
def test_a_text_selects_what_its_expression_is_true_of_among_several_values(
    dialect: str, data: st.DataObject
) -> None:
    text = data.draw(selectors(dialect))
    event = data.draw(many_events)
    many = frozenset(n for n, value in event.items() if isinstance(value, tuple))
    try:
        expression = read_expression(dialect, text)
        rule = read_rule(dialect, text, many=many | {"b"})
    except (FilterError, LimitError):
        assume(False)
    assert rule.matches(event) == holds(expression, event)
