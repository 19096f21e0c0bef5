"""How a text relates to what is wanted, beside asking the algebra about each."""

import pytest

from questioning import indexed, viewer
from siena import covers, parse_interest, parse_notification
from siena.algebra.sat import witness
from siena.broker.questions import relating
from siena.broker.questions.reading import mistake, read_text
from siena.broker.questions.relating import describe, matching, relate
from siena.errors import SienaError
from siena.model import Notification, Pattern

WANTED = ("x > 3", "x > 5", "x any", "x > 3 and y = 1", "y = 1", "x in (4, 9)", "[]")
TEXTS = (*WANTED, "x > 4 or y any", "x absent", "not []", "x > 3 and x < 2")


@pytest.mark.parametrize("text", TEXTS)
def test_relations_are_those_of_the_algebra(text: str) -> None:
    index = indexed(*WANTED)
    said = relate(read_text(text, "siena"), index, viewer())
    interest = parse_interest(text)
    assert not isinstance(interest, Pattern)
    below = {str(f) for f in index.filters if covers(interest, f)}
    above = {str(f) for f in index.filters if covers(f, interest)}
    # What contradicts itself is covered by all; it is not looked for under other names.
    if describe(interest)["satisfiable"]:
        assert {each["text"] for each in said["covered_by"]["shown"]} == above
    assert {each["text"] for each in said["covers"]["shown"]} == below
    assert said["complete"]


def test_an_example_shows_what_is_outside() -> None:
    said = relate(read_text("x > 4", "siena"), indexed("x > 3"), viewer())
    assert said["outside"] == {
        "text": "x > 3",
        "notification": {"x": 4},
        "example": "x = 4",
    }


@pytest.mark.parametrize(
    "text",
    [
        "float x > 0.5 and day > 2024-01-01",
        "x > 9007199254740993",
        't = "true" and n = "12" and s = "a b" and "and" any',
        'day = "2024-01-01"',
    ],
)
def test_examples_are_texts_that_read_back(text: str) -> None:
    """In JSON a page would lose the kinds of some values."""
    interest = parse_interest(text)
    assert not isinstance(interest, Pattern)
    example = parse_notification(describe(interest)["example"])
    assert example == witness(interest)
    wider = " and ".join(f'"{name}" any' for name in example)
    said = relate(interest, indexed(wider), viewer())["outside"]["example"]
    assert not interest.matches(parse_notification(said))


def test_an_advertisement_overlaps_with_what_is_wanted_of_it() -> None:
    offer = read_text("x < 5, y any", "advertisement")
    said = relate(offer, indexed("x > 3", "x > 7", "z any"), viewer())
    assert [each["text"] for each in said["overlaps"]["shown"]] == ["x > 3"]
    assert describe(offer)["kind"] == "advertisement"


def test_nothing_is_related_to_that_may_not_be_seen() -> None:
    said = relate(
        read_text("x any", "siena"), indexed("x = 1", "x = 2"), viewer(subscribe="x=1")
    )
    assert [each["text"] for each in said["covers"]["shown"]] == ["x = 1"]
    assert said["wanted"] == 1


def test_nothing_takes_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relating, "SECONDS_MAX", -1.0)
    said = relate(read_text("x any", "siena"), indexed("x = 1"), viewer())
    assert not said["complete"]


def test_patterns_are_described_step_by_step() -> None:
    said = describe(read_text("x > 3 then y any", "siena"))
    assert (said["kind"], len(said["steps"])) == ("pattern", 2)
    assert said["steps"][0]["witness"] == {"x": 4}
    assert said["steps"][0]["example"] == "x = 4"
    said = relate(read_text("x > 3 then y any", "siena"), indexed(), viewer())
    assert (said["wanted"], said["complete"]) == (0, True)


def test_rules_of_other_languages_are_read() -> None:
    said = describe(read_text("price < 5 AND a.b = 'x'", "sql"))
    assert said["kind"] == "filter"
    rule = describe(read_text("bid < ask", "sql"))
    assert rule["kind"] == "rule"
    assert relate(read_text("bid < ask", "sql"), indexed("bid any"), viewer())[
        "covers"
    ] == {"count": 0, "shown": []}


def test_notifications_that_match_are_named_and_bad_ones_passed_over() -> None:
    found = [Notification({"x": 4}), None, Notification({"x": 1})]
    assert matching(read_text("x > 3", "siena"), found) == [0]
    assert matching(read_text("x any", "advertisement"), found) == [0, 2]
    assert matching(read_text("x = 1 then x = 4", "siena"), found) == [0, 2]


@pytest.mark.parametrize(
    ("dialect", "text", "place"),
    [("siena", "level >> 2", 6), ("sql", "price <", 7), ("none", "x", None)],
)
def test_a_mistake_is_told_with_its_place(
    dialect: str, text: str, place: int | None
) -> None:
    with pytest.raises(SienaError) as caught:
        read_text(text, dialect)
    assert mistake(caught.value).get("position") == place
