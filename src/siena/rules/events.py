"""Events as attributes: JSON of any depth by path, Windows events by their last names.

``{"detail": {"tags": ["a", "b"]}}`` is ``detail.tags``, with two values.  An event of
Windows' log (``{"Event": …}``) has its attributes under the names that rules call them
by, unless paths are asked for; other mappings are said with ``renamed``.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from siena.dialects.aws.events import flatten
from siena.dialects.sigma.windows import windows_attributes
from siena.errors import SienaError
from siena.lang.json_text import Json, read_json
from siena.lang.notification_form import notification_from_json, value_from_json
from siena.lang.parser import parse_notification
from siena.model.expression.evaluation import Values
from siena.model.values import as_value

Event = Mapping[str, Values]
# How events of any depth are read: by their paths, or as those of Windows' log.
Nested = Literal["path", "windows"]


def read_event(text: str, renamed: Mapping[str, str] | None = None) -> Event:
    """The attributes of an event in JSON, or in our own notation.

    >>> read_event("x = 1, y = two") == {"x": 1, "y": "two"}
    True
    >>> read_event('{"a": {"b": [1, 2]}}', {"a.b": "c"})
    {'c': (1, 2)}
    """
    if text.lstrip()[:1] in {"{", "["}:
        return event_of(read_json(text), renamed)
    return _renamed(dict(parse_notification(text)), renamed)


def read_nested(text: str, nested: Nested) -> Event:
    """The attributes of an event in JSON; of a Windows event only, if that is wanted.

    >>> read_nested('{"Event": {"EventData": {"Image": "a.exe"}}}', "windows")
    {'Image': 'a.exe'}
    >>> read_nested('{"Event": {"kind": "party"}, "id": 7}', "path")
    {'Event.kind': 'party', 'id': 7}
    >>> read_nested('{"a": {"b": 1}}', "windows")
    Traceback (most recent call last):
    siena.errors.InvalidFormError: a Windows event is an object with an "Event" in it
    """
    return nested_event(read_json(text), nested)


def nested_event(form: Json, nested: Nested) -> Event:
    """The attributes of an event that was read from JSON, nested in this way."""
    return dict(windows_attributes(form)) if nested == "windows" else _by_path(form)


def read_several(text: str, many: frozenset[str]) -> Event:
    """The attributes of an event in our JSON form, some of which are arrays.

    >>> read_several('{"x": [1, 2], "y": 3}', frozenset({"x"}))
    {'y': 3, 'x': (1, 2)}
    """
    form = read_json(text)
    if not isinstance(form, dict):
        return dict(notification_from_json(form))  # which says what is wrong
    several = {n: v for n, v in form.items() if n in many and isinstance(v, list)}
    plain = notification_from_json({n: v for n, v in form.items() if n not in several})
    return dict(plain) | {
        name: tuple(value_from_json(v, name) for v in values if v is not None)
        for name, values in several.items()
    }


def checked_nested(nested: str | None) -> Nested | None:
    """How events are nested, if that is one of the ways.

    Raises:
        SienaError: if it is none.
    """
    for way in get_args(Nested):
        if nested == way:
            return way  # type: ignore[no-any-return]
    if nested is not None:
        raise SienaError(
            f"{nested!r} is not how events are nested", hint="path or windows"
        )
    return None


def event_of(form: Json, renamed: Mapping[str, str] | None = None) -> Event:
    """The attributes of an event that was read from JSON, whichever kind it is."""
    if isinstance(form, dict) and isinstance(form.get("Event"), dict):
        return _renamed(dict(windows_attributes(form)), renamed)
    return _renamed(_by_path(form), renamed)


def is_plain(event: Event) -> bool:
    """Whether every attribute has one value."""
    return tuple not in map(type, event.values())


def _by_path(form: Json) -> dict[str, Values]:
    return dict(flatten(form, with_nulls=False, as_one=as_value))


def _renamed(event: dict[str, Values], renamed: Mapping[str, str] | None) -> Event:
    if not renamed:
        return event
    return {renamed.get(name, name): value for name, value in event.items()}
