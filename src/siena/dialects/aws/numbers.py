"""Numbers as Amazon compares them: doubles, or else as they are written.

A number that no double is has no order there.  It is equal to what is written alike,
and to nothing else: ``9007199254740993`` is itself, and not more than five.

Reference:
    The README of aws/event-ruler, "Numeric matching", and its ``ComparableNumber``.
"""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from hashlib import blake2b

from siena.model.expression.numbers import Number
from siena.model.values import INTEGER_MAX, INTEGER_MIN, Value, as_value

# Every integer up to here, whatever its sign, is a double.
_WHOLE_MAX = 2**53
# Such numbers are times of the second millennium, to the microsecond: no JSON has
# times, so nothing compares with them.
_BEGIN = datetime(1000, 1, 1, tzinfo=UTC)
_SPAN = (datetime(2000, 1, 1, tzinfo=UTC) - _BEGIN) // timedelta(microseconds=1)


def is_comparable(number: Number) -> bool:
    """Whether a number has an order: its shortest double is the number itself.

    >>> is_comparable(5), is_comparable(2**53 + 2), is_comparable(2**53 + 1)
    (True, True, False)
    """
    if isinstance(number, float):
        return math.isfinite(number)
    if abs(number) <= _WHOLE_MAX:
        return True
    try:
        return Decimal(repr(float(number))) == number
    except OverflowError:
        return False


def as_number(value: Value) -> Value:
    """The value; of an integer that is beyond 64 bits, what is compared in its place.

    >>> as_number(2**53 + 1), as_number(10**20)
    (9007199254740993, 1e+20)
    """
    if type(value) is not int or INTEGER_MIN <= value <= INTEGER_MAX:
        return as_value(value)
    return as_value(float(value)) if is_comparable(value) else digest_of(value)


def without_order(value: Value) -> Value:
    """The value, and of a number that has no order its digest.

    >>> without_order(2**53) == 2**53, without_order(2**53 + 1) > without_order(5)
    Traceback (most recent call last):
    ...
    TypeError: '>' not supported between instances of 'datetime.datetime' and 'int'
    """
    if type(value) is int and not is_comparable(value):
        return digest_of(value)
    return value


def digest_of(number: int) -> datetime:
    """What stands for a number that is equal to itself alone.

    >>> digest_of(2**53 + 1) == digest_of(2**53 + 1), digest_of(1) == digest_of(3)
    (True, False)

    It has 55 bits: of two such numbers one in 10**16 is taken for the other.
    """
    digest = blake2b(str(number).encode(), digest_size=8).digest()
    return _BEGIN + timedelta(microseconds=int.from_bytes(digest, "big") % _SPAN)
