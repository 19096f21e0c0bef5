"""Operators: how a constraint compares an attribute's value with its own."""

import enum
import operator as python
from collections.abc import Callable
from typing import Any

from siena.model.values import Kind


class Operator(enum.IntEnum):
    """How an attribute's value must relate to a constraint's operand.

    >>> Operator.PREFIX.symbol
    '>*'
    >>> Operator.PREFIX.holds("finance/stock", "finance/")
    True
    >>> Operator.PREFIX.accepts(Kind.STRING), Operator.PREFIX.accepts(Kind.NUMBER)
    (True, False)
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

    @property
    def symbol(self) -> str:
        """The operator as the papers write it."""
        return _SYMBOLS[self]

    @property
    def holds(self) -> Callable[[Any, Any], bool]:
        """The comparison: ``holds(value, operand)``, for two values of one kind.

        Python compares integers with floats exactly, strings by code point and
        aware times by instant, which is what the language promises.
        """
        return _HOLDS[self]

    def accepts(self, kind: Kind) -> bool:
        """Whether a constraint of ``kind`` may use this operator."""
        if self in STRING_OPERATORS:
            return kind is Kind.STRING
        # Only `any` is about all kinds at once: other operators have an operand,
        # and the operand has a kind.
        return self is Operator.ANY or kind is not Kind.ANY


STRING_OPERATORS = frozenset({Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING})

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
}
OPERATOR_OF_SYMBOL = {symbol: operator for operator, symbol in _SYMBOLS.items()}

# What `not` makes of an operator, on an attribute that is present and of the
# same kind.  A negated prefix is two constraints, and the other three have no
# negation in the language.
NEGATIONS = {
    Operator.EQ: Operator.NE,
    Operator.NE: Operator.EQ,
    Operator.LT: Operator.GE,
    Operator.GE: Operator.LT,
    Operator.GT: Operator.LE,
    Operator.LE: Operator.GT,
}

_HOLDS: dict[Operator, Callable[[Any, Any], bool]] = {
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
}
