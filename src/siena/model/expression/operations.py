"""Operations: what an expression may do with its arguments, and how each is written.

This is the one list: reading, printing, evaluating and covering go by it.  What an
operation computes is in :mod:`siena.model.expression.functions`.
"""

import enum
from typing import NamedTuple

from siena.model.limits import ARGUMENTS_MAX


class Shape(NamedTuple):
    """How many arguments an operation takes, and how strongly it binds when written.

    An operation without a strength is written as a function: ``length(name)``.
    """

    least: int
    most: int
    strength: int | None = None


class Operation(enum.Enum):
    """An operation, by the word that stands for it in text and JSON.

    >>> Operation("length").shape
    Shape(least=1, most=1, strength=None)
    """

    # Logic: three-valued, but for `except` and `holds`, which are always true or false.
    EXCEPT = "except"
    OR = "or"
    XOR = "xor"
    AND = "and"
    NOT = "not"
    HOLDS = "holds"
    # Whether a condition is true of one value of an attribute, and that one alone.
    SOME = "some"
    # Comparison: unknown between values of different kinds.
    EQ = "="
    NE = "!="
    LT = "<"
    LE = "<="
    GT = ">"
    GE = ">="
    ALIKE = "alike"
    ONE_OF = "one_of"
    # Strings, as conditions.
    STARTS_WITH = "starts_with"
    ENDS_WITH = "ends_with"
    CONTAINS = "contains"
    LIKE = "like"
    MATCHES = "matches"
    IN_NETWORK = "in_network"
    # The same of any attribute of a notification, which is not named: for whole lines.
    ANYWHERE_LIKE = "anywhere_like"
    ANYWHERE_MATCHES = "anywhere_matches"
    # Arithmetic: integers are exact, and what is mixed is of floats.
    ADD = "+"
    SUBTRACT = "-"
    MULTIPLY = "*"
    DIVIDE = "/"
    REMAINDER = "%"
    # Of two integers an integer, cut off; and the remainder of integers alone.
    QUOTIENT = "quotient"
    MODULO = "modulo"
    NEGATIVE = "negative"
    ABSOLUTE = "absolute"
    # Any value as a text: a string as it is, others as they are written.
    TEXT = "text"
    # Strings, as values.
    LENGTH = "length"
    LOWER = "lower"
    UPPER = "upper"
    FOLD = "fold"
    TRIM = "trim"
    LEFT = "left"
    RIGHT = "right"
    SUBSTRING = "substring"
    CONCAT = "concat"
    JOIN = "join"
    # The values of CloudEvents and their casts: these may fail.
    CE_VALUE = "ce_value"
    CE_TEXT = "ce_text"
    CE_STRING = "ce_string"
    CE_INTEGER = "ce_integer"
    CE_BOOLEAN = "ce_boolean"
    CE_EQUAL = "ce_equal"
    CE_ONE_OF = "ce_one_of"
    CE_NOT = "ce_not"
    CE_RANGE = "ce_range"
    CE_QUOTIENT = "ce_quotient"
    CE_REMAINDER = "ce_remainder"
    CE_ABSOLUTE = "ce_absolute"
    CE_LEFT = "ce_left"
    CE_RIGHT = "ce_right"
    CE_SUBSTRING = "ce_substring"

    @property
    def shape(self) -> Shape:
        """How the operation is called and written."""
        return _SHAPES[self]


_EXCEPT, _OR, _XOR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT = range(8)
ATOM = 8
"""The strength of what needs no parentheses anywhere."""

_SHAPES = {
    Operation.EXCEPT: Shape(2, 2, _EXCEPT),
    Operation.OR: Shape(1, ARGUMENTS_MAX, _OR),
    Operation.XOR: Shape(2, 2, _XOR),
    Operation.AND: Shape(1, ARGUMENTS_MAX, _AND),
    Operation.NOT: Shape(1, 1, _NOT),
    Operation.HOLDS: Shape(1, 1),
    Operation.SOME: Shape(2, 2),
    Operation.EQ: Shape(2, 2, _COMPARE),
    Operation.NE: Shape(2, 2, _COMPARE),
    Operation.LT: Shape(2, 2, _COMPARE),
    Operation.LE: Shape(2, 2, _COMPARE),
    Operation.GT: Shape(2, 2, _COMPARE),
    Operation.GE: Shape(2, 2, _COMPARE),
    Operation.ALIKE: Shape(2, 2),
    Operation.ONE_OF: Shape(2, ARGUMENTS_MAX),
    Operation.STARTS_WITH: Shape(2, 2),
    Operation.ENDS_WITH: Shape(2, 2),
    Operation.CONTAINS: Shape(2, 2),
    Operation.LIKE: Shape(2, 2),
    Operation.MATCHES: Shape(2, 2),
    Operation.IN_NETWORK: Shape(2, 2),
    Operation.ANYWHERE_LIKE: Shape(1, 1),
    Operation.ANYWHERE_MATCHES: Shape(1, 1),
    Operation.ADD: Shape(2, 2, _SUM),
    Operation.SUBTRACT: Shape(2, 2, _SUM),
    Operation.MULTIPLY: Shape(2, 2, _PRODUCT),
    Operation.DIVIDE: Shape(2, 2, _PRODUCT),
    Operation.REMAINDER: Shape(2, 2, _PRODUCT),
    Operation.QUOTIENT: Shape(2, 2),
    Operation.MODULO: Shape(2, 2),
    Operation.NEGATIVE: Shape(1, 1),
    Operation.ABSOLUTE: Shape(1, 1),
    Operation.TEXT: Shape(1, 1),
    Operation.LENGTH: Shape(1, 1),
    Operation.LOWER: Shape(1, 1),
    Operation.UPPER: Shape(1, 1),
    Operation.FOLD: Shape(1, 1),
    Operation.TRIM: Shape(1, 1),
    Operation.LEFT: Shape(2, 2),
    Operation.RIGHT: Shape(2, 2),
    Operation.SUBSTRING: Shape(2, 3),
    Operation.CONCAT: Shape(0, ARGUMENTS_MAX),
    Operation.JOIN: Shape(1, ARGUMENTS_MAX),
    Operation.CE_VALUE: Shape(1, 1),
    Operation.CE_TEXT: Shape(1, 1),
    Operation.CE_STRING: Shape(1, 1),
    Operation.CE_INTEGER: Shape(1, 1),
    Operation.CE_BOOLEAN: Shape(1, 1),
    Operation.CE_EQUAL: Shape(2, 2),
    Operation.CE_ONE_OF: Shape(2, ARGUMENTS_MAX),
    Operation.CE_NOT: Shape(1, 1),
    Operation.CE_RANGE: Shape(1, 1),
    Operation.CE_QUOTIENT: Shape(2, 2),
    Operation.CE_REMAINDER: Shape(2, 2),
    Operation.CE_ABSOLUTE: Shape(1, 1),
    Operation.CE_LEFT: Shape(2, 2),
    Operation.CE_RIGHT: Shape(2, 2),
    Operation.CE_SUBSTRING: Shape(2, 3),
}

COMPARISONS = frozenset(
    {
        Operation.EQ,
        Operation.NE,
        Operation.LT,
        Operation.LE,
        Operation.GT,
        Operation.GE,
    }
)
# Where the arguments change places.
MIRRORED = {
    Operation.EQ: Operation.EQ,
    Operation.NE: Operation.NE,
    Operation.LT: Operation.GT,
    Operation.GT: Operation.LT,
    Operation.LE: Operation.GE,
    Operation.GE: Operation.LE,
}
# Whose second argument is a literal, prepared once: a pattern or a network.
WITH_PATTERN = frozenset({Operation.LIKE, Operation.MATCHES, Operation.IN_NETWORK})
ANYWHERE = {
    Operation.ANYWHERE_LIKE: Operation.LIKE,
    Operation.ANYWHERE_MATCHES: Operation.MATCHES,
}
# What is true or false of values: of several values, if it is so of one of them.
CONDITIONS = (
    COMPARISONS
    | WITH_PATTERN
    | {
        Operation.ALIKE,
        Operation.ONE_OF,
        Operation.STARTS_WITH,
        Operation.ENDS_WITH,
        Operation.CONTAINS,
        Operation.CE_EQUAL,
        Operation.CE_ONE_OF,
    }
)
LOGIC = frozenset(
    {
        Operation.EXCEPT,
        Operation.OR,
        Operation.XOR,
        Operation.AND,
        Operation.NOT,
        Operation.HOLDS,
        Operation.SOME,
    }
)
# What may report a failure, other than by what its arguments report.
FAILING = frozenset(o for o in Operation if o.value.startswith("ce_"))
