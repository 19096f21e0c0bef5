"""Types of CloudEvents SQL: what is known of an expression before it is evaluated.

Literals, operators and functions have one of three types.  An attribute has the type of
its value, which only the event knows, but for those that CloudEvents itself defines.  A
cast is written into the expression where a type is wanted, and left out where it is
known to be that type already.

Reference:
    CloudEvents SQL 1.0, sections 3.1, 3.2 and 3.7; CloudEvents 1.0, context attributes.
"""

import enum
from typing import NamedTuple

from siena.model.expression import Attribute, Expression, Literal, Operation, call

# Attributes that are strings in every CloudEvent.
STRING_ATTRIBUTES = frozenset(
    {"id", "source", "specversion", "type", "datacontenttype", "dataschema", "subject"}
)


class Type(enum.Enum):
    """A type of CloudEvents SQL."""

    STRING = "string"
    INTEGER = "integer"
    BOOLEAN = "boolean"


class Typed(NamedTuple):
    """An expression and its type; without one, its type is that of its value."""

    expression: Expression
    type: Type | None


_CASTS = {
    Type.STRING: Operation.CE_STRING,
    Type.INTEGER: Operation.CE_INTEGER,
    Type.BOOLEAN: Operation.CE_BOOLEAN,
}


def attribute(name: str) -> Typed:
    """The value of an attribute of an event."""
    if name in STRING_ATTRIBUTES:
        return Typed(call(Operation.CE_TEXT, Attribute(name)), Type.STRING)
    return Typed(call(Operation.CE_VALUE, Attribute(name)), None)


def literal(value: str | int | bool) -> Typed:  # noqa: FBT001 -- a value of theirs
    """A literal, whose type is seen."""
    if isinstance(value, bool):
        return Typed(Literal(value), Type.BOOLEAN)
    is_string = isinstance(value, str)
    return Typed(Literal(value), Type.STRING if is_string else Type.INTEGER)


def cast(typed: Typed, wanted: Type) -> Expression:
    """The expression as a value of the type."""
    if typed.type is wanted:
        return typed.expression
    return call(_CASTS[wanted], typed.expression)
