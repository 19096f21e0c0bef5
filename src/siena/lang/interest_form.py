"""The JSON forms of filters, predicates, patterns and advertisements.

===============  ==============================================================
constraint       ``{"name": "level", "operator": ">", "value": 3}``, with
                 ``"type": "integer"`` where a type is named, and
                 ``"ignoring_case": true`` where it does
filter           ``[constraint, …]``
predicate        ``{"or": [filter, …]}``; ``{"except": [one, other]}`` is read as
                 what matches one and not the other
pattern          ``{"then": [filter or predicate, …]}``
advertisement    ``[constraint, …]``
===============  ==============================================================

The forms are the same in HTTP bodies, files and columns of tables.  Where one is
expected, a JSON string may stand instead, and is text in the language.
"""

from siena.errors import InvalidFormError, LimitError
from siena.lang.json_text import Json
from siena.lang.notification_form import value_from_json, value_to_json
from siena.lang.parser import parse_advertisement, parse_interest
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Kind,
    Operator,
    Pattern,
    Predicate,
)
from siena.model.difference import difference
from siena.model.limits import NESTING_MAX
from siena.model.operators import OPERATOR_OF_SYMBOL, WITHOUT_OPERAND
from siena.model.values import KIND_OF_WORD

Interest = Filter | Predicate | Pattern

_CONSTRAINT_KEYS = frozenset({"name", "operator", "value", "type", "ignoring_case"})


def interest_to_json(interest: Interest) -> Json:
    """The form of a filter, predicate or pattern.

    >>> from siena.lang.parser import parse_filter
    >>> interest_to_json(parse_filter("integer level > 3"))
    [{'name': 'level', 'operator': '>', 'value': 3, 'type': 'integer'}]
    """
    if isinstance(interest, Filter):
        return [_constraint_to_json(c) for c in interest]
    if isinstance(interest, Predicate):
        return {"or": [interest_to_json(f) for f in interest]}
    # A step of one filter is written as the filter.
    return {
        "then": [
            interest_to_json(step.filters[0] if len(step) == 1 else step)
            for step in interest
        ]
    }


def interest_from_json(form: Json) -> Interest:
    """The filter, predicate or pattern of a form.

    >>> interest_from_json({"or": ["x > 3", [{"name": "y", "operator": "any"}]]})
    <Predicate x > 3 or y any>
    >>> interest_from_json({"except": ["x > 3", "x > 9 or y any"]})
    <Predicate x <= 9 and x > 3 and y absent>
    """
    parts = form.get("then") if isinstance(form, dict) and len(form) == 1 else None
    if isinstance(parts, list):
        return Pattern(map(_step_from_json, parts))
    return _single_from_json(form, depth=0)


def _single_from_json(form: Json, depth: int) -> Interest:
    """The interest of a form that is no pattern, unless it is a text."""
    if isinstance(form, str):
        return parse_interest(form)
    if isinstance(form, list):
        return Filter(map(_constraint_from_json, form))
    if isinstance(form, dict) and len(form) == 1:
        if isinstance(parts := form.get("or"), list):
            return _predicate_from_json(parts)
        if isinstance(parts := form.get("except"), list):
            return _difference_from_json(parts, depth)
    raise InvalidFormError(
        "this is not the form of a filter",
        hint='forms are a text, [constraints], {"or": [filters]}, '
        '{"except": [one, other]}, {"then": [steps]}',
    )


def advertisement_to_json(advertisement: Advertisement) -> Json:
    """The form of an advertisement."""
    return [_constraint_to_json(c) for c in advertisement]


def advertisement_from_json(form: Json) -> Advertisement:
    """The advertisement of a form."""
    if isinstance(form, str):
        return parse_advertisement(form)
    if isinstance(form, list):
        return Advertisement(map(_constraint_from_json, form))
    raise InvalidFormError(
        "this is not the form of an advertisement",
        hint="forms are a text or a list of constraints",
    )


def _predicate_from_json(parts: list[Json]) -> Predicate:
    found: list[Filter] = []
    for part in parts:
        if not isinstance(part, (str, list)):
            raise InvalidFormError('each part of "or" is a filter or a text')
        found += _step_from_json(part).filters
    return Predicate(found)


def _difference_from_json(parts: list[Json], depth: int) -> Predicate:
    if depth == NESTING_MAX:
        raise LimitError("NESTING_MAX", NESTING_MAX, "levels of except")
    if len(parts) != 2:
        raise InvalidFormError('"except" has two parts: what is wanted, and what not')
    wanted, unwanted = (_step_from_json(part, depth + 1) for part in parts)
    return difference(wanted, unwanted)


def _step_from_json(form: Json, depth: int = 0) -> Predicate:
    # Checked before descending, so that no nesting of objects goes deep.
    if isinstance(form, dict) and "then" in form:
        raise InvalidFormError("a pattern cannot be part of another")
    interest = _single_from_json(form, depth)
    if isinstance(interest, Pattern):
        raise InvalidFormError("a pattern cannot be part of another")
    return interest if isinstance(interest, Predicate) else Predicate([interest])


def _constraint_to_json(constraint: Constraint) -> Json:
    form: dict[str, Json] = {
        "name": constraint.name,
        "operator": constraint.operator.symbol,
    }
    natural = Kind.ANY
    if constraint.value is not None:
        form["value"] = value_to_json(constraint.value)
        natural = Kind.wanted_by(constraint.value)
    if constraint.kind is not natural:
        form["type"] = constraint.kind.word
    if constraint.operator.ignores_case:
        form["ignoring_case"] = True
    return form


def _constraint_from_json(form: Json) -> Constraint:
    if not isinstance(form, dict) or not form.keys() <= _CONSTRAINT_KEYS:
        raise InvalidFormError(
            "this is not the form of a constraint",
            hint='write {"name": …, "operator": …, "value": …, "type": …}',
        )
    name, symbol, word = form.get("name"), form.get("operator"), form.get("type")
    if not isinstance(name, str):
        raise InvalidFormError('a constraint needs a "name"')
    if not isinstance(symbol, str) or symbol not in OPERATOR_OF_SYMBOL:
        raise InvalidFormError(
            'a constraint needs an "operator"',
            hint="operators are " + " ".join(OPERATOR_OF_SYMBOL),
        )
    operator = OPERATOR_OF_SYMBOL[symbol]
    if operator in WITHOUT_OPERAND and form.get("value") is not None:
        raise InvalidFormError(f"{symbol} has no value")
    operator = _folded(operator, form.get("ignoring_case", False))
    value = form.get("value")
    return Constraint(
        name,
        operator,
        None if value is None else value_from_json(value, name),
        _kind_of(word),
    )


def _folded(operator: Operator, ignoring_case: Json) -> Operator:
    if ignoring_case is False:
        return operator
    if ignoring_case is True and operator.folded is not None:
        return operator.folded
    raise InvalidFormError(
        f'"ignoring_case" does not go with {operator.symbol}'
        if ignoring_case is True
        else '"ignoring_case" is true or false'
    )


def _kind_of(word: Json) -> Kind | None:
    if word is None:
        return None
    if isinstance(word, str) and word in KIND_OF_WORD:
        return KIND_OF_WORD[word]
    raise InvalidFormError(
        f"{word!r} is not a type", hint="types are " + ", ".join(KIND_OF_WORD)
    )
