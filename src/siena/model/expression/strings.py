"""Functions of strings: parts, joins and cases; unknown of anything else."""

from collections.abc import Callable

from siena.model.limits import COMPUTED_CHARACTERS_MAX
from siena.model.values import Value

# Unicode's property White_Space.  Python strips the separators 1C to 1F besides.
_WHITE = (
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008"
    "\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)


def of_string(
    compute: Callable[[str], Value],
) -> Callable[[Value | None], Value | None]:
    """The function of strings, unknown of other values."""
    return lambda value: compute(value) if isinstance(value, str) else None


def of_strings(
    compute: Callable[[str, str], bool],
) -> Callable[[Value | None, Value | None], Value | None]:
    """The condition on two strings, unknown of other values."""

    def result(left: Value | None, right: Value | None) -> Value | None:
        if isinstance(left, str) and isinstance(right, str):
            return compute(left, right)
        return None

    return result


def trimmed(text: str) -> str:
    r"""The string without the white space at its ends; other controls are none.

    >>> trimmed(" \t\u00a0a b\u2003\n"), trimmed("\x1fa\x1c")
    ('a b', '\x1fa\x1c')
    """
    return text.strip(_WHITE)


def left(text: Value | None, count: Value | None) -> Value | None:
    """The first characters.

    >>> left("siena", 2), left("siena", 9), left("siena", -1)
    ('si', 'siena', None)
    """
    if not isinstance(text, str) or type(count) is not int or count < 0:
        return None
    return text[:count]


def right(text: Value | None, count: Value | None) -> Value | None:
    """The last characters."""
    if not isinstance(text, str) or type(count) is not int or count < 0:
        return None
    return text[max(len(text) - count, 0) :]


def substring(
    text: Value | None,
    start: Value | None,
    count: Value | None = COMPUTED_CHARACTERS_MAX,
) -> Value | None:
    """So many characters from a place on, the first being 1 and the last -1.

    >>> substring("siena", 2, 3), substring("siena", -2), substring("siena", 0)
    ('ien', 'na', '')
    >>> substring("siena", 6)
    """
    if not isinstance(text, str) or type(start) is not int or type(count) is not int:
        return None
    if count < 0 or abs(start) > len(text):
        return None
    if start == 0:
        return ""
    first = start - 1 if start > 0 else len(text) + start
    return text[first : first + count]


def concat(*parts: Value | None) -> Value | None:
    """All the texts, one behind the other."""
    return join("", *parts)


def join(delimiter: Value | None, *parts: Value | None) -> Value | None:
    """All the texts, with a delimiter between them; unknown if that is too long."""
    texts = [part for part in parts if isinstance(part, str)]
    if not isinstance(delimiter, str) or len(texts) < len(parts):
        return None
    length = sum(map(len, texts)) + len(delimiter) * max(len(texts) - 1, 0)
    return delimiter.join(texts) if length <= COMPUTED_CHARACTERS_MAX else None
