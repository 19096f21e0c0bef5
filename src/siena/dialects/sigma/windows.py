"""Windows events as attributes: ``Event.EventData.Image`` is ``Image``.

Rules name fields without the path that the log's JSON has to them.  So every value is
an attribute by its last name; what stands in ``#attributes`` is joined to the element
that has them, as in ``Provider_Name``.
"""

from collections.abc import Iterator

from siena.errors import InvalidFormError, LimitError
from siena.lang.json_text import Json
from siena.model.limits import ATTRIBUTES_MAX, NESTING_MAX
from siena.model.values import Value, as_value

_ATTRIBUTES = "#attributes"
# Where the same name occurs twice, the data of the event wins over its envelope.
_PARTS = ("System", "UserData", "EventData")


def windows_attributes(event: Json) -> dict[str, Value]:
    """The attributes of an event in the JSON form of evtx tools.

    >>> windows_attributes({"Event": {"System": {"EventID": 1, "Provider":
    ...     {"#attributes": {"Name": "Sysmon"}}}, "EventData": {"Image": "a.exe"}}})
    {'EventID': 1, 'Provider_Name': 'Sysmon', 'Image': 'a.exe'}
    """
    if not isinstance(event, dict) or not isinstance(event.get("Event"), dict):
        raise InvalidFormError('a Windows event is an object with an "Event" in it')
    body = event["Event"]
    assert isinstance(body, dict)
    found: dict[str, Value] = {}
    for part in _PARTS:
        for name, value in _leaves(body.get(part), "", NESTING_MAX):
            found[name] = value
            if len(found) > ATTRIBUTES_MAX:
                what = "attributes in a notification"
                raise LimitError("ATTRIBUTES_MAX", ATTRIBUTES_MAX, what)
    return found


def _leaves(form: Json, name: str, depth: int) -> Iterator[tuple[str, Value]]:
    if depth == 0:
        raise LimitError("NESTING_MAX", NESTING_MAX, "objects inside each other")
    if isinstance(form, dict):
        for key, value in form.items():
            if key == _ATTRIBUTES:
                yield from _attributes(value, name)
            else:
                yield from _leaves(value, name if key == "#text" else key, depth - 1)
    elif isinstance(form, list):
        # Several data without names: the last one stands for all.
        for value in form:
            yield from _leaves(value, name, depth - 1)
    elif form is not None and name:
        yield name, as_value(form)


def _attributes(form: Json, name: str) -> Iterator[tuple[str, Value]]:
    if isinstance(form, dict):
        for key, value in form.items():
            if isinstance(value, (str, int, float)):
                yield (f"{name}_{key}" if name else key), as_value(value)
