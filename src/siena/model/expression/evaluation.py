"""Evaluating an expression on a notification.

An expression is compiled into functions that call each other, once: patterns are read
then, and evaluating is a walk without decisions.  Each function is given the attributes
and a list to which failures are added, and returns a value, or ``None`` for unknown.

An attribute that is declared multi-valued holds a tuple.  A condition is true of it if
it is true of one of its values, and a function of it has a value for each; an empty
tuple is an absent attribute.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any

from siena.errors import LimitError
from siena.model.constraint import Constraint
from siena.model.expression.alternatives import is_joined, one_of
from siena.model.expression.cloudevents import Failure
from siena.model.expression.functions import (
    FAILING_FUNCTIONS,
    FUNCTIONS,
    of_texts,
    with_pattern,
)
from siena.model.expression.operations import (
    ANYWHERE,
    CONDITIONS,
    FAILING,
    LOGIC,
    WITH_PATTERN,
    Operation,
)
from siena.model.expression.regular import compile_regulars
from siena.model.expression.tree import Attribute, Call, Expression, Literal
from siena.model.limits import COMBINATIONS_MAX
from siena.model.operators import Operator
from siena.model.spelling import spell
from siena.model.values import Kind, Value

Values = Value | tuple[Value, ...]
"""What an attribute holds: one value or, where several are allowed, all of them."""

Evaluate = Callable[[Mapping[str, Any], list[Failure]], Any]

# How many expressions are remembered as functions.
COMPILED_MAX = 16_384


def holds(expression: Expression, notification: Mapping[str, Values]) -> bool:
    """Whether an expression is true of a notification, and nothing failed.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> holds(parse("length(name) > 3 and x < y"), {"name": "Jane", "x": 1, "y": 2.5})
    True
    >>> holds(parse("length(name) > 3"), {})
    False
    """
    failures: list[Failure] = []
    return compile_expression(expression)(notification, failures) is True and (
        not failures
    )


@lru_cache(COMPILED_MAX)
def compile_expression(expression: Expression) -> Evaluate:
    """The function that evaluates an expression."""
    return _compile(expression)


def truth(constraint: Constraint, value: Value | None) -> bool | None:
    """Whether a value satisfies a constraint; unknown if it is not what that is about.

    >>> from siena.lang.parser import parse_filter as parse
    >>> about, = parse("x > 3")
    >>> truth(about, 5), truth(about, 2), truth(about, "5"), truth(about, None)
    (True, False, None, None)
    """
    operator, kind = constraint.operator, constraint.kind
    if operator is Operator.ABSENT:
        return value is None
    if value is None:
        # Whether an attribute is there at all is never unknown.
        return False if operator is Operator.ANY and kind is Kind.ANY else None
    if type(value) in kind.types:
        return operator.holds(value, constraint.value)
    if operator is Operator.OTHER or operator is Operator.ANY:
        return operator is Operator.OTHER
    return None


def satisfies(constraint: Constraint, notification: Mapping[str, Values]) -> bool:
    """Whether a notification satisfies a constraint, with one of several values."""
    return _compile_constraint(constraint)(notification, []) is True


def _compile(expression: Expression) -> Evaluate:
    match expression:
        case Literal(value):
            return lambda _notification, _failures: value
        case Attribute(name):
            return lambda notification, _failures: notification.get(name)
        case Constraint():
            return _compile_constraint(expression)
        case Call(Operation.SOME, (Attribute(name), condition)):
            return _some(name, _as_condition(_compile(condition)))
        case Call(operation, (Literal(str() as pattern),)) if operation in ANYWHERE:
            return _anywhere(with_pattern(ANYWHERE[operation], pattern))
        case Call(Operation.OR, arguments):
            return _any([_as_condition(part) for part in _alternatives(arguments)])
        case Call(operation, arguments):
            if operation in LOGIC:
                return _COMPILE_LOGIC[operation](
                    [_as_condition(_compile(a)) for a in arguments]
                )
            return _compile_call(operation, arguments)


def _compile_constraint(constraint: Constraint) -> Evaluate:
    name = constraint.name

    def evaluate(
        notification: Mapping[str, Any], _failures: list[Failure]
    ) -> bool | None:
        value = notification.get(name)
        if type(value) is tuple:
            if value:
                return _any_true(truth(constraint, each) for each in value)
            value = None
        return truth(constraint, value)

    return evaluate


def _alternatives(arguments: tuple[Expression, ...]) -> Iterator[Evaluate]:
    """The parts of ``or``; what is sought in the same place is one part.

    Only neighbours are put together, so that what may fail is asked when it was.
    """
    for place, found in itertools.groupby(arguments, _place_of):
        parts = list(found)
        if place is None or len(parts) == 1:
            yield from map(_compile, parts)
            continue
        if isinstance(place, str):
            texts = one_of([part for part in parts if isinstance(part, Constraint)])
            look = partial(_without_failures, texts)
            yield _applied(look, [_compile(Attribute(place))])
            continue
        patterns = tuple(str(part.arguments[-1].value) for part in parts)  # type: ignore[union-attr]
        test = of_texts(compile_regulars(patterns))
        if place == ():
            yield _anywhere(test)
        else:
            yield _applied(partial(_without_failures, test), list(map(_compile, place)))


def _place_of(expression: Expression) -> tuple[Expression, ...] | str | None:
    """Where a pattern is sought: in an attribute, or anywhere; None if it is none.

    Of a constraint that is asked together with others, the name.
    """
    match expression:
        case Constraint(name=name) if is_joined(expression):
            return name
        case Call(Operation.MATCHES, (Attribute() as place, Literal())):
            return (place,)
        case Call(Operation.ANYWHERE_MATCHES, (Literal(),)):
            return ()
        case _:
            return None


def _anywhere(test: Callable[[Any], bool | None]) -> Evaluate:
    """The test of each value there is, written as a text."""

    def evaluate(notification: Mapping[str, Any], _failures: list[Failure]) -> bool:
        for values in notification.values():
            for value in values if type(values) is tuple else (values,):
                if value is None:  # what `some` binds, where there is nothing
                    continue
                text = value if isinstance(value, str) else spell(value)
                if test(text):
                    return True
        return False

    return evaluate


def _compile_call(operation: Operation, arguments: tuple[Expression, ...]) -> Evaluate:
    compute = _function(operation, arguments)
    if operation in WITH_PATTERN:
        arguments = arguments[:1]
    parts = [_compile(argument) for argument in arguments]
    return _applied(compute, parts, is_condition=operation in CONDITIONS)


def _applied(
    compute: Callable[..., Any], parts: list[Evaluate], *, is_condition: bool = True
) -> Evaluate:
    """The function of what the parts come to; of several values, of each."""

    def evaluate(notification: Mapping[str, Any], failures: list[Failure]) -> Any:  # noqa: ANN401 -- a value, or several
        values = [part(notification, failures) for part in parts]
        if tuple not in map(type, values):
            return compute(failures, *values)
        found = tuple(compute(failures, *each) for each in _combinations(values))
        return _any_true(found) if is_condition else found

    return evaluate


def _function(
    operation: Operation, arguments: tuple[Expression, ...]
) -> Callable[..., Any]:
    """The function of an operation, which is given the failures first."""
    if operation in FAILING:
        failing = FAILING_FUNCTIONS[operation]

        def compute(failures: list[Failure], *values: Value | None) -> Value | None:
            value, failure = failing(*values)
            if failure is not None:
                failures.append(failure)
            return value

        return compute
    if operation in WITH_PATTERN:
        pattern = arguments[1]
        assert isinstance(pattern, Literal)
        plain: Callable[..., Any] = with_pattern(operation, str(pattern.value))
    else:
        plain = FUNCTIONS[operation]
    return partial(_without_failures, plain)


def _without_failures(
    plain: Callable[..., Any], _failures: list[Failure], *values: Value | None
) -> Any:  # noqa: ANN401 -- a value of any kind
    return plain(*values)


def _combinations(values: list[Any]) -> Iterable[tuple[Any, ...]]:
    """One value of each argument, in every way that there is."""
    choices = [
        (value or (None,)) if type(value) is tuple else (value,) for value in values
    ]
    if math.prod(map(len, choices)) > COMBINATIONS_MAX:
        what = "combinations of values of multi-valued attributes"
        raise LimitError("COMBINATIONS_MAX", COMBINATIONS_MAX, what)
    return itertools.product(*choices)


def _any_true(found: Iterable[bool | None]) -> bool | None:
    unknown = False
    for each in found:
        if each is True:
            return True
        unknown = unknown or each is None
    return None if unknown else False


def _as_condition(evaluate: Evaluate) -> Evaluate:
    """The same, unknown where it is not a boolean."""

    def condition(
        notification: Mapping[str, Any], failures: list[Failure]
    ) -> bool | None:
        value = evaluate(notification, failures)
        if value is True or value is False or value is None:
            return value
        if type(value) is tuple and value:
            return _any_true(v if isinstance(v, bool) else None for v in value)
        return None

    return condition


def _all(parts: list[Evaluate]) -> Evaluate:
    def evaluate(
        notification: Mapping[str, Any], failures: list[Failure]
    ) -> bool | None:
        found: bool | None = True
        for part in parts:
            value = part(notification, failures)
            if value is False:
                return False
            if value is None:
                found = None
        return found

    return evaluate


def _any(parts: list[Evaluate]) -> Evaluate:
    def evaluate(
        notification: Mapping[str, Any], failures: list[Failure]
    ) -> bool | None:
        found: bool | None = False
        for part in parts:
            value = part(notification, failures)
            if value is True:
                return True
            if value is None:
                found = None
        return found

    return evaluate


def _not(parts: list[Evaluate]) -> Evaluate:
    (part,) = parts

    def evaluate(
        notification: Mapping[str, Any], failures: list[Failure]
    ) -> bool | None:
        value = part(notification, failures)
        return None if value is None else not value

    return evaluate


def _xor(parts: list[Evaluate]) -> Evaluate:
    one, other = parts

    def evaluate(
        notification: Mapping[str, Any], failures: list[Failure]
    ) -> bool | None:
        left, right = one(notification, failures), other(notification, failures)
        return None if left is None or right is None else left is not right

    return evaluate


def _except(parts: list[Evaluate]) -> Evaluate:
    wanted, unwanted = map(_is_true, parts)
    return lambda notification, _failures: (
        wanted(notification) and not unwanted(notification)
    )


def _holds(parts: list[Evaluate]) -> Evaluate:
    (part,) = map(_is_true, parts)
    return lambda notification, _failures: part(notification)


def _some(name: str, part: Evaluate) -> Evaluate:
    """The condition, with one value of the attribute at a time."""

    def evaluate(
        notification: Mapping[str, Any], failures: list[Failure]
    ) -> bool | None:
        values = notification.get(name)
        if type(values) is not tuple or not values:
            values = (values,)
        return _any_true(
            part({**notification, name: value}, failures) for value in values
        )

    return evaluate


def _is_true(part: Evaluate) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a part is true; its failures count against it, and go no further."""

    def evaluate(notification: Mapping[str, Any]) -> bool:
        failures: list[Failure] = []
        return part(notification, failures) is True and not failures

    return evaluate


_COMPILE_LOGIC: dict[Operation, Callable[[list[Evaluate]], Evaluate]] = {
    Operation.AND: _all,
    Operation.NOT: _not,
    Operation.XOR: _xor,
    Operation.EXCEPT: _except,
    Operation.HOLDS: _holds,
}
