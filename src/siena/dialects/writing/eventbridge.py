"""Predicates as event patterns of EventBridge.

A field is named once in a pattern, so that two constraints on one attribute are written
only where they are the two ends of a range.  ``anything-but`` also takes values of
other kinds: it is written for what is excluded of anything that is there, and what
excludes more is not written.
"""

import json
import math
from datetime import datetime

from siena.dialects.aws.conditions import RESERVED, is_long_address
from siena.dialects.aws.events import NULL
from siena.dialects.aws.numbers import is_comparable
from siena.dialects.writing.errors import NotWritableError
from siena.dialects.writing.products import Choice, Conjunction, products_of
from siena.errors import FilterError
from siena.lang.json_text import Json
from siena.model import Constraint, Kind, Operator, Predicate
from siena.model.wildcards import read_wildcards

_LANGUAGE = "an event pattern"
_ORDER = (Operator.GT, Operator.GE, Operator.LT, Operator.LE)
_KEYS: dict[Operator, tuple[str, ...]] = {
    Operator.PREFIX: ("prefix",),
    Operator.SUFFIX: ("suffix",),
    Operator.EQ_FOLDED: ("equals-ignore-case",),
    Operator.PREFIX_FOLDED: ("prefix", "equals-ignore-case"),
    Operator.SUFFIX_FOLDED: ("suffix", "equals-ignore-case"),
}
# What `anything-but` takes, beside strings and numbers.
_UNWANTED = {
    Operator.PREFIX: "prefix",
    Operator.SUFFIX: "suffix",
    Operator.EQ_FOLDED: "equals-ignore-case",
    Operator.SUBSTRING: "wildcard",
    Operator.LIKE: "wildcard",
}


def write_eventbridge(predicate: Predicate) -> str:
    """The pattern that matches what a predicate matches; dots are paths.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(write_eventbridge(parse("detail.state = on and size > 3 and size <= 9")))
    {"detail": {"state": ["on"]}, "size": [{"numeric": [">", 3, "<=", 9]}]}
    >>> print(write_eventbridge(parse("state != on or not string state any")))
    {"state": [{"anything-but": "on"}]}
    """
    if not predicate.filters or any(not len(filter_) for filter_ in predicate):
        raise FilterError(f"{_LANGUAGE} cannot say: everything, or nothing")
    products = products_of(predicate)
    objects = [_object(choices, is_one=len(products) == 1) for choices in products]
    pattern = objects[0] if len(objects) == 1 else {"$or": objects}
    return json.dumps(pattern)


def _object(choices: list[Choice], *, is_one: bool) -> Json:
    found: dict[str, Json] = {}
    for choice in choices:
        *path, last = choice.name.split(".")
        if not is_one and not RESERVED.isdisjoint((*path, last)):
            # Inside $or no field is called like a way to match.
            raise _refusal(choice)
        place = found
        for step in path:
            inner = place.setdefault(step, {})
            if not isinstance(inner, dict):
                raise _refusal(choice)
            place = inner
        if last in place:
            raise _refusal(choice)
        place[last] = _entries(choice)
    return found


def _entries(choice: Choice) -> list[Json]:
    found: list[Json] = []
    if choice.excluded is not None:
        found.append(_anything_but(choice, choice.excluded))
    for way in choice.alternatives:
        found += _entries_of(way)
    return found


def _anything_but(choice: Choice, excluded: dict[Kind, list[Conjunction]]) -> Json:
    """The entry that takes all but the excluded values, which are of one kind."""
    (ways, *others) = excluded.values()
    constraints = [way[0] for way in ways]
    operators = {c.operator for c in constraints}
    if others or any(len(way) > 1 for way in ways) or len(operators) > 1:
        raise _refusal(choice)
    (operator,) = operators
    is_plain = {c.kind for c in constraints} <= {Kind.STRING, Kind.NUMBER}
    if operator is Operator.EQ and is_plain:
        return {"anything-but": _one_or_all([_number_or_text(c) for c in constraints])}
    if operator in _UNWANTED:
        key = _UNWANTED[operator]
        texts: list[Json] = [
            _wildcard(c) if key == "wildcard" else str(c.value) for c in constraints
        ]
        return {"anything-but": {key: _one_or_all(texts)}}
    if operator is Operator.ANY and constraints[0].kind is Kind.STRING:
        return {"anything-but": {"wildcard": "*"}}
    raise _refusal(choice)


def _entries_of(way: Conjunction) -> list[Json]:
    if len(way) == 2:
        return [_range(*sorted(way, key=lambda c: _rank(c.operator)))]
    if len(way) > 1:
        raise NotWritableError(way[-1], _LANGUAGE)
    (constraint,) = way
    _, operator, kind, value = constraint
    if kind is Kind.BOOLEAN and operator in {Operator.ANY, Operator.NE}:
        return [each for each in (True, False) if each is not value]
    if kind is Kind.NUMBER and operator is Operator.ANY:
        return [{"numeric": ["<", 0]}, {"numeric": [">=", 0]}]
    if kind is Kind.NUMBER and operator is Operator.NE:
        number = _ordered(constraint)
        return [{"numeric": ["<", number]}, {"numeric": [">", number]}]
    return [_entry(constraint)]


def _entry(constraint: Constraint) -> Json:
    _, operator, kind, value = constraint
    if operator is Operator.ABSENT or (operator, kind) == (Operator.ANY, Kind.ANY):
        return {"exists": operator is Operator.ANY}
    if (operator, kind) == (Operator.ANY, Kind.STRING):
        return {"wildcard": "*"}
    is_plain = value is not None and kind in {Kind.STRING, Kind.NUMBER, Kind.BOOLEAN}
    if operator is Operator.EQ and value == NULL:
        return None
    if is_plain and operator is Operator.EQ:
        return _equal(constraint)
    if is_plain and operator in _KEYS:
        entry: Json = str(value)
        for key in reversed(_KEYS[operator]):
            entry = {key: entry}
        return entry
    if operator is Operator.SUBSTRING or operator is Operator.LIKE:
        return {"wildcard": _wildcard(constraint)}
    if kind is Kind.NUMBER and operator in _ORDER:
        return {"numeric": [operator.symbol, _ordered(constraint)]}
    raise NotWritableError(constraint, _LANGUAGE)


def _rank(operator: Operator) -> int:
    return _ORDER.index(operator) if operator in _ORDER else len(_ORDER)


def _range(low: Constraint, high: Constraint) -> Json:
    is_range = low.kind is high.kind is Kind.NUMBER and _rank(
        low.operator
    ) < 2 <= _rank(high.operator) < len(_ORDER)
    if not is_range:
        raise NotWritableError(high, _LANGUAGE)
    bounds = _ordered(low), _ordered(high)
    if not float(bounds[0]) < float(bounds[1]):
        raise NotWritableError(high, _LANGUAGE)
    ends = (low.operator.symbol, bounds[0], high.operator.symbol, bounds[1])
    return {"numeric": list(ends)}


def _equal(constraint: Constraint) -> Json:
    """The operand; one that is a time is never asked for."""
    value = constraint.value
    assert not isinstance(value, datetime)
    # As a string an address of version 6 stands for all its spellings.
    is_address = isinstance(value, str) and is_long_address(value)
    if is_address or (isinstance(value, float) and not math.isfinite(value)):
        raise NotWritableError(constraint, _LANGUAGE)
    return value


def _number_or_text(constraint: Constraint) -> Json:
    return (
        str(constraint.value)
        if constraint.kind is Kind.STRING
        else _ordered(constraint)
    )


def _ordered(constraint: Constraint) -> float:
    """The number, if it has an order there."""
    value = constraint.value
    assert isinstance(value, (int, float))
    if not is_comparable(value):
        raise NotWritableError(constraint, _LANGUAGE)
    return value


def _one_or_all(members: list[Json]) -> Json:
    return members[0] if len(members) == 1 else members


def _wildcard(constraint: Constraint) -> str:
    text = str(constraint.value)
    if constraint.operator is Operator.SUBSTRING:
        return f"*{_escaped(text)}*"
    parts = read_wildcards(text).parts
    if any(is_open for part in parts for is_open in part.is_open):
        raise NotWritableError(constraint, _LANGUAGE)
    return "*".join(_escaped(part.text) for part in parts)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("*", "\\*")


def _refusal(choice: Choice) -> NotWritableError:
    return NotWritableError(choice.example, _LANGUAGE)
