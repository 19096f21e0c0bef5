"""Simple case folding as Python's own tables have it, and the module made of it.

From the root of the repository, with the Python whose Unicode is wanted::

    PYTHONPATH=tests/support python -m folding > src/siena/model/folding_table.py

Python offers full folding only, where ``ß`` becomes ``ss``.  In Unicode's file the
simple folding of a character is the full one where that is a single character (status
C); of the others, those with a simple folding of their own (status S) have it as their
lower case.
"""

import sys
import unicodedata
from functools import cache
from itertools import chain

_HEAD = '''"""Simple case folding as runs of code points.

Made by ``tests/support/folding.py``.

A run ``(first, last, step, offset)`` says that each code point from ``first`` to
``last``, in steps, is folded by adding ``offset``.  What is in no run stays as it is.
"""

UNICODE_VERSION = "{version}"

RUNS = (
'''


@cache
def characters() -> str:
    """All characters there are: not the halves of surrogate pairs."""
    return "".join(map(chr, chain(range(0xD800), range(0xE000, 0x110000))))


def folded(character: str) -> str:
    r"""The simple folding of one character.

    >>> folded("K"), folded("\u212a"), folded("ß"), folded("\u1e9e")
    ('k', 'k', 'ß', 'ß')
    """
    for candidate in (character.casefold(), character.lower()):
        if len(candidate) == 1:
            return candidate
    return character


@cache
def variants_of_all() -> dict[str, frozenset[str]]:
    """Of each character that others are folded to, those others and itself.

    >>> sorted(variants_of_all()["k"])
    ['K', 'k', '\u212a']
    """
    found: dict[str, set[str]] = {}
    for character in characters():
        if character.casefold() == character:
            continue  # as nearly all are: folded to itself
        if (to := folded(character)) != character:
            found.setdefault(to, set()).add(character)
    return {to: frozenset({*which, to}) for to, which in found.items()}


def runs() -> list[tuple[int, int, int, int]]:
    """The characters that folding changes, as few runs as go from left to right."""
    found: list[tuple[int, int, int, int]] = []
    for character in characters():
        code, offset = ord(character), ord(folded(character)) - ord(character)
        if not offset:
            continue
        if found:
            first, last, step, same = found[-1]
            gap = code - last
            if offset == same and gap in ({1, 2} if first == last else {step}):
                found[-1] = first, code, gap, offset
                continue
        found.append((code, code, 1, offset))
    return found


def main() -> None:
    """Write the module."""
    sys.stdout.write(_HEAD.format(version=unicodedata.unidata_version))
    sys.stdout.writelines(
        f"    (0x{first:X}, 0x{last:X}, {step}, {offset}),\n"
        for first, last, step, offset in runs()
    )
    sys.stdout.write(")\n")


if __name__ == "__main__":
    main()
