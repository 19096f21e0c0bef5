"""Differences: two-valued, whatever the reason is that something does not match."""

import pytest
from hypothesis import event, given

import reference
from siena.errors import LimitError
from siena.lang import parse_predicate
from siena.model import Constraint, Filter, Notification, Predicate, Value
from siena.model.difference import complement, difference
from siena.model.limits import FILTERS_MAX
from strategies import (
    any_constraints,
    any_values,
    notifications,
    predicates,
    values,
)


@given(predicates(max_size=2), predicates(max_size=2), notifications())
def test_a_difference_is_what_matches_one_and_not_the_other(
    left: Predicate, right: Predicate, notification: Notification
) -> None:
    found = difference(left, right)
    wanted = left.matches(notification) and not right.matches(notification)
    event("in it" if wanted else "not in it")
    assert reference.matches(found, notification) is wanted


@given(any_constraints(), any_values | values)
def test_a_complement_holds_where_the_constraint_does_not(
    constraint: Constraint, value: Value
) -> None:
    for notification in (Notification(), Notification({constraint.name: value})):
        holds = Filter([constraint]).matches(notification)
        others = [Filter([c]).matches(notification) for c in complement(constraint)]
        assert sum(others) == (not holds), "exactly one, or none"


@pytest.mark.parametrize(
    ("left", "right", "left_over"),
    [
        ("[]", "x any", "x absent"),
        ("[]", "[]", "not []"),
        ("[]", "not []", "[]"),
        ("[]", "x = 5", "x != 5 or x absent or not number x any"),
        ("x = 5", "x = 5", "not []"),
        ("x any", "integer x any", "not integer x any"),
        ("s any", "s contains a", "not string s any or s does not contain a"),
        ("string s any", "s = a or s = b", "s != a and s != b"),
        ("s = a", "s contains b", "s = a"),
        ("s = ab", "s contains b", "not []"),
        ("y = 1", "x any", "x absent and y = 1"),
    ],
)
def test_a_difference_is_as_short_as_it_plainly_can_be(
    left: str, right: str, left_over: str
) -> None:
    found = difference(parse_predicate(left), parse_predicate(right))
    assert str(found) == left_over
    assert parse_predicate(f"({left}) except ({right})") == found


def test_many_values_of_one_attribute_leave_few_alternatives() -> None:
    values = ", ".join(f"v{i}" for i in range(200))
    assert len(parse_predicate(f"[] except s in ({values})")) == 3


def test_what_becomes_too_large_is_refused_where_it_begins() -> None:
    names = " or ".join(f"x{i} = 1" for i in range(7))
    with pytest.raises(LimitError, match="FILTERS_MAX") as refused:
        parse_predicate(f"a = 1 and [] except {names}")
    assert FILTERS_MAX < 3**7
    assert "column 1" in str(refused.value)


@pytest.mark.timeout(60)
def test_what_would_take_too_long_is_refused() -> None:
    filters = " or ".join(
        "(" + " and ".join(f"x{i}_{j} = 1" for j in range(200)) + ")" for i in range(40)
    )
    with pytest.raises(LimitError):
        parse_predicate(f"[] except {filters}")
