"""What an expression cannot be true without: texts of which one occurs, or a length.

Most of what public rules leave to residuals are words that may stand anywhere, and
regular expressions.  Nearly all events have none of those words; one look at all
strings of an event says so for all rules together.
"""

from collections.abc import Iterable

from siena.dialects.factoring.literals import needed_texts
from siena.matching.texts import Sought
from siena.model import Constraint, Operator
from siena.model.expression import Attribute, Call, Expression, Literal, Operation
from siena.model.folding import fold
from siena.model.wildcards import read_wildcards

# Texts that one residual may wait for: beyond that it is cheaper to ask it.
TEXTS_MAX = 4_096
# Characters of a value that say as much as one character of a text.
LENGTH_PER_CHARACTER = 16

_WHOLE = {Operator.EQ, Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING}


def need_of(expression: Expression) -> Sought | None:
    """What has to be in some string of an event for an expression to be true.

    >>> from siena.lang.expression import parse_expression as parse
    >>> text = '[x * "ab" ignoring case] or matches(y, "c+def") and [z > 3]'
    >>> need = need_of(parse(text))
    >>> sorted(need.texts), need.shortest
    (['ab', 'def'], None)
    >>> need_of(parse('true except [x = "ab"]')) is None
    True
    """
    match expression:
        case Constraint():
            return _of_constraint(expression)
        case Call(Operation.MATCHES, (Attribute(), Literal(str() as pattern))):
            return _of_pattern(pattern)
        case Call(Operation.ANYWHERE_MATCHES, (Literal(str() as pattern),)):
            return _of_pattern(pattern)
        case Call(Operation.LIKE, (Attribute(), Literal(str() as pattern))):
            return _of_wildcards(pattern)
        case Call(Operation.ANYWHERE_LIKE, (Literal(str() as pattern),)):
            return _of_wildcards(pattern)
        case Call(Operation.AND, parts):
            found = [need for part in parts if (need := need_of(part)) is not None]
            return max(found, key=_worth, default=None)
        case Call(Operation.OR, parts):
            return _one_of(map(need_of, parts))
        case Call(Operation.HOLDS, (part,)) | Call(Operation.EXCEPT, (part, _)):
            return need_of(part)
        case _:
            return None


def _of_constraint(constraint: Constraint) -> Sought | None:
    operator, value = constraint.operator.exact, constraint.value
    if not isinstance(value, str):
        return None
    if operator in _WHOLE:
        return _of_texts([value])
    return _of_wildcards(value) if operator is Operator.LIKE else None


def _of_wildcards(pattern: str) -> Sought | None:
    parts = read_wildcards(pattern).parts
    runs = [text for part in parts for _, text in part.literals]
    return max(filter(None, (_of_texts([r]) for r in runs)), key=_worth, default=None)


def _of_pattern(pattern: str) -> Sought | None:
    needed = needed_texts(pattern)
    found = [need for place in needed.places if (need := _of_texts(place)) is not None]
    if needed.shortest >= LENGTH_PER_CHARACTER:
        # Bytes of a string are no fewer than its characters.
        found.append(Sought(frozenset(), needed.shortest))
    return max(found, key=_worth, default=None)


def _of_texts(texts: Iterable[str]) -> Sought | None:
    """One of these, whatever their case; none if nothing of them is ASCII."""
    found = frozenset(map(_ascii, texts))
    return Sought(found) if found and "" not in found else None


def _ascii(text: str) -> str:
    """The longest piece of a text that is ASCII, in lower case."""
    kept = "".join(c if c.isascii() else "\0\0" for c in fold(text))
    return max(kept.split("\0\0"), key=len)


def _one_of(needs: Iterable[Sought | None]) -> Sought | None:
    texts: set[str] = set()
    shortest: int | None = None
    for need in needs:
        if need is None:
            return None
        texts |= need.texts
        if need.shortest is not None:
            shortest = min(need.shortest, shortest or need.shortest)
    return Sought(frozenset(texts), shortest) if len(texts) <= TEXTS_MAX else None


def _worth(need: Sought) -> tuple[int, int]:
    """How much a need says: by the text that says least, and how many there are."""
    lengths = list(map(len, need.texts))
    if need.shortest is not None:
        lengths.append(need.shortest // LENGTH_PER_CHARACTER)
    return min(lengths), -len(lengths)
