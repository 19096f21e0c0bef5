"""JSON events as attributes by path: ``{"a": {"b": 1}}`` is ``a.b = 1``.

A field with several values, in an array, is multi-valued: its values are a tuple.
``null`` is a value of its own, :data:`NULL`, which is equal to itself and to nothing
else: a pattern tells it from an absent field.

Objects inside an array are told apart by :func:`views`: one flat event for each choice
of an element.  A pattern matches an event if it matches one of these, because two
fields never match in different elements of one array.  Only whether a field is there at
all is asked of the whole event.

Reference:
    Amazon EventBridge, event patterns; the README of aws/event-ruler, "JSON array
    matching".
"""

import math
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime

from siena.dialects.aws.numbers import as_number, without_order
from siena.errors import InvalidFormError, LimitError
from siena.lang.json_text import Json
from siena.model import Constraint, Operator
from siena.model.expression import Call, Expression, Literal, call, holds, names_of
from siena.model.expression.evaluation import Values
from siena.model.limits import ATTRIBUTES_MAX, COMBINATIONS_MAX, NESTING_MAX
from siena.model.values import Value

# No JSON has times, so no other value is equal to this one, or of its kind.
NULL = datetime(1, 1, 1, tzinfo=UTC)

# A name, a value, and whether it is the only one that its field can have.
_Leaf = tuple[str, Value, bool]


def flatten(
    event: Json,
    *,
    with_nulls: bool = True,
    as_one: Callable[[Value], Value] = as_number,
) -> Mapping[str, Values]:
    """The attributes of an event, its arrays taken together.

    >>> flatten({"source": "ec2", "detail": {"tags": ["a", "b"], "size": 5}})
    {'source': 'ec2', 'detail.tags': ('a', 'b'), 'detail.size': 5}

    Without nulls, ``null`` is an absent attribute.  ``as_one`` makes the value of a
    leaf, which others than Amazon want as it is.
    """
    leaves = _leaves(_checked(event), "", NESTING_MAX, is_one=True, as_one=as_one)
    return _attributes(leaf for leaf in leaves if with_nulls or leaf[1] != NULL)


def views(event: Json) -> Iterator[Mapping[str, Values]]:
    """The attributes of an event, for each choice of one object in every array.

    >>> people = [{"first": "Anna", "last": "Smith"}, {"first": "Jo", "last": "Doe"}]
    >>> for view in views({"people": people, "tags": [1, 2]}):
    ...     print(view)
    {'people.first': 'Anna', 'people.last': 'Smith', 'tags': (1, 2)}
    {'people.first': 'Jo', 'people.last': 'Doe', 'tags': (1, 2)}
    """
    return map(_attributes, _choices(_checked(event), "", NESTING_MAX, is_one=True))


def event_matches(pattern: Expression, event: Json) -> bool:
    """Whether a pattern matches an event, as EventBridge has it.

    >>> from siena.dialects.aws import read_eventbridge
    >>> event = {"people": [{"first": "Anna", "last": "Smith"}, {"last": "Doe"}]}
    >>> both = '{"people": {"first": ["Anna"], "last": ["Doe"]}}'
    >>> event_matches(read_eventbridge(both), event)
    False
    """
    names = {name for name, _, _ in _leaves(event, "", NESTING_MAX, is_one=True)}
    asked = _asked(pattern, names)
    looked_at = _looked_at(_checked(event), _ways_to(names_of(pattern)), "")
    return any(holds(asked, _without_order(view)) for view in views(looked_at))


def _without_order(view: Mapping[str, Values]) -> Mapping[str, Values]:
    """The same, numbers that no double is told from all others."""
    return {
        name: tuple(map(without_order, values))
        if isinstance(values, tuple)
        else without_order(values)
        for name, values in view.items()
    }


def _ways_to(names: Iterable[str]) -> set[str]:
    """The paths to fields, with all that lie before them."""
    ways = set()
    for name in names:
        steps = name.split(".")
        ways |= {".".join(steps[:count]) for count in range(1, len(steps) + 1)}
    return ways


def _looked_at(form: Json, ways: Container[str], path: str) -> Json:
    """The event without what no pattern asks for: arrays there need no choices."""
    if isinstance(form, dict):
        return {
            key: _looked_at(value, ways, below)
            for key, value in form.items()
            if (below := _below(path, key)) in ways
        }
    if isinstance(form, list):
        return [_looked_at(value, ways, path) for value in form]
    return form


def _asked(pattern: Expression, names: set[str]) -> Expression:
    """What is asked of a view, it being decided which fields the event does not have.

    Numbers stand in it as in the view.
    """
    match pattern:
        case Constraint(name, Operator.ABSENT, _, _):
            return Literal(name not in names)
        case Constraint(name, Operator.EQ, _, int() as value):
            return Constraint(name, Operator.EQ, without_order(value))
        case Call(operation, parts):
            return call(operation, *(_asked(part, names) for part in parts))
        case _:
            return pattern


def _checked(event: Json) -> dict[str, Json]:
    if not isinstance(event, dict):
        raise InvalidFormError("an event is a JSON object")
    return event


def _attributes(leaves: Iterator[_Leaf] | Sequence[_Leaf]) -> Mapping[str, Values]:
    found: dict[str, list[Value]] = {}
    several: set[str] = set()
    for path, value, is_one in leaves:
        values = found.setdefault(path, [])
        values.append(value)
        if not is_one or len(values) > 1:  # twice, if a name has dots in it
            several.add(path)
        if len(found) > ATTRIBUTES_MAX:
            what = "attributes in a notification"
            raise LimitError("ATTRIBUTES_MAX", ATTRIBUTES_MAX, what)
    return {
        path: tuple(values) if path in several else values[-1]
        for path, values in found.items()
    }


def _leaves(
    form: Json,
    path: str,
    depth: int,
    *,
    is_one: bool,
    as_one: Callable[[Value], Value] = as_number,
) -> Iterator[_Leaf]:
    _check_depth(depth)
    if isinstance(form, dict):
        for key, value in form.items():
            below = _below(path, key)
            yield from _leaves(value, below, depth - 1, is_one=is_one, as_one=as_one)
    elif isinstance(form, list):
        for value in form:
            yield from _leaves(value, path, depth - 1, is_one=False, as_one=as_one)
    else:
        yield path, _value(form, as_one), is_one


def _choices(
    form: Json, path: str, depth: int, *, is_one: bool
) -> list[tuple[_Leaf, ...]]:
    """The leaves of a form, for each choice of an element in every array.

    Values that stand in an array themselves are in every choice.
    """
    _check_depth(depth)
    if isinstance(form, dict):
        found: list[tuple[_Leaf, ...]] = [()]
        for key, value in form.items():
            more = _choices(value, _below(path, key), depth - 1, is_one=is_one)
            if math.prod((len(found), len(more))) > COMBINATIONS_MAX:
                what = "choices of elements of arrays in an event"
                raise LimitError("COMBINATIONS_MAX", COMBINATIONS_MAX, what)
            found = [one + other for one in found for other in more]
        return found
    if isinstance(form, list):
        plain = tuple(
            (path, _value(value), False)
            for value in form
            if not isinstance(value, (dict, list))
        )
        inner = [
            plain + choice
            for value in form
            if isinstance(value, (dict, list))
            for choice in _choices(value, path, depth - 1, is_one=is_one)
        ]
        return inner or [plain]
    return [((path, _value(form), is_one),)]


def _check_depth(depth: int) -> None:
    if depth == 0:
        raise LimitError("NESTING_MAX", NESTING_MAX, "objects inside each other")


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _value(form: Json, as_one: Callable[[Value], Value] = as_number) -> Value:
    if form is None:
        return NULL
    assert not isinstance(form, (list, dict))
    return as_one(form)
