"""Comparisons of unlike values, which selectors settle and filters leave unknown.

In a selector ``x = 3`` is false of a string, so that ``not x = 3`` is true of it, and
``x <> 3`` is the same as that.  In a filter neither holds of a string.  The two differ
only where a comparison must be false: under ``not``, and in ``<>``.  There, and only
there, the comparison is joined with a test whether the values are alike at all.  So is
``like``, but for makers to whom it is unknown of what is no string.

Reference:
    Jakarta Messaging 3.1, section 3.8.1.2: comparing values of unlike types is false.
"""

from siena.model import Constraint, Operator
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
)
from siena.model.expression.operations import COMPARISONS

_ORDERED = frozenset({Operator.EQ, Operator.LT, Operator.LE, Operator.GT, Operator.GE})


def settle(
    expression: Expression, *, settles_like: bool = True, negated: bool = False
) -> Expression:
    """The expression with every comparison true or false of values that are there.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> from siena.model.expression import spell_expression
    >>> print(spell_expression(settle(parse("not x = 3 and y = 4"))))
    not ([x = 3] and alike(x, 3)) and [y = 4]

    ``like`` is still a call here, whatever its pattern: without wildcards it would be
    an equality, and what that is of values that are no strings is another question.
    """
    match expression:
        case Call(Operation.NOT, (part,)):
            found = settle(part, settles_like=settles_like, negated=not negated)
            return call(Operation.NOT, found)
        case Call((Operation.AND | Operation.OR) as operation, parts):
            settled = (
                settle(part, settles_like=settles_like, negated=negated)
                for part in parts
            )
            return call(operation, *settled)
        case Call(Operation.LIKE, (subject, _)):
            like = call(Operation.LIKE, *expression.arguments)
            is_string = call(Operation.ALIKE, subject, Literal(""))
            return all_of((like, is_string)) if settles_like and negated else like
        case _:
            pass
    sides = _sides(expression)
    if sides is None:
        return expression
    is_unequal, left, right = sides
    alike = call(Operation.ALIKE, left, right)
    if is_unequal:
        if negated:
            return expression
        return any_of((expression, call(Operation.NOT, alike)))
    return all_of((expression, alike)) if negated else expression


def _sides(expression: Expression) -> tuple[bool, Expression, Expression] | None:
    """Whether a comparison is one of inequality, and what it compares."""
    if isinstance(expression, Constraint):
        name, operator, _, value = expression
        if value is None or operator not in _ORDERED | {Operator.NE}:
            return None
        return operator is Operator.NE, Attribute(name), Literal(value)
    if isinstance(expression, Call) and expression.operation in COMPARISONS:
        left, right = expression.arguments
        return expression.operation is Operation.NE, left, right
    return None
