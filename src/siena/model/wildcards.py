"""Wildcards: the patterns of ``like``.

``*`` stands for any run of characters, ``?`` for one character, and a backslash makes
the ``*``, ``?`` or backslash behind it an ordinary character.

A pattern is cut at its ``*`` into *parts*.  The first part must stand at the beginning
of a string and the last at its end; each of the others is taken where it occurs first
behind the one before it, which leaves the most room for those that follow.  So no
choice is ever undone: a match costs at most the length of the string times the length
of the longest part.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from siena.errors import InvalidConstraintError

# How many patterns are remembered as parts.
PATTERNS_REMEMBERED_MAX = 16_384

# A pattern goes by these: an escaped character, a wildcard, or plain text.
_TOKEN = re.compile(r"\\([*?\\])|([*?])|([^*?\\]+)|(\\)")
_SPECIAL = re.compile(r"[*?\\]")


class Part(NamedTuple):
    """What stands between two ``*``: a text, in which some places are open.

    The text has some character at its open places, which means nothing.
    """

    text: str
    is_open: tuple[bool, ...]

    @property
    def literals(self) -> list[tuple[int, str]]:
        """The runs of characters that are not open, each with its place."""
        found: list[tuple[int, str]] = []
        for at, (character, is_open) in enumerate(
            zip(self.text, self.is_open, strict=True)
        ):
            if is_open:
                continue
            if found and found[-1][0] + len(found[-1][1]) == at:
                found[-1] = found[-1][0], found[-1][1] + character
            else:
                found.append((at, character))
        return found


class Wildcards:
    """A pattern, cut into its parts: see :func:`read_wildcards`."""

    __slots__ = ("_sought", "parts", "size")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.size = sum(len(part.text) for part in parts)
        """How many characters a string has at least that matches."""
        self._sought = tuple(map(_Sought.of, parts))

    def matches(self, text: str) -> bool:
        """Whether the whole string is as the pattern says."""
        if len(self.parts) == 1:
            return len(text) == self.size and self._sought[0].stands_at(text, 0)
        if len(text) < self.size:
            return False
        first, *middle, last = self._sought
        end = len(text) - last.size
        if not first.stands_at(text, 0) or not last.stands_at(text, end):
            return False
        at = first.size
        for sought in middle:
            found = sought.find(text, at, end)
            if found < 0:
                return False
            at = found + sought.size
        return True


class _Sought(NamedTuple):
    """The size of a part, and the literals in it, the longest first."""

    size: int
    literals: tuple[tuple[int, str], ...]

    @classmethod
    def of(cls, part: Part) -> "_Sought":
        literals = sorted(part.literals, key=lambda place: -len(place[1]))
        return cls(len(part.text), tuple(literals))

    def stands_at(self, text: str, at: int) -> bool:
        return all(text.startswith(run, at + place) for place, run in self.literals)

    def find(self, text: str, start: int, end: int) -> int:
        """Where the part stands first between two places, or -1."""
        size = self.size
        if not self.literals:
            return start if start + size <= end else -1
        place, run = self.literals[0]
        while True:
            found = text.find(run, start + place, end - size + place + len(run))
            if found < 0:
                return -1
            if self.stands_at(text, found - place):
                return found - place
            start = found - place + 1


@lru_cache(PATTERNS_REMEMBERED_MAX)
def read_wildcards(pattern: str) -> Wildcards:
    r"""The parts of a pattern.

    >>> [part.text for part in read_wildcards("ab*c?d\\*").parts]
    ['ab', 'c?d*']

    Raises:
        InvalidConstraintError: if a backslash stands before an ordinary character.
    """
    parts: list[Part] = []
    text = ""
    is_open: list[bool] = []
    for escaped, wildcard, plain, wrong in _TOKEN.findall(pattern):
        if wrong:
            raise InvalidConstraintError(
                "a backslash stands before *, ? or a backslash in a pattern",
                hint=r"quoted, one that is meant is written \\\\",
            )
        if wildcard == "*":
            parts.append(Part(text, tuple(is_open)))
            text, is_open = "", []
        else:
            run = escaped or plain or wildcard
            text += run
            is_open += [bool(wildcard)] * len(run)
    parts.append(Part(text, tuple(is_open)))
    return Wildcards(tuple(parts))


def write_wildcards(parts: tuple[Part, ...]) -> str:
    """The pattern with these parts: the inverse of reading one."""
    return "*".join(
        "".join(
            "?" if is_open else escape(character)
            for character, is_open in zip(part.text, part.is_open, strict=True)
        )
        for part in parts
    )


def escape(text: str) -> str:
    r"""The pattern that this string alone matches.

    >>> print(escape("50 * 2"))
    50 \* 2
    """
    return _SPECIAL.sub(r"\\\g<0>", text)


def matches_wildcards(text: str, pattern: str) -> bool:
    """Whether a string is like a pattern.

    >>> matches_wildcards("finance/stock/DIS", "finance/*/D?S")
    True
    """
    return read_wildcards(pattern).matches(text)
