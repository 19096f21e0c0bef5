"""How to draw expressions, and a slow, obvious evaluator to compare with.

As in :mod:`strategies`, domains are tiny on purpose: three names, and values that meet.
"""

import operator as python
import re
from collections.abc import Callable, Mapping
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from siena.model import Constraint, Kind, Operator, Value
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    any_of,
    call,
)
from siena.model.expression.evaluation import truth
from siena.model.expression.functions import FAILING_FUNCTIONS, FUNCTIONS, with_pattern
from siena.model.expression.operations import CONDITIONS, FAILING, WITH_PATTERN
from siena.model.spelling import spell

NAMES = ("x", "y", "z")
values = st.sampled_from(
    [
        *(0, 1, 2, 3, -1, 5, 2**31, 2**53 + 1, -(2**63), 2**63 - 1),
        *(0.0, 0.5, 1.0, 2.5, -1.0, 1e300, 5e-324),
        *("", "a", "ab", "B", "5", "+5", "true", "TRUE", "2.5", "10.0.0.7"),
        *(True, False),
    ]
)
literals = st.builds(Literal, values)
attributes = st.builds(Attribute, st.sampled_from(NAMES))
patterns = st.sampled_from(["*", "a*", "*b", "?", "a", "*a*", "5*", "t*e", "\\*"])
notifications = st.dictionaries(st.sampled_from(NAMES), values, max_size=3)
many_notifications = st.dictionaries(
    st.sampled_from(NAMES),
    values | st.lists(values, max_size=3).map(tuple),
    max_size=3,
)

_ARITHMETIC = [
    *(Operation.ADD, Operation.SUBTRACT, Operation.MULTIPLY),
    *(Operation.DIVIDE, Operation.QUOTIENT),
]
_COMPARISONS = [
    *(Operation.EQ, Operation.NE, Operation.LT),
    *(Operation.LE, Operation.GT, Operation.GE),
]


def _calls(
    operations: list[Operation], *arguments: SearchStrategy[Expression]
) -> SearchStrategy[Expression]:
    return st.builds(call, st.sampled_from(operations), *arguments)


numbers: SearchStrategy[Expression] = st.recursive(
    literals | attributes,
    lambda inner: (
        _calls([*_ARITHMETIC, Operation.REMAINDER, Operation.MODULO], inner, inner)
        | _calls([Operation.NEGATIVE, Operation.ABSOLUTE, Operation.LENGTH], inner)
    ),
    max_leaves=4,
)
chains: SearchStrategy[Expression] = st.recursive(
    attributes,
    lambda inner: (
        _calls(_ARITHMETIC, inner, literals) | _calls(_ARITHMETIC, literals, inner)
    ),
    max_leaves=4,
)
_ce_values = _calls([Operation.CE_VALUE, Operation.CE_TEXT], attributes)
_ce_casts = _ce_values | _calls(
    [Operation.CE_STRING, Operation.CE_INTEGER, Operation.CE_BOOLEAN], _ce_values
)


def _constraint(
    name: str, operator: Operator, value: Value | None, kind: Kind | None
) -> Constraint:
    return Constraint(name, operator, value, kind)


constraints = st.builds(
    _constraint,
    st.sampled_from(NAMES),
    st.sampled_from([Operator.EQ, Operator.NE, Operator.LT, Operator.GE]),
    values,
    st.none(),
) | st.builds(
    _constraint,
    st.sampled_from(NAMES),
    st.sampled_from([Operator.PREFIX, Operator.SUBSTRING_FOLDED, Operator.NOT_LIKE]),
    patterns,
    st.none(),
)
presence = st.builds(
    _constraint,
    st.sampled_from(NAMES),
    st.just(Operator.ANY),
    st.none(),
    st.sampled_from([None, Kind.STRING, Kind.NUMBER]),
) | st.builds(
    _constraint,
    st.sampled_from(NAMES),
    st.just(Operator.ABSENT),
    st.none(),
    st.none(),
)

# Alike to Python's matcher, which the slow evaluator asks.
_regular = st.builds(
    Literal, st.sampled_from(["a", "^a", "(?i)B", "a|b", "[0-9]", "", "(?P<n>a.)"])
)
regulars: SearchStrategy[Expression] = _calls(
    [Operation.MATCHES], attributes, _regular
) | _calls([Operation.ANYWHERE_MATCHES], _regular)
conditions: SearchStrategy[Expression] = (
    constraints
    | presence
    | _calls(_COMPARISONS, numbers, numbers)
    | _calls(_COMPARISONS, chains, literals)
    | _calls(_COMPARISONS, _ce_casts, literals | _ce_casts)
    | _calls([Operation.CE_EQUAL], _ce_values, _ce_values | literals)
    | _calls([Operation.CE_ONE_OF], _ce_values, literals, literals)
    | _calls([Operation.ALIKE], attributes, literals)
    | _calls([Operation.ONE_OF], attributes, literals, literals)
    | _calls([Operation.LIKE], attributes | _ce_casts, st.builds(Literal, patterns))
    | _calls([Operation.IN_NETWORK], attributes, st.just(Literal("10.0.0.0/8")))
    | regulars
    | st.lists(regulars, min_size=2, max_size=5).map(any_of)
)
expressions: SearchStrategy[Expression] = st.recursive(
    conditions | attributes | st.builds(Literal, st.booleans()),
    lambda inner: (
        _calls([Operation.AND, Operation.OR], inner, inner, inner)
        | _calls([Operation.NOT, Operation.HOLDS], inner)
        | _calls([Operation.XOR, Operation.EXCEPT], inner, inner)
        | _calls([Operation.SOME], attributes, inner)
    ),
    max_leaves=6,
)

# Logic inside comparisons, where one side may decide what the other leaves unknown.
nested: SearchStrategy[Expression] = st.recursive(
    expressions,
    lambda inner: (
        _calls(_COMPARISONS, inner, inner | literals | attributes)
        | _calls([Operation.ONE_OF], inner | attributes, inner, literals | attributes)
        | _calls([Operation.CE_BOOLEAN, Operation.CE_NOT, Operation.TEXT], inner)
        | _calls(
            [Operation.LIKE],
            _calls([Operation.TEXT], inner),
            st.builds(Literal, patterns),
        )
        | _calls([Operation.ADD, Operation.ALIKE], inner, attributes)
        | _calls([Operation.AND, Operation.OR, Operation.EXCEPT], inner, inner)
        | _calls([Operation.NOT, Operation.HOLDS], inner)
        | _calls([Operation.SOME], attributes, inner)
    ),
    max_leaves=4,
)


class FailedError(Exception):
    """A part failed, and with it everything that it is part of."""


def naive_holds(expression: Expression, notification: Mapping[str, Any]) -> bool:
    """Whether an expression is true of single values: by the book, nothing prepared."""
    try:
        return naive(expression, notification) is True
    except FailedError:
        return False


def naive(expression: Expression, notification: Mapping[str, Any]) -> Any:  # noqa: ANN401 -- a value of any kind
    """The value of an expression, None if it is unknown."""
    match expression:
        case Literal(value):
            return value
        case Attribute(name):
            return notification.get(name)
        case Constraint():
            return truth(expression, notification.get(expression.name))
        case Call(operation, arguments):
            if operation in _NAIVE:
                return _NAIVE[operation](arguments, notification)
            return naive_call(operation, arguments, notification)


def naive_call(
    operation: Operation,
    arguments: tuple[Expression, ...],
    notification: Mapping[str, Any],
) -> Any:  # noqa: ANN401 -- a value of any kind
    if operation is Operation.ANYWHERE_MATCHES:
        pattern = naive(arguments[0], notification)
        texts = [v if isinstance(v, str) else spell(v) for v in notification.values()]
        return any(re.search(pattern, text) is not None for text in texts)
    if operation is Operation.MATCHES:
        subject, pattern = (naive(a, notification) for a in arguments)
        if not isinstance(subject, str):
            return None
        return re.search(pattern, subject) is not None
    if operation in WITH_PATTERN:
        subject, pattern = (naive(a, notification) for a in arguments)
        return with_pattern(operation, pattern)(subject)
    found = [naive(argument, notification) for argument in arguments]
    if operation in FAILING:
        value, failure = FAILING_FUNCTIONS[operation](*found)
        if failure is not None:
            raise FailedError
        return value
    assert operation in CONDITIONS or operation in FUNCTIONS
    return FUNCTIONS[operation](*found)


Arguments = tuple[Expression, ...]


def _truths(arguments: Arguments, notification: Mapping[str, Any]) -> list[bool | None]:
    """What each is until one decides: failures behind that do not happen."""
    return [_truth(naive(argument, notification)) for argument in arguments]


def _truth(value: object) -> bool | None:
    return value if isinstance(value, bool) else None


def _all(arguments: Arguments, notification: Mapping[str, Any]) -> bool | None:
    found: bool | None = True
    for argument in arguments:
        each = _truth(naive(argument, notification))
        if each is False:
            return False
        found = None if each is None else found
    return found


def _any(arguments: Arguments, notification: Mapping[str, Any]) -> bool | None:
    negated = tuple(Call(Operation.NOT, (argument,)) for argument in arguments)
    found = _all(negated, notification)
    return None if found is None else not found


def _not(arguments: Arguments, notification: Mapping[str, Any]) -> bool | None:
    (found,) = _truths(arguments, notification)
    return None if found is None else not found


def _xor(arguments: Arguments, notification: Mapping[str, Any]) -> bool | None:
    one, other = _truths(arguments, notification)
    return None if None in {one, other} else python.ne(one, other)


def _except(arguments: Arguments, notification: Mapping[str, Any]) -> bool:
    wanted, unwanted = (naive_holds(a, notification) for a in arguments)
    return wanted and not unwanted


_NAIVE: dict[Operation, Callable[[Arguments, Mapping[str, Any]], Any]] = {
    Operation.AND: _all,
    Operation.OR: _any,
    Operation.NOT: _not,
    Operation.XOR: _xor,
    Operation.EXCEPT: _except,
    Operation.HOLDS: lambda arguments, n: naive_holds(arguments[0], n),
    Operation.SOME: lambda arguments, n: _truth(naive(arguments[1], n)),
}
