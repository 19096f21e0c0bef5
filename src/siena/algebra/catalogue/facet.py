"""Facets: what one filter says about one attribute, and where that has its place.

A filter covers another if it does so name by name, and on one name a condition can only
cover what lies within its own ends.  So a facet has a *form*, and the least and the
greatest value that the condition selects; both follow from what is selected, not from
how it is spelled::

    x = 4                      POINT      4
    x > 3, integer x < 9       NUMBERS    3.0000000000000004 … 8
    s >* "ab"                  STRINGS    "ab" … "ac"
    s *< "ba"                  ENDINGS    "ab" … "ac", reversed
    s * "ab"                   PARTS      "ab"
    x != 4                     BUT_…      4
    x any, s * a and s * b     OPEN       no place: always compared
    x absent                   MISSING    no value, and nothing in common with others

Whatever has no other form is ``OPEN``, also an operator that is not known here.
"""

from collections.abc import Callable
from math import inf, nextafter
from typing import Any, NamedTuple

from siena.algebra.keys import FIRST_KEY, LAST_KEY, key_of, value_of
from siena.algebra.ordered import Span, span_of
from siena.algebra.points import ABSENT, NotShownError
from siena.algebra.sat import sat
from siena.algebra.simplify import needed
from siena.algebra.text.strings import intervals
from siena.model import Constraint, Kind, Operator, Value
from siena.model.limits import OPERAND_CHARACTERS_MAX
from siena.model.values import CHARACTER_MAX, after_prefix

Condition = tuple[Constraint, ...]
# Where nodes are found: a name and a form, and for points and parts their operand.
Token = tuple[Any, ...]

POINT, NUMBERS, STRINGS, TIMES, ENDINGS, PARTS = range(6)
BUT_NUMBER, BUT_STRING, BUT_TIME, OPEN, MISSING = range(6, 11)
FORMS = range(11)
# Those whose facets have two ends, by which they are sorted.
PLACED = frozenset({NUMBERS, STRINGS, TIMES, ENDINGS, BUT_NUMBER, BUT_STRING, BUT_TIME})

# Bounds whose neighbours, in whole numbers and in floats, are as one expects.
_BOUNDS = frozenset({Operator.LT, Operator.LE, Operator.GT, Operator.GE})
_SMALL = 2**50
# A bound is its key among floats, the integer, and the end.  Of two bounds, the one
# that is tighter among floats is so among integers.
_Bound = tuple[int, int, float]
_NO_LOWER: _Bound = (
    FIRST_KEY[Kind.FLOAT],
    FIRST_KEY[Kind.INTEGER],
    -nextafter(inf, 0),
)
_NO_UPPER: _Bound = LAST_KEY[Kind.FLOAT], LAST_KEY[Kind.INTEGER], nextafter(inf, 0)
_NO_HOLES: frozenset[int] = frozenset()

# Above every string that is an end of a condition.
STRING_END = CHARACTER_MAX * (OPERAND_CHARACTERS_MAX + 2)

_ORDER = frozenset(
    {
        Operator.EQ,
        Operator.NE,
        Operator.LT,
        Operator.LE,
        Operator.GT,
        Operator.GE,
        Operator.ANY,
    }
)
_LINE = _ORDER | {Operator.PREFIX}
_NUMBER_KINDS = Kind.NUMBER.parts
_OF_NUMBERS: frozenset[object] = _NUMBER_KINDS | {"both"}
_ORDERED_KINDS = _NUMBER_KINDS | {Kind.BOOLEAN, Kind.TIME}
# In one order, so that what is made of them is one key.
_KINDS_IN_ORDER = (Kind.INTEGER, Kind.FLOAT, Kind.BOOLEAN, Kind.TIME)
_BUT_OF = {
    Kind.INTEGER: BUT_NUMBER,
    Kind.FLOAT: BUT_NUMBER,
    Kind.NUMBER: BUT_NUMBER,
    Kind.STRING: BUT_STRING,
    Kind.TIME: BUT_TIME,
}


# The least and the greatest values of a kind.
_EXTREMES = {
    kind: frozenset(
        value_of(keys[part], part)
        for part in kind.parts
        for keys in (FIRST_KEY, LAST_KEY)
    )
    for kind in (Kind.INTEGER, Kind.FLOAT, Kind.NUMBER, Kind.TIME)
}


class Facet(NamedTuple):
    """One condition, placed.

    ``low`` and ``high`` are the ends of what has a place; of strings, ``high`` is the
    first beyond.  ``sample`` is a value that the condition selects, if one is known.
    Facets with the same ``key`` select the same.
    """

    name: str
    form: int
    token: Token
    low: Any
    high: Any
    sample: Value | None
    key: tuple[Any, ...]


def facet_of(name: str, condition: Condition) -> Facet:
    """The facet of a condition that something satisfies.

    >>> from siena.lang.parser import parse_filter as parse
    >>> facet_of("x", parse("integer x > 3, integer x < 9").constraints)[1:5]
    (1, ('x', 1), 4, 8)
    >>> facet_of("x", parse("integer x > 3, integer x < 5").constraints).token
    ('x', 0, 4)
    >>> facet_of("s", parse("s *< ba").constraints)[3:5]
    ('ab', 'ac')
    """
    if len(condition) == 1:
        (constraint,) = condition
        make = _SINGLE.get(constraint.operator)
        if make is not None:
            facet = make(name, constraint)
            if facet is not None:
                return facet
    elif condition[0].kind is Kind.NUMBER:
        facet = _of_bounds(name, condition)
        if facet is not None:
            return facet
    kinds = Kind.ANY.parts.intersection(*(c.kinds for c in condition))
    facet = None
    if kinds <= _ORDERED_KINDS and all(c.operator in _ORDER for c in condition):
        facet = _of_spans(name, condition, kinds)
    elif kinds == {Kind.STRING} and all(c.operator in _LINE for c in condition):
        facet = _of_intervals(name, condition)
    facet = facet or _open(name, condition)
    if facet.form == OPEN and len(condition) > 1:
        fewer = tuple(needed(list(condition)))
        if len(fewer) < len(condition):
            return facet_of(name, fewer)
    return facet


def point_token(name: str, value: Value) -> Token:
    """The token of the points that a value may satisfy.

    Python calls 4 and 4.0 equal, as the token should, and True and 1, as it should not.
    """
    return (name, POINT, (value,)) if type(value) is bool else (name, POINT, value)


def point_value(token: Token) -> Value:
    """The value of such a token."""
    operand: Any = token[2]
    value: Value = operand[0] if type(operand) is tuple else operand
    return value


# --- One constraint ---------------------------------------------------------------


def _equal(name: str, constraint: Constraint) -> Facet | None:
    value, kind = constraint.value, constraint.kind
    assert value is not None
    if kind is Kind.STRING:  # by far the most there are
        token = name, POINT, value
        return Facet(name, POINT, token, value, value, value, token)
    token = point_token(name, value)
    if kind is Kind.NUMBER:
        return None if not _is_both(value) else _point(name, token, value, "both")
    return _point(name, token, value, kind)


def _unequal(name: str, constraint: Constraint) -> Facet | None:
    """A single ``!=``, far from the ends of its domain."""
    value, kind = constraint.value, constraint.kind
    if kind is Kind.BOOLEAN or value is None:
        return None
    if kind is Kind.NUMBER and not _is_both(value):
        return None  # of integers, or of floats, it selects all
    if kind is Kind.STRING:
        if value == "":
            return None
    elif value in _EXTREMES[kind]:
        return None
    form = _BUT_OF[kind]
    token = name, form
    return Facet(name, form, token, value, value, None, (name, form, kind, value))


def _prefix(name: str, constraint: Constraint) -> Facet:
    low = str(constraint.value)
    high = after_prefix(low)
    key = name, ((low, high),)
    return Facet(name, STRINGS, (name, STRINGS), low, high or STRING_END, low, key)


def _suffix(name: str, constraint: Constraint) -> Facet:
    value = str(constraint.value)
    low = value[::-1]
    high = after_prefix(low) or STRING_END
    key = name, ENDINGS, value
    return Facet(name, ENDINGS, (name, ENDINGS), low, high, value, key)


def _substring(name: str, constraint: Constraint) -> Facet:
    value = str(constraint.value)
    token = name, PARTS, value
    return Facet(name, PARTS, token, None, None, value, token)


def _absent(name: str, _constraint: Constraint) -> Facet:
    token = name, MISSING
    return Facet(name, MISSING, token, None, None, None, token)


def _bound(name: str, constraint: Constraint) -> Facet | None:
    """One bound: as several of them, in fewer steps.

    >>> from siena.lang.parser import parse_filter as parse
    >>> condition = parse("s > ab").constraints
    >>> _bound("s", *condition) == _of_intervals("s", condition)
    True
    """
    _, operator, kind, value = constraint
    if kind is Kind.NUMBER:
        return _of_bounds(name, (constraint,))
    if kind is Kind.INTEGER:
        return _of_integer(name, operator, value)
    if type(value) is not str or not value or "\0" in value:
        return None  # what is least of all, and next to it, is looked at more closely
    low, high = "", None
    if operator is Operator.GT:
        low = f"{value}\0"
    elif operator is Operator.GE:
        low = value
    else:
        high = value if operator is Operator.LT else f"{value}\0"
    token, key = (name, STRINGS), (name, ((low, high),))
    return Facet(name, STRINGS, token, low, high or STRING_END, low, key)


def _of_integer(name: str, operator: Operator, value: object) -> Facet | None:
    if type(value) is not int or not -_SMALL <= value <= _SMALL:
        return None
    low, high = FIRST_KEY[Kind.INTEGER], LAST_KEY[Kind.INTEGER]
    if operator is Operator.GT:
        low = value + 1
    elif operator is Operator.GE:
        low = value
    else:
        high = value - 1 if operator is Operator.LT else value
    key = name, ((Kind.INTEGER, low, high, _NO_HOLES),)
    return Facet(name, NUMBERS, (name, NUMBERS), low, high, low, key)


_SINGLE: dict[Operator, Callable[[str, Constraint], Facet | None]] = {
    Operator.EQ: _equal,
    Operator.NE: _unequal,
    Operator.LT: _bound,
    Operator.LE: _bound,
    Operator.GT: _bound,
    Operator.GE: _bound,
    Operator.PREFIX: _prefix,
    Operator.SUFFIX: _suffix,
    Operator.SUBSTRING: _substring,
    Operator.ABSENT: _absent,
}


# --- Several ----------------------------------------------------------------------


def _of_spans(name: str, condition: Condition, kinds: frozenset[Kind]) -> Facet | None:
    """Bounds, equalities and holes of ordered kinds."""
    spans: list[tuple[Kind, Span]] = []
    for kind in _KINDS_IN_ORDER:
        if kind in kinds:
            span = span_of(kind, condition)
            if span is not None:
                spans.append((kind, span))
    if not spans:
        return None
    ends = [
        (value_of(span.first, kind), value_of(span.last, kind)) for kind, span in spans
    ]
    low: Any = min(first for first, _ in ends)
    high: Any = max(last for _, last in ends)
    if low == high:
        kinds_of_it = "both" if len(spans) > 1 else spans[0][0]
        return _point(name, point_token(name, low), low, kinds_of_it)
    key = name, tuple((k, s.first, s.last, _holes_of(s)) for k, s in spans)
    if any(span.is_whole for _, span in spans):
        # It may cover all of a kind but one, which has no ends.
        return Facet(name, OPEN, (name, OPEN), None, None, low, key)
    form = TIMES if spans[0][0] is Kind.TIME else NUMBERS
    return Facet(name, form, (name, form), low, high, low, key)


def _holes_of(span: Span) -> frozenset[int]:
    return frozenset(span.holes) if span.holes else _NO_HOLES


def _of_bounds(name: str, condition: Condition) -> Facet | None:
    """Bounds that are no large whole numbers, on integers and floats alike.

    As :func:`_of_spans`, in fewer steps: by far the most ranges are of this form.

    >>> from siena.lang.parser import parse_filter as parse
    >>> condition = parse("x > 3, x < 9").constraints
    >>> _of_bounds("x", condition) == _of_spans("x", condition, Kind.NUMBER.parts)
    True
    """
    lower, upper = _NO_LOWER, _NO_UPPER
    for _, operator, kind, value in condition:
        if kind is not Kind.NUMBER or operator not in _BOUNDS:
            return None
        if type(value) is not int or not -_SMALL <= value <= _SMALL:
            return None
        key = key_of(float(value), Kind.FLOAT)
        if operator is Operator.GT:
            lower = max(lower, (key + 1, value + 1, nextafter(value, inf)))
        elif operator is Operator.GE:
            lower = max(lower, (key, value, value))
        elif operator is Operator.LT:
            upper = min(upper, (key - 1, value - 1, nextafter(value, -inf)))
        else:
            upper = min(upper, (key, value, value))
    (first_float, first, low), (last_float, last, high) = lower, upper
    if first >= last:
        return None  # it may be one value, of one kind, or none
    integers = Kind.INTEGER, first, last, _NO_HOLES
    floats = Kind.FLOAT, first_float, last_float, _NO_HOLES
    both = name, (integers, floats)
    return Facet(name, NUMBERS, (name, NUMBERS), low, high, low, both)


def _of_intervals(name: str, condition: Condition) -> Facet | None:
    """Bounds, equalities, prefixes and holes of strings."""
    left = intervals(condition, ())
    if not left:
        return None
    (low, _), (_, high) = left[0], left[-1]
    if len(left) == 1 and high == f"{low}\0":
        return _point(name, point_token(name, low), low, Kind.STRING)
    key = name, tuple(left)
    # All strings but a few may cover what ends alike; and a few may all end alike.
    is_open = not low.strip("\0") if high is None else not _is_many(low, high)
    if is_open:
        return Facet(name, OPEN, (name, OPEN), None, None, low, key)
    return Facet(name, STRINGS, (name, STRINGS), low, high or STRING_END, low, key)


def _is_many(low: str, high: str) -> bool:
    """Whether more lies between two strings than one of them with zeros behind it."""
    return not high.startswith(low) or bool(high[len(low) :].strip("\0"))


def _open(name: str, condition: Condition) -> Facet:
    sample, is_only = _sample(name, condition)
    if sample is not None and is_only:
        return _point(name, point_token(name, sample), sample, Kind.of(sample))
    key = name, OPEN, condition
    return Facet(name, OPEN, (name, OPEN), None, None, sample, key)


def _sample(name: str, condition: Condition) -> tuple[Value | None, bool]:
    """A value that the condition selects, if one is known; and whether no other is."""
    try:
        sample = sat(condition)
        if sample is None or sample is ABSENT:
            return None, False
        only = Constraint.trusted(name, Operator.EQ, sample, Kind.of(sample))
    except NotShownError:
        return None, False
    try:
        return sample, sat(condition, (only,)) is None
    except NotShownError:
        return sample, False


def _point(name: str, token: Token, value: Value, kinds: object) -> Facet:
    # A string, a time or a boolean tells its kind.
    key = (*token, kinds) if kinds in _OF_NUMBERS else token
    return Facet(name, POINT, token, value, value, value, key)


def _is_both(value: Value) -> bool:
    """Whether a number is an integer as well as a float."""
    if type(value) is int:
        return -(2**53) <= value <= 2**53 or float(value) == value
    return False  # a whole one would be written as an integer
