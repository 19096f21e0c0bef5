"""Constraints: checked, in one form, and never taken for each other."""

import copy
import math
import pickle
from datetime import UTC, datetime

import pytest
from hypothesis import given

import reference
from siena.errors import InvalidConstraintError, LimitError, SienaError
from siena.model import Constraint, Kind, Operator, Value
from siena.model.constraint import convert
from siena.model.limits import OPERAND_CHARACTERS_MAX
from strategies import any_constraints, any_values, constraints


@given(any_constraints())
def test_a_constraint_survives_pickling_and_copying(constraint: Constraint) -> None:
    copies = [
        copy.copy(constraint),
        copy.deepcopy(constraint),
        *(pickle.loads(pickle.dumps(constraint, p)) for p in range(2, 6)),  # noqa: S301
    ]
    for other in copies:
        assert type(other) is Constraint
        assert other == constraint
        assert repr(other) == repr(constraint)
        assert hash(other) == hash(constraint)


@given(constraints(), constraints())
def test_equal_constraints_mean_the_same(left: Constraint, right: Constraint) -> None:
    if left == right:
        assert hash(left) == hash(right)
        assert reference.satisfying(left) == reference.satisfying(right)
    # They can be sorted, whatever they are about.
    assert (left < right) + (left > right) + (left == right) == 1


@given(any_constraints(), any_values)
def test_a_value_of_another_kind_is_not_selected(
    constraint: Constraint, value: Value
) -> None:
    if not constraint.kind.admits(Kind.of(value)):
        assert constraint.matches(value) is (constraint.operator is Operator.OTHER)
    if constraint.matches(value):
        assert Kind.of(value) in constraint.kinds


def test_constraints_of_different_kinds_are_different_keys() -> None:
    equal_to_python: list[Constraint] = [
        Constraint("x", Operator.EQ, True),
        Constraint("x", Operator.EQ, 1),
        Constraint("x", Operator.EQ, 1, Kind.INTEGER),
        Constraint("x", Operator.EQ, 1.0, Kind.FLOAT),
    ]
    assert len(set(equal_to_python)) == 4
    assert len({str(c) for c in equal_to_python}) == 4


def test_an_untyped_number_is_one_number_however_it_is_written() -> None:
    whole, point = Constraint("x", Operator.EQ, 1), Constraint("x", Operator.EQ, 1.0)
    assert whole == point
    assert whole.kind is point.kind is Kind.NUMBER


@pytest.mark.parametrize(
    "operator", [Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING]
)
def test_an_empty_prefix_asks_for_any_string(operator: Operator) -> None:
    exists = Constraint("s", Operator.ANY, None, Kind.STRING)
    assert Constraint("s", operator, "") == exists
    assert str(exists) == "string s any"


def test_any_ignores_its_value() -> None:
    assert Constraint("x", Operator.ANY, 3) == Constraint("x", Operator.ANY)
    assert Constraint("x", Operator.ANY).kind is Kind.ANY


def test_the_value_of_a_constraint_has_a_limit() -> None:
    longest = "a" * OPERAND_CHARACTERS_MAX
    assert Constraint("s", Operator.EQ, longest).value == longest
    with pytest.raises(LimitError, match="OPERAND_CHARACTERS_MAX"):
        Constraint("s", Operator.EQ, longest + "a")


def test_minus_zero_is_zero() -> None:
    assert repr(Constraint("x", Operator.EQ, -0.0, Kind.FLOAT).value) == "0.0"


@pytest.mark.parametrize(
    ("operator", "value", "kind"),
    [
        (Operator.EQ, None, None),
        (Operator.PREFIX, 1, None),
        (Operator.PREFIX, True, None),
        (Operator.SUBSTRING, datetime(2026, 1, 1, tzinfo=UTC), None),
        (Operator.EQ, 1, Kind.STRING),
        (Operator.EQ, "1", Kind.INTEGER),
        (Operator.EQ, True, Kind.INTEGER),
        (Operator.EQ, True, Kind.NUMBER),
        (Operator.EQ, 1, Kind.BOOLEAN),
        (Operator.EQ, 1.5, Kind.INTEGER),
        (Operator.EQ, 2**53 + 1, Kind.FLOAT),
        (Operator.EQ, 1, Kind.ANY),
        (Operator.EQ, math.nan, None),
        (Operator.LT, math.inf, None),
        (Operator.EQ, 2**63, None),
        (Operator.EQ, "\ud800", None),
        (Operator.EQ, b"x", None),
    ],
)
def test_parts_that_do_not_go_together_are_refused(
    operator: Operator, value: Value | None, kind: Kind | None
) -> None:
    with pytest.raises(InvalidConstraintError) as caught:
        Constraint("x", operator, value, kind)
    assert len(str(caught.value).splitlines()) == 1


def test_a_name_is_checked_too() -> None:
    with pytest.raises(SienaError):
        Constraint("\ud800", Operator.ANY)
    with pytest.raises(SienaError):
        Constraint(1, Operator.ANY)  # type: ignore[arg-type]


def test_a_constraint_does_not_change() -> None:
    constraint = Constraint("x", Operator.EQ, 1)
    for name in ("name", "value", "more"):
        with pytest.raises(AttributeError):
            setattr(constraint, name, 2)


def test_converting_loses_nothing() -> None:
    assert repr(convert(2**53, Kind.FLOAT)) == "9007199254740992.0"
    assert repr(convert(1, Kind.NUMBER)) == "1"
    with pytest.raises(InvalidConstraintError):
        convert(2**53 + 1, Kind.FLOAT)
    with pytest.raises(InvalidConstraintError):
        convert(1.0, Kind.INTEGER)
