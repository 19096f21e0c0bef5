"""Operators: how a constraint compares an attribute's value with its own."""

import enum
import operator as python
from collections.abc import Callable
from typing import Any

from siena.model.folding import fold
from siena.model.values import Kind
from siena.model.wildcards import matches_wildcards


class Operator(enum.IntEnum):
    """How an attribute's value must relate to a constraint's operand.

    >>> Operator.PREFIX.symbol
    '>*'
    >>> Operator.PREFIX.holds("finance/stock", "finance/")
    True
    >>> Operator.PREFIX.accepts(Kind.STRING), Operator.PREFIX.accepts(Kind.NUMBER)
    (True, False)

    Those that ignore case are operators of their own, whose operands are folded:

    >>> Operator.EQ_FOLDED.exact, Operator.EQ.folded
    (<Operator.EQ: 0>, <Operator.EQ_FOLDED: 17>)
    >>> Operator.EQ_FOLDED.holds("NYSE", "nyse")
    True
    """

    EQ = 0
    NE = 1
    LT = 2
    LE = 3
    GT = 4
    GE = 5
    PREFIX = 6
    SUFFIX = 7
    SUBSTRING = 8
    ANY = 9
    # The attribute is not there; it is there, and of another kind.
    ABSENT = 10
    OTHER = 11
    NOT_PREFIX = 12
    NOT_SUFFIX = 13
    NOT_SUBSTRING = 14
    LIKE = 15
    NOT_LIKE = 16
    # The same, ignoring case.
    EQ_FOLDED = 17
    NE_FOLDED = 18
    PREFIX_FOLDED = 19
    SUFFIX_FOLDED = 20
    SUBSTRING_FOLDED = 21
    NOT_PREFIX_FOLDED = 22
    NOT_SUFFIX_FOLDED = 23
    NOT_SUBSTRING_FOLDED = 24
    LIKE_FOLDED = 25
    NOT_LIKE_FOLDED = 26

    @property
    def symbol(self) -> str:
        """The operator as the papers write it, or in words where they have none."""
        return _WRITTEN[self]

    @property
    def holds(self) -> Callable[[Any, Any], bool]:
        """The comparison: ``holds(value, operand)``, for two values of one kind.

        Python compares integers with floats exactly, strings by code point and
        aware times by instant, which is what the language promises.
        """
        return _HOLDS[self]

    @property
    def exact(self) -> "Operator":
        """The same operator where case matters."""
        return _EXACT.get(self, self)

    @property
    def folded(self) -> "Operator | None":
        """The same operator ignoring case, if there is one."""
        return _FOLDED.get(self)

    @property
    def ignores_case(self) -> bool:
        """Whether this operator compares folded strings."""
        return self in _EXACT

    def accepts(self, kind: Kind) -> bool:
        """Whether a constraint of ``kind`` may use this operator."""
        if self in STRING_OPERATORS:
            return kind is Kind.STRING
        if self is Operator.ABSENT:
            return kind is Kind.ANY
        # Only `any` is about all kinds at once: other operators have an operand,
        # and the operand has a kind; and there is no kind beside all.
        return self is Operator.ANY or kind is not Kind.ANY


# Those that need no operand.
WITHOUT_OPERAND = frozenset({Operator.ANY, Operator.ABSENT, Operator.OTHER})

_EXACT = {
    operator: Operator[operator.name.removesuffix("_FOLDED")]
    for operator in Operator
    if operator.name.endswith("_FOLDED")
}
_FOLDED = {exact: operator for operator, exact in _EXACT.items()}

STRING_OPERATORS = frozenset(
    {Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING, Operator.LIKE}
    | {Operator.NOT_PREFIX, Operator.NOT_SUFFIX, Operator.NOT_SUBSTRING}
    | {Operator.NOT_LIKE, *_EXACT}
)

_SYMBOLS = {
    Operator.EQ: "=",
    Operator.NE: "!=",
    Operator.LT: "<",
    Operator.LE: "<=",
    Operator.GT: ">",
    Operator.GE: ">=",
    Operator.PREFIX: ">*",
    Operator.SUFFIX: "*<",
    Operator.SUBSTRING: "*",
    Operator.ANY: "any",
    Operator.ABSENT: "absent",
    Operator.OTHER: "not any",
    Operator.NOT_PREFIX: "does not start with",
    Operator.NOT_SUFFIX: "does not end with",
    Operator.NOT_SUBSTRING: "does not contain",
    Operator.LIKE: "like",
    Operator.NOT_LIKE: "not like",
}
OPERATOR_OF_SYMBOL = {symbol: operator for operator, symbol in _SYMBOLS.items()}
_WRITTEN = {operator: _SYMBOLS[operator.exact] for operator in Operator}

# What `not` makes of an operator, on an attribute that is present and of the
# same kind.
_PAIRS = (
    (Operator.EQ, Operator.NE),
    (Operator.LT, Operator.GE),
    (Operator.GT, Operator.LE),
    (Operator.PREFIX, Operator.NOT_PREFIX),
    (Operator.SUFFIX, Operator.NOT_SUFFIX),
    (Operator.SUBSTRING, Operator.NOT_SUBSTRING),
    (Operator.LIKE, Operator.NOT_LIKE),
    (Operator.EQ_FOLDED, Operator.NE_FOLDED),
    (Operator.PREFIX_FOLDED, Operator.NOT_PREFIX_FOLDED),
    (Operator.SUFFIX_FOLDED, Operator.NOT_SUFFIX_FOLDED),
    (Operator.SUBSTRING_FOLDED, Operator.NOT_SUBSTRING_FOLDED),
    (Operator.LIKE_FOLDED, Operator.NOT_LIKE_FOLDED),
)
NEGATIONS = dict(_PAIRS) | {negated: plain for plain, negated in _PAIRS}

# Those that say what a string is not: they hold of nearly every string.
NEGATED = frozenset(
    {Operator.NE, Operator.NE_FOLDED}
    | {operator for operator in Operator if operator.name.startswith("NOT_")}
)

Holds = Callable[[Any, Any], bool]

_PLAIN: dict[Operator, Holds] = {
    Operator.EQ: python.eq,
    Operator.NE: python.ne,
    Operator.LT: python.lt,
    Operator.LE: python.le,
    Operator.GT: python.gt,
    Operator.GE: python.ge,
    Operator.PREFIX: str.startswith,
    Operator.SUFFIX: str.endswith,
    Operator.SUBSTRING: python.contains,
    Operator.ANY: lambda _value, _operand: True,
    # A value is there, and it is of the kind that was asked about.
    Operator.ABSENT: lambda _value, _operand: False,
    Operator.OTHER: lambda _value, _operand: False,
    Operator.LIKE: matches_wildcards,
}


def _negated(holds: Holds) -> Holds:
    return lambda value, operand: not holds(value, operand)


def _ignoring_case(holds: Holds) -> Holds:
    # The operand was folded when the constraint was made.
    return lambda value, operand: holds(fold(value), operand)


def _comparisons() -> dict[Operator, Holds]:
    found = dict(_PLAIN)
    for plain, negated in _PAIRS:
        if plain not in found:
            found[plain] = _ignoring_case(found[plain.exact])
        if negated not in found:
            found[negated] = _negated(found[plain])
    return found


_HOLDS = _comparisons()
