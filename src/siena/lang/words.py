"""Words that mean something in the place of an operator only.

``absent``, ``like`` and ``does not …`` came to the language after people had names and
values like these, so they are reserved nowhere: ``status = absent`` compares with a
string, and ``like = 3`` is about an attribute.  Only after a type is there a doubt, as
``time absent`` may say that the attribute ``time`` is absent, or begin a constraint on
a time called ``absent``; what follows tells.
"""

import re

from siena.lang.scanner import SYMBOL_TEXT
from siena.model import Operator

OPERATOR_OF_WORD = {
    "any": Operator.ANY,
    "exists": Operator.ANY,
    "starts": Operator.PREFIX,
    "ends": Operator.SUFFIX,
    "contains": Operator.SUBSTRING,
    "absent": Operator.ABSENT,
    "like": Operator.LIKE,
}
AFTER_DOES_NOT = {
    "contain": Operator.NOT_SUBSTRING,
    "start": Operator.NOT_PREFIX,
    "end": Operator.NOT_SUFFIX,
}

_END = r"(?![\w./:-])"
_OPERATOR_WORDS = "|".join((*OPERATOR_OF_WORD, "in", "not", "does"))
_WORD_OPERATOR = re.compile(
    rf"""(?ai:
      like \s*+ (?=["'])
    | does \s++ not \s++ (?:contain | (?:start|end) \s++ with) {_END}
    | absent {_END} (?! \s*+ (?: {SYMBOL_TEXT} | (?:{_OPERATOR_WORDS}) {_END} ) )
    )""",
    re.VERBOSE,
)
_LIKE = re.compile(rf"\s*+(?ai:like){_END}")


def is_word_operator(text: str, position: int) -> bool:
    """Whether the word at a position, after the name of a type, is an operator.

    >>> is_word_operator("time absent or x = 1", 5)
    True
    >>> is_word_operator("time absent = 12:30", 5)
    False
    """
    return _WORD_OPERATOR.match(text, position) is not None


def is_not_like(text: str, position: int) -> bool:
    """Whether the ``not`` that ends at a position is followed by ``like``."""
    return _LIKE.match(text, position) is not None
