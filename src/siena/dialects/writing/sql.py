"""Predicates as SQL selectors.

A comparison with a value of another kind is false in a selector and ``<>`` is true, so
that inequality is written in two halves, or with a pattern that only strings match; as
is ``NOT LIKE``.
"""

from siena.dialects.sql.tokens import RESERVED
from siena.dialects.writing.errors import NotWritableError
from siena.model import Constraint, Kind, Operator, Predicate, Value
from siena.model.wildcards import Part, read_wildcards

_LANGUAGE = "a selector"
_ESCAPE = "!"
_PLAIN = {
    Operator.EQ: "=",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
}
_LIKES = {
    Operator.PREFIX: (False, "{}%"),
    Operator.NOT_PREFIX: (True, "{}%"),
    Operator.SUFFIX: (False, "%{}"),
    Operator.NOT_SUFFIX: (True, "%{}"),
    Operator.SUBSTRING: (False, "%{}%"),
    Operator.NOT_SUBSTRING: (True, "%{}%"),
}


def write_sql(predicate: Predicate) -> str:
    """The selector that matches what a predicate matches.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> print(write_sql(parse("price > 3 and symbol starts with D or side != sell")))
    price > 3 AND symbol LIKE 'D%' OR side <> 'sell' AND side LIKE '%'
    """
    if not predicate.filters:
        return "FALSE"
    return " OR ".join(
        " AND ".join(map(_written, filter_)) or "TRUE"
        for filter_ in sorted(predicate, key=lambda f: [c.name for c in f])
    )


def _written(constraint: Constraint) -> str:
    _, operator, kind, value = constraint
    shown = _name(constraint)
    if operator is Operator.ABSENT:
        return f"{shown} IS NULL"
    if operator is Operator.ANY:
        return _any(constraint, shown)
    if operator is Operator.OTHER and kind in {Kind.NUMBER, Kind.BOOLEAN}:
        return f"NOT {_any(constraint, shown)}"
    if value is None or kind is not Kind.wanted_by(value) or kind is Kind.TIME:
        raise NotWritableError(constraint, _LANGUAGE)
    if operator in _PLAIN and (operator is Operator.EQ or kind is Kind.NUMBER):
        return f"{shown} {_PLAIN[operator]} {_literal(value)}"
    if operator is Operator.NE:
        return _unequal(shown, value)
    if operator in _LIKES or operator in {Operator.LIKE, Operator.NOT_LIKE}:
        assert isinstance(value, str)
        return _like(shown, operator, value)
    raise NotWritableError(constraint, _LANGUAGE)


def _any(constraint: Constraint, shown: str) -> str:
    if constraint.kind is Kind.ANY:
        return f"{shown} IS NOT NULL"
    if constraint.kind is Kind.STRING:
        return f"{shown} LIKE '%'"
    if constraint.kind is Kind.BOOLEAN:
        return f"({shown} = TRUE OR {shown} = FALSE)"
    if constraint.kind is Kind.NUMBER:
        return f"({shown} < 0 OR {shown} >= 0)"
    raise NotWritableError(constraint, _LANGUAGE)


def _unequal(shown: str, value: Value) -> str:
    if isinstance(value, bool):
        return f"{shown} = {_literal(not value)}"
    if isinstance(value, str):
        return f"{shown} <> {_literal(value)} AND {shown} LIKE '%'"
    return f"({shown} < {_literal(value)} OR {shown} > {_literal(value)})"


def _like(shown: str, operator: Operator, value: str) -> str:
    if operator in _LIKES:
        negated, form = _LIKES[operator]
        pattern = form.format(_escaped(value))
    else:
        negated = operator is Operator.NOT_LIKE
        pattern = "%".join(map(_part, read_wildcards(value).parts))
    ending = f" ESCAPE '{_ESCAPE}'" if _ESCAPE in pattern else ""
    if not negated:
        return f"{shown} LIKE {_literal(pattern)}{ending}"
    # What is no string is not like anything, in a selector.
    return f"{shown} NOT LIKE {_literal(pattern)}{ending} AND {shown} LIKE '%'"


def _part(part: Part) -> str:
    return "".join(
        "_" if is_open else _escaped(character)
        for character, is_open in zip(part.text, part.is_open, strict=True)
    )


def _escaped(text: str) -> str:
    return "".join(_ESCAPE + c if c in {"%", "_", _ESCAPE} else c for c in text)


def _literal(value: Value) -> str:
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return repr(value)


def _name(constraint: Constraint) -> str:
    name = constraint.name
    if name.isidentifier() and name.lower() not in RESERVED:
        return name
    return '"' + name.replace('"', '""') + '"'
