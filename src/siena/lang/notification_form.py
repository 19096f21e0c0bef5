"""The JSON form of values and notifications.

``{"what": "alarm", "level": 5, "date": {"time": "2026-11-15T02:40:03Z"}}``: JSON
``1`` is an integer and ``1.0`` a float, and ``null`` means that the attribute is
absent.
"""

from collections.abc import Mapping
from datetime import datetime

from siena.errors import InvalidFormError, SienaError
from siena.lang.json_text import Json, read_json
from siena.lang.literals import read_literal
from siena.lang.scanner import TIME, Scanner
from siena.model import Kind, Notification, Value
from siena.model.spelling import spell_string, spell_time


def notification_to_json(notification: Mapping[str, Value]) -> dict[str, Json]:
    """The form of a notification, ready for any JSON writer."""
    return {name: value_to_json(value) for name, value in notification.items()}


def notification_from_json(form: Json) -> Notification:
    """The notification of a form.

    >>> print(notification_from_json({"level": 5, "where": None}))
    level = 5
    """
    if not isinstance(form, dict):
        raise InvalidFormError("a notification is a JSON object")
    return Notification(
        (name, value_from_json(value, name))
        for name, value in form.items()
        if value is not None
    )


def notification_from_text(text: str) -> Notification:
    """The notification of a JSON text."""
    try:
        return notification_from_json(read_json(text))
    except SienaError as error:
        raise error.at(text, len(text) - len(text.lstrip())) from None


def value_to_json(value: Value) -> Json:
    """The form of one value: times are objects, everything else is itself."""
    if isinstance(value, datetime):
        return {"time": spell_time(value)}
    return value


def value_from_json(form: Json, name: str = "value") -> Value:
    """The value of a form; ``name`` is what an error calls it.

    >>> value_from_json({"time": "1998-03-04T18:43:37Z"})
    datetime.datetime(1998, 3, 4, 18, 43, 37, tzinfo=datetime.timezone.utc)
    """
    if isinstance(form, (str, bool, int, float)):
        return form
    if isinstance(form, dict) and form.keys() == {"time"}:
        text = form["time"]
        if isinstance(text, str):
            return _time_from_text(text, name)
    raise InvalidFormError(
        f"{spell_string(name)}: a value is a string, a number, a boolean or a time",
        hint='write times as {"time": "2026-11-15T00:00:00Z"}',
    )


def _time_from_text(text: str, name: str) -> Value:
    try:
        scanner = Scanner(text)
        if scanner.kind == TIME and scanner.end == len(text):
            return read_literal(scanner, Kind.TIME)
    except SienaError as error:
        raise InvalidFormError(f"{spell_string(name)}: {error.message}") from None
    raise InvalidFormError(
        f"{spell_string(name)}: {text[:40]!r} is not a time",
        hint="write it as 2026-11-15T00:00:00Z",
    )
