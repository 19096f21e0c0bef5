"""Events as attributes: JSON of any depth by path, Windows events by their last names.

``{"detail": {"tags": ["a", "b"]}}`` is ``detail.tags``, with two values.  An event of
Windows' log (``{"Event": …}``) has its attributes under the names that rules call them
by; other mappings are said with ``renamed``.
"""

from collections.abc import Mapping

from siena.dialects.aws.events import flatten
from siena.dialects.sigma.windows import windows_attributes
from siena.errors import InvalidFormError
from siena.lang.json_text import Json, read_json
from siena.lang.parser import parse_notification
from siena.model.expression.evaluation import Values

Event = Mapping[str, Values]


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


def event_of(form: Json, renamed: Mapping[str, str] | None = None) -> Event:
    """The attributes of an event that was read from JSON."""
    if not isinstance(form, dict):
        raise InvalidFormError("an event is a JSON object")
    if isinstance(form.get("Event"), dict):
        return _renamed(dict(windows_attributes(form)), renamed)
    return _renamed(dict(flatten(form, with_nulls=False)), renamed)


def is_plain(event: Event) -> bool:
    """Whether every attribute has one value."""
    return tuple not in map(type, event.values())


def _renamed(event: dict[str, Values], renamed: Mapping[str, str] | None) -> Event:
    if not renamed:
        return event
    return {renamed.get(name, name): value for name, value in event.items()}
