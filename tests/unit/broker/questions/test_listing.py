"""What is wanted, searched and put in order."""

import pytest

from questioning import indexed, viewer
from siena.broker.questions.listing import WORDS_MAX, list_interests, words
from siena.errors import LimitError
from siena.model import Notification

TEXTS = ("price > 100 and symbol = DIS", "price any", "level > 3", "price > 50")


def test_filters_stand_above_those_that_they_cover() -> None:
    said = list_interests(indexed(*TEXTS), viewer(), "", (10, 0))
    shown = {each["text"]: each for each in said["shown"]}
    roots = {text for text, each in shown.items() if each["root"]}
    assert roots == {"price any", "level > 3"}
    below = [said["shown"][place]["text"] for place in shown["price any"]["covers"]]
    assert below == ["price > 50"]
    assert (said["filters"], said["held"], said["complete"]) == (4, 4, True)


def test_words_are_looked_for_in_names_and_values() -> None:
    index = indexed(*TEXTS)
    found = list_interests(index, viewer(), "dis PRICE", (10, 0))
    assert [each["text"] for each in found["shown"]] == [TEXTS[0]]
    assert list_interests(index, viewer(), "none", (10, 0))["found"] == 0


def test_words_are_compared_once_and_not_too_many_of_them() -> None:
    index = indexed(*TEXTS)
    assert list_interests(index, viewer(), "dis " * 5_000, (10, 0))["found"] == 1
    many = " ".join(f"w{place}" for place in range(WORDS_MAX + 1))
    with pytest.raises(LimitError, match="more than 16 words"):
        list_interests(index, viewer(), many, (10, 0))


def test_who_wants_a_notification_is_found_page_by_page() -> None:
    index, n = indexed(*TEXTS), Notification({"price": 70})
    found = list_interests(index, viewer(), n, (1, 1))
    assert (found["found"], found["offset"], len(found["shown"])) == (2, 1, 1)


def test_names_are_offered_with_their_values() -> None:
    first, *_ = words(indexed(*TEXTS), viewer())
    assert (first["name"], first["filters"]) == ("price", 3)
    symbol = next(e for e in words(indexed(*TEXTS), viewer()) if e["name"] == "symbol")
    assert symbol["values"] == ["DIS"]


def test_what_is_offered_is_spelled_as_it_stands_in_a_filter() -> None:
    wanted = '"the city" = "New York" and "the city" != "or"'
    index = indexed(wanted, f'"the city" = "{"x" * 61}"')
    (found,) = words(index, viewer())
    assert (found["name"], found["text"]) == ("the city", '"the city"')
    assert found["values"] == ['"New York"', '"or"']


def test_names_of_what_may_not_be_seen_are_not_offered() -> None:
    found = words(indexed(*TEXTS), viewer(subscribe="level any"))
    assert [each["name"] for each in found] == ["level"]
    listed = list_interests(indexed(*TEXTS), viewer(subscribe="level any"), "", (9, 0))
    assert [each["text"] for each in listed["shown"]] == ["level > 3"]
