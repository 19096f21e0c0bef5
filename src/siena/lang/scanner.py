"""From text to tokens: the words, literals and symbols of the language.

One regular expression finds the next token and nothing is read twice, so that a
hostile text costs no more than an honest one of its length.
"""

import re
from typing import NoReturn

from siena.errors import FilterSyntaxError, LimitError
from siena.model.limits import TEXT_CHARACTERS_MAX
from siena.model.spelling import BAREWORD, RESERVED

# The kinds of token, as the numbers of the groups below.
KEYWORD, WORD, QUOTED, TIME, NUMBER, SYMBOL, PUNCTUATION = range(1, 8)
END = 0

_DAY = r"[0-9]{4}-[0-9]{2}-[0-9]{2}"
_CLOCK = r"[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
# Tokens as regular expressions, for those that are found elsewhere too.
QUOTED_TEXT = r"""(?:"[^"\\]*(?:\\(?s:.)[^"\\]*)*"|'[^'\\]*(?:\\(?s:.)[^'\\]*)*')"""
TIME_TEXT = (
    rf"(?:(?:{_DAY}[Tt])?{_CLOCK}(?:[Zz]|[+-][0-9]{{2}}:[0-9]{{2}})?|{_DAY})"
    r"(?![\w.:+-])"
)
NUMBER_TEXT = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.:+-])"
SYMBOL_TEXT = r"(?:>=|<=|!=|>\*|\*<|[=<>*](?![=<>*~]))"
_TOKEN = re.compile(
    rf"""\s*(?:
      ((?ai:{"|".join(sorted(RESERVED))})(?![\w./:-]))
    | ({BAREWORD})
    | ({QUOTED_TEXT})
    | ({TIME_TEXT})
    | ({NUMBER_TEXT})
    | ({SYMBOL_TEXT})
    | ([()\[\],])
    | $
    )""",
    re.VERBOSE,
)
_DATE = re.compile(_DAY)
_SPACE = re.compile(r"\s*")
_RUN = re.compile(r"[^\s()\[\],]{1,40}")
_SYMBOLS = re.compile(r"[=<>!*~&|^]+")

_HINTS = {
    "==": "write =",
    "<>": "write !=",
    "!": "write not",
    "=<": "write <=",
    "=>": "write >=",
    "&": "write and",
    "&&": "write and",
    "|": "write or",
    "||": "write or",
    "=~": "use starts with, ends with or contains",
    "~": "use starts with, ends with or contains",
}


class Scanner:
    """A text, and the token at the front of what is left of it.

    ``kind`` and ``token`` say what the token is, ``start`` and ``end`` where it is;
    ``keyword`` is the reserved word in lower case if it is one, else empty.
    """

    __slots__ = ("end", "keyword", "kind", "start", "text", "token")

    def __init__(self, text: str) -> None:
        if len(text) > TEXT_CHARACTERS_MAX:
            raise LimitError(
                "TEXT_CHARACTERS_MAX", TEXT_CHARACTERS_MAX, "characters of text"
            ).at(text, TEXT_CHARACTERS_MAX)
        self.text = text
        self.end = 0
        self.advance()

    def advance(self) -> None:
        """Step to the next token."""
        found = _TOKEN.match(self.text, self.end)
        if found is None:
            self._fail_at_unknown()
        self.end = found.end()
        kind = self.kind = found.lastindex or END
        self.start = found.start(kind) if kind else self.end
        token = self.token = found[kind] if kind else ""
        self.keyword = token.lower() if kind == KEYWORD else ""

    def skip_to(self, end: int) -> None:
        """Step to the first token behind a place up to which the text has been read."""
        self.end = end
        self.advance()

    def fail(
        self, message: str, *, hint: str = "", position: int | None = None
    ) -> NoReturn:
        """Raise a syntax error, at the token at the front unless told otherwise."""
        place = self.start if position is None else position
        raise FilterSyntaxError(message, hint=hint).at(self.text, place)

    def describe(self) -> str:
        """The token at the front, as an error message names it."""
        if self.kind == END:
            return "the end"
        shown = self.token if len(self.token) <= 40 else self.token[:40] + "…"
        return f'"{shown}"' if self.kind != QUOTED else shown

    def _fail_at_unknown(self) -> NoReturn:
        """Say what is wrong where no token begins."""
        space = _SPACE.match(self.text, self.end)
        assert space is not None
        position = space.end()
        character = self.text[position]
        if character in "\"'":
            self.fail("this quote is never closed", position=position)
        symbols = _SYMBOLS.match(self.text, position)
        if symbols:
            self.fail(
                f'"{symbols.group()[:40]}" is not an operator',
                hint=_HINTS.get(
                    symbols.group(), "operators are = != < <= > >= >* *< * any"
                ),
                position=position,
            )
        run = _RUN.match(self.text, position)
        assert run is not None
        if _DATE.match(self.text, position):
            self.fail(
                f"{run.group()} is not a whole time",
                hint="write it as 2026-11-15T02:40:03.5Z, or quote it",
                position=position,
            )
        if character.isdigit() or character in "+-.":
            self.fail(
                f"{run.group()} is neither a number nor a time",
                hint="quote it to mean a string",
                position=position,
            )
        self.fail(
            f'"{character}" needs quotes',
            hint="words are letters A to Z, then also digits and . / : - _",
            position=position,
        )
