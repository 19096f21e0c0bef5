"""What selectors make of values: constants, signs, and what may be true.

``NULL`` is a constant to Azure, of which nothing is known: what is computed from it is
unknown, and so is every comparison with it.
"""

from siena.model import Value
from siena.model.expression import (
    Call,
    Expression,
    Literal,
    Operation,
    all_of,
    call,
    compile_expression,
    names_of,
)
from siena.model.expression.operations import CONDITIONS, LOGIC

UNKNOWN = Call(Operation.NEGATIVE, (Literal(""),))
"""The constant ``NULL``: a value that nothing has, and no condition."""
# Not as a comparison, for those are settled: false where they could be true.
UNKNOWN_CONDITION = Call(Operation.ALIKE, (UNKNOWN, Literal(0)))
"""What comparing with ``NULL`` comes to."""
_ARITHMETIC = frozenset(
    {Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY, Operation.NEGATIVE}
    | {Operation.DIVIDE, Operation.QUOTIENT, Operation.REMAINDER, Operation.MODULO}
)


def is_unknown(expression: Expression) -> bool:
    """Whether a value is computed from ``NULL``, which leaves nothing known of it."""
    if expression in {UNKNOWN, UNKNOWN_CONDITION}:
        return True
    if isinstance(expression, Call) and expression.operation in _ARITHMETIC:
        return any(map(is_unknown, expression.arguments))
    return False


def constant(expression: Expression) -> Value | None:
    """The value of an expression that asks for no property; None if it has none."""
    if names_of(expression):
        return None
    found: Value | None = compile_expression(expression)({}, [])
    return found


def ordered(operation: Operation, left: Expression, right: Expression) -> Expression:
    """A comparison of order; booleans have none, and are not like what has one."""
    for side, other in ((left, right), (right, left)):
        if isinstance(side, Literal) and isinstance(side.value, bool):
            # False of anything that is there: nothing is like a number and a text.
            tests = (call(Operation.ALIKE, other, Literal(v)) for v in (0, ""))
            return all_of(tests)
    return call(operation, left, right)


def negative(value: Expression) -> Expression:
    """The number with the other sign."""
    if isinstance(value, Literal) and type(value.value) in {int, float}:
        assert isinstance(value.value, (int, float))
        return Literal(-value.value)
    return call(Operation.NEGATIVE, value)


def may_be_true(expression: Expression) -> bool:
    """Whether an expression is a condition, or a property that may be true."""
    match expression:
        case Literal(value):
            return isinstance(value, bool)
        case Call(operation, _):
            return operation in LOGIC | CONDITIONS
        case _:
            return True
