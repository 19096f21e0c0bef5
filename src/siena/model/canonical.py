"""Constraints on strings in their one form: what means the same is written alike.

``like "ab*"`` is ``starts with ab``, and what ignores case has an operand in which no
case is left.  Reasoning, indexing and comparing then have fewer forms to know.
"""

from siena.model.folding import fold, has_variants
from siena.model.operators import NEGATED, NEGATIONS, Operator
from siena.model.wildcards import Part, read_wildcards, write_wildcards

_EMPTY = Part("", ())
# Every string has the empty one at its beginning, at its end and inside.
_HOLD_OF_EMPTY = frozenset({Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING})


def canonical(operator: Operator, operand: str) -> tuple[Operator, str | None]:
    """The operator and operand that say the same of a string.

    >>> canonical(Operator.LIKE, "ab*"), canonical(Operator.EQ_FOLDED, "A 7")
    ((<Operator.PREFIX: 6>, 'ab'), (<Operator.EQ_FOLDED: 17>, 'a 7'))
    >>> canonical(Operator.EQ_FOLDED, "7"), canonical(Operator.SUFFIX, "")
    ((<Operator.EQ: 0>, '7'), (<Operator.ANY: 9>, None))

    What holds of no string is below the first of them:

    >>> canonical(Operator.NOT_LIKE, "*")
    (<Operator.LT: 2>, '')

    Raises:
        InvalidConstraintError: if the operand is no pattern and should be one.
    """
    is_negated = operator in NEGATED
    plain = NEGATIONS[operator] if is_negated else operator
    ignores_case, plain = plain.ignores_case, plain.exact
    if ignores_case:
        operand = fold(operand)
        ignores_case = has_variants(operand)
    if plain is Operator.LIKE:
        plain, operand = _canonical_pattern(operand)
    if operand == "" and plain in _HOLD_OF_EMPTY:
        return (Operator.LT, "") if is_negated else (Operator.ANY, None)
    found = plain
    if ignores_case:
        assert plain.folded is not None
        found = plain.folded
    return NEGATIONS[found] if is_negated else found, operand


def _canonical_pattern(pattern: str) -> tuple[Operator, str]:
    """A simpler operator, or the pattern with ``?`` before ``*`` where they meet."""
    parts = _shifted(list(read_wildcards(pattern).parts))
    if not any(any(part.is_open) for part in parts):
        texts = tuple(part.text for part in parts)
        match texts:
            case (text,):
                return Operator.EQ, text
            case (text, ""):
                return Operator.PREFIX, text
            case ("", text):
                return Operator.SUFFIX, text
            case ("", text, ""):
                return Operator.SUBSTRING, text
            case _:
                pass
    return Operator.LIKE, write_wildcards(parts)


def _shifted(parts: list[Part]) -> tuple[Part, ...]:
    """The same with open places moved from behind a ``*`` to before it."""
    found = [parts[0]]
    for part in parts[1:]:
        if len(found) > 1 and found[-1] == _EMPTY:
            found.pop()  # two stars with nothing between them are one
        closed = (at for at, is_open in enumerate(part.is_open) if not is_open)
        count = next(closed, len(part.text))
        before = found[-1]
        found[-1] = Part(before.text + "?" * count, before.is_open + (True,) * count)
        found.append(Part(part.text[count:], part.is_open[count:]))
    return tuple(found)
