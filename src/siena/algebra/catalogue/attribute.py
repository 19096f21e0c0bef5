"""What stands under one name of a catalogue, and which of it may cover a facet.

Two questions, each answered by tokens with the ends that their places must contain, or
lie within; ``None`` where places say nothing:

- ``covering``: of which facets may the given one be a part?
- ``covered``: which facets may be a part of it?

Both are necessary conditions.  Strings have several forms, and a string that the facet
selects tells which of other forms are worth a look.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from siena.algebra.catalogue.facet import (
    BUT_NUMBER,
    BUT_STRING,
    BUT_TIME,
    ENDINGS,
    FORMS,
    MISSING,
    NUMBERS,
    OPEN,
    PARTS,
    PLACED,
    POINT,
    STRING_END,
    STRINGS,
    TIMES,
    Facet,
    Token,
    point_value,
)
from siena.algebra.catalogue.operands import Operands
from siena.algebra.catalogue.points import Points

C = TypeVar("C")

Ends = tuple[Any, Any]
Hint = tuple[Token, Ends | None]

_BUTS = frozenset({BUT_NUMBER, BUT_STRING, BUT_TIME})
# What a facet of a form may cover, by the forms of the others.
_WITHIN: dict[int, frozenset[int]] = {
    POINT: frozenset({POINT}),
    NUMBERS: frozenset({POINT, NUMBERS, OPEN}),
    STRINGS: frozenset({POINT, STRINGS, OPEN}),
    TIMES: frozenset({POINT, TIMES, OPEN}),
    ENDINGS: frozenset({POINT, ENDINGS, OPEN}),
    PARTS: frozenset({POINT, STRINGS, ENDINGS, PARTS, OPEN}),
    BUT_NUMBER: frozenset({POINT, NUMBERS, BUT_NUMBER, OPEN}),
    BUT_STRING: frozenset({POINT, STRINGS, ENDINGS, PARTS, BUT_STRING, OPEN}),
    BUT_TIME: frozenset({POINT, TIMES, BUT_TIME, OPEN}),
    OPEN: frozenset(FORMS),
    MISSING: frozenset({MISSING}),
}
_NUMBERS = frozenset({int, float})


class Attribute(Generic[C]):
    """The cells of a catalogue that have a token of one name."""

    __slots__ = ("_by_token", "_forms", "_operands", "_points", "name", "size")

    def __init__(self, name: str) -> None:
        self.name = name
        self.size = 0
        # One cell alone stands for itself: most points have no more.
        self._by_token: dict[Token, C | dict[C, None]] = {}
        self._forms = [0] * len(FORMS)
        # Once a range has asked for points.
        self._points: Points | None = None
        self._operands: Operands | None = None

    def __len__(self) -> int:
        return len(self._by_token)

    # --- Cells ------------------------------------------------------------------------

    def cells(self, token: Token) -> Sequence[C]:
        """The cells that have a token."""
        found = self._by_token.get(token)
        if found is None:
            return ()
        return list(found) if isinstance(found, dict) else (found,)

    def all_cells(self) -> Iterator[C]:
        """The cells that have any token of the name."""
        for found in self._by_token.values():
            if isinstance(found, dict):
                yield from found
            else:
                yield found

    def enter(self, token: Token, cell: C) -> None:
        """A cell has come."""
        self.size += 1
        found = self._by_token.get(token)
        if isinstance(found, dict):
            found[cell] = None
        elif found is not None:
            self._by_token[token] = {found: None, cell: None}
        else:
            self._by_token[token] = cell
            form = token[1]
            self._forms[form] += 1
            if form == POINT:
                if self._points is not None:
                    self._points.add(token)
            elif form == PARTS:
                if self._operands is None:
                    self._operands = Operands()
                self._operands.add(token[2])

    def leave(self, token: Token, cell: C) -> None:
        """A cell has gone."""
        self.size -= 1
        found = self._by_token[token]
        if isinstance(found, dict):
            del found[cell]
            if found:
                return
        del self._by_token[token]
        form = token[1]
        self._forms[form] -= 1
        if form == POINT:
            if self._points is not None:
                self._points.remove(token)
        elif form == PARTS:
            assert self._operands is not None
            self._operands.remove(token[2])

    def weight(self, facet: Facet) -> int:
        """At most how many cells a search below the facet begins with."""
        if facet.form != POINT:
            return self.size
        found = self._by_token.get(facet.token)
        return len(found) if isinstance(found, dict) else int(found is not None)

    # --- Above ------------------------------------------------------------------------

    def covering(self, facet: Facet) -> list[Hint]:
        """The tokens that may cover a facet, with the ends to be contained."""
        form, name = facet.form, self.name
        if form == MISSING:
            return self.missing()
        hints: list[Hint] = []
        if form == POINT and self._forms[POINT] == len(self._by_token):
            # Only points are there, which is most often so where points are asked.
            return [(facet.token, None)] if facet.token in self._by_token else hints
        if form == OPEN and facet.sample is None:
            return [(token, None) for token in self._by_token]
        if form == POINT:
            if facet.token in self._by_token:
                hints.append((facet.token, None))
        elif form in _BUTS and self._forms[form]:
            hints.append((facet.token, (facet.low, facet.high)))
        if facet.sample is not None:
            self._add_ranges(facet, hints)
        if self._forms[OPEN]:
            hints.append(((name, OPEN), None))
        return hints

    def missing(self) -> list[Hint]:
        """The tokens of what wants the attribute to be absent."""
        return [((self.name, MISSING), None)] if self._forms[MISSING] else []

    def _add_ranges(self, facet: Facet, hints: list[Hint]) -> None:
        forms, name, sample = self._forms, self.name, facet.sample
        if isinstance(sample, str):
            self._add_strings(facet, sample, hints)
            return
        if type(sample) in _NUMBERS:
            of_range, of_but = NUMBERS, BUT_NUMBER
        elif isinstance(sample, datetime):
            of_range, of_but = TIMES, BUT_TIME
        else:
            return
        if forms[of_range]:
            is_placed = facet.form == of_range
            ends = (facet.low, facet.high) if is_placed else (sample, sample)
            hints.append(((name, of_range), ends))
        if forms[of_but]:
            hints.append(((name, of_but), None))

    def _add_strings(self, facet: Facet, sample: str, hints: list[Hint]) -> None:
        forms, name, form = self._forms, self.name, facet.form
        is_single = form in {POINT, OPEN}
        if forms[STRINGS] and (is_single or form == STRINGS):
            ends = _around(sample) if is_single else (facet.low, facet.high)
            hints.append(((name, STRINGS), ends))
        if forms[ENDINGS] and (is_single or form == ENDINGS):
            ends = _around(sample[::-1]) if is_single else (facet.low, facet.high)
            hints.append(((name, ENDINGS), ends))
        if forms[BUT_STRING]:
            hints.append(((name, BUT_STRING), None))
        if self._operands:
            operands = self._operands.within(sample)
            hints += [((name, PARTS, operand), None) for operand in operands]

    # --- Below ------------------------------------------------------------------------

    def covered(self, facet: Facet) -> Iterator[Hint]:
        """The tokens that a facet may cover, with the ends to lie within."""
        form, name = facet.form, self.name
        if form in {POINT, MISSING}:
            if facet.token in self._by_token:
                yield facet.token, None
            return
        if form == OPEN:
            for token in list(self._by_token):
                yield token, None
            return
        # A substring that is not the rarest is looked for in all of them.
        within = self._all_points() if form == PARTS else self._points_within(facet)
        for token in list(within):
            yield token, None
        for other in _WITHIN[form]:
            if self._forms[other] and other not in {POINT, PARTS}:
                ends = (facet.low, facet.high) if other == form else None
                yield (name, other), ends
        if self._operands and PARTS in _WITHIN[form]:
            for operand in list(self._operands):
                yield (name, PARTS, operand), None

    def _points_within(self, facet: Facet) -> Iterable[Token]:
        form = facet.form
        if not self._forms[POINT]:
            return ()
        if form in _BUTS:
            return self._all_points()
        if self._points is None:
            self._points = Points()
            self._points.sort(self._all_points())
        if form == ENDINGS:
            return self._points.ending(facet.low, facet.high)
        return self._points.between(facet.low, facet.high)

    def _all_points(self) -> list[Token]:
        return [token for token in self._by_token if token[1] == POINT]


def ends_within(facet: Facet, token: Token) -> Ends | bool:
    """Whether a facet may cover what has a token; if places tell, the ends."""
    form, other = facet.form, token[1]
    if other not in _WITHIN[form]:
        return False
    if other == POINT:
        if form == POINT:
            return bool(token == facet.token)
        if form == NUMBERS:
            value: Any = point_value(token)
            return type(value) in _NUMBERS and facet.low <= value <= facet.high
        return True
    if other == PARTS:
        return form != PARTS or facet.token[2] in token[2]
    return (facet.low, facet.high) if other == form in PLACED else True


def _around(text: str) -> Ends:
    """The ends of one string: itself, and the next."""
    return text, min(f"{text}\0", STRING_END)
