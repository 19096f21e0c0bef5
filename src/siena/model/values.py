"""Values and their kinds: what an attribute may hold.

Five kinds of value exist: strings, 64-bit integers, finite floats, booleans and
times.  Kinds never blur: ``False``, ``0`` and ``0.0`` are three values, although
Python calls them equal.  A constraint may also be of one of two wider kinds,
*number* (integers and floats, compared exactly as real numbers) and *any*.
"""

import enum
import math
from datetime import UTC, datetime

from siena.errors import InvalidNotificationError, LimitError
from siena.model.limits import NAME_CHARACTERS_MAX, STRING_CHARACTERS_MAX

Value = str | int | float | bool | datetime
"""What an attribute holds.  Times are aware ``datetime`` values in UTC, whose
range and resolution (microseconds, years 1 to 9999) are exactly ours."""

INTEGER_MIN = -(2**63)
INTEGER_MAX = 2**63 - 1

# The last character there is; nothing sorts after a string made only of these.
CHARACTER_MAX = "\U0010ffff"


class Kind(enum.IntEnum):
    """The type of a value, or of the values that a constraint is about.

    An ``IntEnum`` because kinds are compared and hashed with every constraint,
    and integers do that fastest.

    >>> Kind.of(True), Kind.of(1), Kind.of(1.0)
    (<Kind.BOOLEAN: 3>, <Kind.INTEGER: 1>, <Kind.FLOAT: 2>)
    >>> Kind.NUMBER.admits(Kind.FLOAT), Kind.INTEGER.admits(Kind.NUMBER)
    (True, False)
    """

    STRING = 0
    INTEGER = 1
    FLOAT = 2
    BOOLEAN = 3
    TIME = 4
    # Kinds of constraints only.
    NUMBER = 5
    ANY = 6

    @property
    def word(self) -> str:
        """The kind as the language writes it."""
        return self.name.lower()

    @property
    def parts(self) -> frozenset["Kind"]:
        """The kinds of value that this kind stands for."""
        return _PARTS[self]

    @property
    def types(self) -> frozenset[type]:
        """The Python types of those values."""
        return _TYPES[self]

    def admits(self, other: "Kind") -> bool:
        """Whether every value of ``other`` is a value of this kind."""
        return _PARTS[other] <= _PARTS[self]

    @staticmethod
    def of(value: Value) -> "Kind":
        """The kind of a value that :func:`as_value` has let through."""
        return _KIND_OF_TYPE[type(value)]

    @staticmethod
    def wanted_by(operand: Value) -> "Kind":
        """The kind of an untyped constraint with this operand: numbers are wide."""
        kind = _KIND_OF_TYPE[type(operand)]
        return Kind.NUMBER if kind in Kind.NUMBER.parts else kind


CONCRETE_KINDS = (Kind.STRING, Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN, Kind.TIME)
KIND_OF_WORD = {kind.word: kind for kind in Kind if kind is not Kind.ANY}

_PARTS = {kind: frozenset({kind}) for kind in CONCRETE_KINDS} | {
    Kind.NUMBER: frozenset({Kind.INTEGER, Kind.FLOAT}),
    Kind.ANY: frozenset(CONCRETE_KINDS),
}
_KIND_OF_TYPE: dict[type, Kind] = {
    str: Kind.STRING,
    int: Kind.INTEGER,
    float: Kind.FLOAT,
    bool: Kind.BOOLEAN,
    datetime: Kind.TIME,
}
_TYPES: dict[Kind, frozenset[type]] = {
    kind: frozenset(t for t, k in _KIND_OF_TYPE.items() if k in parts)
    for kind, parts in _PARTS.items()
}


def as_value(value: object) -> Value:
    """The value in its one stored form, or an error that says what is wrong.

    >>> as_value(-0.0)
    0.0
    >>> as_value(2**63)
    Traceback (most recent call last):
    siena.errors.InvalidNotificationError: 9223372036854775808 does not fit in 64 bits

    Subclasses (enumeration members, NumPy floats) become the plain type, so that
    ``type(value)`` tells the kind everywhere else.
    """
    # bool before int, because Python's bool is an int.
    if isinstance(value, str):
        return _as_string(value)
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return _as_integer(int(value))
    if isinstance(value, float):
        return _as_float(float(value))
    if isinstance(value, datetime):
        return _as_time(value)
    raise InvalidNotificationError(
        f"a {type(value).__name__} is not a value",
        hint="values are strings, integers, floats, booleans and times",
    )


def _as_string(value: str) -> str:
    if len(value) > STRING_CHARACTERS_MAX:
        raise LimitError(
            "STRING_CHARACTERS_MAX", STRING_CHARACTERS_MAX, "characters in a string"
        )
    check_characters(value)
    return value if type(value) is str else str.__str__(value)


def _as_integer(value: int) -> int:
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        raise InvalidNotificationError(f"{_shorten(value)} does not fit in 64 bits")
    return value


def _as_float(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidNotificationError(
            f"{value} is not a value", hint="floats are finite"
        )
    return value + 0.0  # turns -0.0 into 0.0, and nothing else


def _as_time(value: datetime) -> datetime:
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidNotificationError(
            f"{value.isoformat()} has no time zone", hint="use an aware datetime"
        )
    try:
        moved = value.astimezone(UTC)
    except OverflowError:
        raise InvalidNotificationError(
            f"{value.isoformat()} is outside the years 1 to 9999 in UTC"
        ) from None
    # A plain datetime: subclasses would hide their kind.
    return datetime(
        moved.year,
        moved.month,
        moved.day,
        moved.hour,
        moved.minute,
        moved.second,
        moved.microsecond,
        UTC,
    )


def as_name(name: object) -> str:
    """The name of an attribute, checked: any string of honest characters."""
    if not isinstance(name, str):
        raise InvalidNotificationError(
            f"an attribute's name is a string, not a {type(name).__name__}"
        )
    if len(name) > NAME_CHARACTERS_MAX:
        raise LimitError(
            "NAME_CHARACTERS_MAX", NAME_CHARACTERS_MAX, "characters in a name"
        )
    check_characters(name)
    return name if type(name) is str else str.__str__(name)


def check_characters(text: str) -> None:
    """Refuse half of a surrogate pair: it is not a character and has no UTF-8."""
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidNotificationError(
            f"U+{ord(text[error.start]):04X} is half of a character",
            hint="surrogates cannot stand alone",
        ) from None


def after_prefix(prefix: str) -> str | None:
    r"""The least string above everything that starts with ``prefix``, if there is one.

    >>> after_prefix("ab"), after_prefix("a\U0010ffff"), after_prefix("")
    ('ac', 'b', None)
    """
    stem = prefix.rstrip(CHARACTER_MAX)
    if not stem:
        return None
    code = ord(stem[-1]) + 1
    # The surrogates are not characters: U+D7FF is followed by U+E000.
    return stem[:-1] + chr(0xE000 if code == 0xD800 else code)


def _shorten(value: int) -> str:
    # Printing an integer of a million digits would take longer than refusing it.
    if value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    return str(value)
