"""Events of EventBridge: arrays of objects, and what is there at all."""

import pytest

from siena.dialects.aws import read_eventbridge
from siena.dialects.aws.events import NULL, event_matches, flatten, views
from siena.errors import LimitError
from siena.lang.json_text import Json, read_json

PEOPLE = """{"people": [
    {"first": "Anna", "last": "Smith", "tags": ["x", "y"]},
    {"first": "John", "last": "Doe"},
    [{"first": "Peter", "last": "Jones", "age": 40}]
]}"""


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ('{"people": {"first": ["Anna"]}}', True),
        ('{"people": {"first": ["Peter"], "last": ["Jones"]}}', True),
        ('{"people": {"first": ["Anna"], "last": ["Jones"]}}', False),
        ('{"people": {"first": ["Anna"], "last": [{"prefix": "S"}]}}', True),
        ('{"people": {"first": ["John"], "last": [{"anything-but": "Doe"}]}}', False),
        ('{"people": {"first": ["Anna"], "tags": ["y"]}}', True),
        ('{"people": {"first": ["John"], "tags": ["y"]}}', False),
        ('{"people": {"age": [{"numeric": [">", 30, "<", 50]}]}}', True),
        # Whether a field is there is asked of the whole event.
        ('{"people": {"first": ["Anna"], "age": [{"exists": false}]}}', False),
        ('{"people": {"first": ["Anna"], "size": [{"exists": false}]}}', True),
        ('{"people": {"first": ["Anna"], "age": [{"exists": true}]}}', False),
        ('{"people": {"$or": [{"first": ["Anna"]}, {"last": ["No"]}]}}', True),
    ],
)
def test_two_fields_never_match_in_different_elements_of_one_array(
    pattern: str, *, expected: bool
) -> None:
    found = event_matches(read_eventbridge(pattern), read_json(PEOPLE))
    assert found is expected


def test_values_in_an_array_belong_to_every_choice() -> None:
    event: Json = {"a": [1, {"b": 2}, {"b": 3}]}
    assert list(views(event)) == [{"a": (1,), "a.b": 2}, {"a": (1,), "a.b": 3}]
    both = read_eventbridge('{"a": [1], "a.b": [3]}')
    assert event_matches(both, event)


def test_fields_of_two_arrays_match_in_any_elements() -> None:
    event: Json = {"a": [{"x": 1}, {"x": 2}], "b": [{"y": 1}, {"y": 2}]}
    pattern = read_eventbridge('{"a": {"x": [1]}, "b": {"y": [2]}}')
    assert event_matches(pattern, event)


def test_a_name_with_dots_is_a_path() -> None:
    event: Json = {"a": {"b": 1}, "a.b": 2}
    assert flatten(event) == {"a.b": (1, 2)}
    assert event_matches(read_eventbridge('{"a": {"b": [2]}}'), event)


def test_null_is_a_value_unless_it_is_not_wanted() -> None:
    assert flatten({"a": None}) == {"a": NULL}
    assert flatten({"a": None}, with_nulls=False) == {}


def test_large_integers_are_the_doubles_that_they_are_there() -> None:
    assert flatten({"a": 10**20}) == {"a": 1e20}


def test_choices_have_a_limit() -> None:
    event: Json = {name: [{"x": n} for n in range(50)] for name in "abc"}
    with pytest.raises(LimitError, match="COMBINATIONS_MAX"):
        list(views(event))
