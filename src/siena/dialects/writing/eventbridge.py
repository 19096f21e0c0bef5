"""Predicates as event patterns of EventBridge.

A field is named once in a pattern, so that two constraints on one attribute are written
only where they are the two ends of a range.  What is not wanted is not written:
``anything-but`` also takes values of other kinds.
"""

import json
from datetime import datetime

from siena.dialects.aws.events import NULL
from siena.dialects.writing.errors import NotWritableError
from siena.errors import FilterError
from siena.lang.json_text import Json
from siena.model import Constraint, Filter, Kind, Operator, Predicate
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


def write_eventbridge(predicate: Predicate) -> str:
    """The pattern that matches what a predicate matches; dots are paths.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(write_eventbridge(parse("detail.state = on and size > 3 and size <= 9")))
    {"detail": {"state": ["on"]}, "size": [{"numeric": [">", 3, "<=", 9]}]}
    """
    if not predicate.filters or any(not len(filter_) for filter_ in predicate):
        raise FilterError(f"{_LANGUAGE} cannot say: everything, or nothing")
    objects = [_object(filter_) for filter_ in predicate]
    pattern = objects[0] if len(objects) == 1 else {"$or": objects}
    return json.dumps(pattern)


def _object(filter_: Filter) -> Json:
    found: dict[str, Json] = {}
    for name, constraints in filter_.by_name.items():
        *path, last = name.split(".")
        place = found
        for step in path:
            inner = place.setdefault(step, {})
            if not isinstance(inner, dict):
                raise NotWritableError(constraints[0], _LANGUAGE)
            place = inner
        if last in place:
            raise NotWritableError(constraints[0], _LANGUAGE)
        place[last] = [_entry(constraints)]
    return found


def _entry(constraints: tuple[Constraint, ...]) -> Json:
    if len(constraints) == 2:
        return _range(*sorted(constraints, key=lambda c: _rank(c.operator)))
    if len(constraints) > 1:
        raise NotWritableError(constraints[-1], _LANGUAGE)
    (constraint,) = constraints
    _, operator, kind, value = constraint
    if operator is Operator.ABSENT or (operator, kind) == (Operator.ANY, Kind.ANY):
        return {"exists": operator is Operator.ANY}
    is_plain = value is not None and kind in {Kind.STRING, Kind.NUMBER, Kind.BOOLEAN}
    if operator is Operator.EQ and value == NULL:
        return None
    if is_plain and operator is Operator.EQ:
        return _json(constraint)
    if is_plain and operator in _KEYS:
        entry: Json = str(value)
        for key in reversed(_KEYS[operator]):
            entry = {key: entry}
        return entry
    if operator is Operator.SUBSTRING or operator is Operator.LIKE:
        return {"wildcard": _wildcard(constraint)}
    if kind is Kind.NUMBER and operator in _ORDER:
        return {"numeric": [operator.symbol, _json(constraint)]}
    raise NotWritableError(constraint, _LANGUAGE)


def _rank(operator: Operator) -> int:
    return _ORDER.index(operator) if operator in _ORDER else len(_ORDER)


def _range(low: Constraint, high: Constraint) -> Json:
    is_range = low.kind is high.kind is Kind.NUMBER and _rank(
        low.operator
    ) < 2 <= _rank(high.operator) < len(_ORDER)
    if not is_range:
        raise NotWritableError(high, _LANGUAGE)
    ends = (low.operator.symbol, _json(low), high.operator.symbol, _json(high))
    return {"numeric": list(ends)}


def _json(constraint: Constraint) -> Json:
    """The operand; one that is a time is never asked for."""
    assert not isinstance(constraint.value, datetime)
    return constraint.value


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
