"""Folding: what strings have in common that differ in case only.

*Simple* folding, by code point: each character becomes one character, so that prefixes,
suffixes and single characters of a pattern keep their meaning, and every part of the
house folds alike from one table (Python's ``casefold`` is full folding: ``ß`` becomes
``ss``).

Reference:
    The Unicode Standard, section 3.13, and its file ``CaseFolding.txt``, statuses C
    and S.
"""

from siena.model.folding_table import RUNS

FOLDED = {
    code: code + offset
    for first, last, step, offset in RUNS
    for code in range(first, last + 1, step)
}
"""Of each code point that folding changes, what it becomes."""

_VARIANTS: dict[int, tuple[int, ...]] = {}
for _code, _folded in FOLDED.items():
    _VARIANTS[_folded] = (*_VARIANTS.get(_folded, ()), _code)


def fold(text: str) -> str:
    r"""The string with every character folded.

    >>> fold("Straße"), fold("ΣΊΣΥΦΟΣ"), fold("\u212a")
    ('straße', 'σίσυφοσ', 'k')
    """
    # Among ASCII characters, to fold is to write small.
    return text.lower() if text.isascii() else text.translate(FOLDED)


def variants(character: str) -> str:
    """The characters that are folded to this one, itself first if it is one of them.

    >>> variants("k") == "kK\N{KELVIN SIGN}", variants("K"), variants("7")
    (True, '', '7')
    """
    code = ord(character)
    if code in FOLDED:
        return ""
    return character + "".join(map(chr, _VARIANTS.get(code, ())))


def has_variants(text: str) -> bool:
    """Whether another string is folded to the same, given one that is folded."""
    return any(ord(character) in _VARIANTS for character in text)
