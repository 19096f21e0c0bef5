"""CloudEvents as notifications: https://cloudevents.io, version 1.0, in JSON.

The attributes of an event become attributes under their names, and so do the fields of
its data that are scalars.  A field that has the name of an attribute of the event is
called ``data.NAME``.  What is nested has no place in a notification, and is counted.
"""

from typing import NamedTuple

from siena.errors import InvalidFormError
from siena.lang.json_text import Json
from siena.lang.notification_form import value_from_json
from siena.model import Notification, Value

# Attributes that the specification names; fields of data are called otherwise whether
# an event has them or not, so that one filter is enough.
CONTEXT = frozenset(
    {"specversion", "id", "source", "type", "subject", "time"}
    | {"datacontenttype", "dataschema"}
)
REQUIRED = ("specversion", "id", "source", "type")
_SCALARS = (str, bool, int, float)


class Read(NamedTuple):
    """A notification, and how much of what it was made of is not in it."""

    notification: Notification
    left_out: int


def notification_of_event(event: Json) -> Read:
    """The notification of an event.

    >>> read = notification_of_event({
    ...     "specversion": "1.0", "id": "7", "source": "/shop", "type": "order",
    ...     "data": {"id": 70, "price": 9.5, "items": [1, 2]},
    ... })
    >>> print(read.notification)
    data.id = 70 and id = "7" and price = 9.5 and source = "/shop"
    and specversion = "1.0" and type = order
    >>> read.left_out
    1

    Raises:
        SienaError: if it is no event.
    """
    if not isinstance(event, dict):
        raise InvalidFormError("a CloudEvent is a JSON object")
    for name in REQUIRED:
        if not isinstance(event.get(name), str):
            raise InvalidFormError(f"a CloudEvent has a {name}, and it is a string")
    if event["specversion"] != "1.0":
        raise InvalidFormError("this is read: CloudEvents of version 1.0")
    attributes = {
        name: _attribute(name, value)
        for name, value in event.items()
        if value is not None and name not in {"data", "data_base64"}
    }
    left_out = int(event.get("data_base64") is not None)
    data = event.get("data")
    fields = data if isinstance(data, dict) else {"data": data}
    for name, value in fields.items():
        if isinstance(value, _SCALARS):
            is_taken = name in CONTEXT or name in attributes
            attributes[f"data.{name}" if is_taken else name] = value
        elif value is not None:
            left_out += 1
    return Read(Notification(attributes), left_out)


def _attribute(name: str, value: Json) -> Value:
    return value_from_json({"time": value} if name == "time" else value, name)
