"""Ordered kinds as integers: keys that keep the order, with nothing in between.

Integers, floats, booleans and times are discrete: between a value and the next
there is no other, also among the 2^64 doubles.  Mapped to consecutive integers,
all of them can be reasoned about alike: ``> v`` is *at least the key after v*.
"""

import math
import struct
from datetime import UTC, datetime, timedelta

from siena.model import Kind, Value
from siena.model.values import INTEGER_MAX, INTEGER_MIN

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_TIME_MIN = datetime.min.replace(tzinfo=UTC)
_TIME_MAX = datetime.max.replace(tzinfo=UTC)


def key_of(value: Value, kind: Kind) -> int:
    """The key of a value of an ordered kind.

    >>> key_of(-3, Kind.INTEGER), key_of(True, Kind.BOOLEAN), key_of(0.0, Kind.FLOAT)
    (-3, 1, 0)
    >>> key_of(math.nextafter(1.0, 2.0), Kind.FLOAT) - key_of(1.0, Kind.FLOAT)
    1
    """
    if kind is Kind.FLOAT:
        assert isinstance(value, float)
        # The bits of a double, read as an integer, already ascend with it; below
        # zero they descend, so their sign is turned.
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return int(bits if bits >= 0 else -(bits & INTEGER_MAX))
    if kind is Kind.TIME:
        assert isinstance(value, datetime)
        return (value - EPOCH) // _MICROSECOND
    assert isinstance(value, int)
    return int(value)


def value_of(key: int, kind: Kind) -> Value:
    """The value of a key: the inverse of :func:`key_of`."""
    if kind is Kind.FLOAT:
        (size,) = struct.unpack("<d", struct.pack("<q", abs(key)))
        return float(size if key >= 0 else -size)
    if kind is Kind.TIME:
        return EPOCH + key * _MICROSECOND
    return bool(key) if kind is Kind.BOOLEAN else key


FIRST_KEY = {
    Kind.INTEGER: INTEGER_MIN,
    Kind.FLOAT: key_of(-math.nextafter(math.inf, 0), Kind.FLOAT),
    Kind.BOOLEAN: 0,
    Kind.TIME: key_of(_TIME_MIN, Kind.TIME),
}
LAST_KEY = {
    Kind.INTEGER: INTEGER_MAX,
    Kind.FLOAT: key_of(math.nextafter(math.inf, 0), Kind.FLOAT),
    Kind.BOOLEAN: 1,
    Kind.TIME: key_of(_TIME_MAX, Kind.TIME),
}


def key_around(operand: Value, kind: Kind) -> tuple[int, int]:
    """The last key at or below the operand, and the first at or above it.

    The two are equal if the operand is a value of the kind.  A number may lie
    between two: 2.5 between two integers, and 2^53 + 1 between two doubles.

    >>> key_around(2.5, Kind.INTEGER), key_around(2.0, Kind.INTEGER)
    ((2, 3), (2, 2))
    >>> low, high = key_around(2**53 + 1, Kind.FLOAT)
    >>> value_of(low, Kind.FLOAT), value_of(high, Kind.FLOAT)
    (9007199254740992.0, 9007199254740994.0)
    """
    if kind is Kind.INTEGER and type(operand) is float:
        # Far beyond 64 bits too: the caller's bounds cut what does not exist.
        return math.floor(operand), math.ceil(operand)
    if kind is Kind.FLOAT and type(operand) is int:
        nearest = float(operand)
        key = key_of(nearest, Kind.FLOAT)
        # Python compares an integer with a float exactly.
        return key - (nearest > operand), key + (nearest < operand)
    key = key_of(operand, kind)
    return key, key
