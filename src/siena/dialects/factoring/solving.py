"""Solving comparisons of numbers: from ``price * 2 + 1 > 7`` to ``price > 3``.

*Theory of operation.*  A chain of sums, differences, products and quotients of one
attribute with literals rises with the attribute, or falls with it, also when every step
is rounded to a double.  So the values for which it compares with a number as wanted are
an interval, and its ends are found by halving what is left of all integers, and of all
floats, evaluating the chain itself: the answer is exact because nothing is rearranged.
"""

import operator as python
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from siena.algebra.keys import FIRST_KEY, LAST_KEY, key_around, value_of
from siena.model import Constraint, Kind, Operator, Value
from siena.model.expression import (
    Attribute,
    Call,
    Expression,
    Literal,
    Operation,
    compile_expression,
    names_of,
)
from siena.model.expression.numbers import (
    STEP_ADD,
    STEP_DIVIDE,
    STEP_MULTIPLY,
    STEP_QUOTIENT,
    STEP_SUBTRACT,
    Number,
)
from siena.model.expression.operations import MIRRORED
from siena.model.values import INTEGER_MAX, INTEGER_MIN

_KINDS = (Kind.INTEGER, Kind.FLOAT)


class Chain(NamedTuple):
    """Steps on one attribute: what they compute, and whether it rises with it."""

    name: str
    compute: Callable[[Number], Number]
    rises: bool


class Span(NamedTuple):
    """The keys of one kind of number, from first to last; none if last is less."""

    first: int
    last: int


def solve(
    operation: Operation, left: Expression, right: Expression
) -> list[tuple[Constraint, ...]] | None:
    """The alternatives for which a comparison is true, if it is one that is solved.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> comparison = parse("x * 2 + 1 > 7")
    >>> solve(comparison.operation, *comparison.arguments)
    [(<Constraint x > 3>,)]
    """
    if not names_of(left):
        left, right, operation = right, left, MIRRORED[operation]
    chain, bound = chain_of(left), _constant(right)
    if chain is None or bound is None:
        return None
    if not chain.rises:
        chain, bound = _turned(chain), -bound
        operation = _TURNED[operation]
    if operation is Operation.NE:
        return _solve_unequal(chain, bound)
    return _alternatives(
        chain.name, {kind: _span(chain, kind, operation, bound) for kind in _KINDS}
    )


def chain_of(expression: Expression) -> Chain | None:
    """The chain that an expression is, or None if it is something else."""
    match expression:
        case Attribute(name):
            return Chain(name, lambda value: value, rises=True)
        case Call(Operation.NEGATIVE, (inner,)):
            return _extended(Operation.SUBTRACT, Literal(0), inner)
        case Call(operation, (left, right)) if operation in _STEPS:
            return _extended(operation, left, right)
    return None


def _extended(
    operation: Operation, left: Expression, right: Expression
) -> Chain | None:
    """One more step, if one side is a chain and the other a number."""
    literal, is_first = _constant(right), True
    if literal is None:
        literal, is_first = _constant(left), False
    chain = chain_of(left if is_first else right)
    if chain is None or literal is None:
        return None
    rises = chain.rises
    if operation in {Operation.MULTIPLY, *_QUOTIENTS}:
        # Zero makes a constant, or nothing; and a quotient by a chain has a gap.
        if literal == 0 or (operation in _QUOTIENTS and not is_first):
            return None
        rises = rises == (literal > 0)
    elif operation is Operation.SUBTRACT and not is_first:
        rises = not rises
    step, before = _STEPS[operation], chain.compute
    if is_first:
        return Chain(chain.name, lambda value: step(before(value), literal), rises)
    return Chain(chain.name, lambda value: step(literal, before(value)), rises)


def _constant(expression: Expression) -> Number | None:
    """The number that an expression is of every notification, if it is one."""
    if names_of(expression):
        return None
    value = compile_expression(expression)({}, [])
    return value if type(value) in {int, float} else None


def _turned(chain: Chain) -> Chain:
    """The chain with the other sign, which rises where it fell."""
    before = chain.compute
    return Chain(chain.name, lambda value: -before(value), rises=True)


def _span(chain: Chain, kind: Kind, operation: Operation, bound: Number) -> Span:
    """The keys for which a rising chain compares as wanted."""
    first, last = _whole(kind)
    if operation in _BEGIN:
        first = _first_key(chain, kind, partial(_BEGIN[operation], bound))
    if operation in _BEYOND:
        last = _first_key(chain, kind, partial(_BEYOND[operation], bound)) - 1
    return Span(first, last)


def _first_key(chain: Chain, kind: Kind, holds: Callable[[Number], bool]) -> int:
    """The first key from which on something holds of the chain, by halving."""
    first, last = _whole(kind)
    end = last + 1
    while first < end:
        middle = (first + end) // 2
        value = value_of(middle, kind)
        assert isinstance(value, (int, float))
        if holds(chain.compute(value)):
            end = middle
        else:
            first = middle + 1
    return first


def _solve_unequal(chain: Chain, bound: Number) -> list[tuple[Constraint, ...]]:
    """Below and above; in one constraint where one number lies between."""
    name = chain.name
    equal = {kind: _span(chain, kind, Operation.EQ, bound) for kind in _KINDS}
    found = _alternatives(name, equal)
    if len(found) == 1 and [c.operator for c in found[0]] == [Operator.EQ]:
        (constraint,) = found[0]
        if constraint.kind is Kind.NUMBER:
            return [(Constraint(name, Operator.NE, constraint.value),)]
    return [
        alternative
        for operation in (Operation.LT, Operation.GT)
        for alternative in _alternatives(
            name, {kind: _span(chain, kind, operation, bound) for kind in _KINDS}
        )
    ]


def _alternatives(name: str, spans: dict[Kind, Span]) -> list[tuple[Constraint, ...]]:
    """The spans of both kinds as constraints, in one alternative if possible."""
    for together in _untyped(name, spans):
        if all(_span_of(together, kind) == spans[kind] for kind in _KINDS):
            return [together]
    return [
        _typed(name, kind, span)
        for kind, span in spans.items()
        if span.first <= span.last
    ]


def _untyped(name: str, spans: dict[Kind, Span]) -> Iterator[tuple[Constraint, ...]]:
    """Constraints on both kinds that might say it: those at the ends of the spans."""
    yield (Constraint(name, Operator.ANY, None, Kind.NUMBER),)
    floats = spans[Kind.FLOAT]
    if floats.first > floats.last:
        return
    first, last = _whole(Kind.FLOAT)
    integers = spans[Kind.INTEGER]
    lows: list[Value] = [
        value_of(max(floats.first - 1, first), Kind.FLOAT),
        integers.first,
    ]
    highs: list[Value] = [
        value_of(min(floats.last + 1, last), Kind.FLOAT),
        integers.last,
    ]
    lows.append(value_of(floats.first, Kind.FLOAT))
    highs.append(value_of(floats.last, Kind.FLOAT))
    # The shortest first: of two ways to say it, 3 reads better than 3.0000000000000004.
    lows, highs = (sorted(filter(_fits, ends), key=_length) for ends in (lows, highs))
    above = [Constraint(name, o, v) for v in lows for o in (Operator.GT, Operator.GE)]
    below = [Constraint(name, o, v) for v in highs for o in (Operator.LT, Operator.LE)]
    yield from ((Constraint(name, Operator.EQ, value),) for value in lows)
    yield from ((constraint,) for constraint in (*above, *below))
    yield from ((one, other) for one in above for other in below)


def _fits(value: Value) -> bool:
    assert isinstance(value, (int, float))
    return isinstance(value, float) or INTEGER_MIN <= value <= INTEGER_MAX


def _length(value: Value) -> int:
    return len(repr(value).removesuffix(".0"))


def _span_of(constraints: tuple[Constraint, ...], kind: Kind) -> Span:
    first, last = _whole(kind)
    for constraint in constraints:
        if constraint.value is None:
            continue
        below, above = key_around(constraint.value, kind)
        if constraint.operator in {Operator.GE, Operator.EQ}:
            first = max(first, above)
        elif constraint.operator is Operator.GT:
            first = max(first, below + 1)
        if constraint.operator in {Operator.LE, Operator.EQ}:
            last = min(last, below)
        elif constraint.operator is Operator.LT:
            last = min(last, above - 1)
    return Span(first, last)


def _typed(name: str, kind: Kind, span: Span) -> tuple[Constraint, ...]:
    """The constraints on values of one kind that say: from first to last."""
    first, last = _whole(kind)
    if span.first == span.last:
        return (Constraint(name, Operator.EQ, value_of(span.first, kind), kind),)
    found = []
    if span.first > first:
        low = value_of(span.first, kind)
        found.append(Constraint(name, Operator.GE, low, kind))
    if span.last < last:
        high = value_of(span.last, kind)
        found.append(Constraint(name, Operator.LE, high, kind))
    return tuple(found) or (Constraint(name, Operator.ANY, None, kind),)


def _whole(kind: Kind) -> Span:
    return Span(FIRST_KEY[kind], LAST_KEY[kind])


_STEPS = {
    Operation.ADD: STEP_ADD,
    Operation.SUBTRACT: STEP_SUBTRACT,
    Operation.MULTIPLY: STEP_MULTIPLY,
    Operation.DIVIDE: STEP_DIVIDE,
    Operation.QUOTIENT: STEP_QUOTIENT,
}
_QUOTIENTS = frozenset({Operation.DIVIDE, Operation.QUOTIENT})
# Where a span begins, and where it has ended: the bound first, then the chain's value.
_BEGIN: dict[Operation, Callable[[Number, Number], bool]] = {
    Operation.GE: python.le,
    Operation.EQ: python.le,
    Operation.GT: python.lt,
}
_BEYOND: dict[Operation, Callable[[Number, Number], bool]] = {
    Operation.LE: python.lt,
    Operation.EQ: python.lt,
    Operation.LT: python.le,
}
_TURNED = {
    Operation.LT: Operation.GT,
    Operation.LE: Operation.GE,
    Operation.GT: Operation.LT,
    Operation.GE: Operation.LE,
    Operation.EQ: Operation.EQ,
    Operation.NE: Operation.NE,
}
