"""Ordered kinds: one interval of keys, with holes."""

from datetime import UTC, datetime

import pytest

from siena.algebra.ordered import sat_ordered
from siena.lang import parse_filter
from siena.model import Kind, Value


@pytest.mark.parametrize(
    ("kind", "positive", "negative", "value"),
    [
        (Kind.INTEGER, "x > 3, x < 5", "[]", 4),
        (Kind.INTEGER, "x > 3, x < 5", "x = 4", None),
        (Kind.INTEGER, "x > 2.5, x < 3.5", "[]", 3),
        (Kind.INTEGER, "x = 2.5", "[]", None),
        (Kind.INTEGER, "x != 2.5", "[]", 0),
        (Kind.INTEGER, "[]", "x != 2.5", None),
        (Kind.INTEGER, "x > 1e300", "[]", None),
        (Kind.INTEGER, "x < 1e300", "[]", 0),
        (Kind.FLOAT, "x > 9007199254740992, x < 9007199254740994", "[]", None),
        (Kind.FLOAT, "x = 9007199254740993", "[]", None),
        (Kind.FLOAT, "x >= 9007199254740993", "[]", 9007199254740994.0),
        (Kind.FLOAT, "x <= -9007199254740993", "[]", -9007199254740994.0),
        (Kind.FLOAT, "x > 0, x < 1e-323", "[]", 5e-324),
        (Kind.BOOLEAN, "x > false", "[]", True),
        (Kind.BOOLEAN, "x != false", "x = true", None),
        (Kind.BOOLEAN, "[]", "boolean x any", None),
    ],
)
def test_the_value_nearest_to_zero_is_found(
    kind: Kind, positive: str, negative: str, value: Value | None
) -> None:
    found = sat_ordered(kind, parse_filter(positive), parse_filter(negative))
    assert (type(found), found) == (type(value), value)


def test_a_time_is_found_beside_an_operand() -> None:
    noon = datetime(2026, 11, 15, 12, tzinfo=UTC)
    found = sat_ordered(
        Kind.TIME,
        parse_filter(
            "t > 2026-11-15T11:59:59.999999Z, t != 2026-11-15T12:00:00.000001Z"
        ),
        parse_filter("t > 2026-11-15T12:00:00Z"),
    )
    assert found == noon


def test_nothing_lies_before_the_first_time_and_after_the_last() -> None:
    before = parse_filter("t < 0001-01-01T00:00:00Z")
    after = parse_filter("t > 9999-12-31T23:59:59.999999Z")
    assert sat_ordered(Kind.TIME, before, ()) is None
    assert sat_ordered(Kind.TIME, after, ()) is None
