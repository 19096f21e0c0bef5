"""What filters, predicates and advertisements mean, straight from their definitions.

Plain data and one short function per definition of the specification (A.2 to A.4, and
design parts 4 and 13 for ``or``, ``not``, ``in``, ``like``, ``absent`` and ``except``).
Slow and obvious on purpose: every witness, the product's and our own, is judged by
:func:`matches` and :func:`admits`.
"""

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from typing import NamedTuple

from folding import folded

Raw = str | int | float | bool

INTEGER_MIN, INTEGER_MAX = -(2**63), 2**63 - 1
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)
TIME_MIN = (datetime.min.replace(tzinfo=UTC) - EPOCH) // MICROSECOND
TIME_MAX = (datetime.max.replace(tzinfo=UTC) - EPOCH) // MICROSECOND

KINDS = ("string", "integer", "float", "boolean", "time")
# What a constraint may want, and the kinds of value that satisfy the want: a number
# without a type is an integer or a float, and ``any`` without a type is anything.
ADMITTED: dict[str, tuple[str, ...]] = {
    **{kind: (kind,) for kind in KINDS},
    "number": ("integer", "float"),
    "untyped": KINDS,
}

Operator = Callable[..., bool]
FOLDING = " ignoring case"


@cache
def is_like(text: str, pattern: str) -> bool:
    """Whether the text is like the pattern, by trying both choices at every star."""
    if not pattern:
        return not text
    if pattern[0] == "*":
        return is_like(text, pattern[1:]) or (text != "" and is_like(text[1:], pattern))
    if pattern[0] == "\\":
        return text[:1] == pattern[1] and is_like(text[1:], pattern[2:])
    if text == "" or pattern[0] not in {"?", text[0]}:
        return False
    return is_like(text[1:], pattern[1:])


@lru_cache(2**16)  # the same few words are asked about again and again
def _fold(text: str) -> str:
    return "".join(map(folded, text))


def _ignoring_case(holds: Operator) -> Operator:
    return lambda value, operand: holds(_fold(value), _fold(operand))


def _not(holds: Operator) -> Operator:
    return lambda value, operand: not holds(value, operand)


# Those of strings, and what each is called if it is negated.
_OF_STRINGS: dict[str, tuple[Operator, str]] = {
    "=": (operator.eq, "!="),
    ">*": (str.startswith, "does not start with"),
    "*<": (str.endswith, "does not end with"),
    "*": (operator.contains, "does not contain"),
    "like": (is_like, "not like"),
}
# Python compares integers with floats exactly, and strings by code point: both are
# the orders of A.2.  Kinds never meet here, because ADMITTED is asked first.
OPERATORS: dict[str, Operator] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "any": lambda _value, _operand: True,
    # Of a value that is there.
    "absent": lambda _value, _operand: False,
}
for _name, (_holds, _negated) in _OF_STRINGS.items():
    OPERATORS[_name] = _holds
    OPERATORS[_negated] = _not(_holds)
    OPERATORS[_name + FOLDING] = _ignoring_case(_holds)
    OPERATORS[_negated + FOLDING] = _not(_ignoring_case(_holds))


class Value(NamedTuple):
    """A value and its kind, together, because Python holds ``True == 1 == 1.0``."""

    kind: str
    raw: Raw


Notification = Mapping[str, Value]


class Constraint(NamedTuple):
    """One condition on one attribute; ``wanted`` is a key of ``ADMITTED``."""

    name: str
    wanted: str
    operator: str
    operand: Raw | None = None


@dataclass(frozen=True, slots=True)
class All:
    """A conjunction; of constraints alone, it is a filter, and empty it takes all."""

    parts: tuple["Expression", ...] = ()


@dataclass(frozen=True, slots=True)
class Either:
    """A disjunction."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Negation:
    """``not``, which speaks only of attributes that are there with the right kind."""

    part: "Expression"


@dataclass(frozen=True, slots=True)
class OneOf:
    """``name in (…)``: one equality for each value."""

    options: tuple[Constraint, ...]


@dataclass(frozen=True, slots=True)
class Except:
    """What one part matches and the other does not, for whatever reason."""

    wanted: "Expression"
    unwanted: "Expression"


Expression = Constraint | All | Either | Negation | OneOf | Except


def selects(constraint: Constraint, value: Value) -> bool:
    """Whether an attribute that holds ``value`` satisfies the constraint.

    >>> selects(Constraint("x", "number", ">", 2**53), Value("integer", 2**53 + 1))
    True
    >>> selects(Constraint("x", "integer", "=", 1), Value("boolean", True))
    False
    """
    if value.kind not in ADMITTED[constraint.wanted]:
        return False
    return OPERATORS[constraint.operator](value.raw, constraint.operand)


def matches(
    expression: Expression, notification: Notification, *, negated: bool = False
) -> bool:
    """Whether the notification satisfies the expression, or its negation.

    >>> three = Constraint("x", "number", ">", 3)
    >>> matches(Negation(three), {"x": Value("integer", 3)})
    True

    A negation is about a present attribute of the same kind.

    >>> matches(Negation(three), {"x": Value("string", "3")}), matches(three, {})
    (False, False)
    >>> matches(Negation(three), {})
    False

    But what is taken away by ``except`` is whatever is matched, and no more.

    >>> matches(Except(All(), three), {}), matches(Negation(Except(All(), three)), {})
    (True, False)
    """
    match expression:
        case Constraint():
            return _is_satisfied(expression, notification, negated=negated)
        case Negation(part=part):
            return matches(part, notification, negated=not negated)
        case Except(wanted=kept, unwanted=taken):
            if negated:
                return matches(kept, notification, negated=True) or matches(
                    taken, notification
                )
            return matches(kept, notification) and not matches(taken, notification)
        case All(parts=parts):
            quantify = any if negated else all
            return quantify(matches(p, notification, negated=negated) for p in parts)
        case Either(parts=parts) | OneOf(options=parts):
            quantify = all if negated else any
            return quantify(matches(p, notification, negated=negated) for p in parts)


def _is_satisfied(
    constraint: Constraint, notification: Notification, *, negated: bool
) -> bool:
    value = notification.get(constraint.name)
    if constraint.operator == "absent":
        return (value is None) is not negated
    if constraint.operator == "any" and constraint.wanted == "untyped":
        return (value is not None) is not negated
    if value is None:
        return False
    is_admitted = value.kind in ADMITTED[constraint.wanted]
    if constraint.operator == "any":
        return is_admitted is not negated
    return is_admitted and selects(constraint, value) is not negated


def admits(advertisement: Expression, notification: Notification) -> bool:
    """Whether every attribute is one that the advertisement promises.

    >>> admits(All(), {}), admits(All(), {"x": Value("integer", 1)})
    (True, False)
    """
    promises = list(constraints_in(advertisement))
    return all(
        any(promise.name == name and selects(promise, value) for promise in promises)
        for name, value in notification.items()
    )


def constraints_in(expression: Expression) -> Iterator[Constraint]:
    """Every constraint as it is written, whatever stands around it."""
    match expression:
        case Constraint():
            yield expression
        case Negation(part=part):
            yield from constraints_in(part)
        case Except(wanted=kept, unwanted=taken):
            yield from constraints_in(kept)
            yield from constraints_in(taken)
        case All(parts=parts) | Either(parts=parts) | OneOf(options=parts):
            for part in parts:
                yield from constraints_in(part)


def in_domain(value: Value) -> bool:
    """Whether a value that somebody shows us belongs to its kind's domain (A.2)."""
    match value:
        case Value(kind="integer", raw=int(raw)):
            return INTEGER_MIN <= raw <= INTEGER_MAX
        case Value(kind="float", raw=float(raw)):
            return abs(raw) < float("inf")  # false for NaN, too
        case Value(kind="time", raw=int(raw)):
            return TIME_MIN <= raw <= TIME_MAX
        case Value(kind="string", raw=str(raw)):
            return not any("\ud800" <= character <= "\udfff" for character in raw)
        case _:
            return isinstance(value.raw, bool)
