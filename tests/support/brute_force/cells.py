"""Strings of all cells: one for each set of constraints that holds together.

Every constraint is followed character by character, in the plainest way: a pattern is
a list of tokens, and where it stands is the set of all places that it may have got to.
Strings that lead all constraints to the same places go on alike, so one of them is
enough; there are finitely many places, and a search from the empty string meets all.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from brute_force.language import FOLDING, Constraint
from folding import folded, variants_of_all

# Far more than a drawn line has; beyond it the universe is no longer complete.
STATES_MAX = 30_000
LAST_CHARACTER = 0x10FFFF

STAR, OPEN = "*", "?"
# A token is a wildcard, or the characters that it stands for.
Token = str | frozenset[str]
Place = frozenset[int] | tuple[str, int]

SIMPLE = {
    **dict.fromkeys(("=", "!="), (False, False)),
    **dict.fromkeys((">*", "does not start with"), (False, True)),
    **dict.fromkeys(("*<", "does not end with"), (True, False)),
    **dict.fromkeys(("*", "does not contain"), (True, True)),
}


def strings_of_all_cells(constraints: Sequence[Constraint]) -> Iterator[str]:
    """Strings of which one is in each cell of the constraints."""
    followers = [_Follower(c) for c in dict.fromkeys(constraints)]
    letters = {c for follower in followers for c in follower.letters}
    alphabet = [*sorted(letters), *foreign_characters(letters)]
    start = tuple(follower.start for follower in followers)
    seen = {start}
    queue: deque[tuple[str, tuple[Place, ...]]] = deque([("", start)])
    while queue:
        text, places = queue.popleft()
        yield text
        if len(seen) > STATES_MAX:
            return
        for character in alphabet:
            following = tuple(
                follower.after(place, character)
                for follower, place in zip(followers, places, strict=True)
            )
            if following not in seen:
                seen.add(following)
                queue.append((text + character, following))


def foreign_characters(letters: Iterable[str]) -> Iterator[str]:
    """One character of every gap between the letters, and outside them.

    >>> [hex(ord(character)) for character in foreign_characters("ab")]
    ['0x60', '0x10ffff']
    """
    codes = sorted(ord(letter) for letter in letters)
    for below, above in pairwise((-1, *codes, LAST_CHARACTER + 1)):
        code = above - 1
        if 0xD800 <= code <= 0xDFFF:  # surrogates are no characters
            code = 0xD7FF
        if code > below:
            yield chr(code)


class _Follower:
    """One constraint, and where it may have got to."""

    def __init__(self, constraint: Constraint) -> None:
        operator = constraint.operator.removesuffix(FOLDING)
        self.operand = str(constraint.operand)
        self.tokens: list[Token] | None = None
        self.letters: set[str] = set(self.operand)
        self.start: Place = ("same", 0)
        if operator in SIMPLE or "like" in operator:
            ignores_case = constraint.operator.endswith(FOLDING)
            self.tokens = list(_tokens(operator, self.operand, ignores_case))
            self.letters = {c for t in self.tokens if t not in {STAR, OPEN} for c in t}
            self.start = self._with_stars({0})

    def after(self, place: Place, character: str) -> Place:
        if self.tokens is None:
            assert isinstance(place, tuple)
            return self._compared(place, character)
        reached: set[int] = set()
        for at in place:
            assert isinstance(at, int)
            token = self.tokens[at] if at < len(self.tokens) else frozenset()
            if token == STAR:
                reached.add(at)
            elif token == OPEN or character in token:
                reached.add(at + 1)
        return self._with_stars(reached)

    def _with_stars(self, places: set[int]) -> frozenset[int]:
        """A star may stand for nothing at all."""
        assert self.tokens is not None
        found = set(places)
        for at, token in enumerate(self.tokens):
            if at in found and token == STAR:
                found.add(at + 1)
        return frozenset(found)

    def _compared(self, place: tuple[str, int], character: str) -> Place:
        order, at = place
        if order != "same":
            return place
        if at == len(self.operand) or character > self.operand[at]:
            return "above", 0
        return ("same", at + 1) if character == self.operand[at] else ("below", 0)


def _tokens(operator: str, operand: str, ignores_case: bool) -> Iterator[Token]:  # noqa: FBT001
    before, behind = SIMPLE.get(operator, (False, False))
    if before:
        yield STAR
    escaped = False
    for character in operand:
        if operator not in SIMPLE and not escaped and character in "*?\\":
            if character == "\\":
                escaped = True
            else:
                yield character
            continue
        escaped = False
        yield _variants(folded(character)) if ignores_case else frozenset(character)
    if behind:
        yield STAR


def _variants(folded_: str) -> frozenset[str]:
    return variants_of_all().get(folded_, frozenset(folded_))
