"""Expressions as texts and as JSON: what is read back, and what is refused."""

import json

import pytest
from hypothesis import given

from expressions import expressions, numbers
from siena.errors import FilterError, FilterSyntaxError, LimitError, SienaError
from siena.lang.expression import (
    expression_from_json,
    expression_to_json,
    parse_expression,
    rule_from_json,
    rule_to_json,
)
from siena.lang.json_text import read_json
from siena.lang.parser import parse_predicate
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    spell_expression,
)
from siena.model.expression.rule import Rule


@given(expressions | numbers)
def test_what_is_printed_is_read_back(expression: Expression) -> None:
    assert parse_expression(spell_expression(expression)) == expression


@given(expressions | numbers)
def test_what_is_written_as_json_is_read_back(expression: Expression) -> None:
    text = json.dumps(expression_to_json(expression))
    assert expression_from_json(read_json(text)) == expression


@given(expressions)
def test_a_rule_is_read_back_from_json(expression: Expression) -> None:
    rule = Rule(parse_predicate("x any or y = 3"), expression)
    assert rule_from_json(read_json(json.dumps(rule_to_json(rule)))) == rule


def test_a_rule_without_a_residual_is_its_predicate() -> None:
    rule = Rule(parse_predicate("x > 3"))
    assert rule.is_exact
    assert rule_from_json("x > 3") == rule
    assert rule_to_json(rule) == {"or": [[{"name": "x", "operator": ">", "value": 3}]]}


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a or b and c", "a or (b and c)"),
        ("not a and b", "(not a) and b"),
        ("not x + 1 > 2", "not ((x + 1) > 2)"),
        ("a except b or c", "a except (b or c)"),
        ("x-1 > 0", "x - 1 > 0"),
        ("x -1 > 0", "x - 1 > 0"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("x > 3", "[x > 3]"),
        ("3 < x", "[x > 3]"),
        ("3 < x + 1", "x + 1 > 3"),
        ('like(x, "a*")', "[x starts with a]"),
        ('fold(x) = "a"', "[x = a ignoring case]"),
        ("a and (b and c)", "a and b and c"),
        ("x = 2026-11-15T00:00:00Z", "[x = 2026-11-15T00:00:00Z]"),
        ('attribute("x") = y', "x = y"),
        ("TRUE", "true"),
    ],
)
def test_two_texts_say_the_same(text: str, same: str) -> None:
    assert parse_expression(text) == parse_expression(same)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("length(x", 9, 'expected ")"'),
        ("lengthy(x)", 1, "no function"),
        ("x = ", 5, "expected a value"),
        ("x = 1 y", 7, "expected the end"),
        ("[x > ]", 6, "expected a value"),
        ("[x > 1, y > 2]", 1, "one constraint"),
        ('x = "abc', 5, "never closed"),
        ("x = 1 and #", 11, "no meaning"),
        ("length(x, y)", 1, "does not take 2"),
        ("matches(x, y)", 1, "a quoted text"),
        ("some(1, true)", 1, "an attribute"),
        ("attribute(x) = 1", 11, "in quotes"),
    ],
)
def test_an_error_shows_the_place(text: str, column: int, message: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse_expression(text)
    assert caught.value.place is not None
    assert caught.value.place.column == column
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ("(" * 101 + "x" + ")" * 101, "NESTING_MAX"),
        ("not " * 101 + "x", "NESTING_MAX"),
        ("length(" * 101 + "x" + ")" * 101, "NESTING_MAX"),
        (" + ".join(["x"] * 200), "EXPRESSION_DEPTH_MAX"),
        ("concat(" + ", ".join(["x"] * 20_000) + ")", "ARGUMENTS_MAX"),
        ("x" * 2**20 + "x", "TEXT_CHARACTERS_MAX"),
    ],
    ids=["parentheses", "not", "calls", "chain", "arguments", "text"],
)
def test_a_limit_is_named(text: str, limit: str) -> None:
    with pytest.raises(LimitError) as caught:
        parse_expression(text)
    assert caught.value.limit == limit
    assert caught.value.place is not None


def test_an_expression_has_so_many_parts_and_no_more() -> None:
    part = Call(Operation.CONCAT, tuple([Literal("a")] * 16_000))
    with pytest.raises(LimitError) as caught:
        Call(Operation.CONCAT, tuple([part] * 5))
    assert caught.value.limit == "EXPRESSION_NODES_MAX"


@pytest.mark.parametrize(
    "form",
    [
        None,
        [],
        {},
        {"nonsense": [1]},
        {"length": 1},
        {"length": []},
        {"attribute": 5},
        {"name": "x", "operator": "?"},
        {"where": {"then": ["x any", "y any"]}, "if": True},
    ],
)
def test_a_form_that_is_none_is_refused(form: object) -> None:
    with pytest.raises(SienaError):
        rule_from_json({"where": "[]", "if": form} if form != {} else {"if": {}})  # type: ignore[dict-item]
    if isinstance(form, dict) and "where" in form:
        with pytest.raises(SienaError):
            rule_from_json(form)


def test_a_form_is_not_read_deeper_than_an_expression_goes() -> None:
    form: object = True
    for _ in range(150):
        form = {"not": [form]}
    with pytest.raises(SienaError, match="EXPRESSION_DEPTH_MAX"):
        expression_from_json(form)  # type: ignore[arg-type]


def test_names_that_are_no_words_are_quoted() -> None:
    for name in ("and", "a b", "a-b", "", "été"):
        expression = Call(Operation.EQ, (Attribute(name), Attribute("x")))
        assert parse_expression(spell_expression(expression)) == expression


def test_a_syntax_error_is_one() -> None:
    with pytest.raises(FilterSyntaxError):
        parse_expression("")
