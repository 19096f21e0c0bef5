"""A string that is likely to do, put together from what is asked for.

Nearly every question about strings that is answered by a yes is answered so: what has
to be at the beginning, what has to be contained, one behind the other, and what has to
be at the end.  Whether that will do is easily seen.  The search through automata, whose
states are all ways in which texts may overlap, is left for what remains.
"""

from collections.abc import Iterable, Iterator, Sequence

from siena.model import Constraint, Operator
from siena.model.folding import fold
from siena.model.wildcards import read_wildcards

# What may stand between two texts; the last one seldom occurs in what is unwanted.
_SEPARATORS = ("", " ", "~")
# What stands where a pattern has room for one character.
_OPEN = "x"


def guess_string(
    wanted: Sequence[Constraint], unwanted: Sequence[Constraint]
) -> str | None:
    """A string that satisfies every wanted and no unwanted constraint, if one is found.

    >>> from siena.lang.parser import parse_filter as parse
    >>> guess_string(list(parse("s >* ab, s * cd ignoring case, s *< ef")), [])
    'abcdef'

    That none is found means nothing.
    """
    for text in _candidates(wanted):
        if all(c.matches(text) for c in wanted) and not any(
            c.matches(text) for c in unwanted
        ):
            return text
    return None


def excludes(unwanted: Constraint, wanted: Constraint) -> bool:
    """Whether all that is wanted contains what is unwanted, seen from the texts alone.

    >>> from siena.lang.parser import parse_filter as parse
    >>> (one,), (other,) = parse("s * b ignoring case"), parse('s like "aBc*d"')
    >>> excludes(one, other), excludes(other, one)
    (True, False)

    A no means nothing.
    """
    if unwanted.operator.exact is not Operator.SUBSTRING:
        return False
    is_folded = unwanted.operator.ignores_case
    if wanted.operator.ignores_case and not is_folded:
        return False
    text, sought = str(wanted.value), str(unwanted.value)
    match wanted.operator.exact:
        case Operator.EQ | Operator.PREFIX | Operator.SUFFIX | Operator.SUBSTRING:
            texts = [text]
        case Operator.LIKE:
            parts = read_wildcards(text).parts
            texts = [literal for part in parts for _, literal in part.literals]
        case _:
            return False
    if is_folded:
        return any(fold(sought) in fold(each) for each in texts)
    return any(sought in each for each in texts)


def _candidates(wanted: Sequence[Constraint]) -> Iterator[str]:
    beginning, end = "", ""
    middle: list[str] = []
    for constraint in wanted:
        text = str(constraint.value)
        match constraint.operator.exact:
            case Operator.EQ:
                yield text
                return
            case Operator.PREFIX:
                beginning = max(beginning, text, key=len)
            case Operator.SUFFIX:
                end = max(end, text, key=len)
            case Operator.SUBSTRING:
                middle.append(text)
            case Operator.LIKE:
                first, *inner, last = _parts(text)
                beginning = max(beginning, first, key=len)
                end = max(end, last, key=len)
                middle += inner
            case _:
                pass
    needed = list(_needed(middle, beginning, end))
    for separator in _SEPARATORS:
        yield separator.join(part for part in (beginning, *needed, end) if part)
        yield separator.join((beginning, *needed, end))


def _parts(pattern: str) -> list[str]:
    """The texts between the wildcards; at least two, of which some are empty."""
    parts = [
        "".join(
            _OPEN if is_open else character
            for character, is_open in zip(part.text, part.is_open, strict=True)
        )
        for part in read_wildcards(pattern).parts
    ]
    return parts if len(parts) > 1 else [*parts, ""]


def _needed(texts: Iterable[str], beginning: str, end: str) -> Iterator[str]:
    """The texts that no other contains, in their order."""
    kept: list[str] = [fold(beginning), fold(end)]
    found: dict[str, str] = {}
    for text in sorted(texts, key=len, reverse=True):
        folded = fold(text)
        if not any(folded in other for other in kept):
            kept.append(folded)
            found[text] = text
    return (text for text in texts if found.pop(text, None) is not None)
