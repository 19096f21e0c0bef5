"""Factoring: a rule says exactly what its expression says, whatever its size."""

import math
from typing import Any

import pytest
from hypothesis import assume, given

from expressions import (
    NAMES,
    chains,
    expressions,
    literals,
    many_notifications,
    notifications,
)
from siena.algebra.relations import covers
from siena.algebra.sat import satisfiable
from siena.dialects.cesql import read_cesql
from siena.dialects.factoring import factor
from siena.dialects.factoring.cover import least
from siena.dialects.factoring.solving import solve
from siena.lang.expression import parse_expression
from siena.lang.parser import parse_filter, parse_predicate
from siena.model import Constraint, Filter, Operator, Predicate
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
    holds,
)
from siena.model.expression.evaluation import compile_expression
from siena.model.limits import FILTERS_MAX


@given(expressions, notifications)
def test_a_rule_matches_what_its_expression_is_true_of(
    expression: Expression, notification: dict[str, Any]
) -> None:
    rule = factor(expression)
    assert rule.matches(notification) == holds(expression, notification)


@given(expressions, many_notifications)
def test_a_rule_covers_what_is_true_of_several_values(
    expression: Expression, notification: dict[str, Any]
) -> None:
    rule = factor(expression, many=frozenset(NAMES))
    found = matches_many(rule.predicate, notification) and (
        rule.residual is None or holds(rule.residual, notification)
    )
    assert found == holds(expression, notification)


def matches_many(predicate: Predicate, notification: dict[str, Any]) -> bool:
    """Whether each constraint of a filter is satisfied, each by some value."""
    whole = any_of(all_of(f.constraints) for f in predicate)
    return compile_expression(whole)(notification, []) is True


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("x * 2 + 1 > 7", "x > 3"),
        ("1 - x >= 0", "x <= 1"),
        ("negative(x) > 5", "x < -5"),
        ("x / 4 = 1", "x = 4"),
        ("x * 2 != 3", "x != 1.5"),
        ("x * 2 = 3 and [integer x any]", "integer x any and x = 1.5"),
        ("not (x + 1 > 3 or y = 2)", "x <= 2 and y != 2"),
        ("x = 1 xor y = 1", "x = 1 and y != 1 or x != 1 and y = 1"),
        ("[x = 1] except [y = 1]", "x = 1 except y = 1"),
        ("true except [x = 1]", "[] except x = 1"),
        ("not holds([x = 1])", "[] except x = 1"),
        ("one_of(x, 1, 2)", "x in (1, 2)"),
        ("not one_of(x, 1, 2)", "x any except x in (1, 2)"),
        ("alike(x, 1)", "number x any"),
        ("not alike(x, 1)", "not number x any"),
        ("not [x any]", "x absent"),
        ('ce_string(ce_value(x)) = "5"', 'x = "5" or integer x = 5'),
        ('like(ce_string(ce_value(x)), "ab*")', "x starts with ab"),
        ("1 < 2", "[]"),
        ("1 > 2", "not []"),
        ("x and not y", "x = true and y != true"),
        ("some(x, [x > 1] and [x < 3])", "x > 1 and x < 3"),
    ],
)
def test_what_filters_can_say_is_said_exactly(text: str, predicate: str) -> None:
    rule = factor(parse_expression(text))
    assert rule.is_exact
    wanted = parse_predicate(predicate)
    assert covers(rule.predicate, wanted)
    assert covers(wanted, rule.predicate)


@pytest.mark.parametrize(
    ("text", "predicate", "residual"),
    [
        ("x < y", "x any and y any", "x < y"),
        ("x < y and [z = 1]", "x any and y any and z = 1", "x < y"),
        ("x * y > 3", "number x any and number y any", "x * y > 3"),
        ('matches(x, "a+")', "x contains a", 'matches(x, "a+")'),
        (
            'matches(x, "(?i)^A[0-9]+B")',
            "x contains a ignoring case and x contains b ignoring case",
            'matches(x, "(?i)^A[0-9]+B")',
        ),
        ('not matches(x, "a")', "string x any", 'not matches(x, "a")'),
        (
            'in_network(x, "10.0.0.0/8")',
            'x starts with "10."',
            'in_network(x, "10.0.0.0/8")',
        ),
        (
            'not in_network(x, "10.0.0.0/8")',
            "string x any",
            'not in_network(x, "10.0.0.0/8")',
        ),
        (
            "[x = 1] except y < z",
            "x = 1",
            "true except y < z",
        ),
        ("x < y or [z = 1]", "x any and y any or z = 1", "x < y or [z = 1]"),
    ],
)
def test_what_filters_cannot_say_is_covered(
    text: str, predicate: str, residual: str
) -> None:
    rule = factor(parse_expression(text))
    assert rule.predicate == parse_predicate(predicate)
    assert rule.residual == parse_expression(residual)


@pytest.mark.parametrize(
    ("text", "predicate"),
    [
        ("level = '5'", 'level = "5" or integer level = 5'),
        ("level = '3000000000'", 'level = "3000000000" or integer level = 3000000000'),
        ("level = 'x'", "level = x"),
    ],
)
def test_what_contradicts_an_equality_is_no_alternative(
    text: str, predicate: str
) -> None:
    rule = factor(read_cesql(text))
    assert rule.is_exact
    assert str(rule) == predicate


def test_an_equality_that_says_all_stands_alone() -> None:
    same, other = parse_filter("x = 5"), parse_filter("integer x > 5")
    for text in ("x < 9", "x any", "x != 4", "not string x any"):
        assert least([(*same, *parse_filter(text))]) == [(*same,)]
    for text in ("x < 5", "x != 5", "x = 6", "integer x any and x = 4"):
        assert least([(*same, *parse_filter(text))]) == []
    # Of floats nothing is said there.
    assert least([(*same, *other)]) == [(*sorted((*same, *other)),)]


def test_a_product_that_is_too_large_keeps_what_fits() -> None:
    names = [f"n{i}" for i in range(40)]
    expression = all_of(
        any_of(Constraint(name, EQ, value) for value in range(10)) for name in names
    )
    rule = factor(expression)
    assert len(rule.predicate) == 1_000
    assert rule.residual is not None
    matching = dict.fromkeys(names, 3)
    assert rule.matches(matching)
    assert not rule.matches(matching | {"n39": 10})
    assert not rule.matches(matching | {"n0": 10})


def test_a_union_that_is_too_large_is_widened() -> None:
    expression = any_of(
        Call(Operation.AND, (Constraint("x", EQ, i), Constraint("y", EQ, i)))
        for i in range(5_000)
    )
    rule = factor(expression)
    assert len(rule.predicate) <= FILTERS_MAX
    assert rule.matches({"x": 4_999, "y": 4_999})
    assert not rule.matches({"x": 4_999, "y": 1})


def test_what_is_taken_away_in_too_many_ways_stays_in_the_residual() -> None:
    unwanted = any_of(
        all_of(Constraint(f"{n}{i}", EQ, i) for n in "abc") for i in range(12)
    )
    rule = factor(call(Operation.EXCEPT, Constraint("x", EQ, 1), unwanted))
    assert rule.residual is not None
    assert rule.matches({"x": 1})
    assert rule.matches({"x": 1, "a3": 3, "b3": 3})
    assert not rule.matches({"x": 1, "a3": 3, "b3": 3, "c3": 3})
    assert not rule.matches({"x": 1, "a11": 11, "b11": 11, "c11": 11})


COMPARISONS = [
    *(Operation.EQ, Operation.NE, Operation.LT),
    *(Operation.LE, Operation.GT, Operation.GE),
]
EQ = Operator.EQ


@given(chains, literals)
def test_a_comparison_is_solved_exactly(chain: Expression, bound: Literal) -> None:
    assume(not isinstance(bound.value, (str, bool)))
    for operation in COMPARISONS:
        comparison = call(operation, chain, bound)
        found = solve(operation, chain, bound)
        if found is None or isinstance(comparison, Constraint):
            continue
        (name,) = {c.name for a in found for c in a} or {"x"}
        predicate = Predicate(map(Filter, found))
        for value in around(predicate):
            notification = {name: value}
            assert predicate.matches(notification) == holds(comparison, notification)


def around(predicate: Predicate) -> set[int | float]:
    """Numbers at the ends of a solution, and beside them; and some far away."""
    found: set[int | float] = {
        0,
        1,
        -1,
        0.5,
        1e300,
        -1e300,
        2**63 - 1,
        -(2**63),
        5e-324,
    }
    for filter_ in predicate:
        for constraint in filter_:
            end = constraint.value
            if isinstance(end, (int, float)):
                near = float(end)
                found |= {near, math.nextafter(near, math.inf)}
                found.add(math.nextafter(near, -math.inf))
                found |= {int(near) + d for d in (-1, 0, 1) if abs(near) < 2**62}
    return found


def test_attributes_are_conditions_of_their_own() -> None:
    assert str(factor(Attribute("x"))) == "x = true"


MANY = frozenset({"x"})


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("[x = 1] and [x = 2]", (1, 2), True),
        ("[x = 1] and [x = 2]", (1, 3), False),
        ("[x < 1] and [x > 5] and [y = 1]", (0, 9), True),
        ("[x < 1] and [x > 5] and [y = 1]", (0, 3), False),
        ("([x = 1] or [x = 3]) and ([x = 2] or [z = 1])", (3, 2), True),
        ("([x = 1] or [x = 3]) and ([x = 2] or [z = 1])", (3, 4), False),
        ("[x = 1] and not [x = 2]", (1, 2), False),
        ("[x = 1] and not [x = 2]", (1, 3), True),
        ("some(x, [x > 1] and [x < 3])", (0, 5), False),
        ("some(x, [x > 1] and [x < 3])", (0, 2), True),
    ],
)
def test_constraints_on_several_values_are_independent(
    text: str, values: tuple[int, ...], *, expected: bool
) -> None:
    expression = parse_expression(text)
    rule = factor(expression, many=MANY)
    event: dict[str, Any] = {"x": values, "y": 1}
    assert holds(expression, event) is expected
    assert rule.matches(event) is expected
    # What is routed and indexed says one thing about such a name, or nothing.
    assert all(sum(c.name == "x" for c in f) <= 1 for f in rule.predicate) or (
        "some" in text
    )
    assert satisfiable(rule.predicate)
