"""What a regular expression cannot do without: texts that occur wherever it does.

The pattern is read as far as its texts are plain; whatever is not understood here
stands for anything, and the worst that can happen is that nothing is found.  What is
found is asked of filters, so that the pattern itself is tried on few values.

Of each part it is known which texts it may match, if these are all and few (*exact*),
and of which texts one has to occur (*needed*).  Parts side by side are joined while
they are exact.

Reference:
    R. Cox, *Regular Expression Matching with a Trigram Index*, 2012; the syntax of RE2.
"""

from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from siena.model.folding import fold
from siena.model.limits import OPERAND_CHARACTERS_MAX

# Texts of which one has to occur, in one place of a pattern.
TEXTS_MAX = 16
# Places of a pattern for which it is said what has to occur there.
PLACES_MAX = 3
# Groups inside each other that are looked into.
DEPTH_MAX = 50

Strings = frozenset[str]
_EMPTY: Strings = frozenset({""})
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_NOTHING_READ = frozenset("AzbB")
_ANYTHING = frozenset("dDsSwWpP")


class Texts(NamedTuple):
    """For some places of a pattern the texts of which one occurs there; any case?

    ``shortest`` is how many characters a string has at least in which it occurs.
    """

    places: tuple[Strings, ...]
    ignores_case: bool
    shortest: int = 0


class _Part(NamedTuple):
    """What is known of a part of a pattern."""

    exact: Strings | None = None
    needed: tuple[Strings, ...] = ()
    # How many characters it takes at least, where that is not as its texts say.
    least: int = 0

    @property
    def shortest(self) -> int:
        """How many characters it takes at least."""
        return self.least if self.exact is None else min(map(len, self.exact))

    @property
    def all_needed(self) -> tuple[Strings, ...]:
        """What has to occur, as far as that is anything at all."""
        if self.exact and "" not in self.exact:
            return (self.exact,)
        return self.needed


_ONE = _Part(None, (), 1)
"""Some character, which is all that is known."""


class _StrangeError(Exception):
    """Something in a pattern that is not understood here."""


def needed_texts(pattern: str) -> Texts:
    r"""The texts that occur where a regular expression does; no places if unknown.

    >>> needed_texts(r"cmd.{0,5}(?:/c|/r).+(?i)powershell$").places[0]
    frozenset({'powershell'})
    >>> sorted(needed_texts(r"\s(?:net|sc)\s+stop").places[1])
    ['net', 'sc']
    >>> needed_texts(r"[a-f0-9]{64}|x").places
    ()
    """
    reader = _Reader(pattern)
    try:
        part = reader.whole()
    except _StrangeError:
        return Texts((), ignores_case=False)
    folds = reader.ignores_case
    places = {
        frozenset(map(fold, place)) if folds else place for place in part.all_needed
    }
    fitting = [
        place
        for place in places
        if all(len(text) <= OPERAND_CHARACTERS_MAX for text in place)
    ]
    # One text that is long says most.
    fitting.sort(key=lambda place: (len(place) > 1, -min(map(len, place)), len(place)))
    return Texts(tuple(fitting[:PLACES_MAX]), folds, part.shortest)


class _Reader:
    """Reads a pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        # Of one part that ignores case, all are taken to: that asks for less.
        self.ignores_case = False

    def whole(self) -> _Part:
        """The pattern."""
        found = self.alternation(0)
        if self.at < len(self.pattern):
            raise _StrangeError
        if self.ignores_case and not self.pattern.isascii():
            # Beyond ASCII, two tables of cases may differ.
            raise _StrangeError
        return found

    def peek(self) -> str:
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        character = self.peek()
        if not character:
            raise _StrangeError
        self.at += 1
        return character

    def taken(self, text: str) -> bool:
        """Whether a text comes next, which is then behind."""
        is_next = self.pattern.startswith(text, self.at)
        self.at += len(text) * is_next
        return is_next

    def alternation(self, depth: int) -> _Part:
        """Parts of which one has to match."""
        if depth > DEPTH_MAX:
            raise _StrangeError
        parts = [self.sequence(depth)]
        while self.taken("|"):
            parts.append(self.sequence(depth))
        return parts[0] if len(parts) == 1 else _either(parts)

    def sequence(self, depth: int) -> _Part:
        """Parts that have to match one behind the other."""
        parts: list[_Part] = []
        while self.peek() not in {"", "|", ")"}:
            parts.append(self.repeated(self.one(depth)))
        return _joined(parts)

    def one(self, depth: int) -> _Part:
        """A character, a class, a group."""
        character = self.take()
        if character == "(":
            return self.group(depth)
        if character == "[":
            return self.characters()
        if character == "\\":
            return self.escape()
        if character == ".":
            return _ONE
        if character in "^$":
            return _Part(_EMPTY)
        if character in "*+?{":
            raise _StrangeError
        return _Part(frozenset({character}))

    def group(self, depth: int) -> _Part:
        """What stands in parentheses, behind the first of them."""
        if self.taken("?"):
            if self.taken("P<") or self.taken("<"):
                while self.take() != ">":
                    pass
            else:
                while (flag := self.take()) not in ":)":
                    if flag not in "imsU-":
                        raise _StrangeError
                    self.ignores_case |= flag == "i"
                if flag == ")":
                    return _Part(_EMPTY)
        found = self.alternation(depth + 1)
        if not self.taken(")"):
            raise _StrangeError
        return found

    def escape(self) -> _Part:
        """What stands behind a backslash."""
        character = self.take()
        if character in _CONTROL:
            return _Part(frozenset({_CONTROL[character]}))
        if character in _NOTHING_READ:
            return _Part(_EMPTY)
        if character in _ANYTHING:
            if character in "pP" and self.take() == "{":
                while self.take() != "}":
                    pass
            return _ONE
        if character.isascii() and not character.isalnum() and character != "_":
            return _Part(frozenset({character}))
        raise _StrangeError

    def characters(self) -> _Part:
        """A class of characters, behind its bracket; known if they are few."""
        is_plain = not self.taken("^")
        found: set[str] = set()
        is_first = True
        while is_first or self.peek() != "]":
            is_first = False
            character = self.take()
            if character == "[" and self.peek() == ":":
                raise _StrangeError
            if character == "\\":
                one = self.escape().exact
                if not one or one == _EMPTY:
                    is_plain = False
                    continue
                (character,) = one
            elif character == "-" and found and self.peek() != "]":
                is_plain = False  # a range
            found.add(character)
        self.take()
        if not is_plain or not found or len(found) > TEXTS_MAX:
            return _ONE
        folded = set(map(fold, found))
        if len(folded) == 1 and len(found) > 1 and all(map(str.isascii, found)):
            # A letter in both cases: a class is how some ignore case.
            self.ignores_case = True
            found = folded
        return _Part(frozenset(found))

    def repeated(self, part: _Part) -> _Part:
        """The part with what says how often it comes."""
        while True:
            if self.taken("*"):
                part = _Part()
            elif self.taken("+"):
                part = _Part(None, part.all_needed, part.shortest)
            elif self.taken("?"):
                part = _Part(part.exact and part.exact | _EMPTY)
            elif self.peek() == "{":
                count = self.least_count()
                needed = part.all_needed if count else ()
                part = _Part(None, needed, count * part.shortest)
            else:
                return part
            self.taken("?")

    def least_count(self) -> int:
        """How often a part comes at least, by what is in braces."""
        end = self.pattern.find("}", self.at)
        least, comma, most = self.pattern[self.at + 1 : max(end, 0)].partition(",")
        is_count = least.isascii() and least.isdecimal()
        if not is_count or (comma and most and not most.isdecimal()):
            raise _StrangeError
        self.at = end + 1
        return int(least)


def _either(parts: Iterable[_Part]) -> _Part:
    """One of some parts: one of their texts, if each has some that are few."""
    found = list(parts)
    exact = [part.exact for part in found]
    if None not in exact:
        together = frozenset[str]().union(*(e for e in exact if e is not None))
        if len(together) <= TEXTS_MAX:
            return _Part(together)
    chosen: set[str] = set()
    least = min(part.shortest for part in found)
    for part in found:
        if not part.all_needed:
            return _Part(None, (), least)
        chosen |= max(part.all_needed, key=lambda place: min(map(len, place)))
    needed = (frozenset(chosen),) if len(chosen) <= TEXTS_MAX else ()
    return _Part(None, needed, least)


def _joined(parts: Iterable[_Part]) -> _Part:
    """One part behind the other: exact ones become longer texts."""
    needed: list[Strings] = []
    running = _EMPTY
    is_exact = True
    least = 0

    def end() -> None:
        if "" not in running:
            needed.append(running)

    for part in parts:
        exact = part.exact
        least += part.shortest
        if exact is None or len(running) * len(exact) > TEXTS_MAX:
            is_exact = False
            end()
            running = exact if exact is not None else _EMPTY
            needed += part.needed
        else:
            running = frozenset(a + b for a, b in product(running, exact))
    if is_exact:
        return _Part(running)
    end()
    return _Part(None, tuple(needed), least)
