"""One constraint: its type, its name, its operator and its value."""

import pytest

from siena.errors import InvalidConstraintError, SienaError
from siena.lang import parse_filter
from siena.model import Constraint, Kind, Operator


@pytest.mark.parametrize(
    ("text", "constraint"),
    [
        ("x = 1", Constraint("x", Operator.EQ, 1)),
        ("integer x = 1", Constraint("x", Operator.EQ, 1, Kind.INTEGER)),
        ("number x any", Constraint("x", Operator.ANY, None, Kind.NUMBER)),
        ("x any", Constraint("x", Operator.ANY)),
        ("time any", Constraint("time", Operator.ANY)),
        ("integer time = 1", Constraint("time", Operator.EQ, 1, Kind.INTEGER)),
        ('time "x y" exists', Constraint("x y", Operator.ANY, None, Kind.TIME)),
        ("string string starts with a", Constraint("string", Operator.PREFIX, "a")),
        ("string contains a", Constraint("string", Operator.SUBSTRING, "a")),
        ('"and" = "or"', Constraint("and", Operator.EQ, "or")),
        ('"" = ""', Constraint("", Operator.EQ, "")),
        ("with starts with with", Constraint("with", Operator.PREFIX, "with")),
    ],
)
def test_a_constraint_is_read_as_it_is_written(
    text: str, constraint: Constraint
) -> None:
    assert parse_filter(text).constraints == (constraint,)


@pytest.mark.parametrize(
    "text",
    [
        "x >* 1",
        "x *< true",
        "x * 2026-11-15T02:40:03Z",
        "integer x >* 1",
        "string x = 1",
        "boolean x = 1",
        "integer x = 1.5",
        "float x = 9007199254740993",
        "number x = true",
        "time x = 1",
    ],
)
def test_parts_that_do_not_go_together_are_refused_at_the_value(text: str) -> None:
    with pytest.raises(InvalidConstraintError) as caught:
        parse_filter(text)
    assert caught.value.place is not None
    assert caught.value.place.position == text.rindex(" ") + 1


@pytest.mark.parametrize(
    "text", ["foo x = 1", "and = 1", "x starts a", "any x = 1", "= 1"]
)
def test_a_constraint_out_of_order_is_refused(text: str) -> None:
    with pytest.raises(SienaError):
        parse_filter(text)
