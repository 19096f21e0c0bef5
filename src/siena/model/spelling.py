"""How names and values are written, so that what is printed can be read back.

This is the half of the language that values need in order to print themselves;
the other half, reading, is :mod:`siena.lang`.
"""

import re
from datetime import UTC, datetime
from functools import lru_cache

from siena.model.values import KIND_OF_WORD, Value

# A string that needs no quotes.  Printed words are ASCII; the parser also reads
# letters of other alphabets after the first character.
BAREWORD = r"[A-Za-z_][\w./:-]*"
# Words with a meaning of their own: quoted, they are ordinary strings.
RESERVED = frozenset(
    {"and", "or", "not", "in", "then", "any", "exists"}
    | {"starts", "ends", "contains", "true", "false"}
)
# Words that a reader would take for values that do not exist here.
NOT_VALUES = frozenset({"nan", "inf", "infinity", "null"})

# How many names are remembered as they are written.
NAMES_MAX = 1_024

_PLAIN = re.compile(BAREWORD, re.ASCII)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_TO_ESCAPE = re.compile('["\\\\\x00-\x1f\x7f-\x9f\u2028\u2029]')
_QUOTED_WORDS = RESERVED | NOT_VALUES | KIND_OF_WORD.keys()


def spell(value: Value) -> str:
    r"""The literal for a value.

    >>> print(spell("NYSE"), spell("New York"), spell("or"), spell(2.0), spell(True))
    NYSE "New York" "or" 2.0 true
    >>> print(spell("a\x00"))
    "a\u0000"
    """
    if isinstance(value, str):
        return spell_string(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return spell_time(value)
    return repr(value)


def spell_string(text: str) -> str:
    """A string or a name: bare where that can be read back, quoted elsewhere."""
    if _PLAIN.fullmatch(text) and text.lower() not in _QUOTED_WORDS:
        return text
    return quote(text)


@lru_cache(NAMES_MAX)
def spell_name(text: str) -> str:
    """The same of a name, of which there are few."""
    return spell_string(text)


def quote(text: str) -> str:
    """A string in quotes, on one line whatever it contains."""
    return '"' + _TO_ESCAPE.sub(_escape, text) + '"'


def spell_time(time: datetime) -> str:
    """ISO 8601 in UTC, to the microsecond where there is one.

    >>> spell_time(datetime(1998, 3, 4, 18, 43, 37, tzinfo=UTC))
    '1998-03-04T18:43:37Z'
    """
    assert time.tzinfo is UTC
    return time.isoformat().removesuffix("+00:00") + "Z"


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    return _ESCAPES.get(character) or f"\\u{ord(character):04x}"
