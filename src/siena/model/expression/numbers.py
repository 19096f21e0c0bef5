"""Arithmetic: integers are exact, and what is mixed with a float is a float.

What is beyond all floats is infinite, as in IEEE 754, and compares so.  What has no
result is unknown: a division by zero, and anything done to a value that is not a
number.  Sums, differences, products and quotients are monotone in each argument while
the other keeps its sign, which is what lets a comparison of one attribute be solved
(:mod:`siena.dialects.factoring.solving`).
"""

import math
import operator as python
from collections.abc import Callable

from siena.model.values import Value

Number = int | float
Step = Callable[[Number, Number], Number]


def is_number(value: Value | None) -> bool:
    """Whether this is an integer or a float; booleans are neither."""
    return type(value) is int or type(value) is float


def unbounded(compute: Step) -> Step:
    """A step that is infinite where integers are too large to become floats."""

    def step(left: Number, right: Number) -> Number:
        try:
            return compute(left, right)
        except OverflowError:
            return compute(_limited(left), _limited(right))

    return step


def _limited(value: Number) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _numeric(step: Step) -> Callable[[Value | None, Value | None], Value | None]:
    """The function, unknown where it has no numbers or no result."""

    def result(left: Value | None, right: Value | None) -> Value | None:
        if not (is_number(left) and is_number(right)):
            return None
        assert isinstance(left, (int, float))
        assert isinstance(right, (int, float))
        try:
            found = step(left, right)
        except (ZeroDivisionError, ValueError):
            return None
        return None if found != found else found  # noqa: PLR0124 -- only NaN is not itself

    return result


def _remainder(left: Number, right: Number) -> Number:
    # With the sign of the dividend, as in C, Java and SQL.
    if isinstance(left, int) and isinstance(right, int):
        found = abs(left) % abs(right)
        return -found if left < 0 else found
    return math.fmod(left, right)


def _quotient(left: Number, right: Number) -> Number:
    # Towards zero, as in C, Java and C#.
    if isinstance(left, int) and isinstance(right, int):
        found = abs(left) // abs(right)
        return found if (left < 0) is (right < 0) else -found
    return left / right


STEP_ADD = unbounded(python.add)
STEP_SUBTRACT = unbounded(python.sub)
STEP_MULTIPLY = unbounded(python.mul)
STEP_DIVIDE = unbounded(python.truediv)
STEP_QUOTIENT = unbounded(_quotient)

subtract = _numeric(STEP_SUBTRACT)
multiply = _numeric(STEP_MULTIPLY)
divide = _numeric(STEP_DIVIDE)
remainder = _numeric(unbounded(_remainder))
quotient = _numeric(STEP_QUOTIENT)
_sum = _numeric(STEP_ADD)


def add(left: Value | None, right: Value | None) -> Value | None:
    """The sum of numbers; of two strings, one behind the other.

    >>> add(2, 0.5), add("a", "b"), add("a", 1), add(True, 1)
    (2.5, 'ab', None, None)
    """
    if isinstance(left, str) and isinstance(right, str):
        return left + right
    return _sum(left, right)


def modulo(left: Value | None, right: Value | None) -> Value | None:
    """The remainder of two integers; of anything else it is unknown.

    >>> modulo(-7, 3), modulo(7.0, 3)
    (-1, None)
    """
    is_whole = type(left) is int and type(right) is int
    return remainder(left, right) if is_whole else None


def negative(value: Value | None) -> Value | None:
    """The number with the other sign."""
    return subtract(0, value)


def absolute(value: Value | None) -> Value | None:
    """The number without its sign."""
    if not is_number(value):
        return None
    assert isinstance(value, (int, float))
    return abs(value)
