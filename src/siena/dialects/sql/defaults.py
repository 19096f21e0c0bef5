"""Fields that a message has even if it does not say so, such as its priority.

An expression about such a field is two: one where the field is there, and one where it
is absent, in which the default stands in its place.

Reference:
    AMQP 1.0, section 3.2.1: a message without a priority has the priority 4.
"""

from collections.abc import Mapping

from siena.model import Constraint, Operator, Value
from siena.model.expression import (
    FALSE,
    TRUE,
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
    names_of,
)
from siena.model.expression.evaluation import truth

# Nothing is known of a comparison of unlike values.
_UNKNOWN = call(Operation.EQ, Literal(0), Literal(""))
_TRUTHS = {True: TRUE, False: FALSE, None: _UNKNOWN}


def with_defaults(expression: Expression, defaults: Mapping[str, Value]) -> Expression:
    """The expression, with defaults where fields are absent.

    >>> from siena.dialects.factoring import factor
    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> print(factor(with_defaults(parse("p < 5 and [x = 1]"), {"p": 4})))
    p < 5 and x = 1 or p absent and x = 1
    """
    for name in sorted(defaults.keys() & names_of(expression)):
        there = Constraint(name, Operator.ANY), expression
        value = defaults[name]
        absent = Constraint(name, Operator.ABSENT), _replaced(expression, name, value)
        expression = any_of((all_of(there), all_of(absent)))
    return expression


def _replaced(expression: Expression, name: str, value: Value) -> Expression:
    match expression:
        case Attribute(found) if found == name:
            return Literal(value)
        case Constraint() if expression.name == name:
            return _TRUTHS[truth(expression, value)]
        case Call(operation, arguments):
            return call(operation, *(_replaced(a, name, value) for a in arguments))
        case _:
            return expression
