"""Values: five kinds that never blur, each in one stored form."""

import enum
import math
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given

from siena.errors import InvalidNotificationError, LimitError
from siena.model import Kind, Value
from siena.model.limits import NAME_CHARACTERS_MAX, STRING_CHARACTERS_MAX
from siena.model.values import (
    CONCRETE_KINDS,
    INTEGER_MAX,
    INTEGER_MIN,
    as_name,
    as_value,
)
from strategies import any_values


class Colour(enum.StrEnum):
    """A string that is not just a string."""

    RED = "red"


class Level(enum.IntEnum):
    """An integer that is not just an integer."""

    HIGH = 3


class Moment(datetime):
    """A time that is not just a time."""


@given(any_values)
def test_a_value_stays_as_it_is(value: Value) -> None:
    stored = as_value(value)
    assert stored == value
    assert type(stored) is type(value)
    assert as_value(stored) is stored or as_value(stored) == stored
    assert Kind.of(stored) in CONCRETE_KINDS


@pytest.mark.parametrize(
    ("given_value", "stored"),
    [
        (-0.0, 0.0),
        (Colour.RED, "red"),
        (Level.HIGH, 3),
        (INTEGER_MIN, INTEGER_MIN),
        (INTEGER_MAX, INTEGER_MAX),
        ("", ""),
        ("\0\U0010ffff", "\0\U0010ffff"),
        (5e-324, 5e-324),
        (
            datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
            datetime(2026, 1, 1, tzinfo=UTC),
        ),
        (Moment(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
        (datetime(2026, 1, 1, fold=1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_a_value_has_one_stored_form(given_value: object, stored: Value) -> None:
    found = as_value(given_value)
    assert (type(found), repr(found)) == (type(stored), repr(stored))


@pytest.mark.parametrize(
    "value",
    [
        INTEGER_MAX + 1,
        INTEGER_MIN - 1,
        10**10_000,
        math.nan,
        math.inf,
        -math.inf,
        None,
        b"bytes",
        [],
        (),
        {},
        1j,
        Decimal(1),
        timedelta(1),
        datetime(2026, 1, 1, tzinfo=UTC).date(),
        datetime(2026, 1, 1),  # noqa: DTZ001 - which is the point
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1))),
        datetime(9999, 12, 31, 23, 59, tzinfo=timezone(timedelta(hours=-1))),
        "\ud800",
        "a\udfffb",
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_value_is_refused_in_one_line(value: object) -> None:
    with pytest.raises(InvalidNotificationError) as caught:
        as_value(value)
    assert len(str(caught.value).splitlines()) == 1
    assert len(str(caught.value)) < 200
    str(caught.value).encode()


def test_kinds_never_blur() -> None:
    kinds = [Kind.of(value) for value in (False, 0, 0.0, "0")]
    assert kinds == [Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.STRING]


def test_a_wide_kind_admits_its_parts_and_not_the_other_way_round() -> None:
    for kind in Kind:
        assert kind.admits(kind)
        assert Kind.ANY.admits(kind)
        assert kind.admits(Kind.ANY) is (kind is Kind.ANY)
    assert Kind.NUMBER.admits(Kind.INTEGER)
    assert Kind.NUMBER.admits(Kind.FLOAT)
    assert not Kind.NUMBER.admits(Kind.BOOLEAN)
    assert not Kind.INTEGER.admits(Kind.NUMBER)


@given(any_values)
def test_an_untyped_operand_wants_all_numbers_and_else_its_kind(value: Value) -> None:
    wanted, kind = Kind.wanted_by(value), Kind.of(value)
    assert wanted.admits(kind)
    is_number = kind in {Kind.INTEGER, Kind.FLOAT}
    assert wanted is (Kind.NUMBER if is_number else kind)


def test_strings_and_names_have_limits() -> None:
    assert as_value("a" * STRING_CHARACTERS_MAX)
    with pytest.raises(LimitError, match="STRING_CHARACTERS_MAX"):
        as_value("a" * (STRING_CHARACTERS_MAX + 1))
    assert as_name("a" * NAME_CHARACTERS_MAX)
    with pytest.raises(LimitError, match="NAME_CHARACTERS_MAX"):
        as_name("a" * (NAME_CHARACTERS_MAX + 1))


@pytest.mark.parametrize("name", [1, None, b"x", "\ud800"])
def test_a_name_is_a_string_of_characters(name: object) -> None:
    with pytest.raises(InvalidNotificationError):
        as_name(name)
    assert as_name("") == ""
    assert type(as_name(Colour.RED)) is str
