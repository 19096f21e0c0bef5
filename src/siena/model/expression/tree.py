"""The tree: literals, attributes, constraints, and calls of operations on them.

A constraint of the filter language is an expression too: true where it is satisfied,
false where it is not, and unknown where its attribute is absent or of another kind.  A
comparison of an attribute with a literal *is* that constraint, so that equal conditions
are equal values however they were written.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from siena.errors import FilterError, LimitError, SienaError
from siena.model.constraint import Constraint
from siena.model.expression.operations import (
    ANYWHERE,
    COMPARISONS,
    MIRRORED,
    WITH_PATTERN,
    Operation,
)
from siena.model.folding import fold
from siena.model.limits import (
    ARGUMENTS_MAX,
    EXPRESSION_DEPTH_MAX,
    EXPRESSION_NODES_MAX,
)
from siena.model.operators import Operator
from siena.model.values import Kind, Value, as_name, as_value


@dataclass(frozen=True, slots=True)
class Literal:
    """A value that stands for itself.

    >>> Literal(1) == Literal(1.0), Literal(1) == Literal(True)
    (False, False)
    """

    value: Value
    # Part of equality: Python calls 1, 1.0 and True equal.
    kind: Kind = field(init=False)

    def __post_init__(self) -> None:
        value = as_value(self.value)
        object.__setattr__(self, "value", value)
        object.__setattr__(self, "kind", Kind.of(value))


@dataclass(frozen=True, slots=True)
class Attribute:
    """The value of an attribute, unknown where it is absent."""

    name: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", as_name(self.name))


@dataclass(frozen=True, slots=True)
class Call:
    """An operation on arguments; :func:`call` makes one in its one form.

    ``depth`` and ``size`` count the levels and the nodes below and including this one.
    The hash is computed once: rules are looked up by their residuals for every event.
    """

    operation: Operation
    arguments: tuple["Expression", ...]
    depth: int = field(init=False, compare=False, repr=False)
    size: int = field(init=False, compare=False, repr=False)
    _hash: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        least, most, _ = self.operation.shape
        if not least <= len(self.arguments) <= most:
            if len(self.arguments) > ARGUMENTS_MAX:
                raise LimitError(
                    "ARGUMENTS_MAX", ARGUMENTS_MAX, "arguments of one call"
                )
            count = len(self.arguments)
            raise FilterError(f"{self.operation.value} does not take {count} arguments")
        depth = 1 + max((depth_of(a) for a in self.arguments), default=0)
        size = 1 + sum(map(size_of, self.arguments))
        if depth > EXPRESSION_DEPTH_MAX:
            what = "levels in an expression"
            raise LimitError("EXPRESSION_DEPTH_MAX", EXPRESSION_DEPTH_MAX, what)
        if size > EXPRESSION_NODES_MAX:
            what = "parts of an expression"
            raise LimitError("EXPRESSION_NODES_MAX", EXPRESSION_NODES_MAX, what)
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "_hash", hash((self.operation, self.arguments)))

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[type["Call"], tuple[Any, ...]]:
        # The hash of a text is another one in every process.
        return Call, (self.operation, self.arguments)


Expression = Literal | Attribute | Constraint | Call


def depth_of(expression: Expression) -> int:
    """How many levels an expression has."""
    return expression.depth if isinstance(expression, Call) else 1


def size_of(expression: Expression) -> int:
    """How many nodes an expression has."""
    return expression.size if isinstance(expression, Call) else 1


def call(operation: Operation, *arguments: Expression) -> Expression:
    """The expression that applies an operation, in the one form that it has.

    >>> call(Operation.GT, Literal(3), Attribute("x"))
    <Constraint x < 3>

    ``and`` and ``or`` inside themselves are one, and of a single part that part.
    """
    if operation in COMPARISONS and len(arguments) == 2:
        return compare(operation, *arguments)
    if operation in {Operation.AND, Operation.OR}:
        return _join(operation, arguments)
    if operation is Operation.SOME and not isinstance(arguments[0], Attribute):
        raise FilterError("the first argument of some is an attribute")
    if operation in WITH_PATTERN or operation in ANYWHERE:
        _check_pattern(operation, arguments)
    if operation in _STRING_OPERATORS and len(arguments) == 2:
        found = _as_constraint(_STRING_OPERATORS[operation], *arguments)
        if found is not None:
            return found
    return Call(operation, arguments)


def compare(operation: Operation, left: Expression, right: Expression) -> Expression:
    """A comparison, literals last; of an attribute with one, the constraint."""
    if isinstance(left, Literal) and not isinstance(right, Literal):
        left, right, operation = right, left, MIRRORED[operation]
    found = _as_constraint(_OPERATORS[operation], left, right)
    return Call(operation, (left, right)) if found is None else found


def names_of(expression: Expression) -> frozenset[str]:
    """The attributes that an expression looks at."""
    found: set[str] = set()
    for node in walk(expression):
        if isinstance(node, (Attribute, Constraint)):
            found.add(node.name)
    return frozenset(found)


def walk(expression: Expression) -> Iterator[Expression]:
    """Every node, parents before children."""
    stack = [expression]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Call):
            stack.extend(reversed(node.arguments))


def all_of(parts: Iterable[Expression]) -> Expression:
    """The conjunction of the parts; of none, ``true``."""
    return _join(Operation.AND, tuple(parts))


def any_of(parts: Iterable[Expression]) -> Expression:
    """The disjunction of the parts; of none, ``false``."""
    return _join(Operation.OR, tuple(parts))


TRUE = Literal(True)
FALSE = Literal(False)


def _join(operation: Operation, arguments: tuple[Expression, ...]) -> Expression:
    parts: list[Expression] = []
    for argument in arguments:
        if isinstance(argument, Call) and argument.operation is operation:
            parts += argument.arguments
        else:
            parts.append(argument)
    if not parts:
        return TRUE if operation is Operation.AND else FALSE
    return parts[0] if len(parts) == 1 else Call(operation, tuple(parts))


def _as_constraint(
    operator: Operator, left: Expression, right: Expression
) -> Constraint | None:
    """The constraint that says the same, if a filter can say it."""
    if not isinstance(right, Literal):
        return None
    value = right.value
    if isinstance(left, Call) and left.operation is Operation.FOLD:
        (left,) = left.arguments
        folded = operator.folded
        if folded is None or not isinstance(value, str) or fold(value) != value:
            return None
        operator = folded
    if not isinstance(left, Attribute):
        return None
    try:
        found = Constraint(left.name, operator, value)
    except SienaError:
        return None  # what is too long for a filter is not so for an expression
    # What every string satisfies is unknown of others, which `any` is not.
    return None if found.operator is Operator.ANY else found


def _check_pattern(operation: Operation, arguments: tuple[Expression, ...]) -> None:
    pattern = arguments[-1] if arguments else None
    if not isinstance(pattern, Literal) or not isinstance(pattern.value, str):
        raise FilterError(f"the last argument of {operation.value} is a quoted text")


_STRING_OPERATORS = {
    Operation.STARTS_WITH: Operator.PREFIX,
    Operation.ENDS_WITH: Operator.SUFFIX,
    Operation.CONTAINS: Operator.SUBSTRING,
    Operation.LIKE: Operator.LIKE,
}
_OPERATORS = {
    Operation.EQ: Operator.EQ,
    Operation.NE: Operator.NE,
    Operation.LT: Operator.LT,
    Operation.LE: Operator.LE,
    Operation.GT: Operator.GT,
    Operation.GE: Operator.GE,
}
