"""Tokens of any small language: one regular expression finds the next one.

The language of filters has a scanner of its own (:mod:`siena.lang.scanner`); this one
serves expressions and the dialects of others, each with its own expression.  Nothing is
read twice, so that a hostile text costs no more than an honest one of its length.
"""

import re
from collections.abc import Callable
from typing import NoReturn

from siena.errors import FilterSyntaxError, LimitError
from siena.model.limits import TEXT_CHARACTERS_MAX

END = "end"
# As much of a token as an error message shows.
_SHOWN_CHARACTERS = 40


class Tokens:
    """A text, and the token at the front of what is left of it.

    ``kind`` is the name of the group of the expression that found it, or ``"end"``;
    ``word`` is the token as keywords are compared with it: in lower case, for languages
    that ignore case.
    """

    __slots__ = ("_folded", "_pattern", "end", "kind", "start", "text", "token", "word")

    def __init__(
        self,
        text: str,
        pattern: re.Pattern[str],
        folded: Callable[[str], str] = str.lower,
    ) -> None:
        if len(text) > TEXT_CHARACTERS_MAX:
            raise LimitError(
                "TEXT_CHARACTERS_MAX", TEXT_CHARACTERS_MAX, "characters of text"
            ).at(text, TEXT_CHARACTERS_MAX)
        self.text = text
        self._pattern = pattern
        self._folded = folded
        self.skip_to(0)

    def advance(self) -> None:
        """Step to the next token."""
        self.skip_to(self.end)

    def skip_to(self, position: int) -> None:
        """Step to the first token from a position on."""
        found = self._pattern.match(self.text, position)
        if found is None or found.lastgroup is None:
            self._at_unknown(position if found is None else found.end())
            return
        self.kind: str = found.lastgroup
        self.start, self.end = found.span(self.kind)
        self.token = found[self.kind]
        self.word = self._folded(self.token)

    def at(self, *tokens: str) -> bool:
        """Whether the token at the front is one of these symbols or words."""
        return self.kind in {"symbol", "word"} and self.word in tokens

    def take(self, *tokens: str) -> bool:
        """Eat the token at the front if it is one of these."""
        if not self.at(*tokens):
            return False
        self.advance()
        return True

    def expect(self, token: str, where: str = "") -> None:
        """Eat this token, or fail."""
        if not self.take(token):
            behind = f" {where}" if where else ""
            self.fail(f'expected "{token}"{behind}, found {self.describe()}')

    def expect_end(self) -> None:
        """Fail unless everything has been read."""
        if self.kind != END:
            self.fail(f"expected the end, found {self.describe()}")

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
        shown = self.token[:_SHOWN_CHARACTERS]
        shown += "…" if len(shown) < len(self.token) else ""
        return shown if shown[0] in "\"'" else f'"{shown}"'

    def _at_unknown(self, position: int) -> None:
        """The end, or a character that begins no token."""
        while position < len(self.text) and self.text[position].isspace():
            position += 1
        self.start = self.end = position
        self.kind, self.token, self.word = END, "", ""
        if position < len(self.text):
            character = self.text[position]
            if character in "\"'":
                self.fail("this quote is never closed")
            self.fail(f'"{character}" has no meaning here')
