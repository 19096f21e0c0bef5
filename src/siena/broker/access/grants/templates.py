"""Templates: the text of a predicate, with the name of its principal.

``tenant = ${identity}`` is another predicate for each identity.  What takes the place
of a template is a quoted string, always: whatever an identity or a claim contains, it
is one value, and never a part of the language.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from siena.errors import FilterSyntaxError, SienaError
from siena.lang.literals import read_string
from siena.lang.parser import parse_predicate
from siena.lang.scanner import QUOTED_TEXT, Scanner
from siena.model import Predicate
from siena.model.spelling import quote

# A name that somebody brings along: more is nobody's name.
VALUE_CHARACTERS_MAX = 256

_NAME = r"\$\{([^{}]*)\}"
_PIECE = re.compile(rf"(?P<quoted>{QUOTED_TEXT})|{_NAME}|(?P<open>\$)")
_INSIDE = re.compile(_NAME)
_LIKE = re.compile(r"(?i)\blike\s*\Z")
_KNOWN = re.compile(r"identity|cn|claim\.[^\s{}]+")
_HINT = "there are ${identity}, ${cn} and ${claim.NAME}"


@dataclass(frozen=True, slots=True)
class Template:
    r"""A predicate for all principals, of which each has its own.

    >>> mine = Template.read("tenant = ${identity} or path >* '/${claim.team}/'")
    >>> print(mine.bind({"identity": 'x" or []', "claim.team": "ops"}))
    path >* "/ops/" or tenant = "x\" or []"
    >>> print(mine.bind({"identity": "alice"}))  # without a claim that is named
    not []
    """

    text: str
    names: frozenset[str]
    _plain: Predicate | None = None

    @classmethod
    def read(cls, text: str) -> "Template":
        """A template, which is one for whatever may take its places.

        Raises:
            SienaError: if it is not, with the place in the text.
        """
        names = frozenset(name for name, _ in _templates(text))
        # As long as the template itself, so that places in the text stay.
        sample = _PIECE.sub(lambda m: _sample(m.group()), text)
        try:
            plain = parse_predicate(sample)
        except SienaError as error:
            if error.place is not None:
                position = error.place.position
                error.place = None
                raise error.at(text, position) from None
            raise
        return cls(text, names, None if names else plain)

    def bind(self, values: Mapping[str, str]) -> Predicate:
        """The predicate of those who have these values; of others, that of nothing."""
        if self._plain is not None:
            return self._plain
        if not all(_is_usable(values.get(name)) for name in self.names):
            return Predicate()
        try:
            return parse_predicate(_PIECE.sub(lambda m: _bound(m, values), self.text))
        except SienaError:  # too long, say: nothing is safe
            return Predicate()


def _is_usable(value: str | None) -> bool:
    return value is not None and 0 < len(value) <= VALUE_CHARACTERS_MAX


def _templates(text: str) -> Iterator[tuple[str, int]]:
    """The names of all templates, and where they are.

    Raises:
        FilterSyntaxError: if one is not known, or where none can be.
    """
    for found in _PIECE.finditer(text):
        start = found.start()
        if found["quoted"] is None:
            names = [(found[2], start)] if found["open"] is None else []
            if found["open"] is not None:
                raise FilterSyntaxError("a $ begins no template here", hint=_HINT).at(
                    text, start
                )
        else:
            names = [(m[1], start + m.start()) for m in _INSIDE.finditer(found[0])]
        if names and _LIKE.search(text, 0, start):
            raise FilterSyntaxError(
                "what like compares with has wildcards, and cannot be a template",
                hint="use starts with, ends with or contains",
            ).at(text, start)
        for name, place in names:
            if not _KNOWN.fullmatch(name):
                raise FilterSyntaxError(f"${{{name}}} is no template", hint=_HINT).at(
                    text, place
                )
            yield name, place


def _sample(piece: str) -> str:
    return piece if piece[0] in "\"'" else f'"{"x" * (len(piece) - 2)}"'


def _bound(piece: re.Match[str], values: Mapping[str, str]) -> str:
    quoted = piece["quoted"]
    if quoted is None:
        return quote(values[piece[2]])
    if "${" not in quoted:
        return quoted
    return quote(_INSIDE.sub(lambda m: values[m[1]], read_string(Scanner(quoted))))
