"""Evaluating expressions: three-valued logic, failures, and several values."""

from typing import Any

import pytest
from hypothesis import given

from expressions import expressions, naive_holds, notifications
from siena.errors import LimitError
from siena.lang.expression import parse_expression
from siena.model.expression import Expression, Failure, compile_expression, holds
from siena.model.expression.regular import compile_regular, compile_regulars
from siena.model.limits import REGULAR_CHARACTERS_MAX

NOTHING: dict[str, Any] = {}


def value_of(text: str, **attributes: Any) -> object:  # noqa: ANN401 -- values of any kind
    return compile_expression(parse_expression(text))(attributes, [])


def failures_of(text: str, **attributes: Any) -> list[Failure]:  # noqa: ANN401 -- as above
    failures: list[Failure] = []
    compile_expression(parse_expression(text))(attributes, failures)
    return failures


@given(expressions, notifications)
def test_a_compiled_expression_says_what_the_book_says(
    expression: Expression, notification: dict[str, Any]
) -> None:
    assert holds(expression, notification) == naive_holds(expression, notification)


@pytest.mark.parametrize(
    "patterns",
    [
        ("^a", "(?i)X|y", "b"),
        ("(?P<n>a)", "(?P<n>b)"),  # together they name a group twice
        (r"\Qa)|(", "b"),  # a quotation that does not end
        ("a" * REGULAR_CHARACTERS_MAX, "b"),  # together they are too long
    ],
)
@pytest.mark.parametrize("text", ["", "ab", "ba", "Y", "x", "za)|(", "(?:b)", "c"])
def test_patterns_together_find_what_one_of_them_finds(
    patterns: tuple[str, ...], text: str
) -> None:
    wanted = any(compile_regular(pattern)(text) for pattern in patterns)
    assert compile_regulars(patterns)(text) is wanted


def test_what_fails_before_a_pattern_fails_still() -> None:
    text = 'ce_integer(x) = 5 or matches(y, "a") or matches(y, "b")'
    assert not holds(parse_expression(text), {"x": "five", "y": "b"})
    assert holds(parse_expression(text), {"x": "6", "y": "b"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("7 / 2", 3.5),
        ("negative(7) % 4", -3),
        ("7.5 % 2", 1.5),
        ("1 / 0", None),
        ("9223372036854775807 + 1", 2**63),
        ("absolute(-2)", 2),
        ('"a" + "b"', "ab"),
        ('"a" + 1', None),
        ("true + 1", None),
        ('length("siena")', 5),
        ("length(5)", None),
        ('upper("a") = "A"', True),
        ('trim("  a b ")', "a b"),
        ('left("siena", 2)', "si"),
        ('right("siena", 2)', "na"),
        ('substring("siena", 2, 3)', "ien"),
        ('substring("siena", 9)', None),
        ('concat("a", "b", "c")', "abc"),
        ('join("-", "a", "b")', "a-b"),
        ('join("-")', ""),
        ('fold("SIENA")', "siena"),
        ('"a" < "b"', True),
        ('1 < "b"', None),
        ("1 = 1.0", True),
        ("1 = true", None),
        ("alike(1, 2.5)", True),
        ('alike(1, "a")', False),
        ("one_of(1, 2, 1.0)", True),
        ('one_of(1, "1", true)', False),
        ('like("siena", "s*n?")', True),
        ('matches("siena", "^s.*a$")', True),
        ('in_network("10.1.2.3", "10.0.0.0/8")', True),
        ('in_network("2001:db8::1", "2001:db8::/32")', True),
        ('in_network("10.1.2.3", "2001:db8::/32")', False),
        ('starts_with("siena", "si")', True),
        ('ends_with("siena", "si")', False),
        ('contains("siena", "ie")', True),
    ],
)
def test_a_function_has_this_value(text: str, value: object) -> None:
    found = value_of(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("x = 1", None),
        ("not x = 1", None),
        ("x = 1 or true", True),
        ("x = 1 and false", False),
        ("x = 1 and true", None),
        ("x = 1 xor true", None),
        ("[x any]", False),
        ("[x absent]", True),
        ("holds(x = 1)", False),
        ("true except x = 1", True),
        ("false except x = 1", False),
    ],
)
def test_what_is_absent_is_unknown(text: str, value: object) -> None:
    assert value_of(text) is value


def test_a_constraint_is_unknown_of_another_kind() -> None:
    assert value_of("[x > 3]", x="4") is None
    assert value_of("[integer x any]", x="4") is False


def test_what_failed_does_not_hold_whatever_its_value() -> None:
    text = "ce_integer(ce_value(x)) = 0"
    assert value_of(text, x="zero") is True
    assert failures_of(text, x="zero") == [Failure.CAST]
    assert not holds(parse_expression(text), {"x": "zero"})


def test_what_is_not_asked_does_not_fail() -> None:
    assert failures_of("[y = 1] and ce_boolean(ce_value(x))", y=2) == []
    assert failures_of("[y = 1] or ce_boolean(ce_value(x))", y=1) == []
    assert failures_of("[y = 1] or ce_boolean(ce_value(x))", y=2) == [
        Failure.MISSING_ATTRIBUTE
    ]


def test_a_failure_is_caught_where_truth_is_asked_for() -> None:
    assert value_of("holds(ce_value(x) = 1) or true") is True
    assert failures_of("true except ce_value(x) = 1") == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("[x = 1]", True),
        ("[x = 3]", False),
        ("not [x = 3]", True),
        ("[x = 1] and [x = 2]", True),
        ("some(x, [x > 1] and [x < 3])", True),
        ("some(x, [x > 2] and [x < 3])", False),
        ("[x > 1] and [x < 2]", True),
        ("x * 2 = 4", True),
        ("x = y", True),
        ("x + y = 4", True),
        ("x + y = 9", False),
        ("one_of(x, 7, 2)", True),
        ("[x any]", True),
        ("[e any]", False),
        ("[e absent]", True),
        ("e = 1", None),
        ("b and true", True),
        ("not e", None),
        ('anywhere_like("*2*")', True),
        ('anywhere_like("*7*")', False),
        ('anywhere_matches("^[a-c]+$")', True),
        # What is not there is no text, and not that of Python's None.
        ('some(e, anywhere_matches("None"))', False),
        ('some(nowhere, anywhere_matches("None"))', False),
    ],
)
def test_of_several_values_one_suffices(text: str, value: object) -> None:
    attributes = {"x": (1, 2), "y": (2, 5), "e": (), "b": (False, True), "t": ("abc",)}
    assert value_of(text, **attributes) is value


def test_combinations_of_values_are_limited() -> None:
    several = tuple(range(300))
    with pytest.raises(LimitError) as caught:
        value_of("x = y", x=several, y=several)
    assert caught.value.limit == "COMBINATIONS_MAX"


def test_numbers_beyond_all_floats_are_infinite() -> None:
    assert holds(parse_expression("x * 1e308 > 1e308"), {"x": 100})
    assert value_of("x * 1e308 - x * 1e308", x=100) is None
