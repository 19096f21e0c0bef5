"""Notifications: immutable mappings whose equality respects kinds."""

import copy
import math
import pickle
from collections.abc import Mapping
from datetime import datetime

import pytest
from hypothesis import given

from siena.errors import InvalidNotificationError, LimitError, SienaError
from siena.model import Notification, Value
from siena.model.limits import ATTRIBUTES_MAX
from strategies import any_notifications, notifications


@given(any_notifications)
def test_a_notification_is_a_mapping_sorted_by_name(notification: Notification) -> None:
    attributes = dict(notification)
    assert isinstance(notification, Mapping)
    assert list(notification) == sorted(attributes)
    assert len(notification) == len(attributes)
    for name, value in notification.items():
        assert value == notification.get(name) == value
        assert name in notification
    assert notification.get("no such name") is None
    assert notification.get("no such name", 3) == 3
    with pytest.raises(KeyError):
        notification["no such name"]


@given(any_notifications)
def test_a_notification_survives_pickling_and_copying(
    notification: Notification,
) -> None:
    pickled = pickle.loads(pickle.dumps(notification))  # noqa: S301
    for other in (pickled, copy.copy(notification), copy.deepcopy(notification)):
        assert other == notification
        assert hash(other) == hash(notification)
        assert str(other) == str(notification)


@given(notifications(), notifications())
def test_equal_means_the_same_values_of_the_same_kinds(
    left: Notification, right: Notification
) -> None:
    same = [(n, type(v), v) for n, v in left.items()] == [
        (n, type(v), v) for n, v in right.items()
    ]
    assert (left == right) is same
    assert (left != right) is not same
    if same:
        assert hash(left) == hash(right)


def test_kinds_never_blur() -> None:
    alike = [Notification(x=v) for v in (False, 0, 0.0, "0")]
    assert len(set(alike)) == 4
    assert Notification(x=-0.0) == Notification(x=0.0)


def test_a_notification_is_not_a_dictionary() -> None:
    assert Notification(x=1) != {"x": 1}
    assert Notification(x=1) != {"x": 1}


def test_names_may_be_given_in_three_ways() -> None:
    expected = Notification(a=1, b=2)
    assert Notification({"a": 1, "b": 2}) == expected
    assert Notification([("b", 2), ("a", 1)]) == expected
    assert Notification({"a": 1}, b=2) == expected
    assert Notification(expected) == expected
    assert Notification(self=1, attributes=2)["attributes"] == 2


@pytest.mark.parametrize(
    "pairs", [[("a", 1), ("a", 1)], [("a", 1), ("b", 1), ("a", True)]]
)
def test_a_name_occurs_once(pairs: list[tuple[str, Value]]) -> None:
    with pytest.raises(InvalidNotificationError, match='two attributes are called "a"'):
        Notification(pairs)
    with pytest.raises(InvalidNotificationError, match="two attributes"):
        Notification({"b": 1}, b=1)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ({"x": None}, "x: a NoneType is not a value"),
        ({"x": math.nan}, "x: nan is not a value"),
        ({"x": 2**63}, "x: 9223372036854775808 does not fit in 64 bits"),
        ({"x y": []}, '"x y": a list is not a value'),
        ({"x": datetime(2026, 1, 1)}, "x: 2026-01-01T00:00:00 has no time zone"),  # noqa: DTZ001
        ({"x": "\ud800"}, "x: U+D800 is half of a character"),
        ({1: 1}, "an attribute's name is a string, not a int"),
    ],
)
def test_an_error_names_the_attribute(
    attributes: dict[str, Value], message: str
) -> None:
    with pytest.raises(InvalidNotificationError) as caught:
        Notification(attributes)
    assert caught.value.message == message


def test_an_error_is_one_line_whatever_the_name() -> None:
    with pytest.raises(SienaError) as caught:
        Notification([("a\nb", 1), ("a\nb", 2)])
    assert len(str(caught.value).splitlines()) == 1


def test_too_many_attributes_are_refused() -> None:
    assert (
        len(Notification((str(n), n) for n in range(ATTRIBUTES_MAX))) == ATTRIBUTES_MAX
    )
    with pytest.raises(LimitError, match="ATTRIBUTES_MAX"):
        Notification((str(n), n) for n in range(ATTRIBUTES_MAX + 1))


def test_a_notification_does_not_change() -> None:
    notification = Notification(x=1)
    with pytest.raises(TypeError):
        notification["x"] = 2  # type: ignore[index]
    with pytest.raises(TypeError):
        del notification["x"]  # type: ignore[attr-defined]
    for name in ("x", "_attributes", "_hash"):
        with pytest.raises(AttributeError):
            setattr(notification, name, {})
        with pytest.raises(AttributeError):
            delattr(notification, name)
    assert notification == Notification(x=1)


def test_a_dictionary_that_was_given_may_change_later() -> None:
    attributes: dict[str, Value] = {"x": 1}
    notification = Notification(attributes)
    attributes["x"] = 2
    assert notification["x"] == 1


def test_the_empty_notification_is_legal() -> None:
    assert not Notification()
    assert str(Notification()) == "[]"
