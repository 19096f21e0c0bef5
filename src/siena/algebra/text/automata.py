"""Satisfiability for strings by a search through automata, whatever is asked of them.

:mod:`siena.algebra.text.strings` has a shorter way for equality, order, prefixes,
suffixes and substrings.  Where wildcards or folded case come in, strings are built here
character by character, the shorter ones first, so that the first that is found is a
shortest.

*Theory of operation.*  Every constraint but an order is a pattern: a row of tokens, of
which each accepts some characters, with *loops* between them where any run may stand::

    starts with ab        a b *            loop at the end
    contains ab           * a b *          loops at both ends
    like "a*c?"           a * c ?          loop in the middle

How far a pattern may have got is a set of places, one bit each.  A character moves
every place whose token accepts it by one, and a loop stays where it is.  From a loop
on, it does not matter any longer how its place was reached; so places before the last
loop that was reached are dropped, and few sets remain.  For a plain text they are those
of Knuth, Morris and Pratt; of all wanted and unwanted patterns together, those of an
automaton of Aho and Corasick with a mask of what has been seen.

Bounds of the order are followed as long as the string agrees with them.  Characters
that no token names, and that stand alike to the bounds, lead to the same; so one of
each sort is tried.  What is reached is finite: the search ends with a string, with the
certainty that there is none, or at its limit.  A step is a character for up to 64
places, which is what one word of an integer holds.
"""

import enum
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, NamedTuple

from siena.algebra.points import NotShownError
from siena.algebra.text.allowance import Allowance, allowed
from siena.algebra.text.characters import (
    CHARACTER_MIN,
    characters,
    following,
    preceding,
)
from siena.model import Constraint, Operator
from siena.model.folding import variants
from siena.model.values import CHARACTER_MAX
from siena.model.wildcards import read_wildcards

# Searches that are remembered: who compares many filters asks again and again.
REMEMBERED_MAX = 16_384

# What has a row of tokens, and where any run of characters may stand beside it.
_LOOPS = {
    Operator.EQ: (False, False),
    Operator.PREFIX: (False, True),
    Operator.SUFFIX: (True, False),
    Operator.SUBSTRING: (True, True),
}
_LOWER = frozenset({Operator.GT, Operator.GE})
_UPPER = frozenset({Operator.LT, Operator.LE})


def search_string(
    wanted: Iterable[Constraint], unwanted: Iterable[Constraint]
) -> str | None:
    """A shortest string that satisfies every wanted and no unwanted constraint.

    None of them is a negation: what is not wanted is unwanted.

    >>> from siena.lang.parser import parse_filter as parse
    >>> search_string(parse('s like "a*b?", s * XY ignoring case'), parse("s * yb"))
    'axYba'

    Raises:
        NotShownError: if it takes more steps to tell.
    """
    allowance = allowed()
    found = _outcome(tuple(wanted), tuple(unwanted), allowance)
    if found is _NOT_SHOWN:
        raise NotShownError(allowance.limit)
    return found


class _Unknown(enum.Enum):
    """The outcome of a search that came to its limit."""

    NOT_SHOWN = "not shown"


_NOT_SHOWN = _Unknown.NOT_SHOWN


@lru_cache(REMEMBERED_MAX)
def _outcome(
    wanted: tuple[Constraint, ...],
    unwanted: tuple[Constraint, ...],
    allowance: Allowance,
) -> str | Literal[_Unknown.NOT_SHOWN] | None:
    """What a search finds; that it could not tell is remembered as well."""
    given = wanted, unwanted
    bounds = _Bounds.of(*given)
    if bounds is None:
        return None
    patterns = _Patterns(
        [
            (c, is_wanted)
            for constraints, is_wanted in zip(given, (True, False), strict=True)
            for c in constraints
            if c.operator is not Operator.ANY and not _is_bound(c)
        ]
    )
    try:
        return _Search(patterns, bounds, allowance).run()
    except NotShownError:
        return _NOT_SHOWN


class _Bounds(NamedTuple):
    """The strings from ``low`` on, and below ``high`` if there is one."""

    low: str
    high: str | None

    @classmethod
    def of(
        cls, wanted: Iterable[Constraint], unwanted: Iterable[Constraint]
    ) -> "_Bounds | None":
        """What the order leaves of the line, or None if nothing is left."""
        low, high = "", None
        for constraints, is_wanted in ((wanted, True), (unwanted, False)):
            for _, operator, _, value in filter(_is_bound, constraints):
                # The string after v is v with U+0000 behind it.
                is_beyond = operator in {Operator.GT, Operator.LE}
                edge = f"{value}\0" if is_beyond else str(value)
                if (operator in _LOWER) is is_wanted:
                    low = max(low, edge)
                elif high is None or edge < high:
                    high = edge
        return None if high is not None and low >= high else cls(low, high)


def _is_bound(constraint: Constraint) -> bool:
    return constraint.operator in _LOWER or constraint.operator in _UPPER


class _Pattern(NamedTuple):
    """Where a pattern has its places in the set of all, and which of them are loops."""

    offset: int
    last: int
    loops: int
    is_wanted: bool


class _Patterns:
    """All patterns, whose places are the bits of one integer."""

    def __init__(self, constraints: Sequence[tuple[Constraint, bool]]) -> None:
        self._patterns: list[_Pattern] = []
        # The places before tokens that accept a character; and any character.
        self._accepting: dict[str, int] = {}
        self._open = 0
        self._loops = 0
        self.start = 0
        offset = 0
        for constraint, is_wanted in constraints:
            tokens, loops = _tokens(constraint)
            for place, accepted in enumerate(tokens, offset):
                for character in accepted or "":
                    self._accepting[character] = (
                        self._accepting.get(character, 0) | 1 << place
                    )
                self._open |= (accepted is None) << place
            self._patterns.append(_Pattern(offset, len(tokens), loops, is_wanted))
            self._loops |= loops << offset
            self.start |= 1 << offset
            offset += len(tokens) + 1
        self.count = offset
        """How many places there are."""

    @property
    def characters(self) -> Iterable[str]:
        """The characters that tokens name."""
        return self._accepting.keys()

    def step(self, places: int, character: str) -> int:
        """Where the places are after one more character."""
        accepting = self._accepting.get(character, 0) | self._open
        return (places & accepting) << 1 | places & self._loops

    def settled(self, places: int) -> int | None:
        """The places that matter; None if no string that goes on so will do."""
        found = 0
        for offset, last, loops, is_wanted in self._patterns:
            mine = places >> offset & ((2 << last) - 1)
            reached = mine & loops
            if reached:
                top = reached.bit_length() - 1
                mine = mine >> top << top
                if top == last and not is_wanted:
                    return None  # whatever follows
            if is_wanted and not mine:
                return None
            found |= mine << offset
        return found

    def accepts(self, places: int) -> bool:
        """Whether a string may end here."""
        return all(
            bool(places >> offset + last & 1) is is_wanted
            for offset, last, _, is_wanted in self._patterns
        )


def _tokens(constraint: Constraint) -> tuple[list[str | None], int]:
    """The characters that each token accepts, None for all; and the loops."""
    operator = constraint.operator.exact
    tokens: list[str | None] = []
    loops = 0
    text = str(constraint.value)
    if operator is Operator.LIKE:
        for number, part in enumerate(read_wildcards(text).parts):
            loops |= (number > 0) << len(tokens)
            tokens += [
                None if is_open else character
                for character, is_open in zip(part.text, part.is_open, strict=True)
            ]
    else:
        before, behind = _LOOPS[operator]
        tokens += text
        loops = before | behind << len(text)
    if constraint.operator.ignores_case:
        tokens = [None if token is None else variants(token) for token in tokens]
    return tokens, loops


# The places of the patterns, and how many characters agree with each bound so far;
# None where the string lies inside it already.
_State = tuple[int, int | None, int | None]


class _Search:
    """The search, breadth first."""

    def __init__(
        self, patterns: _Patterns, bounds: _Bounds, allowance: Allowance
    ) -> None:
        self._patterns = patterns
        self._low, self._high = bounds
        self._alphabet = tuple(_alphabet(set(patterns.characters), bounds))
        self._steps_left = allowance.steps
        self._limit = allowance.limit
        # What a character costs grows with the places that it moves.
        self._state_cost = len(self._alphabet) * (1 + patterns.count // 64)
        # What places come to: most characters lead to the same ones.
        self._settled: dict[int, int | None] = {}

    def run(self) -> str | None:
        """A shortest string that is accepted, or None if there is none."""
        places = self._patterns.settled(self._patterns.start)
        if places is None:
            return None
        start: _State = places, 0, None if self._high is None else 0
        before: dict[_State, tuple[_State, str] | None] = {start: None}
        queue = deque([start])
        while queue:
            state = queue.popleft()
            if self._accepts(state):
                return _spelled(before, state)
            for character, following_state in self._steps(state):
                if following_state not in before:
                    before[following_state] = state, character
                    queue.append(following_state)
        return None

    def _steps(self, state: _State) -> Iterator[tuple[str, _State]]:
        places, low, high = state
        self._steps_left -= self._state_cost
        if self._steps_left < 0:
            raise NotShownError(self._limit)
        step, settled = self._patterns.step, self._settled
        for character in self._alphabet:
            lower = _agreeing(low, self._low, character)
            if lower is not None and lower < 0:
                continue
            if high is not None and self._high is not None:
                upper = _agreeing(high, self._high, character)
                # Above the bound, or the bound itself with more behind it.
                if upper is None or upper == len(self._high):
                    continue
                upper = None if upper < 0 else upper
            else:
                upper = None
            reached = step(places, character)
            try:
                moved = settled[reached]
            except KeyError:
                moved = settled[reached] = self._patterns.settled(reached)
            if moved is not None:
                yield character, (moved, lower, upper)

    def _accepts(self, state: _State) -> bool:
        places, low, _ = state
        return (low is None or low == len(self._low)) and self._patterns.accepts(places)


def _agreeing(count: int | None, bound: str, character: str) -> int | None:
    """How many characters agree after one more; None above the bound, -1 below it."""
    if count is None or count == len(bound):
        return None
    if character == bound[count]:
        return count + 1
    return None if character > bound[count] else -1


def _spelled(before: dict[_State, tuple[_State, str] | None], state: _State) -> str:
    text: list[str] = []
    link = before[state]
    while link is not None:
        state, character = link
        text.append(character)
        link = before[state]
    return "".join(reversed(text))


def _alphabet(named: set[str], bounds: _Bounds) -> Iterator[str]:
    """The characters that tokens and bounds name, and one of each other sort.

    Those that can be read come first.
    """
    edges = sorted({*bounds.low, *(bounds.high or "")})
    known = {*named, *edges}
    found = [*known]
    # Between two characters of the bounds all others that no token names are alike.
    for below, above in pairwise([None, *edges, None]):
        first = CHARACTER_MIN if below is None else following(below)
        last = CHARACTER_MAX if above is None else preceding(above)
        if first is not None and last is not None and first <= last:
            others = (c for c in characters(first, last) if c not in known)
            found += [c for c in [next(others, None)] if c is not None]
    return iter(sorted(found, key=_legibility))


def _legibility(character: str) -> tuple[bool, bool, bool, str]:
    """Small letters and digits before capitals, those before signs, all before rest."""
    c = character
    return not c.isprintable(), not c.isalnum(), c.isupper(), c
