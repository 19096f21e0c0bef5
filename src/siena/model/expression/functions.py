"""What each operation computes, but for those of logic.

A function gets the values of the arguments, ``None`` where one is unknown, and returns
the value of the call.  Those of CloudEvents return a
:class:`~siena.model.expression.cloudevents.Result`, which may have a failure in it.
"""

from collections.abc import Callable
from typing import Any

from siena.model.expression import cloudevents, numbers, strings
from siena.model.expression.networks import compile_network
from siena.model.expression.operations import Operation
from siena.model.expression.regular import compile_regular
from siena.model.folding import fold
from siena.model.operators import Operator
from siena.model.spelling import spell
from siena.model.values import Kind, Value
from siena.model.wildcards import read_wildcards

Function = Callable[..., Value | None]


def are_alike(left: Value, right: Value) -> bool:
    """Whether two values have an order between them: of one kind, or both numbers."""
    return type(right) in Kind.wanted_by(left).types


def _comparison(operator: Operator) -> Function:
    holds = operator.holds

    def compare(left: Value | None, right: Value | None) -> bool | None:
        if left is None or right is None or not are_alike(left, right):
            return None
        return holds(left, right)

    return compare


def _alike(left: Value | None, right: Value | None) -> bool | None:
    return None if left is None or right is None else are_alike(left, right)


def _one_of(value: Value | None, *members: Value | None) -> bool | None:
    """Whether a value equals a member; one of another kind does not."""
    if value is None:
        return None
    found: bool | None = False
    for member in members:
        if member is None:
            found = None
        elif are_alike(value, member) and value == member:
            return True
    return found


def _text(value: Value | None) -> str | None:
    return value if value is None or isinstance(value, str) else spell(value)


FUNCTIONS: dict[Operation, Function] = {
    Operation.EQ: _comparison(Operator.EQ),
    Operation.NE: _comparison(Operator.NE),
    Operation.LT: _comparison(Operator.LT),
    Operation.LE: _comparison(Operator.LE),
    Operation.GT: _comparison(Operator.GT),
    Operation.GE: _comparison(Operator.GE),
    Operation.ALIKE: _alike,
    Operation.ONE_OF: _one_of,
    Operation.STARTS_WITH: strings.of_strings(str.startswith),
    Operation.ENDS_WITH: strings.of_strings(str.endswith),
    Operation.CONTAINS: strings.of_strings(str.__contains__),
    Operation.ADD: numbers.add,
    Operation.SUBTRACT: numbers.subtract,
    Operation.MULTIPLY: numbers.multiply,
    Operation.DIVIDE: numbers.divide,
    Operation.REMAINDER: numbers.remainder,
    Operation.QUOTIENT: numbers.quotient,
    Operation.MODULO: numbers.modulo,
    Operation.NEGATIVE: numbers.negative,
    Operation.ABSOLUTE: numbers.absolute,
    Operation.TEXT: _text,
    Operation.LENGTH: strings.of_string(len),
    Operation.LOWER: strings.of_string(str.lower),
    Operation.UPPER: strings.of_string(str.upper),
    Operation.FOLD: strings.of_string(fold),
    Operation.TRIM: strings.of_string(strings.trimmed),
    Operation.LEFT: strings.left,
    Operation.RIGHT: strings.right,
    Operation.SUBSTRING: strings.substring,
    Operation.CONCAT: strings.concat,
    Operation.JOIN: strings.join,
}

# Of a literal pattern, the test of a string: made once for an expression.
PATTERNS: dict[Operation, Callable[[str], Callable[[str], bool]]] = {
    Operation.LIKE: lambda pattern: read_wildcards(pattern).matches,
    Operation.MATCHES: compile_regular,
    Operation.IN_NETWORK: compile_network,
}

FAILING_FUNCTIONS: dict[Operation, Callable[..., cloudevents.Result]] = {
    Operation.CE_VALUE: cloudevents.value_of,
    Operation.CE_TEXT: cloudevents.text_of,
    Operation.CE_STRING: cloudevents.to_string,
    Operation.CE_INTEGER: cloudevents.to_integer,
    Operation.CE_BOOLEAN: cloudevents.to_boolean,
    Operation.CE_EQUAL: cloudevents.equal,
    Operation.CE_ONE_OF: cloudevents.one_of,
    Operation.CE_NOT: cloudevents.negation,
    Operation.CE_RANGE: cloudevents.in_range,
    Operation.CE_QUOTIENT: cloudevents.quotient,
    Operation.CE_REMAINDER: cloudevents.remainder,
    Operation.CE_ABSOLUTE: cloudevents.absolute,
    Operation.CE_LEFT: cloudevents.left,
    Operation.CE_RIGHT: cloudevents.right,
    Operation.CE_SUBSTRING: cloudevents.substring,
}


def with_pattern(operation: Operation, pattern: str) -> Callable[[Any], bool | None]:
    """The condition on a value that a literal pattern makes; unknown of no string."""
    return of_texts(PATTERNS[operation](pattern))


def of_texts(test: Callable[[str], bool]) -> Callable[[Any], bool | None]:
    """The same of any value; unknown of no string."""
    return lambda value: test(value) if isinstance(value, str) else None
