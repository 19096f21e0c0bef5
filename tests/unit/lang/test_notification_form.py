"""The JSON form of notifications."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given

from siena.errors import SienaError
from siena.lang import (
    notification_from_json,
    notification_to_json,
    parse_notification,
)
from siena.lang.json_text import Json, read_json
from siena.lang.notification_form import value_from_json, value_to_json
from siena.model import Notification, Value
from strategies import any_notifications, any_values


@given(any_notifications)
@example(Notification(x=1, y=1.0, z=True))
@example(Notification({"time": datetime(1, 1, 1, tzinfo=UTC)}))
def test_a_notification_survives_json(notification: Notification) -> None:
    text = json.dumps(notification_to_json(notification))
    assert notification_from_json(json.loads(text)) == notification
    assert notification_from_json(read_json(text)) == notification
    assert parse_notification(text) == notification


@given(any_values)
def test_a_value_survives_json(value: Value) -> None:
    back = value_from_json(json.loads(json.dumps(value_to_json(value))))
    assert (type(back), back) == (type(value), value)


def test_null_means_that_the_attribute_is_absent() -> None:
    assert notification_from_json({"x": None, "y": 1}) == Notification(y=1)


@pytest.mark.parametrize(
    "form",
    [
        [],
        "x = 1",
        None,
        1,
        {"x": []},
        {"x": {}},
        {"x": {"time": 1}},
        {"x": {"time": "noon"}},
        {"x": {"time": "2026-11-31"}},
        {"x": {"time": "2026-11-15T00:00:00"}},
        {"x": {"time": "2026-11-15T00:00:00Z and"}},
        {"x": {"time": "2026-11-15T00:00:00Z", "zone": "UTC"}},
        {"x": 2**63},
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": "\ud800"},
        {"\ud800": 1},
        {"x" * 2000: 1},
    ],
)
def test_what_is_not_a_notification_is_refused_in_one_line(form: Json) -> None:
    with pytest.raises(SienaError) as caught:
        notification_from_json(form)
    assert "\n" not in str(caught.value)
    str(caught.value).encode()


def test_an_error_names_the_attribute() -> None:
    with pytest.raises(SienaError, match="level: nan"):
        notification_from_json({"level": float("nan")})
    with pytest.raises(SienaError, match="level"):
        notification_from_json({"level": [1]})
