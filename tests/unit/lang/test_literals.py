"""Literals: what a token is worth."""

import math
from datetime import UTC, datetime

import pytest
from hypothesis import given, strategies as st

from siena.errors import FilterSyntaxError, SienaError
from siena.lang import parse_filter, parse_notification
from siena.model import Value
from siena.model.values import INTEGER_MAX, INTEGER_MIN


def read(literal: str, kind: str = "") -> Value:
    return parse_notification(f"{kind} x = {literal}")["x"]


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("NYSE", "NYSE"),
        ("a/b:c.d-e_f", "a/b:c.d-e_f"),
        ("_", "_"),
        ("naïve", "naïve"),
        ('""', ""),
        ('"New York"', "New York"),
        ("'it is \"quoted\"'", 'it is "quoted"'),
        (r'"\"\\\n\r\t\/\b\f"', '"\\\n\r\t/\b\f'),
        (r"'\''", "'"),
        (r'"\u0041\U00000042"', "AB"),
        (r'"\ud83d\ude00"', "\U0001f600"),  # as JSON writes it
        (r'"\u0000"', "\0"),
        (r'"\U0010ffff"', "\U0010ffff"),
        ('"a\nb"', "a\nb"),
        ('"1"', "1"),
        ('"true"', "true"),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-0", 0),
        ("+7", 7),
        ("9223372036854775807", INTEGER_MAX),
        ("-9223372036854775808", INTEGER_MIN),
        ("1.0", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-0.0", 0.0),
        ("1e3", 1000.0),
        ("1E-3", 0.001),
        ("9007199254740993", 2**53 + 1),
        ("1.7976931348623157e308", math.nextafter(math.inf, 0)),
        ("5e-324", 5e-324),
        ("2026-11-15T02:40:03Z", datetime(2026, 11, 15, 2, 40, 3, tzinfo=UTC)),
        ("2026-11-15t02:40:03z", datetime(2026, 11, 15, 2, 40, 3, tzinfo=UTC)),
        ("2026-11-15", datetime(2026, 11, 15, tzinfo=UTC)),
        ("2026-11-15T02:40Z", datetime(2026, 11, 15, 2, 40, tzinfo=UTC)),
        ("2026-11-15T02:40:03.5Z", datetime(2026, 11, 15, 2, 40, 3, 500_000, UTC)),
        ("2026-11-15T02:40:03+02:30", datetime(2026, 11, 15, 0, 10, 3, tzinfo=UTC)),
        ("2026-11-15T23:40:03-07:00", datetime(2026, 11, 16, 6, 40, 3, tzinfo=UTC)),
        ("0001-01-01T00:00:00Z", datetime(1, 1, 1, tzinfo=UTC)),
        (
            "9999-12-31T23:59:59.999999Z",
            datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC),
        ),
        (
            "9999-12-31T23:59:59.9999999Z",
            datetime(9999, 12, 31, 23, 59, 59, 999_999, UTC),
        ),
    ],
)
def test_a_literal_has_its_value_and_kind(literal: str, value: Value) -> None:
    found = read(literal)
    assert (type(found), repr(found)) == (type(value), repr(value))


@pytest.mark.parametrize(
    "literal",
    [
        "9223372036854775808",
        "-9223372036854775809",
        "1e309",
        "-1e309",
        "NaN",
        "Infinity",
        "inf",
        "-inf",
        "007",
        "-01",
        "1_000",
        "0x10",
        "12ab",
        "1.2.3",
        "2026-11-31",
        "2026-11-15T02:40:03",
        "2026-13-15T02:40:03Z",
        "2026-11-15T25:40:03Z",
        "2026-11-15T02:40:60Z",
        "2026-11-15T02:40:03.Z",
        "2026-11-15T02:40:03+2",
        "0001-01-01T00:00:00+02:00",
        "9999-12-31T23:59:59-02:00",
        "02:40:03",
        "and",
        "not",
        '"unclosed',
        r'"\q"',
        r'"\u12"',
        r'"\U00110000"',
        r'"\ud800"',
        '"\udc00"',
        "ünlaut",
        "$x",
        "",
    ],
)
def test_what_looks_like_a_literal_and_is_none_is_refused(literal: str) -> None:
    for parse in (parse_notification, parse_filter):
        with pytest.raises(SienaError) as caught:
            parse(f"x = {literal}")
        assert caught.value.place is not None
        assert caught.value.place.position >= 4


def test_a_time_of_day_needs_the_type() -> None:
    """The papers' examples have such times; they are put on the first of days."""
    expected = datetime(1970, 1, 1, 2, 40, 3, tzinfo=UTC)
    assert read("02:40:03", "time") == read("02:40:03Z", "time") == expected
    assert read("03:40:03+01:00", "time") == expected
    with pytest.raises(FilterSyntaxError, match="without a date"):
        read("02:40:03")


@pytest.mark.parametrize(
    ("kind", "literal", "value"),
    [
        ("float", "1", 1.0),
        ("float", "9007199254740992", 2.0**53),
        ("integer", "1", 1),
        ("string", "a", "a"),
        ("boolean", "true", True),
    ],
)
def test_a_type_decides_the_kind(kind: str, literal: str, value: Value) -> None:
    found = read(literal, kind)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("kind", "literal"),
    [
        ("integer", "1.5"),
        ("integer", "1.0"),
        ("float", "9007199254740993"),
        ("float", "9223372036854775807"),
        ("string", "1"),
        ("boolean", "1"),
        ("boolean", "0"),
        ("integer", "true"),
        ("time", "1"),
        ("time", '"2026-11-15T02:40:03Z"'),
        ("number", "1"),
    ],
)
def test_a_value_of_another_kind_is_refused(kind: str, literal: str) -> None:
    with pytest.raises(SienaError):
        read(literal, kind)


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers())
def test_numbers_are_read_as_python_reads_them(number: float, whole: int) -> None:
    assert read(repr(number)) == number
    if INTEGER_MIN <= whole <= INTEGER_MAX:
        assert read(str(whole)) == whole
    else:
        with pytest.raises(SienaError, match="64 bits"):
            read(str(whole))


@given(st.text())
def test_every_string_can_be_written_with_escapes_only(text: str) -> None:
    escaped = "".join(f"\\U{ord(character):08x}" for character in text)
    assert read(f'"{escaped}"') == text


@pytest.mark.parametrize("digits", ["\u0663", "\u0660\u0663", "\u0967", "\uff13"])
def test_digits_of_other_alphabets_are_not_numbers(digits: str) -> None:
    """They would be read as numbers that nobody printed; quoted, they are strings."""
    with pytest.raises(SienaError):
        read(digits)
