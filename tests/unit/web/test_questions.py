"""What the console asks about filters, and what it is answered."""

import pytest

from siena import covers, parse_interest
from siena.model import Pattern
from siena.web import questions
from siena.web.questions import Relations, Why, answer_relations, answer_why

FILTERS = ["x > 3", "x > 5", "x any", "x > 3 and y = 1", "y = 1", "x in (4, 9)"]


@pytest.mark.parametrize("text", [*FILTERS, "x > 4 or y any", "x absent", "not []"])
def test_relations_are_those_of_the_algebra(text: str) -> None:
    said = answer_relations(Relations(text, FILTERS))
    interest = parse_interest(text)
    assert not isinstance(interest, Pattern)
    for place, other_text in enumerate(FILTERS):
        other = parse_interest(other_text)
        assert not isinstance(other, Pattern)
        assert (place in said["covers"]) == covers(interest, other)
        assert (place in said["covered_by"]) == covers(other, interest)
    assert said["complete"]


def test_notifications_that_match_are_named_and_bad_ones_passed_over() -> None:
    notifications = [{"x": 4}, {"x": "4"}, ["no notification"], {"x": 9, "y": None}]
    asked = Relations("x > 3", [], notifications)
    assert answer_relations(asked)["matches"] == [0, 3]


def test_a_mistake_is_told_with_its_place() -> None:
    said = answer_relations(Relations("level >> 2"))
    assert (said["position"], said["error"]) == (6, '">>" is not an operator')
    assert answer_why(Why("x ="))["error"]


def test_what_cannot_be_compared_is_passed_over() -> None:
    filters = ["x any then y any", "x > 3 and a very long text that was cut…", "x = 4"]
    assert answer_relations(Relations("x any", filters))["covers"] == [2]
    assert answer_why(Why("x = 4", filters))["wanted_by"] == [2]


def test_nothing_takes_longer_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(questions, "SECONDS_MAX", -1.0)
    assert not answer_relations(Relations("x any", FILTERS))["complete"]
    assert not answer_why(Why("x = 4", FILTERS))["complete"]
    assert answer_why(Why("x = 4", []))["complete"]


def test_the_nearest_come_first() -> None:
    said = answer_why(Why("x = 4, y = 2", ["x > 5 and y = 1", "x > 5", "x any"]))
    assert [each["filter"] for each in said["refused"]] == [1, 0]
    assert said["wanted_by"] == [2]
