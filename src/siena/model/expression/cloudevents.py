"""The values of CloudEvents SQL: strings, 32-bit integers and booleans, with casts.

Each function returns a value and, where the language speaks of an error, a failure
beside it.  An argument that is unknown has failed before, and stays unknown.

Reference:
    CloudEvents SQL Expression Language 1.0, sections 3.1, 3.3, 3.5 and 3.7.
"""

import enum
import re
from datetime import datetime
from typing import NamedTuple

from siena.model.expression import strings
from siena.model.spelling import spell_time
from siena.model.values import Value

INTEGER_LEAST = -(2**31)
INTEGER_MOST = 2**31 - 1
_INTEGER = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)


class Failure(enum.Enum):
    """Why something that has a value must not be taken to hold."""

    MISSING_ATTRIBUTE = "missing attribute"
    CAST = "cast"
    MATH = "math"
    FUNCTION = "function"


class Result(NamedTuple):
    """A value, and what failed on the way to it."""

    value: Value | None
    failure: Failure | None = None


_UNKNOWN = Result(None)


def value_of(value: Value | None) -> Result:
    """An attribute as CloudEvents SQL sees it: what is no primitive is a string."""
    if value is None:
        return Result(None, Failure.MISSING_ATTRIBUTE)
    return Result(as_primitive(value))


def text_of(value: Value | None) -> Result:
    """An attribute that is a string in every CloudEvent; anything else is missing."""
    if isinstance(value, str):
        return Result(value)
    return Result(None, Failure.MISSING_ATTRIBUTE)


def as_primitive(value: Value) -> str | int | bool:
    """The string, 32-bit integer or boolean that stands for a value.

    >>> as_primitive(5), as_primitive(2.5), as_primitive(2**40)
    (5, '2.5', '1099511627776')
    """
    if isinstance(value, (str, bool)):
        return value
    if isinstance(value, int) and INTEGER_LEAST <= value <= INTEGER_MOST:
        return value
    return spell_time(value) if isinstance(value, datetime) else repr(value)


def to_string(value: Value | None) -> Result:
    """The value as a string; every value has one."""
    if isinstance(value, bool):
        return Result("true" if value else "false")
    return Result(None if value is None else str(value))


def to_integer(value: Value | None) -> Result:
    """The value as an integer.

    >>> to_integer("+05"), to_integer("five")
    (Result(value=5, failure=None), Result(value=0, failure=<Failure.CAST: 'cast'>))
    """
    if isinstance(value, (bool, int)):
        return Result(int(value))
    if not isinstance(value, str):
        return _UNKNOWN
    if _INTEGER.fullmatch(value) and INTEGER_LEAST <= int(value) <= INTEGER_MOST:
        return Result(int(value))
    return Result(0, Failure.CAST)


def to_boolean(value: Value | None) -> Result:
    """The value as a boolean."""
    if isinstance(value, (bool, int)):
        return Result(bool(value))
    if not isinstance(value, str):
        return _UNKNOWN
    word = value.lower()
    if word in {"true", "false"}:
        return Result(word == "true")
    return Result(False, Failure.CAST)


def negation(value: Value | None) -> Result:
    """``NOT``, which takes no integer for a boolean, although ``BOOL`` does."""
    if type(value) is int:
        return Result(True, Failure.CAST)
    found, failure = to_boolean(value)
    return Result(None if found is None else not found, failure)


def equal(left: Value | None, right: Value | None) -> Result:
    """Whether two values are equal, the left one cast to what the right one is."""
    if left is None or right is None:
        return _UNKNOWN
    found, failure = _cast_as(left, right)
    return Result(failure is None and found == right, failure)


def one_of(value: Value | None, *members: Value | None) -> Result:
    """Whether a value is equal to a member, each cast to what the value is."""
    if value is None or None in members:
        return _UNKNOWN
    failures = None
    for member in members:
        assert member is not None
        found, failure = _cast_as(member, value)
        if failure is None and found == value:
            return Result(True, failures)
        failures = failures or failure
    return Result(False, failures)


def in_range(value: Value | None) -> Result:
    """An integer that 32 bits can hold."""
    if type(value) is not int:
        return _UNKNOWN
    if INTEGER_LEAST <= value <= INTEGER_MOST:
        return Result(value)
    return Result(None, Failure.MATH)


def quotient(left: Value | None, right: Value | None) -> Result:
    """The quotient of integers, towards zero."""
    if type(left) is not int or type(right) is not int:
        return _UNKNOWN
    if right == 0:
        return Result(None, Failure.MATH)
    found = abs(left) // abs(right)
    return in_range(found if (left < 0) == (right < 0) else -found)


def remainder(left: Value | None, right: Value | None) -> Result:
    """What a quotient leaves, with the sign of the dividend."""
    if type(left) is not int or type(right) is not int:
        return _UNKNOWN
    if right == 0:
        return Result(None, Failure.MATH)
    found = abs(left) % abs(right)
    return Result(-found if left < 0 else found)


def absolute(value: Value | None) -> Result:
    """The integer without its sign; the least one has none without."""
    if type(value) is not int:
        return _UNKNOWN
    if value == INTEGER_LEAST:
        return Result(INTEGER_MOST, Failure.MATH)
    return Result(abs(value))


def left(text: Value | None, count: Value | None) -> Result:
    """The first characters; all of them and a failure if less than none are wanted."""
    return _or_failure(strings.left(text, count), text, count)


def right(text: Value | None, count: Value | None) -> Result:
    """The last characters; all of them and a failure if less than none are wanted."""
    return _or_failure(strings.right(text, count), text, count)


def substring(text: Value | None, *place: Value | None) -> Result:
    """Characters from a place on; nothing and a failure if there is no such place."""
    return _or_failure(strings.substring(text, *place), "", text, *place)


def _cast_as(value: Value, example: Value) -> Result:
    if isinstance(example, bool):
        return to_boolean(value)
    return to_integer(value) if isinstance(example, int) else to_string(value)


def _or_failure(
    found: Value | None, instead: Value | None, *arguments: Value | None
) -> Result:
    if found is not None:
        return Result(found)
    if instead is None or None in arguments:
        return _UNKNOWN
    return Result(instead, Failure.FUNCTION)
