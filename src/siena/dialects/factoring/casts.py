"""Conditions on one attribute with casts in them, kind by kind.

CloudEvents SQL casts as it goes: ``x = '5'`` is true of the string and of the integer.
Of values of one kind most casts are nothing, or are constants, and what is left is a
constraint.  So the condition is taken apart by kind, and each part is covered alone.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from siena.dialects.factoring.needs import always_asked
from siena.errors import SienaError
from siena.model import Constraint, Kind, Operator, Value
from siena.model.expression import (
    FALSE,
    TRUE,
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    call,
)
from siena.model.expression.cloudevents import (
    INTEGER_LEAST,
    INTEGER_MOST,
    as_primitive,
    to_string,
)
from siena.model.expression.operations import FAILING
from siena.model.expression.tree import walk
from siena.model.wildcards import read_wildcards

# Casts that do nothing to a value that is of the kind already.
_IDENTITIES = {
    Operation.CE_STRING: Kind.STRING,
    Operation.CE_INTEGER: Kind.INTEGER,
    Operation.CE_BOOLEAN: Kind.BOOLEAN,
}
# The characters in the texts of values that are not strings.
_CHARACTERS = {
    Kind.INTEGER: frozenset("-0123456789"),
    Kind.FLOAT: frozenset("-+.e0123456789"),
    Kind.TIME: frozenset("-:.TZ0123456789"),
}
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?Z", re.ASCII)


def has_casts(expression: Expression) -> bool:
    """Whether there is anything in it that depends on kinds in this way."""
    return any(isinstance(n, Call) and n.operation in FAILING for n in walk(expression))


class Part(NamedTuple):
    """Some values of one kind, all of them of one type to CloudEvents."""

    kind: Kind
    constraints: tuple[Constraint, ...]
    # Whether they are strings to CloudEvents, although of another kind.
    as_text: bool


def parts_of(name: str) -> Iterator[Part]:
    """The values that an attribute may have, by what CloudEvents takes them for.

    Booleans are left out: there are two, and both can be tried.
    """
    for kind in (Kind.STRING, Kind.FLOAT, Kind.TIME):
        there = (Constraint(name, Operator.ANY, None, kind),)
        yield Part(kind, there, as_text=kind is not Kind.STRING)
    least = Constraint(name, Operator.GE, INTEGER_LEAST, Kind.INTEGER)
    most = Constraint(name, Operator.LE, INTEGER_MOST, Kind.INTEGER)
    yield Part(Kind.INTEGER, (least, most), as_text=False)
    below = Constraint(name, Operator.LT, INTEGER_LEAST, Kind.INTEGER)
    above = Constraint(name, Operator.GT, INTEGER_MOST, Kind.INTEGER)
    yield Part(Kind.INTEGER, (below,), as_text=True)
    yield Part(Kind.INTEGER, (above,), as_text=True)


def is_hopeless(expression: Expression, part: Part) -> bool:
    """Whether something in a condition fails for every value of the part."""
    calls = list(always_asked(expression))
    if part.kind is not Kind.STRING and any(
        node.operation is Operation.CE_TEXT for node in calls
    ):
        return True
    # No text of these is an integer that fits, or a boolean.
    return part.as_text and any(
        node.operation in {Operation.CE_INTEGER, Operation.CE_BOOLEAN}
        and isinstance(node.arguments[0], Call)
        and node.arguments[0].operation is Operation.CE_VALUE
        for node in calls
    )


def specialized(expression: Expression, name: str, part: Part) -> Expression:
    """The condition as it is for values of one part.

    What cannot be made simpler is returned with its casts.
    """
    match expression:
        case Call(Operation.CE_VALUE | Operation.CE_TEXT, (Attribute(found),)) if (
            found == name
        ):
            plain = Attribute(name)
            return call(Operation.CE_STRING, plain) if part.as_text else plain
        case Call(operation, arguments):
            inner = tuple(specialized(a, name, part) for a in arguments)
            first = inner[0] if inner else None
            if _is_identity(operation, first, part.kind):
                assert first is not None
                return first
            return _rebuilt(operation, inner, name, part.kind)
        case _:
            return expression


def _is_identity(operation: Operation, inner: Expression | None, kind: Kind) -> bool:
    if isinstance(inner, Call) and operation is inner.operation is Operation.CE_STRING:
        return True
    return isinstance(inner, Attribute) and _IDENTITIES.get(operation) is kind


def _rebuilt(
    operation: Operation, inner: tuple[Expression, ...], name: str, kind: Kind
) -> Expression:
    match (operation, *inner):
        case (
            Operation.EQ | Operation.NE,
            Call(Operation.CE_STRING, (Attribute(found),)),
            Literal(str() as text),
        ) if found == name:
            return _text_equals(operation, name, kind, text)
        case (
            Operation.LIKE,
            Call(Operation.CE_STRING, (Attribute(found),)),
            Literal(str() as pattern),
        ) if found == name and not _may_be_like(kind, pattern):
            return FALSE
    return call(operation, *inner)


def _text_equals(operation: Operation, name: str, kind: Kind, text: str) -> Expression:
    """Whether the text of a value of the kind is this one: of one value, or of none."""
    value = _value_with_text(kind, text)
    if value is None:
        return FALSE if operation is Operation.EQ else TRUE
    operator = Operator.EQ if operation is Operation.EQ else Operator.NE
    return Constraint(name, operator, value, kind)


def _value_with_text(kind: Kind, text: str) -> Value | None:
    found: Value | None = None
    try:
        if kind is Kind.INTEGER:
            found = int(text) if len(text) <= 20 else None
        elif kind is Kind.FLOAT:
            found = float(text) + 0.0
        elif kind is Kind.BOOLEAN:
            found = {"true": True, "false": False}.get(text)
        elif kind is Kind.TIME and _TIME.fullmatch(text):
            found = datetime.fromisoformat(text)
        if found is None:
            return None
        return found if to_string(as_primitive(found)).value == text else None
    except (ValueError, SienaError):
        return None


def _may_be_like(kind: Kind, pattern: str) -> bool:
    allowed = _CHARACTERS.get(kind)
    if allowed is None:
        return True
    parts = read_wildcards(pattern).parts
    return all(allowed.issuperset(run) for part in parts for _, run in part.literals)
