"""Lists: advertisements and notifications are written without logic."""

import pytest

from siena.errors import SienaError
from siena.lang import parse_advertisement, parse_notification
from siena.model import Advertisement, Kind


def test_in_gives_one_constraint_for_each_value() -> None:
    parsed = parse_advertisement("what in (login, logout), integer level in (1, 2)")
    assert len(parsed) == 4
    assert parsed == parse_advertisement(
        "what = login, what = logout, integer level = 1, integer level = 2"
    )


def test_a_list_may_be_bracketed_and_empty() -> None:
    assert parse_advertisement("[]") == Advertisement()
    assert parse_advertisement("[x any]") == parse_advertisement("x any")
    assert not parse_notification("[ ]")


@pytest.mark.parametrize(
    "text",
    [
        "x = 1 or y = 1",
        "not x = 1",
        "x = 1 then y = 1",
        "(x = 1)",
        "x not in (1)",
        "x = 1, or",
        "[x = 1",
        "x = 1]",
        "[x = 1] y",
        "x in ()",
        "x in 1",
        "x in (1, 2",
        "",
    ],
)
def test_logic_and_loose_ends_are_refused(text: str) -> None:
    for parse in (parse_advertisement, parse_notification):
        with pytest.raises(SienaError) as caught:
            parse(text)
        assert caught.value.place is not None


@pytest.mark.parametrize("text", ["x > 1", "x any", "x in (1)", "number x = 1", "x"])
def test_a_notification_says_what_is(text: str) -> None:
    with pytest.raises(SienaError):
        parse_notification(text)


def test_a_type_in_a_notification_makes_the_value() -> None:
    parsed = parse_notification("float x = 1, integer y = 1, y2 = 1")
    assert {name: Kind.of(value) for name, value in parsed.items()} == {
        "x": Kind.FLOAT,
        "y": Kind.INTEGER,
        "y2": Kind.INTEGER,
    }
