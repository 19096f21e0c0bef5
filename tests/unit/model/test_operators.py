"""Operators: which kinds they compare, and how."""

import pytest
from hypothesis import given

import reference
from siena.model import Constraint, Kind, Operator, Value
from siena.model.operators import NEGATIONS, OPERATOR_OF_SYMBOL, STRING_OPERATORS
from strategies import constraints, values


@pytest.mark.parametrize("operator", Operator)
def test_a_symbol_names_one_operator(operator: Operator) -> None:
    exact = OPERATOR_OF_SYMBOL[operator.symbol]
    assert exact is operator.exact
    assert operator in {exact, exact.folded}


@pytest.mark.parametrize("operator", Operator)
@pytest.mark.parametrize("kind", Kind)
def test_operators_apply_to_kinds(operator: Operator, kind: Kind) -> None:
    if operator in STRING_OPERATORS:
        expected = kind is Kind.STRING
    elif operator is Operator.ABSENT:
        expected = kind is Kind.ANY
    else:
        expected = kind is not Kind.ANY or operator is Operator.ANY
    assert operator.accepts(kind) is expected


@given(constraints(), values)
def test_a_negation_holds_where_the_operator_does_not(
    constraint: Constraint, value: Value
) -> None:
    name, operator, kind, operand = constraint
    if operator not in NEGATIONS or type(value) not in kind.types:
        return
    negation = Constraint(name, NEGATIONS[operator], operand, kind)
    assert negation.matches(value) is not constraint.matches(value)
    assert NEGATIONS[NEGATIONS[operator]] is operator


@given(constraints(), values)
def test_matching_is_what_the_reference_says(
    constraint: Constraint, value: Value
) -> None:
    assert constraint.matches(value) is reference.satisfies(value, constraint)
