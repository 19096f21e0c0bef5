"""JSON events as attributes by path: ``{"a": {"b": 1}}`` is ``a.b = 1``.

A field with several values, in an array, is multi-valued: its values are a tuple.
Objects inside arrays are not told apart, and ``null`` is absent.
"""

from collections.abc import Iterator, Mapping

from siena.errors import InvalidFormError, LimitError
from siena.lang.json_text import Json
from siena.model.expression.evaluation import Values
from siena.model.limits import ATTRIBUTES_MAX, NESTING_MAX
from siena.model.values import Value, as_value


def flatten(event: Json) -> Mapping[str, Values]:
    """The attributes of an event.

    >>> flatten({"source": "ec2", "detail": {"tags": ["a", "b"], "size": 5}})
    {'source': 'ec2', 'detail.tags': ('a', 'b'), 'detail.size': 5}
    """
    if not isinstance(event, dict):
        raise InvalidFormError("an event is a JSON object")
    found: dict[str, list[Value]] = {}
    several: set[str] = set()
    for path, value, is_one in _leaves(event, "", NESTING_MAX, is_one=True):
        found.setdefault(path, []).append(value)
        if not is_one:
            several.add(path)
        if len(found) > ATTRIBUTES_MAX:
            what = "attributes in a notification"
            raise LimitError("ATTRIBUTES_MAX", ATTRIBUTES_MAX, what)
    return {
        path: tuple(values) if path in several else values[-1]
        for path, values in found.items()
    }


def _leaves(
    form: Json, path: str, depth: int, *, is_one: bool
) -> Iterator[tuple[str, Value, bool]]:
    if depth == 0:
        raise LimitError("NESTING_MAX", NESTING_MAX, "objects inside each other")
    if isinstance(form, dict):
        for key, value in form.items():
            name = f"{path}.{key}" if path else key
            yield from _leaves(value, name, depth - 1, is_one=is_one)
    elif isinstance(form, list):
        for value in form:
            yield from _leaves(value, path, depth - 1, is_one=False)
    elif form is not None:
        yield path, as_value(form), is_one
