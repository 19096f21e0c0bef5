"""Numbers where a rule speaks of texts: logs are careless about types.

``"46*"`` is true of the number 4688, and a regular expression of what it is written
as.  No filter says so.  But few patterns are ones that the text of a number can match,
and all others are left as they are: a residual for numbers would cost every rule.
"""

from siena.dialects.factoring.literals import needed_texts
from siena.model.expression import (
    Attribute,
    Expression,
    Literal,
    Operation,
    all_of,
    call,
)
from siena.model.wildcards import read_wildcards

# What numbers are written with.
_CHARACTERS = frozenset("-+.e0123456789")


def like_number(name: str, pattern: str) -> list[Expression]:
    """The condition that a number is written like a pattern; none if none can be.

    >>> len(like_number("x", "46*")), like_number("x", "*.exe")
    (1, [])
    """
    parts = read_wildcards(pattern).parts
    if not all(
        _CHARACTERS.issuperset(run) for part in parts for _, run in part.literals
    ):
        return []
    return [_of_number(name, Operation.LIKE, pattern)]


def matches_number(name: str, pattern: str) -> list[Expression]:
    """The same of a regular expression, as far as it is known what it needs.

    >>> len(matches_number("x", "[0-9]+$")), matches_number("x", "a[0-9]+|b")
    (1, [])
    """
    for place in needed_texts(pattern).places:
        if not any(_CHARACTERS.issuperset(text.lower()) for text in place):
            return []
    return [_of_number(name, Operation.MATCHES, pattern)]


def _of_number(name: str, operation: Operation, pattern: str) -> Expression:
    value = Attribute(name)
    is_number = call(Operation.ALIKE, value, Literal(0))
    said = call(operation, call(Operation.TEXT, value), Literal(pattern))
    return all_of((is_number, said))
