"""The slow, obvious twins: what the relations mean, by trying every value there is.

Nothing here shares code with the model's matching or with the algebra.  Strings are
compared as the bytes of their characters, numbers as fractions, and an exhaustive
universe of values (spec, A.5.6) stands for all values; a set of values is an integer
with one bit for each value of the universe, and one more for "the attribute is absent".

The universe is large and yet finite: what it refutes is refuted, what it does not
refute may still be wrong.  The other direction is the witness's, which the functions
at the top check alone.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from fractions import Fraction
from functools import cache
from typing import Any

from folding import folded
from siena.algebra.points import ABSENT as NOTHING, Point
from siena.model import Advertisement, Constraint, Filter, Kind, Operator, Value
from strategies import (
    ALPHABET,
    BOOLEANS,
    CAPITAL,
    FLOATS,
    INTEGERS,
    MICROSECOND,
    TIME_MAX,
    TIME_MIN,
    TIMES,
)

# --- What constraints, filters and advertisements mean ----------------------------

_KIND_OF = {
    str: {Kind.STRING, Kind.ANY},
    int: {Kind.INTEGER, Kind.NUMBER, Kind.ANY},
    float: {Kind.FLOAT, Kind.NUMBER, Kind.ANY},
    bool: {Kind.BOOLEAN, Kind.ANY},
    datetime: {Kind.TIME, Kind.ANY},
}


@cache
def is_like(text: str, pattern: str) -> bool:
    """Whether a text is like a pattern, trying both choices at each star."""
    if not pattern:
        return not text
    first, rest = pattern[0], pattern[1:]
    if first == "*":
        return is_like(text, rest) or bool(text and is_like(text[1:], pattern))
    if first == "\\":
        first, rest = rest[0], rest[1:]
        return text[:1] == first and is_like(text[1:], rest)
    return bool(text) and first in {"?", text[0]} and is_like(text[1:], rest)


# Of a value and an operand that can be compared; strings are bytes here.
_HOLDS: dict[Operator, Callable[[Any, Any], bool]] = {
    Operator.EQ: lambda v, o: not v < o and not o < v,
    Operator.NE: lambda v, o: v < o or o < v,
    Operator.LT: lambda v, o: v < o,
    Operator.LE: lambda v, o: not o < v,
    Operator.GT: lambda v, o: o < v,
    Operator.GE: lambda v, o: not v < o,
    Operator.PREFIX: lambda v, o: 0 in _places(o, v),
    Operator.SUFFIX: lambda v, o: len(v) - len(o) in _places(o, v),
    Operator.SUBSTRING: lambda v, o: bool(_places(o, v)),
    Operator.LIKE: lambda v, o: is_like(v.decode(_CODE), o.decode(_CODE)),
}
_CODE = "utf-32-be"  # four bytes a character, the greatest first


def satisfies(value: Point, constraint: Constraint) -> bool:
    """Whether the value, or its absence, satisfies the constraint, name aside."""
    if value is NOTHING:
        return constraint.operator is Operator.ABSENT
    if constraint.operator is Operator.ABSENT:
        return False
    is_of_kind = constraint.kind in _KIND_OF[type(value)]
    if constraint.operator is Operator.OTHER:
        return not is_of_kind
    if not is_of_kind or constraint.operator is Operator.ANY:
        return is_of_kind
    operand, word = constraint.value, constraint.operator.name
    assert operand is not None
    if word.endswith("_FOLDED"):
        assert isinstance(value, str)
        assert isinstance(operand, str)
        word = word.removesuffix("_FOLDED")
        value, operand = ("".join(map(folded, text)) for text in (value, operand))
    is_negated = word.startswith("NOT_")
    holds = _HOLDS[Operator[word.removeprefix("NOT_")]]
    return holds(_comparable(value), _comparable(operand)) is not is_negated


def _comparable(value: Value) -> bytes | datetime | Fraction:
    if isinstance(value, str):
        return value.encode(_CODE)
    return value if isinstance(value, datetime) else Fraction(value)


def _places(part: bytes, whole: bytes) -> list[int]:
    """Where the part occurs in the whole."""
    last = len(whole) - len(part)
    return [at for at in range(0, last + 1, 4) if whole[at : at + len(part)] == part]


def matches(interest: Iterable[Filter], notification: Mapping[str, Value]) -> bool:
    """Whether one of the filters has all of its constraints satisfied."""
    return any(
        all(satisfies(notification.get(c.name, NOTHING), c) for c in f.constraints)
        for f in interest
    )


def admits(advertisement: Advertisement, notification: Mapping[str, Value]) -> bool:
    """Whether each attribute satisfies one of the constraints on its name."""
    return all(
        any(c.name == name and satisfies(value, c) for c in advertisement.constraints)
        for name, value in notification.items()
    )


# --- The universe -----------------------------------------------------------------


def strings_over(alphabet: str, length_max: int) -> Iterator[str]:
    """All strings over the alphabet, up to a length."""
    for length in range(length_max + 1):
        for characters in itertools.product(alphabet, repeat=length):
            yield "".join(characters)


def _strings() -> Iterator[str]:
    yield from strings_over(ALPHABET, 5)
    # One foreign character, at every place of the shorter ones.
    for text in strings_over(ALPHABET, 3):
        for at, foreign in itertools.product(range(len(text) + 1), f"!c{CAPITAL}"):
            yield text[:at] + foreign + text[at:]


def _integers() -> set[int]:
    around = {n + step for n in INTEGERS for step in (-2, -1, 0, 1, 2)}
    return {n for n in {*range(-12, 13), *around} if -(2**63) <= n < 2**63}


def _floats() -> set[float]:
    found = {0.0, *FLOATS, *map(float, INTEGERS)}
    for _ in range(2):
        for end in (-math.inf, math.inf):
            found |= {math.nextafter(value, end) for value in found}
    return {value + 0.0 for value in found if math.isfinite(value)}


def _times() -> set[datetime]:
    inner = [time for time in TIMES if TIME_MIN < time < TIME_MAX]
    return {
        *TIMES,
        *(time + step for time in inner for step in (-MICROSECOND, MICROSECOND)),
    }


UNIVERSE: tuple[Value, ...] = (
    *_strings(),
    *sorted(_integers()),
    *sorted(_floats()),
    *BOOLEANS,
    *sorted(_times()),
)
ABSENT = 1 << len(UNIVERSE)
EVERYTHING = 2 * ABSENT - 1


def values_in(mask: int) -> Iterator[Value]:
    """The values of a set, absence aside, for messages and samples."""
    return (value for at, value in enumerate(UNIVERSE) if mask >> at & 1)


@cache
def _satisfying(
    operator: Operator, kind: Kind, operand: Value | None, _word: str
) -> int:
    constraint = Constraint("any name", operator, operand, kind)
    points = (*UNIVERSE, NOTHING)
    bits = ["1" if satisfies(point, constraint) else "0" for point in points]
    return int("".join(reversed(bits)), 2)


def satisfying(constraint: Constraint) -> int:
    """The values of the universe that satisfy the constraint."""
    _, operator, kind, value = constraint
    # Spelled out too: to a cache, 1 and True are the same.
    return _satisfying(operator, kind, value, repr(value))


def satisfying_all(
    positive: Iterable[Constraint], negative: Iterable[Constraint] = ()
) -> int:
    """The points that satisfy all of the first constraints and none of the second."""
    mask = EVERYTHING
    for constraint in positive:
        mask &= satisfying(constraint)
    for constraint in negative:
        mask &= ~satisfying(constraint)
    return mask


# --- The relations ----------------------------------------------------------------
# A filter, and an advertisement, allows each name a set of values of its own.  What
# matches is the product of these sets; of a product everything is known by its factors.


def satisfiable(f: Filter) -> bool:
    """Whether the universe holds a notification that matches."""
    return all(_wanted(f, name) for name in _names(f))


def covers(general: Filter, specific: Filter) -> bool:
    """Whether the universe holds nothing that only the specific filter matches."""
    return not satisfiable(specific) or all(
        not _wanted(specific, name) & ~_wanted(general, name)
        for name in _names(general, specific)
    )


def covers_advertisement(general: Advertisement, specific: Advertisement) -> bool:
    """Whether the universe holds nothing that only the specific one admits."""
    return all(
        not _offered(specific, name) & ~_offered(general, name)
        for name in _names(general, specific)
    )


def overlaps(advertisement: Advertisement, f: Filter) -> bool:
    """Whether the universe holds a notification that is admitted and matches."""
    return all(
        _offered(advertisement, name) & _wanted(f, name)
        for name in _names(advertisement, f)
    )


def telling_notifications(*interests: Iterable[Filter]) -> list[dict[str, Value]]:
    """Notifications of which one tells the interests apart, if the universe has any.

    Two values that satisfy the same constraints need not both be tried; so there is
    one value for each set of constraints that can be satisfied together, and all
    combinations of such values.
    """
    filters = [f for interest in interests for f in interest]
    names = sorted(_names(*filters))
    choices = [
        [None, *_samples([c for f in filters for c in f.constraints if c.name == name])]
        for name in names
    ]
    return [
        {name: v for name, v in zip(names, chosen, strict=True) if v is not None}
        for chosen in itertools.product(*choices)
    ]


def _samples(constraints: list[Constraint]) -> list[Value]:
    cells = [EVERYTHING ^ ABSENT]
    for constraint in constraints:
        mask = satisfying(constraint)
        cells = [part for cell in cells for part in (cell & mask, cell & ~mask) if part]
    return [next(values_in(cell)) for cell in cells]


def _names(*parts: Filter | Advertisement) -> set[str]:
    return {c.name for part in parts for c in part.constraints}


def _wanted(f: Filter, name: str) -> int:
    mask = EVERYTHING
    for constraint in f.constraints:
        if constraint.name == name:
            mask &= satisfying(constraint)
    return mask


def _offered(advertisement: Advertisement, name: str) -> int:
    mask = ABSENT
    for constraint in advertisement.constraints:
        if constraint.name == name:
            mask |= satisfying(constraint)
    return mask
